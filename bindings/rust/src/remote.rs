// SPDX-License-Identifier: MIT

use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, Ordering};

use crate::header::{check_piece, Header, PIECE};
use crate::{ReadError, Source};

/// A file that is not in memory: on a disk, on a web server, in a database.
///
/// ```
/// struct Memory(Vec<u8>);
///
/// impl umbel::ReadAt for Memory {
///     type Error = std::io::Error;
///
///     fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), std::io::Error> {
///         let from = self.0.get(offset as usize..).and_then(|rest| rest.get(..buf.len()));
///         buf.copy_from_slice(from.ok_or(std::io::ErrorKind::UnexpectedEof)?);
///         Ok(())
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/planets.umb");
/// let memory = Memory(std::fs::read(path)?);
/// let size = memory.0.len() as u64;
/// let filter = umbel::RemoteFilter::new(memory, size)?;
/// assert!(filter.contains("Mars")?);
/// # Ok(())
/// # }
/// ```
pub trait ReadAt {
    /// What reading fails with.
    type Error;

    /// Fills the buffer with the bytes from this offset on, or fails.
    ///
    /// # Errors
    ///
    /// If any of them cannot be read.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), Self::Error>;
}

impl<R: ReadAt> ReadAt for &R {
    type Error = R::Error;

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), Self::Error> {
        (**self).read_at(offset, buf)
    }
}

#[cfg(all(feature = "std", unix))]
impl ReadAt for std::fs::File {
    type Error = std::io::Error;

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), std::io::Error> {
        std::os::unix::fs::FileExt::read_exact_at(self, buf, offset)
    }
}

/// A filter in a file that is read only as far as it is needed.
///
/// Opening reads the header and, for each MiB of the payload, a checksum of 8 bytes. A lookup then reads what
/// it needs: 32 bytes at once in blocked filters, 64 in those of kind line. It checks each MiB before it first
/// uses a part of it, and reads all of that MiB to do so. The file must not change.
#[derive(Debug)]
pub struct RemoteFilter<R> {
    header: Header,
    file: File<R>,
    sums: Vec<u8>,
    checked: Vec<AtomicBool>, // none: nothing is checked
}

#[derive(Debug)]
struct File<R>(R);

impl<R: ReadAt> RemoteFilter<R> {
    /// Makes a filter of a file of this many bytes.
    ///
    /// # Errors
    ///
    /// Those of the source, and [`Error`](crate::Error)s about what it reads.
    pub fn new(reader: R, size: u64) -> Result<Self, ReadError<R::Error>> {
        let mut filter = Self::unchecked(reader, size)?;
        filter.sums = filter.header.read_sums(&filter.file)?.into_owned();
        filter.checked = filter
            .sums
            .chunks(8)
            .map(|_| AtomicBool::new(false))
            .collect();
        Ok(filter)
    }

    /// Makes a filter whose payload is not compared with its checksums. Damage then gives wrong answers. It is
    /// for sources that are checked in another way, where a lookup should read as little as possible.
    ///
    /// # Errors
    ///
    /// Those of [`RemoteFilter::new`].
    pub fn unchecked(reader: R, size: u64) -> Result<Self, ReadError<R::Error>> {
        let file = File(reader);
        let header = Header::read(&file, size)?;
        Ok(RemoteFilter {
            header,
            file,
            sums: Vec::new(),
            checked: Vec::new(),
        })
    }

    /// [`Filter::contains`](crate::Filter::contains), where bytes are read.
    ///
    /// # Errors
    ///
    /// Those of the source, and [`Error::Corrupt`](crate::Error::Corrupt) where the file is damaged.
    pub fn contains<T: AsRef<[u8]> + ?Sized>(&self, text: &T) -> Result<bool, ReadError<R::Error>> {
        self.header.contains(self, text.as_ref())
    }

    /// [`RemoteFilter::contains`] for each of these texts, up to the first error.
    ///
    /// # Errors
    ///
    /// Those of [`RemoteFilter::contains`].
    pub fn contains_many<T: AsRef<[u8]>>(
        &self,
        texts: &[T],
    ) -> Result<Vec<bool>, ReadError<R::Error>> {
        texts.iter().map(|text| self.contains(text)).collect()
    }

    /// Reads piece `i`, compares it with its sum and remembers that.
    fn check(&self, i: u64) -> Result<Cow<'_, [u8]>, ReadError<R::Error>> {
        let at = i * PIECE;
        let len = PIECE.min(self.header.payload_len - at);
        let piece = self.file.get(self.header.payload_at + at, len)?;
        check_piece(&piece, i, &self.sums[8 * i as usize..])?;
        self.checked[i as usize].store(true, Ordering::Release);
        Ok(piece)
    }
}

/// Ranges of the payload, checked.
impl<R: ReadAt> Source for RemoteFilter<R> {
    type Error = ReadError<R::Error>;

    fn get(&self, at: u64, len: u64) -> Result<Cow<'_, [u8]>, Self::Error> {
        let pieces = if self.checked.is_empty() {
            0..0
        } else {
            at / PIECE..(at + len + PIECE - 1) / PIECE
        };
        for i in pieces {
            if self.checked[i as usize].load(Ordering::Acquire) {
                continue;
            }
            let piece = self.check(i)?;
            let within = at.checked_sub(i * PIECE).map(|from| from as usize);
            if let Some(part) = within.and_then(|from| piece.get(from..from + len as usize)) {
                return Ok(Cow::Owned(part.to_vec()));
            }
        }
        self.file.get(self.header.payload_at + at, len)
    }
}

/// Ranges of the file.  They are read by the MiB, so that a size that is not true costs no memory.
impl<R: ReadAt> Source for File<R> {
    type Error = ReadError<R::Error>;

    fn get(&self, at: u64, len: u64) -> Result<Cow<'_, [u8]>, Self::Error> {
        let mut bytes = vec![];
        let mut done = 0;
        while done < len {
            let step = PIECE.min(len - done);
            bytes.resize((done + step) as usize, 0);
            self.0
                .read_at(at + done, &mut bytes[done as usize..])
                .map_err(ReadError::Source)?;
            done += step;
        }
        Ok(Cow::Owned(bytes))
    }
}
