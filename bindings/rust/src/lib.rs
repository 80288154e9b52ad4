// SPDX-License-Identifier: MIT

//! Asks Bloom filters that umbel wrote (`.umb` files) whether they have a key.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/planets.umb");
//! let filter = umbel::Filter::open(path)?; // build it with: umbel build -o planets.umb planets.txt
//! if filter.contains("Mars") {
//!     println!("may be in the list"); // a "no" is certain
//! }
//! # assert!(filter.contains("Mars") && !filter.contains("Pluto"));
//! # Ok(())
//! # }
//! ```
//!
//! This crate only reads: the kinds blocked, classic, line, static, tight and exact, with and without
//! exceptions, under the recipes `line` and `domain`. Anything else (keyed filters, kinds that grow or count,
//! other recipes) is refused with [`Error::Unsupported`], which names it; damage is [`Error::Corrupt`].
//! Nothing panics on bad bytes, or allocates more than they amount to.
//!
//! It does not read the deltas that `umbel apply` puts beside a list, in `PATH.deltas`: [`Filter::open`]
//! refuses a list that they follow, while [`Filter::from_bytes`] and [`RemoteFilter`] see only the base and
//! answer for that.
//!
//! Without the feature `std`, which is on by default, the crate needs only `alloc`.

#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![no_std]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod domain;
mod header;
mod kinds;
mod remote;
#[cfg(all(test, feature = "std"))]
mod tests;
mod xxh3;

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::convert::Infallible;
use core::fmt;

use header::{Header, PIECE};
pub use remote::{ReadAt, RemoteFilter};

/// Why a file is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The file is damaged, incomplete or contradicts itself, or is not umbel's.
    Corrupt(String),
    /// The file is of a version or kind, or has a recipe, a secret or deltas, that this crate does not read.
    Unsupported(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Corrupt(what) => write!(f, "{what}: damaged or not an umbel file"),
            Error::Unsupported(what) => write!(f, "{what}: not supported by this reader"),
        }
    }
}

#[cfg(feature = "std")]
impl std::error::Error for Error {}

/// What can go wrong where bytes are read while a filter is opened or asked.
#[derive(Debug)]
pub enum ReadError<E> {
    /// The source failed.
    Source(E),
    /// What it read is refused.
    File(Error),
}

impl<E> From<Error> for ReadError<E> {
    fn from(error: Error) -> Self {
        ReadError::File(error)
    }
}

impl<E: fmt::Display> fmt::Display for ReadError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Source(error) => error.fmt(f),
            ReadError::File(error) => error.fmt(f),
        }
    }
}

#[cfg(feature = "std")]
impl<E: std::error::Error> std::error::Error for ReadError<E> {}

/// Ranges of a file, or of its payload; they are always within it.
trait Source {
    type Error;
    fn get(&self, at: u64, len: u64) -> Result<Cow<'_, [u8]>, Self::Error>;
}

impl Source for &[u8] {
    type Error = Infallible;

    #[inline]
    fn get(&self, at: u64, len: u64) -> Result<Cow<'_, [u8]>, Infallible> {
        Ok(Cow::Borrowed(&self[at as usize..][..len as usize]))
    }
}

/// A file in memory while it is checked, which can fail in ways that reading does not.
struct Opening<'a>(&'a [u8]);

impl Source for Opening<'_> {
    type Error = Error;

    fn get(&self, at: u64, len: u64) -> Result<Cow<'_, [u8]>, Error> {
        Ok(Cow::Borrowed(&self.0[at as usize..][..len as usize]))
    }
}

/// A filter in memory, all of which has been checked. Lookups in it never fail.
///
/// `B` is whatever holds the file's bytes: a `Vec<u8>`, a slice, a mapped file.
#[derive(Debug, Clone)]
pub struct Filter<B> {
    header: Header,
    bytes: B,
}

impl<B: AsRef<[u8]>> Filter<B> {
    /// Checks the bytes of a file and makes a filter of them, without copying them.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] and [`Error::Unsupported`].
    ///
    /// ```
    /// let error = umbel::Filter::from_bytes(b"UMBEL").unwrap_err();
    /// assert!(matches!(error, umbel::Error::Corrupt(_)));
    /// ```
    pub fn from_bytes(bytes: B) -> Result<Self, Error> {
        let file = bytes.as_ref();
        let opening = Opening(file);
        let header = Header::read(&opening, file.len() as u64)?;
        let sums = header.read_sums(&opening)?;
        let payload = header.payload_of(file);
        for (i, (piece, sum)) in payload
            .chunks(PIECE as usize)
            .zip(sums.chunks(8))
            .enumerate()
        {
            header::check_piece(piece, i as u64, sum)?;
        }
        header.check_last_byte(payload)?;
        Ok(Filter { header, bytes })
    }

    /// Whether the text may be in the filter.
    ///
    /// Under the recipe `line` the text is the key. Under `domain` it may be a name, a URL or a host with a
    /// port, and names below a listed one are found as well.
    pub fn contains<T: AsRef<[u8]> + ?Sized>(&self, text: &T) -> bool {
        let payload = self.header.payload_of(self.bytes.as_ref());
        match self.header.contains(&payload, text.as_ref()) {
            Ok(found) => found,
            Err(never) => match never {},
        }
    }

    /// [`Filter::contains`] for each of these texts.
    pub fn contains_many<T: AsRef<[u8]>>(&self, texts: &[T]) -> Vec<bool> {
        texts.iter().map(|text| self.contains(text)).collect()
    }

    /// The filter's kind: blocked, classic, line, static, tight or exact.
    pub fn kind(&self) -> &'static str {
        self.header.kind_name()
    }

    /// How texts become keys: line or domain.
    pub fn recipe(&self) -> &'static str {
        self.header.recipe_name()
    }
}

#[cfg(feature = "std")]
impl Filter<Vec<u8>> {
    /// Reads a file into memory and checks all of it. For one that should not be in memory as a whole, give a
    /// [`std::fs::File`] to [`RemoteFilter::new`].
    ///
    /// # Errors
    ///
    /// Those of [`std::fs::read`] and of [`Filter::from_bytes`], and [`Error::Unsupported`] if there are deltas
    /// beside the file, so that it alone is not the list.
    pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self, ReadError<std::io::Error>> {
        let bytes = std::fs::read(&path).map_err(ReadError::Source)?;
        let mut deltas = path.as_ref().to_path_buf().into_os_string();
        deltas.push(".deltas");
        let deltas = std::path::Path::new(&deltas);
        if deltas.exists() {
            let what = alloc::format!("the deltas in {}", deltas.display());
            return Err(Error::Unsupported(what).into());
        }
        Ok(Filter::from_bytes(bytes)?)
    }
}
