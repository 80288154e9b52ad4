// SPDX-License-Identifier: MIT

//! Tests against tables of tests/golden, which other programs wrote, and of sound and damaged files.

use std::cell::Cell;
use std::fs::read_to_string;
use std::path::{Path, PathBuf};
use std::string::String;
use std::vec::Vec;
use std::{format, io};

use crate::{domain, xxh3, Error, Filter, ReadAt, ReadError, RemoteFilter};

/// The rows of a table, without its first line.
fn rows(name: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/golden")
        .join(name);
    let text = read_to_string(path).expect("tests run in the repository");
    text.lines()
        .skip(1)
        .map(|line| line.split('\t').map(String::from).collect())
        .collect()
}

fn unhex(digits: &str) -> Vec<u8> {
    let pair = |at| u8::from_str_radix(&digits[at..at + 2], 16).expect("hexadecimal");
    (0..digits.len()).step_by(2).map(pair).collect()
}

#[test]
fn hashes_are_those_of_xxhash() {
    let rows = rows("native/xxh3.tsv");
    assert!(rows.len() > 100);
    for row in rows {
        let len: usize = row[0].parse().expect("a length");
        let word = |i: usize| u64::from_str_radix(&row[i], 16).expect("hexadecimal");
        let key: Vec<u8> = (0..len).map(|i| (i * 167 + len) as u8).collect();
        assert_eq!(xxh3::hash(&key, word(1)), word(2), "{len} bytes");
        assert_eq!(xxh3::wide(&key, word(1)), (word(4), word(3)), "{len} bytes");
    }
}

#[test]
fn hosts_are_those_of_browsers() {
    let mut asked = 0;
    for row in rows("recipes/hosts.tsv") {
        if row[1] == "key lookup" && row[3] != "empty" {
            let want = if row[4] == "key" {
                unhex(&row[5])
            } else {
                Vec::new()
            };
            let text = unhex(&row[3]);
            assert_eq!(
                domain::name_of(&text),
                want,
                "{}",
                String::from_utf8_lossy(&text)
            );
            asked += 1;
        }
    }
    assert!(asked > 200);
}

fn planets() -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/planets.umb")).expect("a file")
}

/// A file that counts how often it is read.
struct Counted<'a>(&'a [u8], Cell<usize>);

impl ReadAt for Counted<'_> {
    type Error = io::Error;

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        self.1.set(self.1.get() + 1);
        let from = self
            .0
            .get(offset as usize..)
            .and_then(|rest| rest.get(..buf.len()));
        buf.copy_from_slice(from.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

fn counted(bytes: &[u8]) -> Counted<'_> {
    Counted(bytes, Cell::new(0))
}

#[test]
fn readers_agree() {
    let bytes = planets();
    let size = bytes.len() as u64;
    let filter = Filter::from_bytes(&bytes).expect("sound");
    assert_eq!((filter.kind(), filter.recipe()), ("line", "line"));
    let checked = RemoteFilter::new(counted(&bytes), size).expect("sound");
    let unchecked = RemoteFilter::unchecked(counted(&bytes), size).expect("sound");
    for i in 0..1000 {
        let key = format!("key{i}");
        let want = filter.contains(&key);
        assert_eq!(checked.contains(&key).expect("read"), want);
        assert_eq!(unchecked.contains(&key).expect("read"), want);
    }
    assert_eq!(filter.contains_many(&["Mars", "Pluto"]), [true, false]);
    assert_eq!(
        checked.contains_many(&["Mars", "Pluto"]).expect("read"),
        [true, false]
    );
}

#[test]
fn a_filter_can_be_shared() {
    fn shared<T: Send + Sync>(_: T) {}
    shared(Filter::from_bytes(planets()).expect("sound"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/planets.umb");
    let file = std::fs::File::open(path).expect("a file");
    shared(RemoteFilter::new(file, planets().len() as u64).expect("sound"));
}

#[test]
fn every_cut_and_every_change_is_noticed() {
    let good = planets();
    for n in 0..good.len() {
        assert!(
            matches!(Filter::from_bytes(&good[..n]), Err(Error::Corrupt(_))),
            "cut off at {n}"
        );
        let mut bad = good.clone();
        bad[n] ^= 1;
        assert!(Filter::from_bytes(bad).is_err(), "byte {n} changed");
        let lie = RemoteFilter::new(counted(&good[..n]), good.len() as u64);
        assert!(
            matches!(lie, Err(ReadError::Source(_))),
            "not of that size: {n}"
        );
    }
}

#[test]
fn damage_is_an_error_of_the_lookup() {
    let mut bytes = planets();
    bytes[4096 + 10] ^= 1;
    let filter = RemoteFilter::new(counted(&bytes), bytes.len() as u64).expect("a sound header");
    match filter.contains("Pluto") {
        Err(ReadError::File(Error::Corrupt(what))) => assert_eq!(what, "payload checksum: piece 0"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_size_that_is_not_true_costs_no_memory() {
    let bytes = planets();
    for size in [0, 1, 135, 4096, 1 << 40, u64::MAX] {
        assert!(RemoteFilter::new(counted(&bytes), size).is_err(), "{size}");
    }
}

/// No known key is wrong, in memory and elsewhere.
#[test]
fn exact_filters_know_their_universe() {
    for row in rows("native/exact.tsv") {
        let file = unhex(&row[3]);
        let filter = Filter::from_bytes(&file).expect("sound");
        assert_eq!(filter.kind(), "exact");
        let remote = RemoteFilter::new(counted(&file), file.len() as u64).expect("sound");
        for (column, word) in ["key", "other"].iter().enumerate() {
            for i in 0..row[column].parse().expect("a number") {
                let key = format!("{word}{i}");
                assert_eq!(filter.contains(&key), column == 0, "{key}");
                assert_eq!(remote.contains(&key).expect("read"), column == 0, "{key}");
            }
        }
    }
}

/// A list is its base and the deltas beside it, so the base alone would give wrong answers.
#[test]
fn deltas_are_not_ignored() {
    let name = format!("umbel-{}.umb", std::process::id());
    let path = std::env::temp_dir().join(&name);
    let deltas = path.with_extension("umb.deltas");
    std::fs::write(&path, planets()).expect("written");
    let alone = Filter::open(&path);
    std::fs::write(&deltas, "UMBD").expect("written");
    let followed = Filter::open(&path);
    std::fs::remove_file(path).expect("removed");
    std::fs::remove_file(deltas).expect("removed");
    assert!(alone.is_ok());
    match followed {
        Err(ReadError::File(Error::Unsupported(what))) => {
            assert!(what.ends_with(&(name + ".deltas")))
        }
        other => panic!("{other:?}"),
    }
}

/// Small files of the conformance kit, whose folder `UMBEL_VECTORS` names, and some of the repository.
fn seeds() -> Vec<Vec<u8>> {
    let tables = ["native/tight.tsv", "native/exact.tsv"].into_iter();
    let golden = tables.flat_map(rows).map(|row| unhex(&row[3]));
    let mut names: Vec<PathBuf> = Vec::new();
    if let Some(kit) = std::env::var_os("UMBEL_VECTORS") {
        for folder in ["refused", "filters"] {
            let entries = Path::new(&kit).join(folder).read_dir().expect("the kit");
            names.extend(entries.map(|entry| entry.expect("an entry").path()));
        }
        names.retain(|name| name.extension().map_or(false, |end| end == "umb"));
        names.sort();
        assert!(names.len() > 100, "the kit is not whole");
    }
    let files = names
        .iter()
        .map(|name| std::fs::read(name).expect("a file"));
    files
        .filter(|file| file.len() < 1 << 14)
        .chain(golden)
        .chain([planets()])
        .collect()
}

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e3779b97f4a7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58476d1ce4e5b9);
        ((x ^ x >> 31) % n.max(1) as u64) as usize
    }
}

/// Changed files are refused or answer; nothing panics, and both ways to read one agree.
#[test]
fn changed_files() {
    let mut numbers = Numbers(1);
    let (mut sound, mut refused) = (0, 0);
    for seed in seeds() {
        for round in 0..60 {
            let mut file = seed.clone();
            for _ in 0..round % 4 {
                if file.is_empty() {
                    break;
                }
                let within = if numbers.below(2) == 0 {
                    file.len().min(200)
                } else {
                    file.len()
                };
                let at = numbers.below(within);
                file[at] = [0, 1, 0x7f, 0x80, 0xff, numbers.below(256) as u8][numbers.below(6)];
            }
            seal(&mut file);
            let remote = RemoteFilter::new(counted(&file), file.len() as u64);
            match Filter::from_bytes(&file) {
                Err(_) => refused += 1,
                Ok(filter) => {
                    sound += 1;
                    let remote = remote.expect("as in memory");
                    for key in ["", "Mars", "http://a.evil.com/x", &"long".repeat(100)] {
                        assert_eq!(
                            remote.contains(key).expect("as in memory"),
                            filter.contains(key)
                        );
                    }
                }
            }
        }
    }
    assert!(
        sound > 30 && refused > 100,
        "{sound} sound files, {refused} refused ones"
    );
}

/// Gives a file right checksums, if there is room for them.
fn seal(file: &mut [u8]) {
    let number = |file: &[u8], at: usize, len: usize| {
        file.get(at..at + len).map(|bytes| {
            bytes
                .iter()
                .rev()
                .fold(0_u64, |x, &b| x << 8 | u64::from(b))
        })
    };
    let (length, at, len) = match (
        number(file, 12, 4),
        number(file, 96, 8),
        number(file, 104, 8),
    ) {
        (Some(length), Some(at), Some(len)) => (length as usize, at as usize, len as usize),
        _ => return,
    };
    let pieces = len / (1 << 20) + 1;
    let fits = length >= 136 && length <= file.len() && len > 0 && len < 1 << 20;
    if !fits
        || at
            .checked_add(len)
            .and_then(|end| end.checked_add(8 * pieces + 8))
            != Some(file.len())
    {
        return;
    }
    let sum = xxh3::hash(&file[..length - 8], 0);
    file[length - 8..length].copy_from_slice(&sum.to_le_bytes());
    let piece = xxh3::hash(&file[at..at + len], 0);
    file[at + len..at + len + 8].copy_from_slice(&piece.to_le_bytes());
    let last = xxh3::hash(&file[at + len..at + len + 8], sum);
    file[at + len + 8..].copy_from_slice(&last.to_le_bytes());
}
