//! The class of each image.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{ImageOptions, Labels, MOST_CLASSES};
use crate::data::{DataError, Provenance};
use crate::num::files::open_regular;

/// The table of labels in a folder of pictures.
pub const LABELS: &str = "labels.csv";
/// What the columns of such a table are called elsewhere.
const FILE_COLUMNS: [&str; 5] = ["file", "filename", "file_name", "image", "path"];
const LABEL_COLUMNS: [&str; 2] = ["label", "class"];

fn wrong(path: &Path, message: String) -> DataError {
    DataError::Images {
        path: path.to_owned(),
        message,
    }
}

/// Numbers classes by their names, in order. The names were read off the data.
pub fn number(path: &Path, classes: &[String]) -> Result<Labels, DataError> {
    let names: Vec<String> = classes
        .iter()
        .cloned()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    if names.len() > MOST_CLASSES {
        return Err(wrong(
            path,
            format!(
                "it has {} classes; at most {MOST_CLASSES} can be learned",
                names.len()
            ),
        ));
    }
    let codes = classes
        .iter()
        .map(|class| names.partition_point(|name| name < class) as u8)
        .collect();
    Ok(Labels {
        codes,
        names,
        provenance: Provenance::Accepted,
    })
}

/// Classes that are numbers: those that are declared, 0 and up.
pub fn declared(path: &Path, codes: Vec<u8>, options: &ImageOptions) -> Result<Labels, DataError> {
    let classes = options.classes.clamp(1, MOST_CLASSES);
    if let Some(image) = codes.iter().position(|label| usize::from(*label) >= classes) {
        return Err(wrong(
            path,
            format!(
                "label {} of image {} is not one of the {classes} declared classes, 0 to {}; declare more if it is \
                 public knowledge that there are",
                codes[image],
                image + 1,
                classes - 1
            ),
        ));
    }
    Ok(Labels {
        codes,
        names: (0..classes).map(|class| class.to_string()).collect(),
        // Their number is declared, not read off the labels.
        provenance: Provenance::Declared,
    })
}

/// The table of a folder's labels: the one that is named, else `labels.csv` within, else a CSV file of the folder's name
/// beside it whose header says that it names pictures and labels.
pub fn table_of(folder: &Path, options: &ImageOptions) -> Option<PathBuf> {
    if options.labels.is_some() {
        return options.labels.clone();
    }
    let within = folder.join(LABELS);
    if within.is_file() {
        return Some(within);
    }
    let name = folder.file_name()?.to_str()?;
    let beside = folder.with_file_name(format!("{name}.csv"));
    let names_both = || {
        let mut reader = csv::Reader::from_reader(open_regular(&beside).ok()?);
        let header = reader.headers().ok()?;
        find(header, &FILE_COLUMNS).and(find(header, &LABEL_COLUMNS))
    };
    (beside.is_file() && names_both().is_some()).then_some(beside)
}

/// The column of one of these names.
fn find(header: &csv::StringRecord, names: &[&str]) -> Option<usize> {
    names.iter().find_map(|name| {
        header
            .iter()
            .position(|column| column.trim().eq_ignore_ascii_case(name))
    })
}

/// Each file's class by a table: by the columns that are called so, else the first and the second.
pub fn classes_of(table: &Path, files: &[String]) -> Result<Vec<String>, DataError> {
    let broken = |error: &dyn std::fmt::Display| wrong(table, format!("it cannot be read: {error}"));
    let mut reader = csv::Reader::from_reader(open_regular(table).map_err(|error| broken(&error))?);
    let header = reader.headers().map_err(|error| broken(&error))?;
    let (file_column, label_column, guessed) =
        match (find(header, &FILE_COLUMNS), find(header, &LABEL_COLUMNS)) {
            (Some(file), Some(label)) => (file, label, ""),
            _ => (
                0,
                1,
                " (its first line names no columns `file` and `label`, so the first two were taken for them)",
            ),
        };
    let mut known = BTreeMap::new();
    for record in reader.records() {
        let record = record.map_err(|error| broken(&error))?;
        let (Some(file), Some(class)) = (record.get(file_column), record.get(label_column)) else {
            return Err(wrong(
                table,
                "every line needs a file's name and its class".to_owned(),
            ));
        };
        let (file, class) = (file.trim().replace('\\', "/"), class.trim().to_owned());
        if class.is_empty() {
            return Err(wrong(
                table,
                format!("it has no class for {file}; every image needs one"),
            ));
        }
        if let Some(twice) = known.insert(file.clone(), class).map(|_| file) {
            return Err(wrong(table, format!("it names {twice} twice")));
        }
    }
    let classes = files
        .iter()
        .map(|file| {
            known.remove(file).ok_or_else(|| {
                wrong(
                    table,
                    format!("it has no class for {file}; every image needs one{guessed}"),
                )
            })
        })
        .collect::<Result<Vec<_>, _>>()?;
    match known.keys().next() {
        None => Ok(classes),
        Some(name) => Err(wrong(
            table,
            format!("it has a class for {name}, and there is no such image"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_without_the_columns_names_them() {
        let folder = tempfile::tempdir().unwrap();
        let table = folder.path().join("labels.csv");
        std::fs::write(&table, "number,name\n0,0.png\n").unwrap();
        let said = classes_of(&table, &["0.png".to_owned()]).unwrap_err().to_string();
        assert!(said.contains("no columns `file` and `label`"), "{said}");
        std::fs::write(&table, "file,label\n1.png,a\n").unwrap();
        let said = classes_of(&table, &["0.png".to_owned()]).unwrap_err().to_string();
        assert!(!said.contains("columns"), "{said}");
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_no_table() {
        let said = classes_of(Path::new("/dev/zero"), &[]).unwrap_err().to_string();
        assert!(said.contains("a pipe or a device"), "{said}");
    }
}
