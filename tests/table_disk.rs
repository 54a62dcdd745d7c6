//! Table files on a disk that is full, and on one that takes no writes. Needs the right to mount a small one;
//! without it the test says so and passes.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;

use pointillist::data::{EncoderSettings, RowEncoder, samples};
use pointillist::export::{ExportError, TableWriter, Written, try_target};
use pointillist::num::{Progress, RandomSource};

struct Mounted<'a>(&'a Path);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

fn mount(options: &str, at: &Path) -> bool {
    let mut command = Command::new("mount");
    command.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(at);
    command.output().is_ok_and(|output| output.status.success())
}

/// Writes the Adult sample, some megabytes as text, some hundred kilobytes as Parquet.
fn write(path: &Path) -> Result<Written, ExportError> {
    let sample = samples::find("adult").unwrap();
    let schema = sample.schema().unwrap();
    let encoder = RowEncoder::new(&schema, &EncoderSettings::default()).unwrap();
    let table = sample.table(&Progress::new()).unwrap();
    let rows = encoder.encode(&table, &Progress::new()).unwrap();
    let batch = encoder.decode(&rows, None, &mut RandomSource::seeded(1)).unwrap();
    let mut writer = TableWriter::create(path, &schema, true)?;
    writer.write(&batch)?;
    writer.seal()?.publish()
}

#[test]
fn a_full_or_read_only_disk_is_named_and_keeps_no_half_file() {
    let folder = tempfile::tempdir().unwrap();
    if !mount("size=128k", folder.path()) {
        println!("skipped: no right to mount a small disk");
        return;
    }
    let mounted = Mounted(folder.path());
    for name in ["out.csv", "out.parquet"] {
        let path = folder.path().join(name);
        std::fs::write(&path, b"what was there").unwrap();
        let error = write(&path).unwrap_err();
        assert!(matches!(error, ExportError::NoSpace { .. }), "{error}");
        assert!(error.to_string().contains(name), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"what was there");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{name}");
    }
    // Asked before long work: a full disk is told, and the probe leaves nothing.
    assert!(matches!(
        try_target(&folder.path().join("out.csv"), false).unwrap_err(),
        ExportError::NoSpace { .. }
    ));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    drop(mounted);

    assert!(mount("size=64m,ro", folder.path()));
    let _mounted = Mounted(folder.path());
    for name in ["out.csv", "out.parquet"] {
        let error = write(&folder.path().join(name)).unwrap_err();
        assert!(matches!(error, ExportError::FolderReadOnly { .. }), "{error}");
    }
    let error = try_target(&folder.path().join("out.csv"), false).unwrap_err();
    assert!(matches!(error, ExportError::FolderReadOnly { .. }), "{error}");
}
