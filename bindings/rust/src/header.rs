// SPDX-License-Identifier: MIT

//! What docs/formats/native.md says is in a file's header, each field checked.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::kinds::Kind;
use crate::xxh3::{self, le32, le64};
use crate::{domain, Error, Source};

pub(crate) const PIECE: u64 = 1 << 20;
const FIXED: u64 = 128;
const HEADER_MAX: u64 = 1 << 20;
const PAGE: u64 = 4096;
const EXCEPTIONS_MAX: u32 = 64_000;
const ENTRIES_MAX: usize = 1024;
const METADATA_MAX: usize = 512 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Recipe {
    Line,
    Domain,
}

#[derive(Debug, Clone)]
pub(crate) struct Header {
    kind: Kind,
    seed: u64,
    bits: u64,
    pub(crate) payload_at: u64,
    pub(crate) payload_len: u64,
    sum: u64,
    recipe: Recipe,
    exceptions: Vec<u64>, // ascending
}

pub(crate) fn corrupt(what: &str) -> Error {
    Error::Corrupt(what.to_string())
}

/// Fails with this unless the condition holds.
pub(crate) fn insist(right: bool, what: &str) -> Result<(), Error> {
    if right {
        Ok(())
    } else {
        Err(corrupt(what))
    }
}

/// The same, for what another version of umbel may know.
fn support(right: bool, what: impl Into<String>) -> Result<(), Error> {
    if right {
        Ok(())
    } else {
        Err(Error::Unsupported(what.into()))
    }
}

/// Fails unless the piece has this checksum.
pub(crate) fn check_piece(piece: &[u8], i: u64, sum: &[u8]) -> Result<(), Error> {
    let sound = xxh3::hash(piece, i) == le64(sum, 0);
    if sound {
        Ok(())
    } else {
        Err(Error::Corrupt(format!("payload checksum: piece {i}")))
    }
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0)
}

fn pieces(len: u64) -> u64 {
    len / PIECE + u64::from(len % PIECE != 0)
}

impl Header {
    /// Reads and checks what comes before the payload of a file of this many bytes.
    pub(crate) fn read<S: Source>(file: &S, size: u64) -> Result<Header, S::Error>
    where
        S::Error: From<Error>,
    {
        let mut head = file.get(0, size.min(PAGE))?;
        insist(head.starts_with(b"UMBEL\x1a\r\n"), "magic")?;
        insist(size >= FIXED + 8, "the header is cut off")?;
        let version = u16::from_le_bytes([head[8], head[9]]);
        support(version == 1 || version == 2, format!("version {version}"))?;
        let len = u64::from(le32(&head, 12));
        insist(
            len >= FIXED + 8 && len <= HEADER_MAX.min(size) && len % 8 == 0,
            "header length",
        )?;
        if len > head.len() as u64 {
            head = file.get(0, len)?;
        }
        let header = Header::of(&head, len, size)?;
        let at = head.len() as u64;
        insist(is_zero(&head[len as usize..]), "padding")?;
        insist(
            is_zero(&file.get(at, header.payload_at.saturating_sub(at))?),
            "padding",
        )?;
        Ok(header)
    }

    /// The checksums of the payload's pieces.
    pub(crate) fn read_sums<'a, S: Source>(&self, file: &'a S) -> Result<Cow<'a, [u8]>, S::Error>
    where
        S::Error: From<Error>,
    {
        let len = 8 * pieces(self.payload_len);
        let end = self.payload_at + self.payload_len;
        let sums = file.get(end, len)?;
        let sum = file.get(end + len, 8)?;
        insist(
            xxh3::hash(&sums, self.sum) == le64(&sum, 0),
            "trailer checksum",
        )?;
        Ok(sums)
    }

    /// The payload of a file in memory.
    #[inline]
    pub(crate) fn payload_of<'a>(&self, file: &'a [u8]) -> &'a [u8] {
        &file[self.payload_at as usize..][..self.payload_len as usize]
    }

    pub(crate) fn check_last_byte(&self, payload: &[u8]) -> Result<(), Error> {
        let stray = payload.last().map_or(false, |last| {
            self.bits % 8 != 0 && last >> (self.bits % 8) != 0
        });
        insist(!stray, "bits are set after the last one")
    }

    /// Whether a text may be in the filter with this payload.
    #[inline]
    pub(crate) fn contains<S: Source>(&self, payload: &S, text: &[u8]) -> Result<bool, S::Error> {
        match self.recipe {
            Recipe::Line => self.has(payload, text),
            Recipe::Domain => self.has_domain(payload, text),
        }
    }

    fn has_domain<S: Source>(&self, payload: &S, text: &[u8]) -> Result<bool, S::Error> {
        let name = domain::name_of(text);
        let mut key = &name[..];
        while !key.is_empty() {
            if self.has(payload, key)? {
                return Ok(true);
            }
            key = domain::parent_of(key);
        }
        Ok(false)
    }

    #[inline]
    fn has<S: Source>(&self, payload: &S, key: &[u8]) -> Result<bool, S::Error> {
        Ok(self.kind.has(payload, key, self.seed)?
            && (self.exceptions.is_empty()
                || self
                    .exceptions
                    .binary_search(&xxh3::hash(key, self.seed))
                    .is_err()))
    }

    pub(crate) fn kind_name(&self) -> &'static str {
        self.kind.name()
    }

    pub(crate) fn recipe_name(&self) -> &'static str {
        match self.recipe {
            Recipe::Line => "line",
            Recipe::Domain => "domain",
        }
    }

    /// Checks the fields against each other and against the file's size.
    fn of(head: &[u8], len: u64, size: u64) -> Result<Header, Error> {
        let end = len as usize - 8;
        let sum = le64(head, end);
        insist(xxh3::hash(&head[..end], 0) == sum, "header checksum")?;
        let reserved = [head[10], head[11], head[90], head[91]];
        insist(is_zero(&reserved), "reserved bytes")?;
        insist(
            (le32(head, 24) == 2) == (le64(head, 40) != 0),
            "secret fingerprint",
        )?;
        let rate = f64::from_bits(le64(head, 64));
        insist(
            (0.0..1.0).contains(&rate) && rate.is_sign_positive(),
            "rate",
        )?;
        let (exceptions, outdated) = (le32(head, 92), head[89]);
        insist(
            exceptions <= EXCEPTIONS_MAX
                && (head[8] == 2) == (exceptions != 0)
                && outdated <= u8::from(exceptions != 0),
            "exceptions",
        )?;
        support(u64::from(le32(head, 112)) == PIECE, "piece length")?;
        let (own, metadata) = (u64::from(le32(head, 116)), u64::from(le32(head, 120)));
        let used = FIXED + own + metadata;
        let first = (used + 7) / 8 * 8;
        insist(
            first + 8 * u64::from(exceptions) + 8 == len,
            "header length",
        )?;
        insist(is_zero(&head[used as usize..first as usize]), "padding")?;
        let (payload_at, payload_len) = (le64(head, 96), le64(head, 104));
        insist(
            payload_at == (len + PAGE - 1) / PAGE * PAGE,
            "payload offset",
        )?;
        insist(
            payload_len <= size
                && (payload_at + 8 * pieces(payload_len) + 8).checked_add(payload_len)
                    == Some(size),
            "payload length",
        )?;
        let own = &head[FIXED as usize..][..own as usize];
        let metadata = &head[FIXED as usize + own.len()..used as usize];
        Ok(Header {
            recipe: recipe(
                le32(head, 80),
                le32(head, 84),
                head[88],
                &entries(metadata)?,
            )?,
            exceptions: ascending(&head[first as usize..end])?,
            kind: Kind::of(head, own, payload_len)?,
            seed: le64(head, 32),
            bits: le64(head, 48),
            payload_at,
            payload_len,
            sum,
        })
    }
}

fn ascending(from: &[u8]) -> Result<Vec<u64>, Error> {
    let hashes: Vec<u64> = from.chunks_exact(8).map(|word| le64(word, 0)).collect();
    insist(
        hashes.windows(2).all(|pair| pair[0] < pair[1]),
        "exceptions: not in ascending order",
    )?;
    Ok(hashes)
}

/// Refuses files in which a text is not the key, unless it is a domain name.
fn recipe(
    rule: u32,
    field: u32,
    delimiter: u8,
    entries: &BTreeMap<&[u8], &[u8]>,
) -> Result<Recipe, Error> {
    let given = entries.get(&b"recipe"[..]).copied();
    support(rule <= 8, "key rule")?;
    let only = rule == 8;
    insist(
        !only || field == 0 && delimiter == 0 && given.is_some(),
        "key rule",
    )?;
    insist(rule & 6 != 6 && (delimiter == 0 || field != 0), "key rule")?;
    match given {
        Some(b"domain") if only => return Ok(Recipe::Domain),
        Some(b"line") if rule == 0 => (),
        Some(text) => support(false, format!("recipe {:?}", String::from_utf8_lossy(text)))?,
        None => (),
    }
    let whole = rule == 0 && field == 0 && !entries.contains_key(&b"key.column"[..]);
    support(whole, "recipe: a field, a column, trimming or letter case")?;
    Ok(Recipe::Line)
}

fn entries(mut metadata: &[u8]) -> Result<BTreeMap<&[u8], &[u8]>, Error> {
    let mut found = BTreeMap::new();
    let mut total = 0;
    while !metadata.is_empty() {
        insist(metadata.len() >= 6, "metadata: an entry is cut off")?;
        let name = usize::from(u16::from_le_bytes([metadata[0], metadata[1]]));
        let value = le32(metadata, 2) as usize;
        let rest = &metadata[6..];
        insist(
            name <= rest.len() && value <= rest.len() - name,
            "metadata: an entry is cut off",
        )?;
        let (text, after) = rest.split_at(name + value);
        total += text.len();
        let fits = (1..=255).contains(&name) && total <= METADATA_MAX && found.len() < ENTRIES_MAX;
        let once = found.insert(&text[..name], &text[name..]).is_none();
        insist(fits && once && !text.contains(&0), "metadata")?;
        metadata = after;
    }
    Ok(found)
}
