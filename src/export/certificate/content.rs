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
    let stated: Vec<&str> = certificate
        .domain
        .iter()
        .flat_map(|domain| &domain.columns)
        .map(|column| column.name.trim())
        .collect();
    let Some(table) = written(data, &stated) else {
        return reasons;
    };
    compare_count(certificate, table.rows(), "rows", &mut reasons);
    if certificate.domain.is_some() {
        let schema = table.schema();
        let found: Vec<&str> = schema.fields().iter().map(|field| field.name().trim()).collect();
        if found != stated {
            reasons.push(format!(
                "the file has the columns {}, and the certificate's domain {}",
                listed(&found),
                listed(&stated)
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

fn listed(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}

/// A table in the form that this program writes.
fn written(data: &Path, names: &[&str]) -> Option<Table> {
    let format = TableFormat::from_path(data).ok()?;
    let form = if format == TableFormat::Csv {
        FileForm {
            encoding: Some(TextEncoding::UTF_8),
            delimiter: Some(Mark::of(delimiter(data, names))),
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

/// The one under which the file's first line has these names, for it is that of the table which was learned from; a
/// comma if there is none.
fn delimiter(data: &Path, names: &[&str]) -> u8 {
    let fits = |delimiter: &u8| {
        let reader = csv::ReaderBuilder::new()
            .delimiter(*delimiter)
            .flexible(true)
            .from_path(data);
        let header = reader.and_then(|mut reader| reader.headers().cloned());
        header.is_ok_and(|header| header.iter().map(str::trim).eq(names.iter().copied()))
    };
    // A single column has none: any delimiter fits.
    let marks = (1..128).filter(|byte: &u8| byte.is_ascii_punctuation() || byte.is_ascii_whitespace());
    let marks = marks.filter(|byte| !matches!(byte, b'"' | b'\n' | b'\r'));
    std::iter::once(b',').chain(marks).find(fits).unwrap_or(b',')
}
