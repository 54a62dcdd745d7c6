//! Workbooks made by hand, part by part, and by the crate that writes them.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use arrow::record_batch::RecordBatch;
use rust_xlsxwriter as out;
use zip::write::SimpleFileOptions;

use super::*;
use crate::data::read_table;

const SPREADSHEET: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// A workbook of sheets, each given by what is in it.
fn book(sheets: &[(&str, &str)], settings: &str) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let mut add = |name: &str, content: &str| {
        archive.start_file(name, SimpleFileOptions::default()).unwrap();
        archive.write_all(content.as_bytes()).unwrap();
    };
    let (mut names, mut relations) = (String::new(), String::new());
    for ((name, _), number) in sheets.iter().zip(1..) {
        names += &format!("<sheet name=\"{name}\" sheetId=\"{number}\" r:id=\"r{number}\"/>");
        relations += &format!(
            "<Relationship Id=\"r{number}\" Type=\"{OFFICE}/worksheet\" Target=\"worksheets/sheet{number}.xml\"/>"
        );
    }
    add(
        "[Content_Types].xml",
        &format!("<Types xmlns=\"{PACKAGE}/content-types\"/>"),
    );
    add(
        "_rels/.rels",
        &format!(
            "<Relationships xmlns=\"{PACKAGE}/relationships\"><Relationship Id=\"r1\" \
             Type=\"{OFFICE}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
        ),
    );
    add(
        "xl/workbook.xml",
        &format!(
            "<workbook xmlns=\"{SPREADSHEET}\" xmlns:r=\"{OFFICE}\">{settings}<sheets>{names}</sheets></workbook>"
        ),
    );
    add(
        "xl/_rels/workbook.xml.rels",
        &format!("<Relationships xmlns=\"{PACKAGE}/relationships\">{relations}</Relationships>"),
    );
    // The second format of cells is that of dates.
    add(
        "xl/styles.xml",
        &format!(
            "<styleSheet xmlns=\"{SPREADSHEET}\"><cellXfs count=\"2\"><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/></cellXfs>\
             </styleSheet>"
        ),
    );
    for ((_, content), number) in sheets.iter().zip(1..) {
        add(
            &format!("xl/worksheets/sheet{number}.xml"),
            &format!("<worksheet xmlns=\"{SPREADSHEET}\">{content}</worksheet>"),
        );
    }
    archive.finish().unwrap().into_inner()
}

/// A sheet of rows that begin where they say; a cell is a text, or a number where it reads as one.
fn sheet(rows: &[(u32, &str, &[&str])]) -> String {
    let mut xml = "<sheetData>".to_owned();
    for (row, column, cells) in rows {
        xml += &format!("<row r=\"{row}\">");
        let first = column.as_bytes()[0];
        for (cell, place) in cells.iter().zip(first..) {
            let place = char::from(place);
            xml += &if cell.starts_with('<') {
                cell.replace('@', &format!("{place}{row}"))
            } else if cell.parse::<f64>().is_ok() {
                format!("<c r=\"{place}{row}\"><v>{cell}</v></c>")
            } else {
                format!("<c r=\"{place}{row}\" t=\"inlineStr\"><is><t>{cell}</t></is></c>")
            };
        }
        xml += "</row>";
    }
    xml + "</sheetData>"
}

fn write(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("book.xlsx");
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn load(bytes: &[u8], sheet: Option<&str>) -> Result<Table, DataError> {
    let (_folder, path) = write(bytes);
    let options = ReadOptions {
        form: FileForm {
            sheet: sheet.map(str::to_owned),
            ..FileForm::default()
        },
        ..ReadOptions::default()
    };
    read_table(&path, &options, &Progress::new())
}

fn one(content: &str) -> Result<Table, DataError> {
    load(&book(&[("data", content)], ""), None)
}

fn says(result: Result<Table, DataError>, words: &[&str]) {
    let said = result.unwrap_err().to_string();
    assert!(
        said.contains("book.xlsx") && words.iter().all(|word| said.contains(word)),
        "{said}"
    );
}

/// The rows as text, `-` for a missing cell.
fn rows(table: &Table) -> Vec<String> {
    let rows = table.preview(0..table.rows()).unwrap();
    rows.into_iter()
        .map(|row| {
            let cells: Vec<String> = row
                .into_iter()
                .map(|cell| cell.unwrap_or("-".to_owned()))
                .collect();
            cells.join("|")
        })
        .collect()
}

#[test]
fn cells_keep_their_types_wherever_the_table_begins() {
    let date = "<c r=\"@\" s=\"1\"><v>43555</v></c>";
    let flag = "<c r=\"@\" t=\"b\"><v>1</v></c>";
    let table = one(&sheet(&[
        (3, "B", &["whole", "real", "word", "day", "flag", "2020"]),
        (4, "B", &["1", "0.5", "a", date, flag, "007x"]),
        (6, "B", &["-2", "3"]),
    ]))
    .unwrap();
    assert_eq!(table.form().sheet.as_deref(), Some("data"));
    let names: Vec<&str> = table.column_names().collect();
    assert_eq!(names, ["whole", "real", "word", "day", "flag", "2020"]);
    // The empty row within is a row.
    assert_eq!(
        rows(&table),
        ["1|0.5|a|2019-03-31|true|007x", "-|-|-|-|-|-", "-2|3.0|-|-|-|-"]
    );
    let types: Vec<String> = table
        .schema()
        .fields()
        .iter()
        .map(|field| field.data_type().to_string())
        .collect();
    assert_eq!(types[..2], ["Int64", "Float64"]);
    assert_eq!((&*types[3], &*types[4]), ("Date32", "Boolean"));
}

#[test]
fn days_are_those_that_a_sheet_shows() {
    for (serial, shown) in [
        (0.0, "00:00:00"),
        (0.75, "18:00:00"),
        (1.0, "1900-01-01"),
        (59.0, "1900-02-28"),
        (61.0, "1900-03-01"),
        (43555.25, "2019-03-31T06:00:00"),
        (2_958_465.0, "9999-12-31"),
    ] {
        let mut column = MixedColumn::new();
        column.push(moment_cell(serial, false));
        let batch = RecordBatch::try_from_iter([("day", column.finish().remove(0))]).unwrap();
        let table = Table::from_batches("t", &batch.schema(), &[batch]).unwrap();
        let found = table.cell(0, 0).unwrap().unwrap();
        assert_eq!(if serial == 0.0 { "00:00:00" } else { shown }, found, "{serial}");
    }
    // Some workbooks count from 1904.
    let day = sheet(&[(1, "A", &["day"]), (2, "A", &["<c r=\"@\" s=\"1\"><v>1</v></c>"])]);
    let later = book(&[("data", &day)], "<workbookPr date1904=\"1\"/>");
    assert_eq!(rows(&load(&later, None).unwrap()), ["1904-01-02"]);
}

#[test]
fn formulas_count_as_their_results_and_errors_as_what_is_shown() {
    let sum = "<c r=\"@\"><f>1+1</f><v>2</v></c>";
    let nothing = "<c r=\"@\" t=\"str\"><f>\"\"</f><v></v></c>";
    let failed = "<c r=\"@\" t=\"e\"><f>1/0</f><v>#DIV/0!</v></c>";
    let table = one(&sheet(&[
        (1, "A", &["x", "y", "z"]),
        (2, "A", &[sum, nothing, failed]),
    ]))
    .unwrap();
    assert_eq!(rows(&table), ["2|-|#DIV/0!"]);
    let bare = "<c r=\"@\"><f>1+1</f></c>";
    says(
        one(&sheet(&[(1, "A", &["x", "y"]), (2, "A", &["1", bare])])),
        &["cell B2", "formula", "save it"],
    );
}

#[test]
fn what_a_table_cannot_hold_is_told_with_its_place() {
    let plain = sheet(&[
        (1, "A", &["x", "y"]),
        (2, "A", &["1", "2"]),
        (3, "A", &["3", "4"]),
    ]);
    let merged =
        |area: &str| format!("{plain}<mergeCells count=\"1\"><mergeCell ref=\"{area}\"/></mergeCells>");
    says(one(&merged("A2:A3")), &["A2 to A3", "unmerge"]);
    says(one(&merged("A1:B1")), &["A1 to B1"]);
    assert_eq!(one(&merged("D5:E9")).unwrap().rows(), 2, "beside the table");
    says(
        one(&sheet(&[(1, "A", &["A title"]), (2, "A", &["x", "y"])])),
        &["cell B2", "row 1", "delete"],
    );
    says(
        one(&sheet(&[(1, "A", &["x", "<c r=\"@\"/>", "z"])])),
        &["column 2 has no name"],
    );
    says(one(&sheet(&[(1, "A", &["x", "x"])])), &["`x` appears twice"]);
    says(one(&sheet(&[(1, "A", &["x", "y"])])), &["no row"]);
    says(one("<sheetData/>"), &["empty"]);
    assert_eq!(spell(0, 0), "A1");
    assert_eq!(spell(9, 25), "Z10");
    assert_eq!(spell(0, 26), "AA1");
    assert_eq!(spell(1_048_575, 16_383), "XFD1048576");
}

#[test]
fn of_several_sheets_one_is_named() {
    let (first, second) = (
        sheet(&[(1, "A", &["x"]), (2, "A", &["1"])]),
        sheet(&[(1, "A", &["x"]), (2, "A", &["2"])]),
    );
    let both = book(&[("one", &first), ("two", &second)], "");
    let table = load(&both, None).unwrap();
    assert_eq!(
        (table.cell(0, 0).unwrap().as_deref(), table.parts()),
        (Some("1"), &["one".into(), "two".into()][..])
    );
    assert_eq!(
        load(&both, Some("two")).unwrap().cell(0, 0).unwrap().as_deref(),
        Some("2")
    );
    says(load(&both, Some("three")), &["sheet", "three", "one, two"]);
    let profile = crate::data::profile(&table, &Progress::new()).unwrap();
    assert!(
        profile
            .warnings
            .iter()
            .any(|warning| warning.to_string().contains("two"))
    );
}

#[test]
fn damaged_and_enormous_workbooks_are_refused() {
    let good = book(&[("data", &sheet(&[(1, "A", &["x"]), (2, "A", &["1"])]))], "");
    says(load(&good[..good.len() / 2], None), &["damaged or cut off"]);
    says(one("<sheetData><row r=\"1\"><c r=\"A1\"><v>1</v>"), &["damaged"]);
    // Rows that go back.
    says(
        one(&sheet(&[(5, "A", &["x"]), (6, "A", &["1"]), (2, "A", &["2"])])),
        &["damaged"],
    );
    // A part of 64 megabytes in a file of 64 kilobytes.
    let spaces = " ".repeat(1 << 26);
    says(one(&format!("{spaces}<sheetData/>")), &["500 times"]);
    // A cell in the last row of many columns.
    let names: Vec<String> = (0..20).map(|column| format!("c{column}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let far = sheet(&[(1, "A", &names), (1_048_576, "A", &["1"])]);
    says(one(&far), &["500 times"]);
    // Texts that no cell has, rows that no sheet has.
    let long = "a".repeat(5 << 20);
    says(
        one(&sheet(&[(1, "A", &["x"]), (2, "A", &[&long])])),
        &["more than 1 MB", "32,767"],
    );
    let rows = "<row/>".repeat((1 << 20) + (1 << 14));
    says(one(&format!("<sheetData>{rows}</sheetData>")), &["1048576 rows"]);
    // Any archive at all.
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    archive
        .start_file("notes.txt", SimpleFileOptions::default())
        .unwrap();
    says(
        load(&archive.finish().unwrap().into_inner(), None),
        &["zip archive"],
    );
}

#[test]
fn a_file_cut_or_changed_anywhere_is_an_error_or_a_table() {
    let good = book(
        &[("data", &sheet(&[(1, "A", &["x", "y"]), (2, "A", &["1", "a"])]))],
        "",
    );
    for place in 0..good.len() {
        let _ = load(&good[..place], None);
        let mut changed = good.clone();
        changed[place] ^= 0x55;
        let _ = load(&changed, None);
    }
}

#[test]
fn what_another_writer_made_is_read() {
    let mut workbook = out::Workbook::new();
    let sheet = workbook.add_worksheet();
    sheet.write_row(0, 0, ["name", "when", "多少"]).unwrap();
    let format = out::Format::new().set_num_format("yyyy-mm-dd hh:mm");
    sheet.write(1, 0, "  甲 ").unwrap();
    sheet.write_with_format(1, 1, 43555.25, &format).unwrap();
    sheet.write(1, 2, 1e300).unwrap();
    let table = load(&workbook.save_to_buffer().unwrap(), None).unwrap();
    assert_eq!(rows(&table)[0], "甲|2019-03-31T06:00:00|1e300");
}
