//! What the machine has to give.

use std::fs::read_to_string;
use std::path::Path;

/// Bytes of memory that this process may still take: what the system can spare, within the limit of a container. `None`
/// where the system does not tell it in files, as Linux does.
pub fn free_memory() -> Option<u64> {
    let spare = spare(&read_to_string("/proc/meminfo").ok()?)?;
    let of_container = |name: &str| read_to_string(format!("/sys/fs/cgroup/{name}")).ok();
    let limit = match (of_container("memory.max"), of_container("memory.current")) {
        (Some(most), Some(taken)) => left(&most, &taken),
        _ => None,
    };
    Some(limit.map_or(spare, |limit| limit.min(spare)))
}

/// Bytes that this user may still write to the disk on which a folder lies. `None` where the system does not tell it.
#[cfg(unix)]
pub fn free_space(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    disk.f_bavail.checked_mul(disk.f_frsize)
}

/// Bytes that this user may still write to the disk on which a folder lies. `None` where the system does not tell it.
#[cfg(not(unix))]
pub fn free_space(_folder: &Path) -> Option<u64> {
    None
}

/// What the kernel says that it can spare without swapping, in its table of memory.
fn spare(table: &str) -> Option<u64> {
    let line = table
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// What is left of a limit; `None` without one.
fn left(most: &str, taken: &str) -> Option<u64> {
    let [most, taken] = [most, taken].map(|text| text.trim().parse::<u64>().ok());
    most?.checked_sub(taken?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_tells_what_is_free() {
        let folder = tempfile::tempdir().unwrap();
        if cfg!(unix) {
            assert!(free_space(folder.path()).is_some());
        }
        assert_eq!(free_space(&folder.path().join("gone")), None);
    }

    #[test]
    fn the_kernels_table_is_read() {
        let table = "MemTotal:       24640312 kB\nMemFree:         512 kB\nMemAvailable:   23012 kB\n";
        assert_eq!(spare(table), Some(23_012 * 1024));
        assert_eq!(spare("MemTotal: 5 kB\n"), None);
        assert_eq!(left("1000\n", "400\n"), Some(600));
        assert_eq!(left("max\n", "400\n"), None);
        if cfg!(target_os = "linux") {
            assert!(free_memory().is_some_and(|free| free > 1 << 20));
        }
    }
}
