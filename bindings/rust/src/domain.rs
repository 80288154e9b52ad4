// SPDX-License-Identifier: MIT

//! From a text to the name that is looked up, as docs/recipes.md says under "Hosts and URLs".

use alloc::vec::Vec;

const LONGEST: usize = 253;

/// The name that is looked up first; it is empty if there is none.
pub(crate) fn name_of(text: &[u8]) -> Vec<u8> {
    let mut host = host_of(text);
    host.make_ascii_lowercase();
    let is_space = |c: u8| matches!(c, b' ' | b'\t'..=b'\r');
    let name = trim(&host, is_space, is_space);
    last_labels(trim(name, |_| false, |c| c == b'.')).to_vec()
}

/// The name without its first label.
pub(crate) fn parent_of(name: &[u8]) -> &[u8] {
    match name.iter().position(|&c| c == b'.') {
        Some(dot) => &name[dot + 1..],
        None => &[],
    }
}

fn trim(mut text: &[u8], front: impl Fn(u8) -> bool, back: impl Fn(u8) -> bool) -> &[u8] {
    while let [c, rest @ ..] = text {
        if !front(*c) {
            break;
        }
        text = rest;
    }
    while let [rest @ .., c] = text {
        if !back(*c) {
            break;
        }
        text = rest;
    }
    text
}

/// The longest end of a text that is a name: whoever owns a listed domain chooses the labels below it.
fn last_labels(text: &[u8]) -> &[u8] {
    let (mut from, mut label_end) = (text.len(), text.len());
    for i in (text.len().saturating_sub(LONGEST)..text.len()).rev() {
        let c = text[i];
        if c <= b' ' || c == 0x7f || c == b'.' && i + 1 == label_end {
            break;
        }
        if c == b'.' {
            label_end = i;
        } else if i == 0 || text[i - 1] == b'.' {
            from = i;
        }
    }
    &text[from..]
}

fn host_of(text: &[u8]) -> Vec<u8> {
    let is_control = |c: u8| c <= b' ';
    let mut text = trim(text, is_control, is_control);
    if let [b'<', inner @ .., b'>'] = text {
        text = inner;
    }
    let unbroken: Vec<u8> = text
        .iter()
        .copied()
        .filter(|c| !b"\t\n\r".contains(c))
        .collect();
    match host_of_url(&unbroken) {
        Some((host, true)) => percent_decoded(host),
        Some((host, false)) => host.to_vec(),
        None => host_of_authority(before(text, b"/?#")).to_vec(),
    }
}

/// The host, and whether the scheme is one whose hosts are names.
fn host_of_url(text: &[u8]) -> Option<(&[u8], bool)> {
    let scheme = scheme_of(text);
    let rest = scheme.map_or(text, |scheme| &text[scheme.len() + 1..]);
    let is =
        |name: &&str| scheme.map_or(true, |scheme| scheme.eq_ignore_ascii_case(name.as_bytes()));
    let special = ["http", "https", "ws", "wss", "ftp", "file"]
        .iter()
        .any(|name| is(name));
    let file = scheme.is_some() && is(&"file");
    let slashes = if special {
        let slashes = rest
            .iter()
            .take_while(|&&c| c == b'/' || c == b'\\')
            .count();
        if file {
            slashes.min(2)
        } else {
            slashes
        }
    } else {
        usize::from(rest.starts_with(b"//")) * 2
    };
    if (scheme.is_none() || !special) && slashes < 2 {
        return None;
    }
    if file && slashes < 2 {
        return Some((&[], true));
    }
    let ends: &[u8] = if special { b"/\\?#" } else { b"/?#" };
    Some((host_of_authority(before(&rest[slashes..], ends)), special))
}

fn scheme_of(text: &[u8]) -> Option<&[u8]> {
    let colon = text
        .iter()
        .position(|c| !c.is_ascii_alphanumeric() && !b"+-.".contains(c))?;
    let scheme = &text[..colon];
    (text[colon] == b':' && scheme.first()?.is_ascii_alphabetic()).then(|| scheme)
}

fn host_of_authority(text: &[u8]) -> &[u8] {
    let from = text.iter().rposition(|&c| c == b'@').map_or(0, |at| at + 1);
    match without_port(&text[from..]) {
        [b'[', inner @ .., b']'] => inner,
        host => host,
    }
}

/// Leaves IPv6 addresses without brackets alone.
fn without_port(mut text: &[u8]) -> &[u8] {
    let colons = text.iter().filter(|&&c| c == b':').count();
    if colons > 1 && !text.contains(&b'.') && text[0] != b'[' {
        return text;
    }
    while let [host @ .., b':'] = trim(text, |_| false, |c| c.is_ascii_digit()) {
        text = host;
    }
    text
}

fn before<'a>(text: &'a [u8], ends: &[u8]) -> &'a [u8] {
    &text[..text
        .iter()
        .position(|c| ends.contains(c))
        .unwrap_or(text.len())]
}

fn percent_decoded(mut text: &[u8]) -> Vec<u8> {
    let digit = |c: &u8| (*c as char).to_digit(16).map(|x| x as u8);
    let mut decoded = Vec::with_capacity(text.len());
    while let [first, rest @ ..] = text {
        let (mut c, mut next) = (*first, rest);
        if let (b'%', [high, low, after @ ..]) = (c, rest) {
            if let (Some(high), Some(low)) = (digit(high), digit(low)) {
                c = high << 4 | low;
                next = after;
            }
        }
        decoded.push(c);
        text = next;
    }
    decoded
}
