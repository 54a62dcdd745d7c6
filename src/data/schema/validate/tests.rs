use super::*;
use crate::data::schema::{Bound, Column, Scale};

fn keys(column: &Column) -> Vec<&'static str> {
    column
        .problems(&[String::new(), "NA".to_owned()])
        .into_iter()
        .map(|(key, _)| key)
        .collect()
}

#[test]
fn each_contradiction_is_found_at_its_key() {
    let number = || Column::new("x", Kind::Continuous).with_bounds(0, 10);
    let words = || Column::new("x", Kind::Categorical).with_domain(["a", "b"]);
    assert!(keys(&number()).is_empty());
    assert!(keys(&words()).is_empty());
    let with = |mut column: Column, edit: fn(&mut Column)| {
        edit(&mut column);
        keys(&column)
    };
    assert_eq!(with(number(), |c| c.lower = Some(11.into())), ["lower"]);
    assert_eq!(with(number(), |c| c.upper = Some("2019-01-01".into())), ["upper"]);
    assert_eq!(
        with(number(), |c| c.upper = Some(Bound::Number(f64::NAN))),
        ["upper"]
    );
    assert_eq!(with(number(), |c| c.domain = Some(vec![])), ["domain"]);
    assert_eq!(with(number(), |c| c.decimals = Some(16)), ["decimals"]);
    assert_eq!(with(number(), |c| c.format = Some("%Y".into())), ["format"]);
    assert_eq!(with(number(), |c| c.bins = Some(vec![0.0, 0.0, 10.0])), ["bins"]);
    assert_eq!(with(number(), |c| c.bins = Some(vec![0.0, 9.0])), ["bins"]);
    assert_eq!(with(number(), |c| c.kind = Kind::Integer), Vec::<&str>::new());
    assert_eq!(
        with(number(), |c| {
            c.kind = Kind::Integer;
            c.upper = Some(Bound::Number(9.5));
        }),
        ["upper"]
    );
    assert_eq!(
        with(number(), |c| {
            c.lower = Some((-1).into());
            c.scale = Scale::Log;
        }),
        ["scale"]
    );
    assert_eq!(with(words(), |c| c.lower = Some(1.into())), ["lower"]);
    assert_eq!(
        with(words(), |c| c.domain = Some(vec!["a".into(), "NA".into()])),
        ["domain"]
    );
    assert_eq!(with(words(), |c| c.kind = Kind::Boolean), Vec::<&str>::new());
    assert_eq!(
        with(words(), |c| {
            c.kind = Kind::Boolean;
            c.add_value("c");
        }),
        ["domain"]
    );
}

#[test]
fn names_labels_and_units_must_exist() {
    let column = || Column::new("x", Kind::Continuous).with_bounds(0, 1);
    let mut schema = Schema::new(vec![column(), column()]);
    schema.label = Some("x".to_owned());
    schema.unit = Some(crate::data::schema::Unit {
        column: "person".to_owned(),
        max_rows: 0,
        persons: None,
    });
    let messages: Vec<String> = schema.problems().iter().map(ToString::to_string).collect();
    for word in ["label `x` is continuous", "`person`", "max_rows", "two columns"] {
        assert!(
            messages.iter().any(|message| message.contains(word)),
            "{word}: {messages:?}"
        );
    }
    assert!(schema.validate().is_err());
}
