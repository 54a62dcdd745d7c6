//! The ledger as a table to take away. No hash of a data set is in it: entries hold none.

use std::collections::HashMap;

use crate::privacy::ledger::{Entry, EntryId};

/// The names of the columns.
const HEAD: &str = "number,time,settled,data set,job,status,epsilon,delta,share,relation,unit,teaching data,\
                    description,note,events";

/// Writes entries in their order; shares of the total where they are known.
pub fn write<'a>(entries: impl Iterator<Item = &'a Entry>, shares: Option<&HashMap<EntryId, f64>>) -> String {
    let mut text = format!("{HEAD}\n");
    for entry in entries {
        let json = |value: Option<serde_json::Value>| match value {
            Some(serde_json::Value::String(text)) => text,
            Some(serde_json::Value::Null) | None => String::new(),
            Some(other) => other.to_string(),
        };
        // The names and forms of the command line's `ledger list --json`.
        let all = serde_json::to_value(entry).unwrap_or_default();
        let of = |key: &str| json(all.get(key).cloned());
        let share = shares.and_then(|shares| shares.get(&entry.id));
        let fields = [
            entry.id.to_string(),
            of("time"),
            of("settled"),
            entry.dataset_name.clone(),
            entry.kind.clone(),
            of("status"),
            entry.epsilon.to_string(),
            entry.delta.to_string(),
            share.map(ToString::to_string).unwrap_or_default(),
            of("relation"),
            entry.unit.as_ref().map(ToString::to_string).unwrap_or_default(),
            entry.public.to_string(),
            entry.description.clone(),
            entry.note.clone().unwrap_or_default(),
            of("events"),
        ];
        let line: Vec<String> = fields.iter().map(|text| field(text)).collect();
        text.push_str(&line.join(","));
        text.push('\n');
    }
    text
}

/// A field, quoted where it must be. What a spreadsheet would take for a formula is kept from being one.
fn field(text: &str) -> String {
    let text = if text.starts_with(['=', '+', '@', '\t', '\r'])
        || (text.starts_with('-') && text.parse::<f64>().is_err())
    {
        format!("'{text}")
    } else {
        text.to_owned()
    };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::ledger::Status;
    use crate::privacy::{EventList, Neighboring, PrivacyEvent};

    #[test]
    fn an_entry_is_a_line_and_no_formula() {
        let mut events = EventList::new(Neighboring::AddRemoveOne);
        events.push(PrivacyEvent::Pure { epsilon: 0.5 }, 2);
        let entry = Entry {
            id: EntryId(7),
            dataset: 1,
            dataset_name: "=adult, \"new\"".to_owned(),
            time_ms: 0,
            settled_ms: None,
            kind: "mean".to_owned(),
            status: Status::Finished,
            epsilon: 1.0,
            delta: 0.0,
            reserved: None,
            relation: Some(Neighboring::AddRemoveOne),
            unit: None,
            public: false,
            seed: None,
            description: "-mean".to_owned(),
            note: None,
            events: Some(events),
        };
        let shares = HashMap::from([(EntryId(7), 0.25)]);
        let text = write([&entry].into_iter(), Some(&shares));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[1].starts_with("7,1970-01-01T00:00:00"), "{}", lines[1]);
        assert!(lines[1].contains("\"'=adult, \"\"new\"\"\""), "{}", lines[1]);
        assert!(lines[1].contains(",0.25,add_remove_one,"), "{}", lines[1]);
        assert!(
            lines[1].contains("'-mean") && lines[1].contains("\"\"pure\"\""),
            "{}",
            lines[1]
        );
    }
}
