// SPDX-License-Identifier: MIT

//! Where a key's bits are, in each kind.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::header::insist;
use crate::xxh3::{self, le32, le64, product};
use crate::{Error, Source};

const GOLDEN: u64 = 0x9e3779b97f4a7c15;
const SCRAMBLE: u64 = 0xd6e8feb86659fd93;
const PRINT: u64 = 0xa0761d6478bd642f;

const SALTS: [u32; 8] = [
    0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
];
const LINE_SALTS: [u32; 16] = [
    0xe220a839, 0x6e789e6b, 0x06c45d19, 0xf88bb8a9, 0x1b39896b, 0x53cb9f0d, 0x2c829abf, 0xc584133b,
    0x3ee57891, 0xf3b8488d, 0x657eecdd, 0xc2d326e1, 0x8621a03f, 0x8e1f7555, 0xb54e0f17, 0x84bb3f97,
];

/// The names of the kinds' numbers, from 1.
const NAMES: [&str; 9] = [
    "blocked", "classic", "static", "counting", "scalable", "window", "tight", "line", "exact",
];

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Blocked { blocks: u64 },
    Classic { bits: u64, probes: u32 },
    Line { lines: u64, probes: u32 },
    Static(Static),
    Tight(Ribbon),
    Exact(Exact),
}

impl Kind {
    /// Checks what the kind says about the other fields; afterwards no lookup leaves the payload.
    pub(crate) fn of(head: &[u8], own: &[u8], payload_len: u64) -> Result<Kind, Error> {
        let (kind, scheme, hash, hashes) = (
            le32(head, 16),
            le32(head, 20),
            le32(head, 24),
            le32(head, 28),
        );
        let bits = le64(head, 48);
        let name = NAMES
            .get((kind as usize).wrapping_sub(1))
            .map_or(kind.to_string(), |name| name.to_string());
        let unsupported = |what: String| Err(Error::Unsupported(what));
        if !matches!(kind, 1 | 2 | 3 | 7 | 8 | 9) {
            return unsupported(format!("kind {name}"));
        }
        if hash == 2 {
            return unsupported("a keyed filter".to_string());
        }
        if scheme != 1 || hash != 1 {
            return unsupported(format!("scheme {scheme} with hash {hash}"));
        }
        if !own.is_empty() && !matches!(kind, 3 | 7 | 9) {
            return unsupported(format!("parameters of kind {name}"));
        }
        let whole = bits % 8 == 0 || kind == 2;
        let len = bits / 8 + u64::from(bits % 8 != 0);
        insist(
            whole && len == payload_len,
            "bits and payload length disagree",
        )?;
        let is_number = |units: u64| (1..=u64::from(u32::MAX)).contains(&units);
        match kind {
            1 => {
                insist(
                    hashes == 8 && bits % 256 == 0 && is_number(bits / 256),
                    "blocked: hashes or bits",
                )?;
                Ok(Kind::Blocked { blocks: bits / 256 })
            }
            2 => {
                let right = (1..=1024).contains(&hashes) && (1..1 << 63).contains(&bits);
                insist(right, "classic: hashes or bits")?;
                Ok(Kind::Classic {
                    bits,
                    probes: hashes,
                })
            }
            8 => {
                let right =
                    matches!(hashes, 4 | 8 | 16) && bits % 512 == 0 && is_number(bits / 512);
                insist(right, "line: hashes or bits")?;
                Ok(Kind::Line {
                    lines: bits / 512,
                    probes: hashes,
                })
            }
            3 => Static::of(own, hashes, payload_len).map(Kind::Static),
            7 => Ribbon::alone(own, hashes, payload_len).map(Kind::Tight),
            _ => Exact::of(own, hashes, payload_len).map(Kind::Exact),
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Kind::Blocked { .. } => "blocked",
            Kind::Classic { .. } => "classic",
            Kind::Line { .. } => "line",
            Kind::Static(_) => "static",
            Kind::Tight(_) => "tight",
            Kind::Exact(_) => "exact",
        }
    }

    #[inline]
    pub(crate) fn has<S: Source>(
        &self,
        payload: &S,
        key: &[u8],
        seed: u64,
    ) -> Result<bool, S::Error> {
        match *self {
            Kind::Blocked { blocks } => in_block(payload, blocks, xxh3::hash(key, seed)),
            Kind::Classic { bits, probes } => {
                in_classic(payload, bits, probes, xxh3::wide(key, seed))
            }
            Kind::Line { lines, probes } => in_line(payload, lines, probes, xxh3::hash(key, seed)),
            Kind::Static(ref layout) => layout.has(payload, xxh3::hash(key, seed)),
            Kind::Tight(ref ribbon) => ribbon.agrees(payload, xxh3::hash(key, seed)),
            Kind::Exact(ref layout) => layout.has(payload, xxh3::hash(key, seed)),
        }
    }
}

/// One of this many blocks or lines, by the upper half of a hash.
fn scaled(hash: u64, units: u64) -> u64 {
    ((hash >> 32) * units) >> 32
}

fn in_block<S: Source>(payload: &S, blocks: u64, hash: u64) -> Result<bool, S::Error> {
    let block = payload.get(scaled(hash, blocks) * 32, 32)?;
    let mut missing = 0; // no branches: half of them would be guessed wrong
    for (salt, lane) in SALTS.iter().zip(block.chunks_exact(4)) {
        missing |= !le32(lane, 0) >> ((hash as u32).wrapping_mul(*salt) >> 27);
    }
    Ok(missing & 1 == 0)
}

fn in_line<S: Source>(payload: &S, lines: u64, probes: u32, hash: u64) -> Result<bool, S::Error> {
    let line = payload.get(scaled(hash, lines) * 64, 64)?;
    let lane = 512 / u64::from(probes);
    Ok(LINE_SALTS
        .iter()
        .take(probes as usize)
        .zip(0..)
        .all(|(salt, i)| {
            let bit = lane * i + ((u64::from((hash as u32).wrapping_mul(*salt)) * lane) >> 32);
            line[bit as usize / 8] >> (bit % 8) & 1 != 0
        }))
}

fn in_classic<S: Source>(
    payload: &S,
    bits: u64,
    probes: u32,
    hash: (u64, u64),
) -> Result<bool, S::Error> {
    let (mut x, step) = (hash.0, hash.1 | 1);
    for _ in 0..probes {
        let bit = product(x, bits).0;
        if payload.get(bit / 8, 1)?[0] >> (bit % 8) & 1 == 0 {
            return Ok(false);
        }
        x = x.wrapping_mul(GOLDEN).wrapping_add(step);
    }
    Ok(true)
}

/// The mixing of static, tight and exact filters.
fn scramble(x: u64) -> u64 {
    let x = (x ^ x >> 32).wrapping_mul(SCRAMBLE);
    let x = (x ^ x >> 32).wrapping_mul(SCRAMBLE);
    x ^ x >> 32
}

/// The upper bits of a hash, and the others moved up.
fn split(hash: u64, bits: u32) -> (u64, u64) {
    (hash.checked_shr(64 - bits).unwrap_or(0), hash << bits)
}

// ---- static ---------------------------------------------------------------------------------

#[derive(Debug, Clone)]
pub(crate) struct Static {
    empty: bool,
    hashes: u32,
    shard_bits: u32,
    segment_bits: u32,
    segments: u64,
    width: u64,
    wide: u64,
    tables: u64, // where they begin
    wide_len: u64,
    narrow_len: u64,
}

impl Static {
    fn of(own: &[u8], hashes: u32, payload_len: u64) -> Result<Static, Error> {
        insist(
            own.len() == 24 && matches!(hashes, 3 | 4),
            "static: hashes or parameters",
        )?;
        let field = |i: usize| u64::from(le32(own, 4 * i));
        let (shards, segment_bits, segments, width, wide) =
            (field(0), field(1), field(2), field(3), field(4));
        insist(
            width > 0 && width + u64::from(wide > 0) <= 32 && field(5) == 0,
            "static: width",
        )?;
        let empty = shards == 0;
        insist(
            !empty || segment_bits + segments + wide + payload_len == 0,
            "static: segments without shards",
        )?;
        insist(
            empty || shards.is_power_of_two() && shards <= 1 << 24 && wide < shards,
            "static: shards",
        )?;
        insist(
            empty || segment_bits <= 18 && segments > 0,
            "static: segments",
        )?;
        let slots = (segments + u64::from(hashes) - 1) << segment_bits;
        insist(
            (segments + u64::from(hashes)) << segment_bits.min(18) <= u64::from(u32::MAX),
            "static: 2^32 slots",
        )?;
        let (wide_len, narrow_len) = ((slots * (width + 1) + 7) / 8, (slots * width + 7) / 8);
        let tables = (shards + 7) / 8 * 8;
        let len = tables + wide * wide_len + shards.saturating_sub(wide) * narrow_len;
        insist(
            len == payload_len,
            "static: tables and payload length disagree",
        )?;
        Ok(Static {
            empty,
            hashes,
            shard_bits: if empty { 0 } else { shards.trailing_zeros() },
            segment_bits: segment_bits as u32,
            segments,
            width,
            wide,
            tables,
            wide_len,
            narrow_len,
        })
    }

    fn has<S: Source>(&self, payload: &S, hash: u64) -> Result<bool, S::Error> {
        if self.empty {
            return Ok(false);
        }
        let (shard, rest) = split(hash, self.shard_bits);
        let seed = u64::from(payload.get(shard, 1)?[0]);
        let x = scramble(hash.wrapping_add(seed.wrapping_mul(GOLDEN)));
        let wide = shard.min(self.wide);
        let width = self.width + u64::from(shard < self.wide);
        let table = self.tables + wide * self.wide_len + (shard - wide) * self.narrow_len;
        let first = product(rest, self.segments << self.segment_bits).0;
        let mut found = x.wrapping_mul(PRINT) >> 32;
        for i in 0..self.hashes {
            let within = if i == 0 {
                0
            } else {
                x >> (21 * (i - 1)) & ((1 << self.segment_bits) - 1)
            };
            let bit = ((first + (u64::from(i) << self.segment_bits)) ^ within) * width;
            let bytes = payload.get(table + bit / 8, (bit % 8 + width + 7) / 8)?;
            let slot = bytes
                .iter()
                .rev()
                .fold(0, |word, &byte| word << 8 | u64::from(byte));
            found ^= slot >> (bit % 8);
        }
        Ok(found & ((1 << width) - 1) == 0)
    }
}

// ---- tight and exact ------------------------------------------------------------------------

/// Levels of equations over neighbouring slots. A tight filter is one, and an exact one is two.
#[derive(Debug, Clone)]
pub(crate) struct Ribbon {
    width: u64,
    wide: u64, // blocks of a shard of the first level that have a bit more
    window: u64,
    bucket: u64,
    thresholds: [u64; 4],
    levels: Vec<Level>,
    verdict: u64, // 1: its slots say which keys are members, and the lowest bit of its numbers is 0
}

#[derive(Debug, Clone, Default)]
struct Level {
    shard_bits: u32,
    blocks: u64,
    narrow: u64,
    seed: u64,
    places: u64,
    marks: u64,     // where the level's thresholds begin
    marks_len: u64, // bytes of a shard
    table: u64,     // where the level's slots begin
    words: u64,     // of a shard
}

/// The kind's own parameters, byte by byte.
struct Parameters<'a>(&'a [u8]);

impl<'a> Parameters<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], Error> {
        insist(len <= self.0.len(), "parameters: cut off")?;
        let (taken, rest) = self.0.split_at(len);
        self.0 = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u64, Error> {
        self.take(1).map(|byte| u64::from(byte[0]))
    }

    /// One of at most this many bytes.
    fn number(&mut self, most: u32) -> Result<u64, Error> {
        let mut number = 0;
        for i in 0..most {
            let byte = self.byte()?;
            number |= (byte & 127) << (7 * i);
            if byte < 128 {
                insist(
                    (byte != 0 || i == 0) && (byte < 2 || i < 9),
                    "parameters: a number is not in its shortest form",
                )?;
                return Ok(number);
            }
        }
        insist(false, "parameters: a number is too long").map(|()| 0)
    }
}

impl Ribbon {
    /// That of a tight filter.
    fn alone(own: &[u8], hashes: u32, payload_len: u64) -> Result<Ribbon, Error> {
        insist(hashes == 1, "tight: hashes")?;
        let mut ribbon = Ribbon::of(own)?;
        let marks = ribbon.place_marks(0);
        insist(
            ribbon.place_tables(marks) == payload_len,
            "tight: levels and payload length disagree",
        )?;
        Ok(ribbon)
    }

    /// Without parameters it has no levels.
    fn of(own: &[u8]) -> Result<Ribbon, Error> {
        let mut ribbon = Ribbon {
            width: 0,
            wide: 0,
            window: 1,
            bucket: 192,
            thresholds: [0, 24, 48, 192],
            levels: Vec::new(),
            verdict: 0,
        };
        if own.is_empty() {
            return Ok(ribbon);
        }
        let mut own = Parameters(own);
        ribbon.width = own.byte()?;
        ribbon.wide = own.number(5)?;
        loop {
            insist(ribbon.levels.len() < 8, "levels: more than 8")?;
            let mut level = Level {
                blocks: own.number(5)?,
                seed: own.byte()?,
                ..Level::default()
            };
            let last = own.0.is_empty();
            level.shard_bits = if last { 0 } else { own.byte()? as u32 };
            insist(level.shard_bits <= 24, "levels: shards")?;
            ribbon.levels.push(level);
            if last {
                break;
            }
        }
        let widest = ribbon.width + u64::from(ribbon.wide > 0);
        insist(
            ribbon.wide < ribbon.levels[0].blocks && widest <= 32,
            "levels: width",
        )?;
        if ribbon.levels.len() > 1 && widest <= 2 {
            ribbon.window = 2;
            ribbon.bucket = 640;
            ribbon.thresholds = [0, 48, 96, 640];
        }
        ribbon.size_levels()?;
        Ok(ribbon)
    }

    fn size_levels(&mut self) -> Result<(), Error> {
        let first = self.levels[0].blocks;
        for level in &mut self.levels {
            insist(
                (self.window..=1 << 24).contains(&level.blocks),
                "levels: blocks",
            )?;
            level.narrow = level.blocks - (self.wide * level.blocks + first - 1) / first;
            level.places = 64 * (level.blocks - self.window) + 1;
            level.words = level.blocks * (self.width + 1) - level.narrow;
        }
        insist(
            self.levels.len() > 1 || self.levels[0].words > 0,
            "levels: no slots",
        )
    }

    /// Says that the thresholds begin here, and returns where they end.
    fn place_marks(&mut self, mut at: u64) -> u64 {
        let last = self.levels.len().saturating_sub(1);
        for level in &mut self.levels[..last] {
            level.marks = at;
            level.marks_len = (level.places + 4 * self.bucket - 1) / (4 * self.bucket);
            at += level.marks_len << level.shard_bits;
        }
        (at + 7) / 8 * 8
    }

    /// Does so for the slots.
    fn place_tables(&mut self, mut at: u64) -> u64 {
        for level in &mut self.levels {
            level.table = at;
            at += (8 * level.words) << level.shard_bits;
        }
        at
    }

    /// Looks a hash up: in a ribbon of fingerprints, whether it has the key's; in one of verdicts, whether it
    /// says yes.
    fn agrees<S: Source>(&self, payload: &S, hash: u64) -> Result<bool, S::Error> {
        let mut x = hash;
        let mut left = self.levels.len();
        for level in &self.levels {
            left -= 1;
            let (shard, rest) = split(x & !self.verdict, level.shard_bits);
            let factor = level.seed.wrapping_mul(GOLDEN + 1).wrapping_add(1);
            let y = rest.wrapping_mul(factor).wrapping_add(shard) & !self.verdict;
            let place = product(y, level.places).0;
            x = scramble(y);
            if left > 0 {
                let (bucket, within) = (place / self.bucket, place % self.bucket);
                let marks = payload.get(level.marks + shard * level.marks_len + bucket / 4, 1)?[0];
                if within < self.thresholds[usize::from(marks >> (bucket % 4 * 2) & 3)] {
                    continue;
                }
            }
            return self.agrees_at(level, payload, shard, place, x);
        }
        Ok(false) // without levels there are no keys
    }

    fn agrees_at<S: Source>(
        &self,
        level: &Level,
        payload: &S,
        shard: u64,
        place: u64,
        x: u64,
    ) -> Result<bool, S::Error> {
        let (block, offset) = (place / 64, place % 64);
        let begin = |block: u64| block * self.width + block.saturating_sub(level.narrow); // in words
        let count = self.window + u64::from(offset > 0);
        let from = begin(block);
        let slots = payload.get(
            level.table + 8 * (shard * level.words + from),
            8 * (begin(block + count) - from),
        )?;
        let (high, low) = product(x, GOLDEN);
        let upper = if self.window == 2 { high ^ low } else { 0 };
        let row = (u128::from(upper) << 64 | u128::from(x | 1)) << offset;
        let carry = upper.checked_shr(64 - offset as u32).unwrap_or(0);
        let rows = [row as u64, (row >> 64) as u64, carry];
        let print = match self.verdict {
            0 => x.wrapping_mul(PRINT) >> 32,
            yes => yes,
        };
        Ok((0..begin(block + 1) - from).all(|column| {
            let sum = (0..count).zip(rows).fold(0, |sum, (j, row)| {
                sum ^ le64(&slots, 8 * (begin(block + j) - from + column) as usize) & row
            });
            u64::from(sum.count_ones()) & 1 == print >> column & 1
        }))
    }
}

/// Fingerprints of the members, and verdicts about all known keys that the fingerprints find.
#[derive(Debug, Clone)]
pub(crate) struct Exact {
    prints: Ribbon,
    verdicts: Ribbon,
    seed: u64, // of the verdicts
}

impl Exact {
    fn of(own: &[u8], hashes: u32, payload_len: u64) -> Result<Exact, Error> {
        insist(hashes == 1, "exact: hashes")?;
        let mut own = Parameters(own);
        own.number(10)?; // known keys that are not members
        let seed = own.byte()?;
        let len = own.byte()? as usize;
        let mut prints = Ribbon::of(own.take(len)?)?;
        let mut verdicts = Ribbon::of(own.0)?;
        let right = if verdicts.levels.is_empty() {
            prints.levels.is_empty() && seed == 0
        } else {
            verdicts.width == 1 && verdicts.wide == 0
        };
        insist(right, "exact: verdicts")?;
        verdicts.verdict = 1;
        let marks = verdicts.place_marks(prints.place_marks(0));
        insist(
            verdicts.place_tables(prints.place_tables(marks)) == payload_len,
            "exact: levels and payload length disagree",
        )?;
        Ok(Exact {
            prints,
            verdicts,
            seed,
        })
    }

    fn has<S: Source>(&self, payload: &S, hash: u64) -> Result<bool, S::Error> {
        if !self.prints.levels.is_empty() && !self.prints.agrees(payload, hash)? {
            return Ok(false);
        }
        let own = hash.wrapping_add((self.seed + 1).wrapping_mul(GOLDEN));
        self.verdicts.agrees(payload, scramble(own))
    }
}
