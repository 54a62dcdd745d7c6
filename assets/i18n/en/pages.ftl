# The pages: welcome, data, train, export, privacy.

## Welcome

welcome-title = Synthetic tables that keep a promise
welcome-lead = Open a table, review what is publicly known of it, train, and export synthetic rows with a privacy certificate. Everything stays on this computer.
welcome-samples = Begin with a sample
welcome-sample-tip = Open this sample
welcome-open-title = Or open your own
welcome-drop = or drop a CSV or Parquet file anywhere on this window
welcome-recent = Recent files
welcome-keys = Ctrl+K lists every action; Ctrl with plus and minus changes the size of everything.
sample-adult = Adult census
sample-adult-about = 32,561 people: work, education, income (United States, 1994). 15 columns, schema reviewed.
sample-nhanes = NHANES 2017–2018
sample-nhanes-about = 5,265 people: body, blood and habits from health examinations. 21 columns, schema reviewed.
sample-german-credit = German credit
sample-german-credit-about = 1,000 loans with their outcome (Germany, 1994). 21 columns, schema reviewed.
path-label = Path
path-hint = a .csv or .parquet file
path-open = Open this path
path-empty = Type a path first

## Data

schema-title = Schema
schema-continue = Continue to training
schema-reviewed = reviewed: every used column has public bounds or values
schema-open = { $count ->
    [one] 1 column needs your decision: { $names }
   *[other] { $count } columns need your decision: { $names }
}
schema-more-warnings = { $count } more warnings
schema-unit = Unit of privacy
schema-unit-tip = Whose presence is hidden. One row, unless the schema file names a person column.
schema-rows = Public row count
schema-rows-private = private
schema-rows-tip = Type the number of rows only if it is public knowledge. Empty: it is private, and the certificate lists it as not protected.
schema-label = Class column
schema-label-none = none
schema-label-tip = The column that others are compared by; marginals are bought within each of its values.
schema-public = Teaching data
schema-public-tip = The rows are public: spends are recorded, no cap applies
column-name = Column
column-name-tip = The name, as in the file
column-kind = Kind
column-kind-tip = What the column holds; identifiers and text are dropped
column-values = Public bounds or values
column-values-tip = What everybody may know: type it from a codebook, not from the rows
column-scale = Scale
column-scale-tip = Log suits amounts that spread over powers of ten
column-missing = Missing
column-missing-tip = Whether cells may be empty
column-source = Known from
column-source-tip = Where bounds or values come from
column-dropped = dropped: takes no part in training
column-summary = { $name }: { $present } cells with a value, { $missing } missing, { $distinct } distinct (steward only)
kind-continuous = continuous
kind-integer = integer
kind-categorical = categorical
kind-boolean = boolean
kind-date = date
kind-time = time
kind-datetime = date and time
kind-text = text
kind-identifier = identifier
kind-of = Kind of { $column }
scale-linear = linear
scale-log = log
scale-of = Scale of { $column }
missing-of = { $column } may be missing
bound-lower = Lower bound of { $column }
bound-upper = Upper bound of { $column }
bound-hint = public
domain-empty = no values yet
domain-values = { $count }: { $values }
domain-edit = Values of { $column }
domain-help = One value a line, as the file spells it. What you apply counts as declared: public knowledge, not read off the rows.
domain-apply = Declare these values
source-declared = declared
source-declared-tip = Public knowledge, typed by a person or read from a public file
source-bought = bought
source-bought-tip = Found with privacy budget
source-suggested = suggested
source-suggested-tip = Read off private rows: training refuses it until you type public knowledge or accept it
source-accepted = accepted
source-accepted-tip = A suggestion you let stand: allowed, and listed on the certificate as not protected
source-none = unknown
source-none-tip = Type public bounds or values
accept = Accept
accept-column = Accept the suggestion for { $column }
accept-tip = Let the suggestion stand. It becomes “accepted”, never “declared”, and the certificate lists it as not protected.
open-suggested = suggested from private rows; type public knowledge or accept it
open-no-bounds = has no bounds
open-no-domain = has no list of values
open-no-provenance = does not say where its bounds or values come from
preview-title = Rows
preview-row = row
preview-rows = { $rows } rows
cell-missing = missing

## Train

plan-title = Plan
plan-recommended = recommended for this table
plan-recommended-back = back to recommended
plan-recommended-back-tip = Take the recommended value of every setting
method-name = Method
method-tip = With or without privacy
method-dpgan-choice = DPGAN (private)
method-gan-choice = GAN, no DP claim
epsilon-name = ε target
epsilon-help = How much the result may depend on any one unit, over the whole run. Smaller hides more and costs quality.
delta-name = δ
delta-help = The chance that the promise of ε does not hold; well below one over the number of rows.
relation-name = Neighbours
relation-tip = Which change of the data must stay hidden: a unit added or removed, or one replaced by another
settings-all = All settings
settings-fewer = Fewer settings
setting-reset = Reset { $name } to { $value }
group-privacy = Privacy
group-marginals = Noisy marginals
group-encoding = Encoding
group-critic = Critic
group-generator = Generator
group-teaching = Teaching
seed-fixed = Fixed seed
seed-name = Seed
seed-tip = The same run again and again, for class and tests
seed-warning = A fixed seed is not private: everything made with it is marked “no DP claim”.
cost-title = What it will cost
cost-working = Working out the noise…
cost-unknown = Review the schema first: then the noise and its cost are worked out here.
cost-no-claim = Without privacy nothing is charged, and everything it makes is marked “no DP claim”.
cost-promise = Reserves ε = { $epsilon } at δ = { $delta } now, settled at the end. Unit: { $unit }; neighbours: { $relation }.
cost-odds = Of 100 people in the data, an attacker who knows all others and accepts 1 false alarm in 100 finds at most { $gaussian } behind one Gaussian noise of this promise. From ε and δ alone the worst case would be { $worst }: it covers mechanisms that fail at once, which noise like ours does not.
cost-noise = Noise multiplier { $noise } in each of { $steps } steps; every row enters a step with a chance of { $rate }.
cost-marginals = The marginals carry noise of ±{ $rows } rows a cell.
start-sent = The run is being started.
start-no-table = Open a table first.
start-open-columns = These columns need your decision on the data page: { $names }.
train-empty-title = No run yet
train-empty = The plan on the left holds the best settings we know for this table. Press Start and watch the run draw itself here.
train-empty-blocked = Before a run can start, the data page needs you.
run-shown = Show
run-no-claim = This run makes no DP claim.
finished-line = { $steps } steps in { $time }
card-loss = Loss
card-loss-caption = raw faint · smoothed
card-frechet = Fréchet distance, encoded rows
card-frechet-caption = { $samples } samples a side
card-privacy = Privacy spent
card-privacy-caption = ε at δ = { $delta } · RDP
card-histograms = Synthetic over real
card-sample = Synthetic rows now
card-sample-caption = free to look at and to export: this run has paid for them
card-waits-step = The first steps will draw themselves here.
card-waits-frechet = The first comparison of real and synthetic rows will draw itself here.
histograms-none = The first comparison will draw itself here.
histogram-reading = { $label }: real { $real }, synthetic { $synthetic }
legend-real = real
legend-synthetic = synthetic
sample-none = The first synthetic rows will stand here.
curve-critic = critic
curve-generator = generator
curve-distance = distance
limit-budget = budget ε = { $epsilon }
axis-step = step

## Export

export-title = Export
export-free = Rows of a finished run cost nothing more: write as many as you like.
export-run = Run
export-rows = Rows
export-rows-tip = How many synthetic rows to write
export-only = Only rows with
export-only-all = any values
export-only-tip = Keeps only generated rows whose column has the value
export-only-value = Value of { $column }
export-path = Write to
export-choose = Choose…
export-choose-tip = Choose the file in a dialog
export-files = Beside { $name } go its certificate, its recipe and the generator for more rows.
export-ending = The name must end in .csv or .parquet.
export-busy = An export is being written.
export-empty-title = Nothing to export yet
export-empty = A finished run brings the generator that rows are drawn from.
certificate-title = Certificate
certificate-lead = Written beside the export; anyone can recompute ε from its events.
certificate-promise = Promise
certificate-unit = Unit
certificate-relation = Neighbours
certificate-sampling = Sampling
certificate-sampling-value = Poisson, rate { $rate }, { $steps } steps
certificate-random = Randomness
certificate-random-os = the operating system’s generator
certificate-end = End of the run
certificate-unprotected = What is not protected
certificate-accepted = Bounds or values read off private rows and accepted: { $names }
certificate-rows = The number of rows, which the sampling rate reveals
certificate-stopped = The moment of stopping, chosen with private plots in view: not accounted
certificate-looking = Choices made with steward-only plots in view
file-table = Table
file-certificate = Certificate
file-recipe = Recipe
file-generator = Generator

## Privacy

budget-title = Budget
budget-of-total = Spent { $spent }, reserved { $reserved }, left { $left } of { $total }.
budget-none = No total is set: spends are recorded, and nothing limits them. Set one before you share results.
budget-none-public = Teaching data: spends are recorded, no cap applies.
budget-sum = Settled so far: at most { $spent } over { $jobs ->
    [one] 1 job
   *[other] { $jobs } jobs
}.
total-epsilon = Total ε
total-reason = Reason
total-set = Set the total
total-set-tip = Fixes the whole budget of this data set; raising it later is an entry of its own
total-set-needs = Give a reason first
ledger-title = Ledger
ledger-count = { $count ->
    [one] 1 entry
   *[other] { $count } entries
}
ledger-empty = Nothing was spent yet. Every private run appears here before its first step.
ledger-number = No.
ledger-time = Time
ledger-data = Data set
ledger-what = Job
ledger-charge = Charged
ledger-state = State
job-dpgan = DPGAN
job-total = Total
job-version = New version
status-reserved = reserved: running, or cut short
status-finished = finished
status-stopped = stopped by hand: whole plan charged
status-failed = failed
status-discarded = discarded: nothing kept
status-total-set = total set
status-total-raised = total raised
status-new-version = new version of the data
