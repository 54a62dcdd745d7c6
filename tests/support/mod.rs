//! What the end-to-end tests share: a program folder of their own, and a small table that anyone can make.
#![allow(dead_code)] // each test program uses its own part of this file

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A temporary folder with the program's home inside it.
pub struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn home(&self) -> PathBuf {
        self.path("home")
    }

    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, contents).unwrap();
        path
    }

    /// The program with its home in this folder.
    pub fn program(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pointillist"));
        command
            .env("POINTILLIST_HOME", self.home())
            .current_dir(self.folder.path());
        command
    }

    /// Runs the program.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.program().args(arguments).output().unwrap()
    }

    /// Runs the program with `--json`, expects success, and reads the one object it prints.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let output = self.program().args(arguments).arg("--json").output().unwrap();
        assert!(
            output.status.success(),
            "{arguments:?}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(text.lines().count(), 1, "one object on one line, got: {text}");
        serde_json::from_str(&text).unwrap()
    }

    /// Runs the program, expects this exit status, and gives what it said on standard error.
    pub fn fails(&self, status: i32, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{arguments:?} said: {said}");
        assert!(!said.contains("panicked"), "{arguments:?} panicked: {said}");
        assert!(!said.trim().is_empty(), "{arguments:?} failed without a word");
        said
    }

    /// A table of visits and its schema, declared whole. Returns the table's path.
    pub fn visits(&self, rows: usize) -> PathBuf {
        self.write("visits.schema.toml", schema(rows));
        self.write("visits.csv", visits_csv(rows))
    }

    /// Files in the folder that are neither inputs nor known by name.
    pub fn leftovers(&self, known: &[&str]) -> Vec<String> {
        std::fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .filter(|name| name != "home" && !known.contains(&name.as_str()))
            .collect()
    }
}

/// The text of a path.
pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Four columns of every kind that matters: a number, a category with gaps, a boolean and a label.
pub fn visits_csv(rows: usize) -> String {
    let mut csv = String::from("age,ward,smoker,outcome\n");
    for row in 0..rows {
        let age = 20 + (row * 7) % 60;
        let ward = ["north", "south", "", "east"][row % 4];
        let smoker = row % 3 == 0;
        let outcome = if age > 50 { "ill" } else { "well" };
        writeln!(csv, "{age},{ward},{smoker},{outcome}").unwrap();
    }
    csv
}

/// The schema of [`visits_csv`] with that many rows.
pub fn schema(rows: usize) -> String {
    SCHEMA.replace("value = 2000", &format!("value = {rows}"))
}

const SCHEMA: &str = r#"version = 1
missing = ["", "NA"]
label = "outcome"

[rows]
value = 2000
provenance = "declared"

[[column]]
name = "age"
kind = "integer"
lower = 18
upper = 90
provenance = "declared"

[[column]]
name = "ward"
kind = "categorical"
domain = ["north", "south", "east", "west"]
missing = true
provenance = "declared"

[[column]]
name = "smoker"
kind = "boolean"
provenance = "declared"

[[column]]
name = "outcome"
kind = "categorical"
domain = ["well", "ill"]
provenance = "declared"
"#;
