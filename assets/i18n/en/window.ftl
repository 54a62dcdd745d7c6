# The frame around the pages: actions, bars, messages, questions.

app-name = Pointillist

## Actions: the label of a button, and what it does.

action-open = Open…
action-open-tip = Choose a file with a table or with images
action-open-folder = Open a folder of images…
action-open-folder-tip = Choose a folder of PNG, JPEG or TIFF files, with their classes as sub-folders or in labels.csv
action-close = Close table
action-close-tip = Give the open table up; runs go on
action-save-schema = Save schema
action-save-schema-tip = Write the schema beside the data, as NAME.schema.toml
action-save-session = Save session…
action-save-session-tip = Write which table, schema, plan and page you are at, without rows; open the file to take it up again
action-accept-all = Accept all suggestions
action-accept-all-tip = Let every suggestion stand: allowed, and listed on the certificate as not protected
action-start = Start
action-start-tip = Reserve the budget and train with this plan
action-pause-or-resume = Pause or resume
action-pause-or-resume-tip = Hold the latest run after its present step, or let it go on
action-stop = Stop…
action-stop-tip = End the latest run early; says first what that means
action-export = Export
action-export-tip = Write the synthetic table, its certificate, its recipe and its generator
action-log = Log
action-log-tip = Show or hide everything that was reported
action-theme = Light or dark
action-theme-tip = Switch between the light and the dark theme
action-language = Language
action-language-tip = Change the language
action-zoom-in = Larger
action-zoom-in-tip = Larger text and controls, up to 300 %
action-zoom-out = Smaller
action-zoom-out-tip = Smaller text and controls
action-zoom-reset = Usual size
action-zoom-reset-tip = Text and controls at 100 %
action-undo = Undo
action-undo-tip = Take the last change of schema, plan or export back; one drag is one step
action-redo = Redo
action-redo-tip = Make the change that was taken back again (also Ctrl+Y)
action-fold-rail = Fold the rail
action-fold-rail-tip = Show the pages as dots only, or with their names again
action-fold-plan = Fold the plan
action-fold-plan-tip = Put the plan’s form away, or bring it back
action-fold-rows = Fold the rows
action-fold-rows-tip = Put the table’s rows away, or bring them back
action-reset-layout = Reset layout
action-reset-layout-tip = Put every panel back where it was
action-palette = All actions…
action-palette-tip = Find an action by its name
action-keys = Keys
action-keys-tip = List every key

page-data = Data
page-data-tip = The table and what is publicly known of it
page-train = Train
page-train-tip = Plan a run and watch it
page-export = Export
page-export-tip = Write synthetic data
page-privacy = Privacy
page-privacy-tip = What was spent, entry by entry

## Bars

state-empty = nothing here yet
state-ready = ready
state-running = running
state-done = done
state-attention = needs your attention
top-dataset = { $name } · { $rows } rows × { $columns } · unit: { $unit } · { $relation }
top-images = { $name } · { $rows } images · unit: { $unit } · { $relation }
unit-row = one row
unit-image = one image
unit-person = one person ({ $column }, at most { $rows } rows)
relation-add-remove = add or remove one
relation-zero-out = zero out one
relation-replace = replace one
device-name = Computes on
device-tip = Where runs compute; the next run uses it
device-flex = Processor
device-flex-tip = CPU, backend “flex” of Burn: the fastest on most computers
device-ndarray = Processor, second way
device-ndarray-tip = CPU, backend “ndarray” of Burn: for comparison
device-wgpu = Graphics card
device-wgpu-tip = GPU by wgpu: pays off for large networks only
budget-label = Budget
budget-name = Privacy budget of this data set
budget-open = Open the privacy page
budget-spent = spent { $share }
budget-reserved = reserved { $share }
budget-left = left { $share }
budget-no-total = No total set: nothing is limited
budget-no-total-reserved = ε { $spent } settled · { $reserved } held by runs
budget-spent-only = ε { $spent } spent so far
budget-no-total-tip = Every spend is recorded, and nothing limits them until a total is set on the privacy page.
budget-public-tip = The rows are public: spends are recorded so that you can practise, and no total limits them.
budget-public = Teaching data, no total
budget-charge = ε = { $epsilon }, δ = { $delta }
budget-tip = Settled jobs add up to at most { $spent }. Open the privacy page for every entry.
method-dpgan = DPGAN
method-gan = GAN
method-dp-merf = DP-MERF
method-gem = GEM
method-wgan-gp = WGAN-GP
no-dp-claim = no DP claim
run-queued = waits for a free core
run-preparing = encodes rows, reserves the budget
run-stopping = ends after this step
run-paused = paused at { $steps }
run-steps = { $steps } steps
run-rate = { $rate }/s
run-left = { $time } left
run-pause = Pause the run
run-resume = Let the run go on
run-forget = Delete the run; its ledger entry stays
jobs-none = No job is running.
load-reading = reading
load-profiling = looking for kinds and bounds
load-checking = holding the schema against the rows
load-cancel = Give up loading
export-progress = { $rows } of { $total }
export-cancel = Give up the export; nothing is left behind
steward-only = steward only
steward-only-tip = Computed on private rows without noise. Nothing of it enters a certificate or a public export; choosing by it is listed as not accounted.
drop-here = Let go to open the file
dialog-open = Open a table
dialog-target = Write the synthetic table to
dialog-tables = Tables
dialog-everything = All files
dialog-open-folder = Open a folder of images

## Messages

log-title = Log
log-close = Close the log
log-empty = Nothing was reported yet.
toast-close = Close this message
problem-close = Close this notice
causes-show = Show the causes
causes-hide = Hide the causes
event-opened = { $name } is open, { $rows } rows
event-load-cancelled = Loading was given up
event-session = The session is taken up
event-schema-saved = The schema is saved
event-started = Training has started
event-started-entry = The whole plan is reserved as entry { $entry } of the ledger.
event-started-no-claim = Without privacy: nothing is charged, and nothing may be claimed.
event-finished = Training has ended
event-left = The run was left as it is, to be taken up later
event-abandoned = The run that was cut short is thrown away
event-discarded = The run was thrown away
event-rule = { $rule }: made to hold in { $rows } rows
event-exported = { $rows } synthetic rows are written
event-exported-images = { $rows } synthetic images are written
event-export-cancelled = The export was given up; nothing is left behind
event-released = Released, entry { $entry } of the ledger
event-target-exists = The file is there already
stopped-planned = Finished as planned
stopped-by-person = Stopped by hand: the whole plan stays charged
stopped-budget = Ended because the budget was used up
problem-load = The table could not be read
problem-schema = The schema needs attention
problem-train = Training needs attention
problem-export = The export failed
problem-release = The release failed
problem-ledger = The ledger needs attention
problem-settings = Settings could not be kept
note-no-dialog = This system offers no file dialog: type the path instead.
problem-figure = The figure could not be saved
note-no-picture = The window system gave no picture: save the plot as SVG instead.
event-figure-saved = The figure is saved
note-one-file = One table at a time: the first file is opened.

## Questions

stop-title = Stop this run?
stop-if-kept = If you stop and keep the result:
stop-if-discarded = If you throw it away:
stop-charge = The whole plan stays charged to the budget, also the steps that will not be taken.
stop-certificate = You have seen plots made from private rows, so the moment of stopping depends on them. No charge can cover that: the certificate will say “the moment of stopping was chosen with private plots in view: not accounted”.
stop-instead = To end without this note, let the plan run to its end, or pause and go on later.
stop-no-claim = This run makes no DP claim, so nothing is charged. What it has learned so far is kept.
stop-discard-text = Nothing of it is kept, so nothing is charged; nothing that was seen of it, no picture and no figure, may be kept or shown to anybody either. The ledger keeps that there was such a run, and later certificates count it.
stop-keep = Keep training
stop-confirm = Stop and keep the result
stop-discard = Throw it away
forget-title = Delete this run?
forget-paid = It was paid for and never exported: deleted, what it has learned is gone for good. Export it first to keep it.
forget-text = It was never exported: deleted, what it has learned is gone for good. Export it first to keep it.
forget-exported = What was exported stays where it is, with its generator and certificate.
forget-no-result = It has no result that could be lost.
forget-entry = Entry { $entry } stays in the ledger: ε { $epsilon } at δ { $delta } remain charged, since what has been learned cannot be unlearned.
forget-no-entry = Nothing was charged for it, so nothing stays in the ledger.
forget-keep = Keep it
forget-confirm = Delete
another-title = Start another run?
another-text = Another run is going; this reserves ε = { $epsilon } at δ = { $delta } more.
another-keep = Not now
another-confirm = Start it too
accept-all-title = Let every suggestion stand?
accept-all-text = { $count ->
    [one] Bounds or values of 1 column were read off private rows: { $names }. Accepted, it is listed on every certificate as not protected.
   *[other] Bounds or values of { $count } columns were read off private rows: { $names }. Accepted, they are listed on every certificate as not protected.
}
accept-all-instead = To protect them, type what is publicly known, or buy bounds and values with budget.
accept-all-keep = Review them one by one
accept-all-confirm = Accept, not protected
raise-title = Raise the total?
raise-present = The total of { $name } is ε = { $epsilon }, δ = { $delta }.
raise-text = It can never be lowered again. The raise and its reason are kept in the ledger.
raise-epsilon = New total ε
raise-needs = Give a higher total and a reason first
raise-keep = Leave it as it is
raise-confirm = Raise it for good
quit-title-lost = Close and lose runs that were never exported?
quit-lost = These runs have ended and were never exported: closed, what they have learned is gone for good. Export them first to keep it.
quit-confirm-lost = Close and lose them
quit-title = Close while a run is going on?
quit-text = Closing leaves the run after its present step. Its whole plan stays charged until it is resumed or discarded: the next start asks.
quit-keep = Stay
quit-confirm = Close
replace-title = Replace the existing file?
replace-text = The file and those beside it (certificate, recipe, generator) will be replaced once the new ones are complete.
replace-keep = Keep it
replace-confirm = Replace
version-title = New version of a known data set?
version-text = The ledger knows a data set that this may be a new version of: its content is another. If this table holds the same people, it must continue the budget: what was spent on them is not forgotten.
version-candidate = { $number } · { $name } · { $versions ->
    [one] 1 version
   *[other] { $versions } versions
} · last charged { $last }
version-separate-text = Choose “other data” only if nobody in this table is in the known one.
version-continue = New version: continue its budget
version-separate = Other data: a budget of its own
version-open = Nothing is spent yet: is this table a new version of “{ $name }”?
version-ask = Answer…
release-question = Release this statistic?
release-question-text = What is released can’t be taken back, and its price is charged whatever it shows.
release-not-yet = Not yet
release-now = Release and charge
session-save-title = Save the session
figure-title = Save the figure
figure-save = Save
figure-cancel = Cancel
figure-copy = Copy the points as CSV
figure-csv = Save the points as CSV…
figure-svg = Save as SVG…
figure-png = Save as PNG…
figure-steward = steward only: computed on private rows without noise
figure-projected = projected
palette-hint = Find an action
palette-go = Go to { $page }
palette-none = No action has this name.
keys-title = Keys
keys-tab = Tab
keys-tab-does = to the next control; with Shift to the one before
keys-arrows = Arrow keys
keys-arrows-does = move the slider, the mark or the point in focus
keys-page = Page up, page down
keys-page-does = move a slider to the next round value
keys-menu = Right click
keys-menu-does = on a plot: its points, its drawing, its picture
keys-escape = Esc
keys-escape-does = close a question or a list
keys-close = Close
plot-follow = Follow
plot-follow-tip = Show the whole run again and follow it

## Runs that were cut short

interrupted-title = { $method } on { $name } was cut short: kept at step { $step } of { $steps }
interrupted-title-named = “{ $called }” ({ $method } on { $name }) was cut short: kept at step { $step } of { $steps }
interrupted-title-unknown = The run { $id } was cut short
interrupted-later = Ask again at the next start
interrupted-resume = Resume
interrupted-discard = Discard
interrupted-keep = Keep it
interrupted-resume-text = Resume goes on from there under the same reservation (entry { $entry }): nothing more is charged.
interrupted-resume-lost = Resume goes on under the same reservation (entry { $entry }): nothing more is charged. { $lost } steps that may have been done since count as done, so the run goes on at step { $at } and ends as many steps earlier.
interrupted-resume-no-claim = Resume goes on from there. The run makes no promise, so nothing is charged.
interrupted-unusable = It cannot be resumed, and what it reserved stays charged.
interrupted-discard-title = Discard what is kept of this run?
interrupted-discard-text = What it has learned is lost. Steps up to { $at } of { $steps } may have looked at the rows and stay charged, with all that was released before them; the rest of the reservation is free again.
interrupted-discard-all = What it has learned is lost. All that the run was to spend was spent before it was cut short, so its whole reservation stays charged.
interrupted-discard-no-claim = What it has learned is lost. Nothing was charged for it.
interrupted-discard-unusable = Nobody can tell how far it came, so its whole reservation stays charged.

## Runs side by side

compare-title = Runs ({ $count })
compare-caption = Tick a run to draw it over the one in view; distances are for the steward only
compare-fold = Fold the table of runs
compare-unfold = Unfold the table of runs
compare-sort = Order the runs by this; once more, the other way round
compare-name = Run
compare-method = Method
compare-epsilon = ε
compare-steps = Steps
compare-time = Time
compare-distance = Fréchet
compare-state = State
compare-overlay = Draw { $name } over the run in view
compare-rename = Rename
compare-rename-tip = Rename { $name }
compare-forget = Delete { $name }; its ledger entry stays
compare-new-name = New name of the run
