// SPDX-License-Identifier: MIT

//! XXH3 of xxHash 0.8 under a seed: [`hash`] has 64 bits, [`wide`] 128.

const PRIME32: [u64; 3] = [0x9e3779b1, 0x85ebca77, 0xc2b2ae3d];
const PRIME64: [u64; 5] = [
    0x9e3779b185ebca87,
    0xc2b2ae3d27d4eb4f,
    0x165667b19e3779f9,
    0x85ebca77c2b2ae63,
    0x27d4eb2f165667c5,
];
const MIX1: u64 = 0x165667919e3779f9;
const MIX2: u64 = 0x9fb21c651e98df25;
const STRIPE: usize = 64;

/// The default secret of XXH3.
#[rustfmt::skip]
const SECRET: [u8; 192] = [
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
    0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
    0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
];

pub(crate) fn le32(bytes: &[u8], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(word)
}

pub(crate) fn le64(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

/// The upper and the lower half of a product.
pub(crate) fn product(a: u64, b: u64) -> (u64, u64) {
    let all = u128::from(a) * u128::from(b);
    ((all >> 64) as u64, all as u64)
}

fn fold(a: u64, b: u64) -> u64 {
    let (high, low) = product(a, b);
    high ^ low
}

fn times(a: u64, b: u64) -> u64 {
    a.wrapping_mul(b)
}

fn shift(h: u64, by: u32) -> u64 {
    h ^ h >> by
}

fn finish(h: u64) -> u64 {
    shift(times(shift(h, 37), MIX1), 32)
}

fn finish64(h: u64) -> u64 {
    shift(
        times(shift(times(shift(h, 33), PRIME64[1]), 29), PRIME64[2]),
        32,
    )
}

fn two_secrets(at: usize) -> u64 {
    le64(&SECRET, at) ^ le64(&SECRET, at + 8)
}

fn tiny_secret(at: usize) -> u64 {
    u64::from(le32(&SECRET, at) ^ le32(&SECRET, at + 4))
}

fn tiny(b: &[u8]) -> u32 {
    let n = b.len();
    u32::from(b[0]) << 16 | u32::from(b[n >> 1]) << 24 | u32::from(b[n - 1]) | (n as u32) << 8
}

fn swap_seed(seed: u64) -> u64 {
    seed ^ u64::from((seed as u32).swap_bytes()) << 32
}

fn mix16(b: &[u8], at: usize, s: usize, seed: u64) -> u64 {
    fold(
        le64(b, at) ^ le64(&SECRET, s).wrapping_add(seed),
        le64(b, at + 8) ^ le64(&SECRET, s + 8).wrapping_sub(seed),
    )
}

/// XXH3-64.
pub(crate) fn hash(b: &[u8], seed: u64) -> u64 {
    let n = b.len();
    let start = times(n as u64, PRIME64[0]);
    match n {
        0..=16 => short(b, seed),
        17..=128 => finish((0..=(n - 1) / 32).fold(start, |acc, i| {
            acc.wrapping_add(mix16(b, 16 * i, 32 * i, seed))
                .wrapping_add(mix16(b, n - 16 * i - 16, 32 * i + 16, seed))
        })),
        129..=240 => {
            let add = |acc: u64, i: usize, s: usize| acc.wrapping_add(mix16(b, i, s, seed));
            let acc = finish((0..8).fold(start, |acc, i| add(acc, 16 * i, 16 * i)));
            let acc = (8..n / 16).fold(acc, |acc, i| add(acc, 16 * i, 16 * i - 125));
            finish(add(acc, n - 16, 119))
        }
        _ => {
            let own = seeded_secret(seed);
            merge(&accumulate(b, &own), &own[11..], start)
        }
    }
}

fn short(b: &[u8], seed: u64) -> u64 {
    let n = b.len();
    match n {
        0 => finish64(seed ^ two_secrets(56)),
        1..=3 => finish64(u64::from(tiny(b)) ^ tiny_secret(0).wrapping_add(seed)),
        4..=8 => {
            let word = u64::from(le32(b, n - 4)).wrapping_add(u64::from(le32(b, 0)) << 32);
            let h = word ^ two_secrets(8).wrapping_sub(swap_seed(seed));
            let h = times(h ^ h.rotate_left(49) ^ h.rotate_left(24), MIX2);
            shift(times(h ^ (h >> 35).wrapping_add(n as u64), MIX2), 28)
        }
        _ => {
            let low = le64(b, 0) ^ two_secrets(24).wrapping_add(seed);
            let high = le64(b, n - 8) ^ two_secrets(40).wrapping_sub(seed);
            let sum = (n as u64).wrapping_add(low.swap_bytes()).wrapping_add(high);
            finish(sum.wrapping_add(fold(low, high)))
        }
    }
}

fn seeded_secret(seed: u64) -> [u8; 192] {
    let mut own = SECRET;
    for at in (0..own.len()).step_by(16) {
        own[at..at + 8].copy_from_slice(&le64(&SECRET, at).wrapping_add(seed).to_le_bytes());
        own[at + 8..at + 16]
            .copy_from_slice(&le64(&SECRET, at + 8).wrapping_sub(seed).to_le_bytes());
    }
    own
}

/// Sums up more than 240 bytes.
fn accumulate(b: &[u8], own: &[u8; 192]) -> [u64; 8] {
    let mut acc = [
        PRIME32[2], PRIME64[0], PRIME64[1], PRIME64[2], PRIME64[3], PRIME32[1], PRIME64[4],
        PRIME32[0],
    ];
    for (i, stripe) in b[..b.len() - 1].chunks_exact(STRIPE).enumerate() {
        add_stripe(&mut acc, stripe, &own[8 * (i % 16)..]);
        if i % 16 == 15 {
            for (j, sum) in acc.iter_mut().enumerate() {
                *sum = times(shift(*sum, 47) ^ le64(&own[128..], 8 * j), PRIME32[0]);
            }
        }
    }
    add_stripe(&mut acc, &b[b.len() - STRIPE..], &own[121..]);
    acc
}

fn add_stripe(acc: &mut [u64; 8], stripe: &[u8], key: &[u8]) {
    let (stripe, key) = (&stripe[..STRIPE], &key[..STRIPE]);
    for i in 0..8 {
        let word = le64(stripe, 8 * i);
        let keyed = word ^ le64(key, 8 * i);
        acc[i ^ 1] = acc[i ^ 1].wrapping_add(word);
        acc[i] = acc[i].wrapping_add((keyed & 0xffff_ffff) * (keyed >> 32));
    }
}

fn merge(acc: &[u64; 8], key: &[u8], start: u64) -> u64 {
    finish((0..8).step_by(2).fold(start, |sum, i| {
        sum.wrapping_add(fold(
            acc[i] ^ le64(key, 8 * i),
            acc[i + 1] ^ le64(key, 8 * i + 8),
        ))
    }))
}

/// XXH3-128: its lower and its upper half.
pub(crate) fn wide(b: &[u8], seed: u64) -> (u64, u64) {
    let n = b.len();
    let start = times(n as u64, PRIME64[0]);
    if n <= 16 {
        return short_wide(b, seed);
    }
    if n > 240 {
        let own = seeded_secret(seed);
        let acc = accumulate(b, &own);
        return (
            merge(&acc, &own[11..], start),
            merge(&acc, &own[117..], !times(n as u64, PRIME64[1])),
        );
    }
    let middle = |at| le64(b, at).wrapping_add(le64(b, at + 8));
    let mix32 = |(low, high): (u64, u64), i, j, s, seed| {
        let low = low.wrapping_add(mix16(b, i, s, seed)) ^ middle(j);
        (
            low,
            high.wrapping_add(mix16(b, j, s + 16, seed)) ^ middle(i),
        )
    };
    let (low, high) = if n <= 128 {
        (0..=(n - 1) / 32).rev().fold((start, 0), |acc, i| {
            mix32(acc, 16 * i, n - 16 * i - 16, 32 * i, seed)
        })
    } else {
        let acc = (0..4).fold((start, 0), |acc, i| {
            mix32(acc, 32 * i, 32 * i + 16, 32 * i, seed)
        });
        let acc = (finish(acc.0), finish(acc.1));
        let acc = (4..n / 32).fold(acc, |acc, i| {
            mix32(acc, 32 * i, 32 * i + 16, 32 * i - 125, seed)
        });
        mix32(acc, n - 16, n - 32, 103, seed.wrapping_neg())
    };
    let last = times(low, PRIME64[0])
        .wrapping_add(times(high, PRIME64[3]))
        .wrapping_add(times((n as u64).wrapping_sub(seed), PRIME64[1]));
    (finish(low.wrapping_add(high)), finish(last).wrapping_neg())
}

fn short_wide(b: &[u8], seed: u64) -> (u64, u64) {
    let n = b.len();
    match n {
        0 => (
            finish64(seed ^ two_secrets(64)),
            finish64(seed ^ two_secrets(80)),
        ),
        1..=3 => {
            let word = u64::from(tiny(b).swap_bytes().rotate_left(13));
            (
                short(b, seed),
                finish64(word ^ tiny_secret(8).wrapping_sub(seed)),
            )
        }
        4..=8 => {
            let word = u64::from(le32(b, 0)).wrapping_add(u64::from(le32(b, n - 4)) << 32);
            let word = word ^ two_secrets(16).wrapping_add(swap_seed(seed));
            let (high, low) = product(word, PRIME64[0].wrapping_add((n as u64) << 2));
            let high = high.wrapping_add(low << 1);
            (
                shift(times(shift(low ^ high >> 3, 35), MIX2), 28),
                finish(high),
            )
        }
        _ => {
            let upper = le64(b, n - 8);
            let word = le64(b, 0) ^ upper ^ two_secrets(32).wrapping_sub(seed);
            let (high, low) = product(word, PRIME64[0]);
            let low = low.wrapping_add((n as u64 - 1) << 54);
            let upper = upper ^ two_secrets(48).wrapping_add(seed);
            let high = high
                .wrapping_add(upper)
                .wrapping_add((upper & 0xffff_ffff) * (PRIME32[1] - 1));
            let (carry, low) = product(low ^ high.swap_bytes(), PRIME64[1]);
            (
                finish(low),
                finish(carry.wrapping_add(times(high, PRIME64[1]))),
            )
        }
    }
}
