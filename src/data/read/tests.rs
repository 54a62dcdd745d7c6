//! Files of every kind and in every state: what is whole reads the same whatever it is wrapped in, and what is not is
//! told with its place.

mod rounds;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;
use crate::data::profile;
use crate::data::schema::{Kind, Provenance};

struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn read(&self, name: &str, bytes: &[u8]) -> Result<Table, DataError> {
        read(&self.write(name, bytes))
    }
}

fn read(path: &Path) -> Result<Table, DataError> {
    read_table(path, &ReadOptions::default(), &Progress::new())
}

fn cells(table: &Table) -> Vec<Vec<Option<String>>> {
    table.preview(0..table.rows()).unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstandard(bytes: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(bytes, 3).unwrap()
}

const CHINESE: &str = "姓名,年龄,城市\n王小明,34,北京\n李雷,45,上海\n韩梅梅,29,广州\n";

#[test]
fn every_wrapping_holds_the_same_table() {
    let bench = Bench::new();
    let plain = bench.read("plain.csv", CHINESE.as_bytes()).unwrap();
    assert_eq!(plain.form().provenance, None, "as usual");
    let wide: Vec<u16> = CHINESE.encode_utf16().collect();
    let little: Vec<u8> = wide.iter().flat_map(|unit| unit.to_le_bytes()).collect();
    let big: Vec<u8> = wide.iter().flat_map(|unit| unit.to_be_bytes()).collect();
    let marked = |mark: &[u8], bytes: &[u8]| [mark, bytes].concat();
    for (name, bytes, encoding) in [
        ("mark.csv", marked(b"\xef\xbb\xbf", CHINESE.as_bytes()), "utf-8"),
        ("little.csv", marked(b"\xff\xfe", &little), "utf-16le"),
        ("big.csv", marked(b"\xfe\xff", &big), "utf-16be"),
        (
            "gb.csv",
            encoding_rs::GB18030.encode(CHINESE).0.into_owned(),
            "gb18030",
        ),
        ("gz.csv.gz", gzip(CHINESE.as_bytes()), "utf-8"),
        ("zst.csv", zstandard(CHINESE.as_bytes()), "utf-8"),
        (
            "both.csv.zst",
            zstandard(&encoding_rs::GB18030.encode(CHINESE).0),
            "gb18030",
        ),
    ] {
        let table = bench.read(name, &bytes).unwrap();
        assert_eq!(cells(&table), cells(&plain), "{name}");
        assert_eq!(table.form().encoding.unwrap().name(), encoding, "{name}");
        let suggested = (encoding != "utf-8").then_some(Provenance::Suggested);
        assert_eq!(table.form().provenance, suggested, "{name}");
        if name.contains("gz.") || name.contains("zst.csv") {
            assert_eq!(
                table.content_digest(),
                plain.content_digest(),
                "{name}: the same data"
            );
        }
    }
}

#[test]
fn what_is_said_is_done_and_kept() {
    let bench = Bench::new();
    let path = bench.write("t.csv", b"a;b\n1;2\n");
    let found = read(&path).unwrap();
    let kept = found.form().to_keep(&FileForm::default(), &path).unwrap();
    assert_eq!((kept.delimiter, kept.encoding), (Some(Mark::of(b';')), None));
    assert_eq!(kept.provenance, Some(Provenance::Suggested));
    let options = ReadOptions {
        form: FileForm {
            delimiter: Some(Mark::of(b',')),
            provenance: Some(Provenance::Declared),
            ..FileForm::default()
        },
        ..ReadOptions::default()
    };
    let told = read_table(&path, &options, &Progress::new()).unwrap();
    assert_eq!(told.width(), 1);
    assert_eq!(
        told.form().to_keep(&options.form, &path),
        Some(options.form.clone())
    );
    // What was said by one and found besides is only suggested.
    let path = bench.write("gb.csv", &encoding_rs::GB18030.encode("城市;名\n北京;李\n").0);
    let both = read_table(
        &path,
        &ReadOptions {
            form: FileForm {
                delimiter: Some(Mark::of(b';')),
                provenance: Some(Provenance::Declared),
                ..FileForm::default()
            },
            ..ReadOptions::default()
        },
        &Progress::new(),
    );
    assert_eq!(both.unwrap().form().provenance, Some(Provenance::Suggested));
    let wrong = ReadOptions {
        form: FileForm {
            encoding: TextEncoding::named("utf-8"),
            ..FileForm::default()
        },
        ..ReadOptions::default()
    };
    let error = read_table(&path, &wrong, &Progress::new())
        .unwrap_err()
        .to_string();
    assert!(error.contains("header") && error.contains("UTF-8"), "{error}");
    let path = bench.write(
        "cut.csv",
        &[encoding_rs::GB18030.encode(CHINESE).0.as_ref(), b"\xff\xff,1,2\n"].concat(),
    );
    let wrong = ReadOptions {
        form: FileForm {
            encoding: TextEncoding::named("gb18030"),
            ..FileForm::default()
        },
        ..ReadOptions::default()
    };
    let error = read_table(&path, &wrong, &Progress::new())
        .unwrap_err()
        .to_string();
    assert!(error.contains("line 5") && error.contains("gb18030"), "{error}");
}

#[test]
fn an_encoding_that_shows_late_is_found_all_the_same() {
    let bench = Bench::new();
    let mut bytes = b"number,city\n".to_vec();
    (0..60_000).for_each(|row| bytes.extend_from_slice(format!("{row},x\n").as_bytes()));
    let (tail, _, _) = encoding_rs::GB18030.encode("1,北京\n2,上海\n3,广州市天河区\n");
    (0..40).for_each(|_| bytes.extend_from_slice(&tail));
    let table = bench.read("late.csv", &bytes).unwrap();
    assert_eq!(table.rows(), 60_120);
    assert_eq!(table.cell(60_000, 1).unwrap().as_deref(), Some("北京"));
    assert_eq!(table.form().encoding.unwrap().name(), "gb18030");
}

#[test]
fn quotes_over_many_blocks_are_followed_whatever_the_threads() {
    let bench = Bench::new();
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    writer.write_record(["id", "note", "x"]).unwrap();
    let mut expected = Vec::new();
    for row in 0..120_000_usize {
        let note = match row % 7 {
            0 => format!("line one\nline \"two\" of {row}, end"),
            1 => String::new(),
            2 => "a,b".repeat(row % 30),
            _ => format!("plain {}", row % 1000),
        };
        let line = [row.to_string(), note, (row * row % 977).to_string()];
        writer.write_record(&line).unwrap();
        expected.push(line.map(|cell| (!cell.is_empty()).then_some(cell)).to_vec());
    }
    let bytes = writer.into_inner().unwrap();
    assert!(bytes.len() > 2 << 20);
    assert_eq!(cells(&bench.read("t.csv", &bytes).unwrap()), expected);
    // A lone quote within a field turns what is inside quotes outside: the file is read uncut then.
    let text = String::from_utf8(bytes).unwrap();
    let odd = text
        .replacen("\nline", "\n\"\"line", 1)
        .replace("plain 999", "5\" pipe");
    let table = bench.read("odd.csv", odd.as_bytes()).unwrap();
    assert_eq!(table.rows(), expected.len());
    let note = expected
        .iter()
        .position(|line| line[1].as_deref() == Some("plain 999"))
        .unwrap();
    assert_eq!(table.cell(note, 1).unwrap().as_deref(), Some("5\" pipe"));
}

#[test]
fn bad_files_name_the_place_and_the_remedy() {
    let bench = Bench::new();
    let whole = "name,value\n".to_owned() + &"some text,12345\n".repeat(5000);
    let (gz, zst) = (gzip(whole.as_bytes()), zstandard(whole.as_bytes()));
    let bomb = zstandard(&["a,b\n", &"1,2\n".repeat(6 << 20)].concat().into_bytes());
    let unclosed = whole.clone() + "\"never closed,1\n" + &whole[11..];
    for (name, bytes, words) in [
        (
            "cut.csv.gz",
            &gz[..gz.len() / 2],
            &["gzip", "damaged or cut off"][..],
        ),
        (
            "cut.csv.zst",
            &zst[..zst.len() - 9],
            &["zstd", "damaged or cut off"],
        ),
        ("noise.gz", b"\x1f\x8b and no more", &["gzip", "damaged"]),
        (
            "bomb.csv.zst",
            &bomb,
            &["unpacks to more than", "unpack it first"],
        ),
        ("twice.gz", &gzip(&gz), &["within an archive", "unpack"]),
        (
            "unclosed.csv",
            unclosed.as_bytes(),
            &["row 5001", "line 5002", "never closed"],
        ),
        ("a.csv", b"a,a\n1,2\n", &["`a`", "twice"]),
        ("b.csv", b"a,,c\n1,2,3\n", &["column 2", "no name"]),
        ("c.csv", b"a,b\n1,2\n3\n", &["row 2", "line 3"]),
        ("d.csv", b"", &["empty"]),
        ("e.csv", b"a,b\n", &["no row"]),
    ] {
        let error = bench.read(name, bytes).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
        words
            .iter()
            .for_each(|word| assert!(error.contains(word), "{name}: {word}: {error}"));
    }
    assert!(matches!(
        read(Path::new("gone.csv")),
        Err(DataError::NotFound { .. })
    ));
}

#[test]
fn odd_columns_are_read_and_profiled() {
    let bench = Bench::new();
    let mut text = "none,same,infinite,huge,hex,year,words\n".to_owned();
    for row in 0..600 {
        let year = ["0000-01-01", "9999-12-31"][row % 2];
        let number = ["NaN", "inf", "-inf", "1.5"][row % 4];
        let huge = ["1e999", "1e3"][row % 2];
        let hex = ["0x10", "0x1F"][row % 2];
        text.push_str(&format!(",7,{number},{huge},{hex},{year},w{}\n", row % 3));
    }
    let table = bench.read("t.csv", text.as_bytes()).unwrap();
    let found = profile(&table, &Progress::new()).unwrap();
    let kinds: Vec<Kind> = found.schema.column.iter().map(|column| column.kind).collect();
    assert_eq!(kinds[0], Kind::Text, "nothing in it");
    assert_eq!(kinds[3..5], [Kind::Categorical; 2], "no numbers");
    assert_eq!(kinds[5], Kind::Date);
    assert_eq!(found.columns[5].numbers.as_ref().unwrap().max_text, "9999-12-31");
    assert_eq!(found.columns[0].missing, 600);

    let wide: Vec<String> = (0..5000).map(|column| format!("c{column}")).collect();
    let line = vec!["1"; 5000].join(",");
    let text = wide.join(",") + "\n" + &(line + "\n").repeat(200);
    let table = bench.read("wide.csv", text.as_bytes()).unwrap();
    assert_eq!((table.rows(), table.width()), (200, 5000));

    let long = "x".repeat(50 << 20);
    let text = format!("a,b\n1,\"{long}\"\n2,y\n");
    let table = bench.read("long.csv", text.as_bytes()).unwrap();
    assert_eq!(table.cell(0, 1).unwrap().unwrap().len(), 50 << 20);
    assert_eq!(table.cell(1, 1).unwrap().as_deref(), Some("y"));
}

#[test]
fn a_file_that_changes_while_it_is_read_is_told() {
    let bench = Bench::new();
    let text = "name,value\n".to_owned() + &"some text,12345\n".repeat(2_000_000);
    let path = bench.write("t.csv", text.as_bytes());
    let progress = Progress::new();
    let outcome = std::thread::scope(|scope| {
        let reading = scope.spawn(|| read_table(&path, &ReadOptions::default(), &progress));
        while progress.done() == 0 {
            std::thread::yield_now();
        }
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"one more,1\n").unwrap();
        reading.join().unwrap()
    });
    let error = outcome.unwrap_err().to_string();
    assert!(error.contains("changed while it was read"), "{error}");
    // One that vanishes is read to its end: it is open.
    let progress = Progress::new();
    let table = std::thread::scope(|scope| {
        let reading = scope.spawn(|| read_table(&path, &ReadOptions::default(), &progress));
        while progress.done() == 0 {
            std::thread::yield_now();
        }
        std::fs::remove_file(&path).unwrap();
        reading.join().unwrap()
    });
    assert_eq!(table.unwrap().rows(), 2_000_001);
}

#[test]
fn spelled_numbers_are_numbers_and_doubt_is_shown() {
    let bench = Bench::new();
    let mut text = "Preis;Menge;Anteil;Tag;Posten\n".to_owned();
    for row in 0..400 {
        text.push_str(&format!(
            "{}.{:03},{:02} €;{},{};{} %;{:02}/0{}/2019;{}.{:03}\n",
            1 + row % 9,
            row,
            row % 100,
            row % 50,
            row % 10,
            row % 101,
            1 + row % 12,
            1 + row % 9,
            1 + row % 7,
            row % 20
        ));
    }
    let table = bench.read("t.csv", text.as_bytes()).unwrap();
    let found = profile(&table, &Progress::new()).unwrap();
    let column = |name: &str| found.schema.find(name).unwrap();
    assert_eq!(column("Preis").format.as_deref(), Some("1.234,5 €"));
    assert_eq!(
        (column("Preis").kind, column("Preis").decimals),
        (Kind::Continuous, Some(2))
    );
    assert_eq!(column("Menge").format.as_deref(), Some("1234,5"));
    assert_eq!(column("Anteil").format.as_deref(), Some("1234 %"));
    assert_eq!(
        column("Posten").format.as_deref(),
        Some("1.234"),
        "thousands, where commas are decimal"
    );
    let doubts: Vec<&str> = found
        .warnings
        .iter()
        .filter_map(|warning| warning.column.as_deref())
        .collect();
    assert!(
        doubts.contains(&"Tag") && doubts.contains(&"Posten"),
        "{doubts:?}"
    );
    assert!(!doubts.contains(&"Preis"));
    let said: Vec<String> = found.warnings.iter().map(ToString::to_string).collect();
    assert!(
        said.iter()
            .any(|text| text.contains("01/01/2019") || text.contains("/2019 is read as")),
        "{said:?}"
    );
    // Encoded by its format, and spelled so when it leaves.
    let price = crate::data::NumberReader::unbounded(&found.schema, "Preis").unwrap();
    let mut first = None;
    price
        .read(&table, &mut |cells| first = first.or(cells.first().copied()))
        .unwrap();
    assert_eq!(price.number(first.unwrap()), 1000.0);
    assert_eq!(
        crate::data::CellFormat::new(column("Preis"))
            .number("-1234.5")
            .as_deref(),
        Some("-1.234,50 €")
    );
}

/// Every table at hand, however it is packed, encoded or stored.
#[test]
fn the_tables_at_hand_read_the_same_from_every_form() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/tabular");
    let Ok(files) = std::fs::read_dir(&folder) else {
        println!("skipped: {} is not at hand", folder.display());
        return;
    };
    let bench = Bench::new();
    for file in files.flatten() {
        let path = file.path();
        if path.extension().is_none_or(|ending| ending != "csv") {
            continue;
        }
        let table = read(&path).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let again = bench.read("t.csv.gz", &gzip(&bytes)).unwrap();
        assert_eq!(again.content_digest(), table.content_digest());
        assert_eq!(cells(&again), cells(&table), "{}", path.display());
        if let Ok(text) = std::str::from_utf8(&bytes) {
            let (encoded, _, lost) = encoding_rs::GB18030.encode(text);
            assert!(!lost);
            let options = ReadOptions {
                form: FileForm {
                    encoding: TextEncoding::named("gb18030"),
                    ..FileForm::default()
                },
                ..ReadOptions::default()
            };
            let path = bench.write("t.csv", &encoded);
            let again = read_table(&path, &options, &Progress::new()).unwrap();
            assert_eq!(cells(&again), cells(&table), "{}", path.display());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    /// Whatever the bytes, there is a table or an error that names the file.
    #[test]
    fn no_text_is_too_odd(bytes in prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        r#"[ab1,;"'\\#\t\r\n é中€-]{0,120}"#.prop_map(String::into_bytes),
        "(a;b,c\n)?([0-9.,]{0,5}[;,]){0,30}".prop_map(String::into_bytes),
    ]) {
        let bench = Bench::new();
        match bench.read("odd.csv", &bytes) {
            Ok(table) => {
                prop_assert!(table.rows() > 0 && table.width() > 0);
                let _ = profile(&table, &Progress::new()).unwrap();
            }
            Err(error) => prop_assert!(error.to_string().contains("odd.csv"), "{}", error),
        }
    }

    /// Damaged files of every binary form are told, never a reason to panic.
    #[test]
    fn no_damage_is_too_odd(which in 0_usize..4, place in any::<prop::sample::Index>(), byte: u8, cut in any::<prop::sample::Index>(), is_cut: bool) {
        let bench = Bench::new();
        let mut bytes = binary(which).to_vec();
        let place = place.index(bytes.len());
        bytes[place] ^= byte.max(1);
        if is_cut {
            bytes.truncate(cut.index(bytes.len()) + 1);
        }
        if let Err(error) = bench.read("odd.bin", &bytes) {
            prop_assert!(error.to_string().contains("odd.bin"), "{}", error);
        }
    }
}

/// A small table as Parquet, Arrow, SQLite and gzip.
fn binary(which: usize) -> &'static [u8] {
    static FORMS: std::sync::OnceLock<Vec<Vec<u8>>> = std::sync::OnceLock::new();
    let forms = FORMS.get_or_init(|| {
        let bench = Bench::new();
        let text = "a,b,c\n".to_owned() + &"1,x,2.5\n2,y,\n".repeat(40);
        let table = bench.read("t.csv", text.as_bytes()).unwrap();
        let batch = &table.batches().next().unwrap().unwrap();
        let mut arrow = Vec::new();
        let mut writer = arrow_ipc::writer::FileWriter::try_new(&mut arrow, &batch.schema()).unwrap();
        writer.write(batch).unwrap();
        writer.finish().unwrap();
        drop(writer);
        let mut parquet = Vec::new();
        let mut writer = ::parquet::arrow::ArrowWriter::try_new(&mut parquet, batch.schema(), None).unwrap();
        writer.write(batch).unwrap();
        writer.close().unwrap();
        let path = bench.folder.path().join("t.db");
        rusqlite::Connection::open(&path)
            .unwrap()
            .execute_batch("CREATE TABLE t (a INTEGER, b TEXT); INSERT INTO t VALUES (1, 'x'), (2, NULL);")
            .unwrap();
        vec![
            parquet,
            arrow,
            std::fs::read(&path).unwrap(),
            gzip(text.as_bytes()),
        ]
    });
    &forms[which]
}
