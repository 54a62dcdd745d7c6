//! How a file is read, from the flags to the certificate.

mod support;

use std::fs;

use support::{Bench, text};

/// The visits with semicolons, Chinese wards and in GB18030; and their schema.
fn visits(bench: &Bench) -> (std::path::PathBuf, String) {
    let input = bench.visits(300);
    let words = |text: String| {
        text.replace("north", "北区")
            .replace("south", "南区")
            .replace("east", "东区")
    };
    let table = words(fs::read_to_string(&input).unwrap()).replace(',', ";");
    let mut bytes = Vec::new();
    for letter in table.chars() {
        match letter {
            '北' => bytes.extend_from_slice(b"\xb1\xb1"),
            '南' => bytes.extend_from_slice(b"\xc4\xcf"),
            '东' => bytes.extend_from_slice(b"\xb6\xab"),
            '区' => bytes.extend_from_slice(b"\xc7\xf8"),
            ascii => bytes.push(ascii as u8),
        }
    }
    let schema = words(fs::read_to_string(bench.path("visits.schema.toml")).unwrap());
    (bench.write("visits.csv", bytes), schema)
}

#[test]
fn what_was_found_waits_for_a_person_and_stands_on_the_certificate() {
    let bench = Bench::new();
    let (input, schema) = visits(&bench);
    bench.write("visits.schema.toml", &schema);
    let run = [
        "synthesize",
        text(&input),
        "--method",
        "dpgan",
        "--epsilon",
        "3",
        "--delta",
        "1e-5",
        "--steps",
        "3",
        "--rows",
        "50",
    ];
    let with =
        |more: &[&str]| -> Vec<String> { run.iter().chain(more).map(|word| (*word).to_owned()).collect() };
    let words = |line: &[String]| line.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    let refused = with(&["--out", "a.csv"]);
    let refused: Vec<&str> = refused.iter().map(String::as_str).collect();
    let said = bench.fails(1, &refused);
    assert!(
        said.contains("`read`") && said.contains("found in the file"),
        "{said}"
    );

    let declared = with(&["--out", "b.csv", "--encoding", "gbk", "--delimiter", ";"]);
    let declared: Vec<&str> = declared.iter().map(String::as_str).collect();
    bench.json(&declared);
    let certificate = fs::read_to_string(bench.path("b.csv.certificate.json")).unwrap();
    assert!(!certificate.contains("accepted_form"), "{certificate}");
    let recipe = fs::read_to_string(bench.path("b.csv.recipe.toml")).unwrap();
    assert!(
        recipe.contains("encoding = \"gb18030\"") && recipe.contains("delimiter = \";\""),
        "{recipe}"
    );

    let accepted =
        schema + "\n[read]\nencoding = \"gb18030\"\ndelimiter = \";\"\nprovenance = \"accepted\"\n";
    bench.write("visits.schema.toml", accepted);
    let line = with(&["--out", "c.csv"]);
    let arguments: Vec<&str> = line.iter().map(String::as_str).collect();
    bench.json(&arguments);
    let certificate = fs::read_to_string(bench.path("c.csv.certificate.json")).unwrap();
    assert!(certificate.contains("accepted_form"), "{}", words(&line));
}

#[test]
fn a_profile_keeps_what_it_found_and_writes_every_form() {
    let bench = Bench::new();
    let (input, _) = visits(&bench);
    let found = bench.json(&["profile", text(&input)]);
    let schema = found["schema"].as_str().unwrap();
    assert!(
        schema.contains("[read]") && schema.contains("encoding = \"gb18030\""),
        "{schema}"
    );
    assert!(schema.contains("北区"), "{schema}");
    let said = bench.fails(2, &["profile", text(&input), "--encoding", "klingon"]);
    assert!(said.contains("klingon"), "{said}");
    let input = bench.visits(300);
    for name in ["out.arrow", "out.sqlite", "out.csv"] {
        bench.json(&[
            "synthesize",
            text(&input),
            "--method",
            "gan",
            "--steps",
            "3",
            "--rows",
            "40",
            "--out",
            name,
        ]);
        let again = bench.json(&["profile", name]);
        assert_eq!(again["rows"], 40, "{name}");
    }
}
