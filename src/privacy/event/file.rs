//! Events as an events file spells them.

use std::fmt;

use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::{CountedEvent, PrivacyEvent};

impl<'de> Deserialize<'de> for CountedEvent {
    /// Every key must be known and every value possible: a misspelt `count` must not be dropped in silence.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EventVisitor;
        impl<'de> Visitor<'de> for EventVisitor {
            type Value = CountedEvent;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an event with its `type`")
            }

            // Errors made here get line and column from serde_json, unlike those made after the map.
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<CountedEvent, A::Error> {
                let mut values = Map::new();
                while let Some((key, value)) = map.next_entry::<String, Value>()? {
                    if values.insert(key.clone(), value).is_some() {
                        return Err(de::Error::custom(format!("`{key}` stands twice")));
                    }
                }
                from_map(values).map_err(de::Error::custom)
            }
        }
        deserializer.deserialize_map(EventVisitor)
    }
}

impl<'de> Deserialize<'de> for PrivacyEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let counted = CountedEvent::deserialize(deserializer)?;
        if counted.count == 1 {
            Ok(counted.event)
        } else {
            Err(de::Error::custom("a single event has no `count`"))
        }
    }
}

/// The parameters of one event, taken out one by one.
struct Parameters {
    kind: String,
    values: Map<String, Value>,
}

impl Parameters {
    fn take(&mut self, name: &str) -> Result<Value, String> {
        self.values
            .remove(name)
            .ok_or_else(|| format!("event `{}` needs `{name}`", self.kind))
    }

    fn number(&mut self, name: &str) -> Result<f64, String> {
        let value = self.take(name)?;
        value
            .as_f64()
            .ok_or_else(|| format!("`{name}` of event `{}` must be a number, not {value}", self.kind))
    }

    fn whole(&mut self, name: &str) -> Result<u64, String> {
        let value = self.take(name)?;
        // 1e3 and 10.0 are whole numbers too; above 2^53 a float no longer says which.
        let from_float = || {
            value
                .as_f64()
                .filter(|x| x.fract() == 0.0 && (0.0..=9007199254740992.0).contains(x))
                .map(|x| x as u64)
        };
        value.as_u64().or_else(from_float).ok_or_else(|| {
            format!(
                "`{name}` of event `{}` must be a whole number, not {value}",
                self.kind
            )
        })
    }

    fn event(&mut self) -> Result<PrivacyEvent, String> {
        Ok(match self.kind.clone().as_str() {
            "laplace" => PrivacyEvent::Laplace {
                scale: self.number("scale")?,
                sensitivity: self.number("sensitivity")?,
            },
            "gaussian" => PrivacyEvent::Gaussian {
                noise_multiplier: self.number("noise_multiplier")?,
            },
            "discrete_laplace" => PrivacyEvent::DiscreteLaplace {
                scale: self.number("scale")?,
                sensitivity: self.whole("sensitivity")?,
            },
            "discrete_gaussian" => PrivacyEvent::DiscreteGaussian {
                sigma: self.number("sigma")?,
                sensitivity: self.whole("sensitivity")?,
            },
            "poisson_sampled_gaussian" => PrivacyEvent::PoissonSampledGaussian {
                sampling_rate: self.number("sampling_rate")?,
                noise_multiplier: self.number("noise_multiplier")?,
                steps: self.whole("steps")?,
            },
            "fixed_size_sampled_gaussian" => PrivacyEvent::FixedSizeSampledGaussian {
                population: self.whole("population")?,
                batch: self.whole("batch")?,
                noise_multiplier: self.number("noise_multiplier")?,
                steps: self.whole("steps")?,
            },
            "row_draw_gaussian" => PrivacyEvent::RowDrawGaussian {
                shards: self.whole("shards")?,
                sigma: self.number("sigma")?,
                rows: self.whole("rows")?,
                steps: self.whole("steps")?,
            },
            "round_robin_gaussian" => PrivacyEvent::RoundRobinGaussian {
                uses: self.whole("uses")?,
                sigma: self.number("sigma")?,
                rows: self.whole("rows")?,
            },
            "randomized_response" => PrivacyEvent::RandomizedResponse {
                truth_probability: self.number("truth_probability")?,
                categories: self.whole("categories")?,
            },
            "exponential" => PrivacyEvent::Exponential {
                epsilon: self.number("epsilon")?,
            },
            "pure" => PrivacyEvent::Pure {
                epsilon: self.number("epsilon")?,
            },
            "approx" => PrivacyEvent::Approx {
                epsilon: self.number("epsilon")?,
                delta: self.number("delta")?,
            },
            "zcdp" => PrivacyEvent::Zcdp {
                rho: self.number("rho")?,
            },
            "parallel" => PrivacyEvent::Parallel {
                branches: serde_json::from_value(self.take("branches")?)
                    .map_err(|error| format!("in `branches` of `parallel`: {error}"))?,
            },
            unknown => return Err(format!("unknown event type `{unknown}`")),
        })
    }
}

fn from_map(mut values: Map<String, Value>) -> Result<CountedEvent, String> {
    let kind = match values.remove("type") {
        Some(Value::String(kind)) => kind,
        Some(other) => return Err(format!("an event's `type` must be a word, not {other}")),
        None => return Err("an event needs its `type`".to_owned()),
    };
    let mut parameters = Parameters { kind, values };
    let count = if parameters.values.contains_key("count") {
        parameters.whole("count")?
    } else {
        1
    };
    let event = parameters.event()?;
    if let Some(key) = parameters.values.keys().next() {
        return Err(format!("event `{}` has no parameter `{key}`", parameters.kind));
    }
    event.validate().map_err(|error| error.to_string())?;
    Ok(CountedEvent { event, count })
}
