//! Holds every folder of `src` to the rooms that it may import.
//!
//! A single crate enforces nothing of the kind, so this test reads the `crate::` paths of every file. When a
//! room needs one more import, change the table here, in the commit that gives the reason.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A room, the rooms of this crate that it may import, and the outside crates that it must not.
const ROOMS: &[(&str, &[&str], &[&str])] = &[
    (
        "num",
        &[],
        &["burn", "eframe", "egui", "clap", "arrow", "rusqlite"],
    ),
    // A table of a database is read, and written by `export`.
    ("data", &["num"], &["burn", "eframe", "egui", "clap"]),
    (
        "privacy",
        &["num"],
        &["burn", "eframe", "egui", "clap", "arrow", "parquet"],
    ),
    (
        "release",
        &["num", "data", "privacy"],
        &["burn", "eframe", "egui", "clap", "arrow", "rusqlite"],
    ),
    (
        "model",
        &["num"],
        &["eframe", "egui", "clap", "arrow", "rusqlite"],
    ),
    (
        "train",
        &["num", "data", "privacy", "model", "evaluate"],
        &["eframe", "egui", "clap", "rusqlite"],
    ),
    // `train` shows the Fréchet distance while it runs, so of the two only this one is free of the other.
    (
        "evaluate",
        &["num", "data", "privacy", "model"],
        &["eframe", "egui", "clap", "rusqlite"],
    ),
    (
        "export",
        &["num", "data", "privacy", "model", "train", "evaluate"],
        &["eframe", "egui", "clap"],
    ),
    (
        "engine",
        &[
            "num", "data", "privacy", "release", "model", "train", "evaluate", "export",
        ],
        &["eframe", "egui", "clap", "indicatif"],
    ),
    (
        "cli",
        &["num", "data", "privacy", "release", "train", "export", "engine"],
        &["eframe", "egui", "burn", "rusqlite"],
    ),
    (
        "gui",
        &["num", "data", "privacy", "release", "train", "export", "engine"],
        &["clap", "burn", "rusqlite"],
    ),
];

fn rust_files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, into);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            into.push(path);
        }
    }
}

/// The code of a file: comments left out, and of a `#[cfg(test)]` module (at the end, or in files of its own)
/// nothing either, since tests may look at whatever they like.
fn code(path: &Path) -> String {
    let within = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(path);
    if within
        .components()
        .any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs")
    {
        return String::new();
    }
    let text = fs::read_to_string(path).unwrap();
    let body = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    body.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

fn words_after<'a>(code: &'a str, prefix: &str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    for (position, _) in code.match_indices(prefix) {
        let preceded_by_word = code[..position].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        if preceded_by_word {
            continue;
        }
        let rest = &code[position + prefix.len()..];
        if let Some(list) = rest.strip_prefix('{') {
            // `use crate::{data::Schema, num::Delta}`: the first word of each item at the outer level.
            let mut depth = 0;
            let mut start = 0;
            for (at, letter) in list.char_indices() {
                match letter {
                    '{' => depth += 1,
                    '}' if depth == 0 => {
                        found.insert(first_word(&list[start..at]));
                        break;
                    }
                    '}' => depth -= 1,
                    ',' if depth == 0 => {
                        found.insert(first_word(&list[start..at]));
                        start = at + 1;
                    }
                    _ => {}
                }
            }
        } else {
            found.insert(first_word(rest));
        }
    }
    found.remove("");
    found
}

fn first_word(text: &str) -> &str {
    let text = text.trim_start();
    let end = text
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(text.len());
    &text[..end]
}

#[test]
fn each_room_imports_only_what_its_place_allows() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let names: BTreeSet<&str> = ROOMS.iter().map(|room| room.0).collect();
    let mut faults = Vec::new();
    let mut read = 0;
    for (room, allowed, banned) in ROOMS {
        let mut files = Vec::new();
        rust_files(&source.join(room), &mut files);
        for file in files {
            read += 1;
            let code = code(&file);
            for word in words_after(&code, "crate::") {
                if names.contains(word) && word != *room && !allowed.contains(&word) {
                    faults.push(format!(
                        "{}: `{room}` may not import `crate::{word}`",
                        file.display()
                    ));
                }
            }
            for crate_name in *banned {
                if code.contains(&format!("{crate_name}::")) && uses_crate(&code, crate_name) {
                    faults.push(format!(
                        "{}: `{room}` may not use the crate `{crate_name}`",
                        file.display()
                    ));
                }
            }
        }
    }
    assert!(
        read > 30,
        "only {read} files were read: is the table still about this crate?"
    );
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn uses_crate(code: &str, name: &str) -> bool {
    let path = format!("{name}::");
    code.match_indices(&path).any(|(at, _)| {
        let before = &code[..at];
        !before.ends_with(|c: char| c.is_alphanumeric() || c == '_') && !before.ends_with("::")
    })
}

#[test]
fn every_folder_of_the_source_is_in_the_table() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for entry in fs::read_dir(source).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            assert!(
                ROOMS.iter().any(|room| room.0 == name),
                "src/{name} has no place in the table of rooms"
            );
        }
    }
}

#[test]
fn the_reader_of_imports_sees_what_it_should() {
    let code = "use crate::{data::{Schema, Table}, num::Delta};\nlet x = crate::privacy::ledger::Entry;\nother_crate::train::y";
    assert_eq!(
        words_after(code, "crate::"),
        BTreeSet::from(["data", "num", "privacy"])
    );
    assert!(uses_crate("let t: burn::Tensor<2>;", "burn"));
    assert!(!uses_crate("let t: sunburn::Tensor; a::burn::b", "burn"));
}
