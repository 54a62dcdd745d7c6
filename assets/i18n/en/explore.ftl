# Explore: what a budget buys, before any of it is spent.

page-explore = Explore
page-explore-tip = See what a budget buys before any of it is spent, and release private statistics

## The question

explore-question = Question
explore-mechanism = Mechanism
explore-cell = Pictures are about
explore-relation = Neighbours
explore-reading = Reading the rows…
explore-search = What this search finds is not known beforehand, so there is nothing to draw. Its price stands on the left.
explore-free = Pictures cost nothing: nothing leaves this window until you release it.
explore-compare-only = This mechanism is here to be compared with. Choose a discrete one to release by: it leaks nothing through rounding.
explore-delta-unused = The chosen mechanism spends no δ; the other curves are drawn at it.
explore-delta-zero = A Gaussian needs a δ above 0: move δ up, or choose Laplace noise.
explore-no-noise = At this ε and δ no noise of this kind can be drawn: choose another ε.
mechanism-laplace = Laplace
mechanism-discrete-laplace = discrete Laplace
mechanism-textbook-gaussian = Gaussian, textbook
mechanism-analytic-gaussian = Gaussian, analytic
mechanism-discrete-gaussian = discrete Gaussian
mechanism-exponential = exponential
mechanism-randomized-response = randomised response
mechanism-compared = { $mechanism } (to compare)

## Sensitivity

sensitivity-part = Sensitivity { $sign } of the { $what } = { $amount }: { $why }.
sensitivity-bounds = Bounds { $lower } to { $upper }, { $source }.
sensitivity-shared = { $count } noisy numbers make the answer; ε is shared equally among them.
sensitivity-mode = Sensitivity of a value’s score = { $delta }: by so many rows one unit moves how often it occurs.
sensitivity-rank = Sensitivity of a candidate’s score = { $delta }: by so many ranks one unit moves it.
sensitivity-unit = Unit: { $unit }; neighbours: { $relation }.
summed-count = count
summed-values = sum
summed-distances = distances from the middle of the bounds
summed-squares = squared distances
reason-appears = { $rows ->
    [one] one row comes or goes
   *[other] up to { $rows } rows come or go
 }
reason-emptied = { $rows ->
    [one] one row is made blank
   *[other] up to { $rows } rows are made blank
 }
reason-replaced = { $rows ->
    [one] one row takes any other value
   *[other] up to { $rows } rows take any other values
 }
reason-moves = { $rows ->
    [one] one row leaves a cell and enters another
   *[other] up to { $rows } rows leave their cells and enter others
 }
bounds-declared = declared public knowledge
bounds-bought = bought with budget
bounds-accepted = read off the rows and accepted: not protected
bounds-open = not decided yet

## From error to ε

explore-inverse = The other way round
explore-swamped = At this ε the noise is as large as what is asked for.
explore-swamped-always = No ε up to 10 would change that: ask for something coarser, or of more rows.
explore-use = Take ε = { $epsilon }
explore-empty = There is no value to count here, so only noise would be released.
explore-fit = { $count ->
    [0] No question like this one fits into what is left of the total.
    [one] One more question like this fits into what is left of the total.
   *[other] { $count } more questions like this fit into what is left of the total.
 }
explore-fit-no-total = The data set has no total yet, so any number of questions would fit.
explore-set-total = Set a total

## Pictures

picture-utility = Noise and utility
picture-noise = Noise and answer
picture-histogram = Histogram
picture-rows = Number of rows
picture-several = Several questions
picture-runs = Training
picture-released = Released
picture-utility-lead = How far off an answer is, over ε, at this δ
picture-noise-lead = Where a released answer would lie
picture-histogram-lead = The values, and what would be released of them
picture-rows-lead = More rows, less error at the same ε
picture-runs-lead = Runs of this session by their ε: how far synthetic rows are from real ones
measure-name = Measure
measure-expected = expected error
measure-rms = root mean square error
measure-within = chance of being within ±a
measure-tolerance = a
utility-caption = lines: closed form · dots: 200 real draws
utility-caption-ratio = lines: closed form to first order · dots: 200 real draws
utility-draws = real draws
utility-handle = ε on the plot
utility-here = ε = { $epsilon }: error ±{ $error } (95 %)
utility-here-within = ε = { $epsilon }: { $chance } within ±{ $a }
noise-density = noise around the answer
noise-answers = noisy answers
noise-truth = true answer { $value }
band-50 = 50 %
band-95 = 95 %
histogram-true = as it is
histogram-noisy = as it would be released
histogram-by = as it would be released, by { $mechanism }
histogram-none = This column has no histogram: its bounds or values are not decided, or the question has no column.
rows-here = { $rows } values here
several-count = Questions
several-count-help = How many questions like this one are asked
several-parallel = of disjoint parts
several-parallel-tip = Each question is about another part of the rows; the parts are fixed ahead of the data, so a row is in one of them
several-public = Nothing here is read off rows
several-sum = as a sum
several-rdp = Rényi
several-pld = loss distributions
several-totals = { $count } questions at ε = { $epsilon } each come to ε = { $sum } as a sum, { $rdp } by Rényi divergences and { $pld } by loss distributions, at δ = { $delta }.
several-split = To keep all { $count } within ε = { $epsilon }, each may have ε = { $sum } by the sum, { $rdp } by Rényi divergences and { $pld } by loss distributions.
several-delta = In the sum every question’s δ adds up as well; the other two are at this δ together.
several-bins = A histogram is one question: a row lies in one bin.
several-none = This mechanism cannot be composed at this ε and δ.
runs-none = No run of this session has ended yet on this table. Each will be a point here: its ε, and how far its rows are from the real ones.
runs-private = private runs
runs-open = without privacy
runs-note = Fréchet distance in the encoded space, over { $samples } rows of each side: compare only runs on the same table.

## Axes

axis-epsilon = ε (log)
axis-expected = expected error, { $unit }
axis-rms = root mean square error, { $unit }
axis-within = chance of being within ±{ $a }
axis-distance = { $unit }, from the true answer
axis-chance = probability
axis-density = density
axis-rank-share = ranks off at 95 %, as a share of the values
axis-per-row = expected error for each row
axis-row-share = expected error as a share of the rows
axis-rows = rows (log)
axis-total = ε of all, at δ = { $delta }
axis-questions = questions
axis-frechet = Fréchet distance
unit-in-rows = rows
unit-in-days = days
unit-in-days-squared = squared days
unit-in-seconds = seconds
unit-in-seconds-squared = squared seconds
unit-in-column = in the unit of { $column }
unit-in-column-squared = in the squared unit of { $column }

## What was released

released-save = Save the list…
released-save-tip = All statistics released in this session as a table: CSV or Parquet, by the file’s ending
released-save-title = Save what was released
