// SPDX-License-Identifier: MIT

//! `ask FILE` answers questions about a filter. Keys are lines of hexadecimal digits on standard
//! input; a line of the output says yes or no to each. It exits with 2 if it does not read the file,
//! and says why.

use std::error::Error;
use std::io::{self, BufRead, BufWriter, Write};
use std::process::exit;

fn bytes_of(digits: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    if !digits.is_ascii() || digits.len() % 2 != 0 {
        return Err("not pairs of hexadecimal digits".into());
    }
    let pair = |at| Ok(u8::from_str_radix(&digits[at..at + 2], 16)?);
    (0..digits.len()).step_by(2).map(pair).collect()
}

fn run() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: ask FILE")?;
    let filter = umbel::Filter::open(path)?;
    let mut out = BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let found = filter.contains(&bytes_of(&line?)?);
        writeln!(out, "{}", if found { "yes" } else { "no" })?;
    }
    Ok(out.flush()?)
}

fn main() {
    if let Err(error) = run() {
        eprintln!("{error}");
        exit(2);
    }
}
