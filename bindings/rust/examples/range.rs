// SPDX-License-Identifier: MIT

//! `range http://HOST[:PORT]/PATH TEXT...` asks a filter on a web server and reads only what it needs
//! of the file. It prints yes or no for each text, and at the end, on standard error, how much it
//! read. It exits with 2 if it fails.
//!
//! The payload is not compared with its checksums, so a lookup reads a few bytes and not a MiB: use it
//! where the transport is trusted. One connection serves all requests.

use std::cell::{Cell, RefCell};
use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::exit;

use umbel::{ReadAt, RemoteFilter};

/// A file on a web server.
struct Remote {
    host: String,
    path: String,
    stream: RefCell<BufReader<TcpStream>>,
    requests: Cell<u32>,
    bytes: Cell<usize>,
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

impl Remote {
    fn open(url: &str) -> io::Result<Remote> {
        let rest = url
            .strip_prefix("http://")
            .ok_or_else(|| invalid("only http:// is understood"))?;
        let (host, path) = rest
            .split_once('/')
            .ok_or_else(|| invalid("the URL has no path"))?;
        let address = if host.contains(':') {
            host.to_string()
        } else {
            format!("{host}:80")
        };
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Remote {
            host: host.to_string(),
            path: format!("/{path}"),
            stream: RefCell::new(BufReader::new(stream)),
            requests: Cell::new(0),
            bytes: Cell::new(0),
        })
    }

    /// Sends a request and reads the head of the answer: its status and its length.
    fn ask(&self, method: &str, more: &str) -> io::Result<(u32, u64)> {
        let mut stream = self.stream.borrow_mut();
        let request = format!(
            "{method} {} HTTP/1.1\r\nHost: {}\r\n{more}\r\n",
            self.path, self.host
        );
        stream.get_mut().write_all(request.as_bytes())?;
        let (mut status, mut length) = (None, None);
        loop {
            let mut line = String::new();
            (&mut *stream).take(8192).read_line(&mut line)?;
            let line = line.trim_end().to_ascii_lowercase();
            if status.is_none() {
                status = line
                    .split(' ')
                    .nth(1)
                    .and_then(|number| number.parse().ok());
            } else if let Some(number) = line.strip_prefix("content-length:") {
                length = number.trim().parse().ok();
            } else if line.is_empty() {
                break;
            }
            if status.is_none() {
                return Err(invalid("not an answer of HTTP"));
            }
        }
        Ok((
            status.unwrap_or(0),
            length.ok_or_else(|| invalid("an answer without a length"))?,
        ))
    }

    fn size(&self) -> io::Result<u64> {
        match self.ask("HEAD", "")? {
            (200, size) => Ok(size),
            (status, _) => Err(invalid(&format!("status {status}"))),
        }
    }
}

impl ReadAt for Remote {
    type Error = io::Error;

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        if buf.is_empty() {
            return Ok(());
        }
        let last = offset + buf.len() as u64 - 1;
        let answer = self.ask("GET", &format!("Range: bytes={offset}-{last}\r\n"))?;
        if answer != (206, buf.len() as u64) {
            return Err(invalid(&format!("status {} instead of a range", answer.0)));
        }
        self.stream.borrow_mut().read_exact(buf)?;
        self.requests.set(self.requests.get() + 1);
        self.bytes.set(self.bytes.get() + buf.len());
        Ok(())
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments
        .next()
        .ok_or("usage: range http://HOST[:PORT]/PATH TEXT...")?;
    let remote = Remote::open(&url)?;
    let size = remote.size()?;
    let filter = RemoteFilter::unchecked(&remote, size)?;
    eprintln!(
        "opened: {} requests, {} bytes",
        remote.requests.get(),
        remote.bytes.get()
    );
    for text in arguments {
        println!("{}", if filter.contains(&text)? { "yes" } else { "no" });
    }
    eprintln!(
        "in all: {} requests, {} bytes",
        remote.requests.get(),
        remote.bytes.get()
    );
    Ok(())
}

fn main() {
    if let Err(error) = run() {
        eprintln!("{error}");
        exit(2);
    }
}
