//! What a synthetic file shows of itself, held against its certificate.

use std::path::Path;

use super::{Certificate, Records};
use crate::data::image::{ImageOptions, read_images};
use crate::data::{FileForm, Mark, ReadOptions, Table, TextEncoding, read_table};
use crate::export::TableFormat;
use crate::num::Progress;

/// What the rows and the columns of the file, or its images, contradict, in words. What cannot be read as this program
/// writes it contradicts nothing.
pub(super) fn compare(certificate: &Certificate, data: &Path) -> Vec<String> {
    let mut reasons = Vec::new();
    if certificate.records == Some(Records::Images) {
        let set = read_images(data, &ImageOptions::default(), &Progress::new());
        // Pictures that were skipped are none that this program has written.
        if let Ok(set) = set
            && set.notes().is_empty()
        {
            compare_count(certificate, set.len(), "images", &mut reasons);
        }
        return reasons;
    }
    let Some(table) = written(data) else {
        return reasons;
    };
    compare_count(certificate, table.rows(), "rows", &mut reasons);
    if let Some(domain) = &certificate.domain {
        let stated = domain.columns.iter().map(|column| column.name.trim());
        let schema = table.schema();
        let found: Vec<&str> = schema.fields().iter().map(|field| field.name().trim()).collect();
        if !stated.clone().eq(found.iter().copied()) {
            reasons.push(format!(
                "the file has the columns {}, and the certificate's domain {}",
                listed(found.into_iter()),
                listed(stated)
            ));
        }
    }
    reasons
}

fn compare_count(certificate: &Certificate, found: usize, what: &str, reasons: &mut Vec<String>) {
    let stated = certificate.synthetic_file.rows;
    if stated != found as u64 {
        reasons.push(format!(
            "the file has {found} {what}, and the certificate says {stated}"
        ));
    }
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}

/// A table in the form that this program writes, so that nothing of it is guessed.
fn written(data: &Path) -> Option<Table> {
    let format = TableFormat::from_path(data).ok()?;
    let form = if format == TableFormat::Csv {
        let is_tabbed = data
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("tsv"));
        FileForm {
            encoding: Some(TextEncoding::UTF_8),
            delimiter: Some(Mark::of(if is_tabbed { b'\t' } else { b',' })),
            quote: Some(Mark::of(b'"')),
            escape: Some(Mark::NONE),
            comment: Some(Mark::NONE),
            ..FileForm::default()
        }
    } else {
        FileForm::default()
    };
    let options = ReadOptions {
        form,
        ..ReadOptions::default()
    };
    read_table(data, &options, &Progress::new()).ok()
}
