//! A critic's step where persons are the unit of privacy: the sum over a person's rows is what is clipped.

use burn::tensor::Device;

use super::{Examples, StepRule};
use crate::data::StoreError;
use crate::model::{ClippedSum, Critic, Side, matrix};

/// Numbers of the sums of a part's persons, at most: 16 MB.
const MOST_NUMBERS: usize = 1 << 22;

/// The sum of the clipped sums of the persons drawn; `None` when there are none.
///
/// Persons are taken by their number of rows, so that a part holds persons who have about as many and little is filled
/// up; each person's sum is clipped by itself, so order and parts change nothing but rounding.
///
/// # Errors
/// When the rows are kept in a file that cannot be read.
pub(super) fn clipped_sum(
    critic: &Critic,
    (examples, starts): (&impl Examples, &[usize]),
    drawn: &[usize],
    (rule, clip): (&StepRule, f64),
    device: &Device,
) -> Result<Option<ClippedSum>, StoreError> {
    let rows = |person: usize| starts[person]..starts[person + 1];
    let mut drawn = drawn.to_vec();
    drawn.sort_by_key(|&person| std::cmp::Reverse(rows(person).len()));
    let mut sum: Option<ClippedSum> = None;
    let mut rest = &drawn[..];
    while let Some(&longest) = rest.first() {
        let places = rows(longest).len().max(1);
        let units = (rule.micro_batch / places)
            .min(MOST_NUMBERS / critic.parameter_count().max(1))
            .clamp(1, rest.len());
        let (part, after) = rest.split_at(units);
        rest = after;
        let part = if places == 1 {
            let indices: Vec<usize> = part.iter().flat_map(|&person| rows(person)).collect();
            let batch = examples.batch(&indices, device)?;
            critic.clipped_gradient_sum(batch, rule.loss, Side::Real, Some(clip))
        } else {
            let (mut indices, mut present) = (Vec::new(), Vec::new());
            for &person in part {
                let own = rows(person);
                let filling = places - own.len();
                present.extend(own.clone().map(|_| 1.0));
                present.resize(present.len() + filling, 0.0);
                // Any row will do as filling: it counts nowhere.
                indices.extend(own.clone());
                indices.resize(indices.len() + filling, own.start);
            }
            let present = matrix(present, units * places, 1, device);
            let batch = examples.batch(&indices, device)?;
            critic.clipped_unit_sum(batch, present, (units, rule.loss, Side::Real), clip)
        };
        sum = Some(match sum {
            Some(sum) => sum.and(part),
            None => part,
        });
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::data::StoredRows;
    use crate::model::{CriticInput, CriticLoss, CriticShape, read};
    use crate::num::{RandomSource, SamplingRate};
    use crate::train::sampler::PoissonSampler;
    use crate::train::testing::{encoder, rows};

    const CLIP: f64 = 0.5;

    fn critic(seed: u64) -> Critic {
        let shape = CriticShape {
            input: CriticInput::Row(encoder().width()),
            hidden: vec![16],
            scores: 1,
            negative_slope: 0.2,
        };
        Critic::new(shape, &mut RandomSource::seeded(seed), &Device::flex())
    }

    fn rule(loss: CriticLoss) -> StepRule {
        StepRule {
            sampler: PoissonSampler::new(1, 1.0),
            rate: SamplingRate::new(1.0).unwrap(),
            clip_norm: CLIP,
            loss,
            micro_batch: 16,
        }
    }

    /// Persons with these rows of the test table, one after the other.
    fn of_persons(persons: &[Vec<usize>]) -> StoredRows {
        let mut starts = vec![0];
        starts.extend(persons.iter().scan(0, |end, rows| {
            *end += rows.len();
            Some(*end)
        }));
        let order: Vec<usize> = persons.iter().flatten().copied().collect();
        StoredRows::from(rows(200).select(&order)).with_persons(starts)
    }

    fn sum(critic: &Critic, persons: &[Vec<usize>], loss: CriticLoss) -> Vec<f64> {
        let rows = of_persons(persons);
        let drawn: Vec<usize> = (0..persons.len()).collect();
        let starts = rows.persons().unwrap();
        let device = Device::flex();
        let found = clipped_sum(critic, (&rows, starts), &drawn, (&rule(loss), CLIP), &device);
        found.unwrap().map_or_else(
            || vec![0.0; critic.parameter_count()],
            |found| read(found.sum).into_iter().map(f64::from).collect(),
        )
    }

    fn distance(one: &[f64], other: &[f64]) -> f64 {
        let squares = one.iter().zip(other).map(|(a, b)| (a - b).powi(2));
        squares.sum::<f64>().sqrt()
    }

    fn some_persons() -> impl Strategy<Value = Vec<Vec<usize>>> {
        prop::collection::vec(prop::collection::vec(0..200_usize, 1..6), 1..12)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn one_person_moves_the_sum_by_at_most_the_clip_norm(
            persons in some_persons(), seed in 0..4_u64, entropy in any::<bool>(),
        ) {
            let loss = if entropy { CriticLoss::CrossEntropy } else { CriticLoss::Wasserstein };
            let critic = critic(seed);
            let with = sum(&critic, &persons, loss);
            let without = sum(&critic, &persons[1..], loss);
            // Rounding of sums of a dozen vectors in single precision.
            prop_assert!(distance(&with, &without) <= CLIP * (1.0 + 1e-5), "{}", distance(&with, &without));
        }

        #[test]
        fn order_and_parts_change_nothing(persons in some_persons(), seed in 0..4_u64) {
            let critic = critic(seed);
            let together = sum(&critic, &persons, CriticLoss::Wasserstein);
            let mut alone = vec![0.0; together.len()];
            for person in &persons {
                let own = sum(&critic, std::slice::from_ref(person), CriticLoss::Wasserstein);
                alone.iter_mut().zip(own).for_each(|(sum, more)| *sum += more);
            }
            prop_assert!(distance(&together, &alone) < 1e-4);
        }
    }

    #[test]
    fn equal_rows_of_one_person_have_no_more_influence_than_one() {
        for loss in [CriticLoss::Wasserstein, CriticLoss::CrossEntropy] {
            let critic = critic(1);
            let others = vec![vec![3, 4], vec![7]];
            let with = |rows: usize| {
                let mut persons = others.clone();
                persons.push(vec![11; rows]);
                distance(&sum(&critic, &persons, loss), &sum(&critic, &others, loss))
            };
            let moved: Vec<f64> = [1, 2, 5, 50].into_iter().map(with).collect();
            assert!(
                moved.iter().all(|moved| *moved <= CLIP * (1.0 + 1e-5)),
                "{moved:?}"
            );
            // From the row count at which they reach the bound, more rows add nothing.
            assert!((moved[3] - CLIP).abs() < 1e-4, "{moved:?}");
        }
    }

    #[test]
    fn a_small_sum_is_left_as_it_is() {
        let critic = critic(2);
        let rows = of_persons(&[vec![1, 2, 3]]);
        let device = Device::flex();
        let all = rows.batch(&[0, 1, 2], &device).unwrap();
        let plain = critic.clipped_gradient_sum(all, CriticLoss::Wasserstein, Side::Real, None);
        let persons = (&rows, rows.persons().unwrap());
        let far = (&rule(CriticLoss::Wasserstein), 1e6);
        let found = clipped_sum(&critic, persons, &[0], far, &device)
            .unwrap()
            .unwrap();
        for (one, other) in read(found.sum).iter().zip(read(plain.sum)) {
            assert!((one - other).abs() <= 2e-5 * (1.0 + other.abs()), "{one} {other}");
        }
        assert_eq!(found.norms.dims(), [1, 1]);
        let mean = read(plain.losses).iter().sum::<f32>() / 3.0;
        assert!((read(found.losses)[0] - mean).abs() < 1e-5);
    }
}
