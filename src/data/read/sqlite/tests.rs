use super::*;
use crate::data::read_table;

fn database(statements: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    Connection::open(&path)
        .unwrap()
        .execute_batch(statements)
        .unwrap();
    (folder, path)
}

fn read(path: &Path, table: Option<&str>) -> Result<Table, DataError> {
    let mut options = ReadOptions::default();
    options.form.table = table.map(str::to_owned);
    read_table(path, &options, &Progress::new())
}

#[test]
fn cells_decide_and_declarations_are_believed_where_they_hold() {
    let (_folder, path) = database(
        "CREATE TABLE t (id INTEGER, x REAL, mixed, flag BOOLEAN, day DATE, not_a_day DATE, code TEXT, none TEXT, big);
         INSERT INTO t VALUES (1, 2, 1, 1, '2019-03-31', 'soon', '007', NULL, 9007199254740993),
                              (NULL, 2.5, 'word', NULL, NULL, '2019-03-31', ' a ', '', 0.5);",
    );
    let table = read(&path, None).unwrap();
    assert_eq!((table.rows(), table.width()), (2, 9));
    let types: Vec<String> = table
        .schema()
        .fields()
        .iter()
        .map(|field| field.data_type().to_string())
        .collect();
    assert_eq!(types[..2], ["Int64", "Float64"]);
    assert_eq!(types[3..5], ["Boolean", "Date32"]);
    assert!(types[5].starts_with("Dictionary"), "{types:?}");
    let line = |row: usize| table.preview(row..row + 1).unwrap().remove(0);
    let texts = |cells: [&str; 9]| cells.map(|cell| (cell != "-").then(|| cell.to_owned())).to_vec();
    assert_eq!(
        line(0),
        texts([
            "1",
            "2.0",
            "1",
            "true",
            "2019-03-31",
            "soon",
            "007",
            "-",
            "9007199254740993"
        ])
    );
    assert_eq!(
        line(1),
        texts(["-", "2.5", "word", "-", "-", "2019-03-31", "a", "-", "0.5"])
    );
}

#[test]
fn a_view_without_an_end_ends_when_it_is_cancelled() {
    let (_folder, path) = database(
        "CREATE VIEW v AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n;",
    );
    let progress = Progress::new();
    let other = progress.clone();
    let canceller = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        other.cancel();
    });
    let outcome = read_table(&path, &ReadOptions::default(), &progress);
    assert!(matches!(outcome, Err(DataError::Cancelled)), "{outcome:?}");
    canceller.join().unwrap();
}

#[test]
fn what_is_wrong_is_called_by_its_name() {
    let (_folder, path) = database(
        "CREATE TABLE t (a); INSERT INTO t VALUES (1); CREATE VIEW v AS SELECT * FROM t; DROP TABLE t;",
    );
    let said = read(&path, None).unwrap_err().to_string();
    assert!(said.contains("`v`") && said.contains("no such table"), "{said}");

    let (_folder, path) = database("CREATE TABLE t (a); INSERT INTO t VALUES (1);");
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let said = read(&path, None).unwrap_err().to_string();
    assert!(said.contains("another program has it locked"), "{said}");
    drop(other);

    // A program that ended in the midst of a write, seen by copying its files.
    let (folder, path) = database("CREATE TABLE t (a); INSERT INTO t VALUES (1);");
    let writer = Connection::open(&path).unwrap();
    writer
        .execute_batch("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN;")
        .unwrap();
    for _ in 0..2000 {
        writer
            .execute("INSERT INTO t VALUES (hex(randomblob(500)))", [])
            .unwrap();
    }
    let copy = folder.path().join("copy.db");
    std::fs::copy(&path, &copy).unwrap();
    std::fs::copy(
        folder.path().join("t.db-journal"),
        folder.path().join("copy.db-journal"),
    )
    .unwrap();
    let said = read(&copy, None).unwrap_err().to_string();
    assert!(
        said.contains("journal") && said.contains("open it once"),
        "{said}"
    );
}

#[test]
fn columns_that_are_worked_out_are_read_in_their_place() {
    let (_folder, path) = database(
        "CREATE TABLE t (a INTEGER, twice INTEGER GENERATED ALWAYS AS (2 * a) VIRTUAL, b TEXT,
             both TEXT AS (b || a) STORED, flag BOOLEAN AS (a > 1));
         INSERT INTO t (a, b) VALUES (1, 'x'), (2, 'y');",
    );
    let table = read(&path, None).unwrap();
    assert_eq!(
        table.column_names().collect::<Vec<_>>(),
        ["a", "twice", "b", "both", "flag"]
    );
    let cells = ["2", "4", "y", "y2", "true"].map(|cell| Some(cell.to_owned()));
    assert_eq!(table.preview(1..2).unwrap()[0], cells);
}

#[test]
fn text_says_what_the_cells_say_whatever_came_before_it() {
    let (_folder, path) = database(
        "CREATE TABLE t (a, d DATE); INSERT INTO t VALUES (1, '2019-03-31'), (0.5, NULL), ('x', 'y');",
    );
    let table = read(&path, None).unwrap();
    let cells: Vec<_> = (0..3).map(|row| table.cell(row, 0).unwrap().unwrap()).collect();
    assert_eq!(cells, ["1", "0.5", "x"]);
    assert_eq!(table.cell(0, 1).unwrap().as_deref(), Some("2019-03-31"));
}

#[test]
fn a_view_is_read_as_a_table_is() {
    let (_folder, path) = database(
        "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3);
         CREATE VIEW calm AS SELECT a, a || '!' AS loud FROM t;",
    );
    let table = read(&path, Some("calm")).unwrap();
    assert_eq!(table.cell(2, 1).unwrap().as_deref(), Some("3!"));
}

#[test]
fn of_several_tables_one_is_named_and_damage_is_said() {
    let (_folder, path) = database(
        "CREATE TABLE a (x); CREATE TABLE \"b \"\"c\" (y); INSERT INTO a VALUES (1); INSERT INTO \"b \"\"c\" VALUES (2);
         CREATE TABLE blobs (z); INSERT INTO blobs VALUES (x'00'); CREATE TABLE empty (e);",
    );
    assert_eq!(
        read(&path, None).unwrap().form().table.as_deref(),
        Some("a"),
        "the first"
    );
    let error = read(&path, Some("none")).unwrap_err().to_string();
    assert!(error.contains("a, b \"c") && error.contains("table"), "{error}");
    let table = read(&path, Some("b \"c")).unwrap();
    assert_eq!(table.cell(0, 0).unwrap().as_deref(), Some("2"));
    assert!(
        read(&path, Some("blobs"))
            .unwrap_err()
            .to_string()
            .contains("BLOB")
    );
    assert!(
        read(&path, Some("empty"))
            .unwrap_err()
            .to_string()
            .contains("no row")
    );
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let error = read(&path, Some("blobs")).unwrap_err().to_string();
    assert!(error.contains("damaged"), "{error}");
}
