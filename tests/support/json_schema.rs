//! Holds a value against the part of JSON Schema that the published files use.

use serde_json::Value;

/// Checks a value against the part of JSON Schema that the published file uses.
pub fn check_schema(value: &Value, schema: &Value, root: &Value, path: &str) -> Result<(), String> {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return check_schema(
            value,
            root.pointer(reference.trim_start_matches('#')).unwrap(),
            root,
            path,
        );
    }
    if let Some(options) = schema.get("oneOf").and_then(Value::as_array) {
        let fits = options
            .iter()
            .filter(|option| check_schema(value, option, root, path).is_ok())
            .count();
        return if fits == 1 {
            Ok(())
        } else {
            Err(format!("{path}: fits {fits} forms"))
        };
    }
    if schema.get("const").is_some_and(|wanted| wanted != value)
        || schema
            .get("enum")
            .is_some_and(|list| !list.as_array().unwrap().contains(value))
    {
        return Err(format!("{path}: {value} is not among those allowed"));
    }
    let fits = match schema.get("type").and_then(Value::as_str) {
        None => true,
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_u64(),
        Some("number") => value.is_number(),
        Some(other) => return Err(format!("{path}: the type {other} is unknown")),
    };
    if !fits {
        return Err(format!("{path}: {value} has another type"));
    }
    if let Some(fields) = value.as_object() {
        for name in schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            if !fields.contains_key(name.as_str().unwrap()) {
                return Err(format!("{path}: {name} is missing"));
            }
        }
        for (name, field) in fields {
            let inner = schema
                .pointer(&format!("/properties/{name}"))
                .or(schema.get("additionalProperties"));
            match inner {
                Some(Value::Bool(false)) => return Err(format!("{path}: {name} is unknown")),
                Some(inner) => check_schema(field, inner, root, &format!("{path}/{name}"))?,
                None => {}
            }
        }
    }
    for (item, index) in value.as_array().into_iter().flatten().zip(0..) {
        if let Some(inner) = schema.get("items") {
            check_schema(item, inner, root, &format!("{path}/{index}"))?;
        }
    }
    Ok(())
}
