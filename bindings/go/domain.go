// SPDX-License-Identifier: MIT

package umbel

import "bytes"

const domainMax = 253

// domainOf returns the name that is looked up first for a name, a URL or a host with a port, as
// docs/recipes.md says under "Hosts and URLs"; it is empty if there is none.
func domainOf(text []byte) []byte {
	host := bytes.Trim(hostOf(text), " \t\n\v\f\r")
	name := make([]byte, len(host))
	for i, c := range host {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		name[i] = c
	}
	return lastLabels(bytes.TrimRight(name, "."))
}

// parentOf returns the name without its first label.
func parentOf(name []byte) []byte {
	if dot := bytes.IndexByte(name, '.'); dot >= 0 {
		return name[dot+1:]
	}
	return nil
}

// lastLabels returns the longest end of a text that is a name: whoever owns a listed domain chooses the
// labels below it.
func lastLabels(text []byte) []byte {
	from, labelEnd := len(text), len(text)
	for i := len(text) - 1; i >= 0 && len(text)-i <= domainMax; i-- {
		c := text[i]
		if c <= ' ' || c == 0x7f || c == '.' && i+1 == labelEnd {
			break
		}
		if c == '.' {
			labelEnd = i
		} else if i == 0 || text[i-1] == '.' {
			from = i
		}
	}
	return text[from:]
}

func hostOf(text []byte) []byte {
	for len(text) > 0 && text[0] <= ' ' {
		text = text[1:]
	}
	for len(text) > 0 && text[len(text)-1] <= ' ' {
		text = text[:len(text)-1]
	}
	if n := len(text); n >= 2 && text[0] == '<' && text[n-1] == '>' {
		text = text[1 : n-1]
	}
	if host, special, ok := hostOfURL(withoutBreaks(text)); ok {
		if special {
			host = percentDecoded(host)
		}
		return host
	}
	return hostOfAuthority(before(text, "/?#"))
}

func hostOfURL(text []byte) (host []byte, special, ok bool) {
	scheme, rest := schemeOf(text), text
	special = true
	if scheme != "" {
		rest = text[len(scheme)+1:]
		switch scheme {
		case "http", "https", "ws", "wss", "ftp", "file":
		default:
			special = false
		}
	}
	file, ends, slashes := scheme == "file", "/\\?#", 0
	if special {
		for slashes < len(rest) && (rest[slashes] == '/' || rest[slashes] == '\\') && (!file || slashes < 2) {
			slashes++
		}
	} else if ends = "/?#"; bytes.HasPrefix(rest, []byte("//")) {
		slashes = 2
	}
	if (scheme == "" || !special) && slashes < 2 {
		return nil, false, false
	}
	if file && slashes < 2 {
		return nil, true, true
	}
	return hostOfAuthority(before(rest[slashes:], ends)), special, true
}

// schemeOf returns the scheme that a text begins with, in lower case.
func schemeOf(text []byte) string {
	for i, c := range text {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		switch {
		case c == ':':
			return string(bytes.ToLower(text[:i]))
		case !letter && (i == 0 || (c < '0' || c > '9') && c != '+' && c != '-' && c != '.'):
			return ""
		}
	}
	return ""
}

func hostOfAuthority(text []byte) []byte {
	text = withoutPort(text[bytes.LastIndexByte(text, '@')+1:])
	if n := len(text); n >= 2 && text[0] == '[' && text[n-1] == ']' {
		return text[1 : n-1]
	}
	return text
}

// withoutPort leaves IPv6 addresses without brackets alone.
func withoutPort(text []byte) []byte {
	if bytes.Count(text, []byte(":")) > 1 && bytes.IndexByte(text, '.') < 0 && text[0] != '[' {
		return text
	}
	for {
		n := len(bytes.TrimRight(text, "0123456789"))
		if n == 0 || text[n-1] != ':' {
			return text
		}
		text = text[:n-1]
	}
}

func before(text []byte, ends string) []byte {
	if i := bytes.IndexAny(text, ends); i >= 0 {
		return text[:i]
	}
	return text
}

func withoutBreaks(text []byte) []byte {
	kept := make([]byte, 0, len(text))
	for _, c := range text {
		if c != '\t' && c != '\n' && c != '\r' {
			kept = append(kept, c)
		}
	}
	return kept
}

func percentDecoded(text []byte) []byte {
	decoded := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '%' && i+2 < len(text) {
			if high, low := hexDigit(text[i+1]), hexDigit(text[i+2]); high >= 0 && low >= 0 {
				c = byte(high<<4 | low)
				i += 2
			}
		}
		decoded = append(decoded, c)
	}
	return decoded
}

func hexDigit(c byte) int { return bytes.IndexByte([]byte("0123456789abcdef"), lowerHex(c)) }

func lowerHex(c byte) byte {
	if 'A' <= c && c <= 'F' {
		c += 'a' - 'A'
	}
	return c
}
