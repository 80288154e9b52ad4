// SPDX-License-Identifier: MIT

package umbel

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
)

const (
	pieceLen     = 1 << 20
	fixedLen     = 128
	headerMax    = 1 << 20
	page         = 4096
	exceptionMax = 64000
	entryMax     = 1024
	metadataMax  = 512 << 10
)

// The numbers of kinds; those that are not in the table of lookups are named when they are refused.
var kindNames = map[uint32]string{1: "blocked", 2: "classic", 3: "static", 4: "counting", 5: "scalable",
	6: "window", 7: "tight", 8: "line", 9: "exact"}

// header is what docs/formats/native.md says is in a file's header.
type header struct {
	kind, hashes          uint32
	seed, bits            uint64
	payloadAt, payloadLen uint64
	recipe                string
}

// open reads and checks everything before the payload, and the sums after it.
func (f *Filter) open(size uint64) error {
	const smallest = fixedLen + 8
	first := size
	if first > page {
		first = page
	}
	head, err := f.read(0, first)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(head, []byte("UMBEL\x1a\r\n")) {
		return corrupt("magic")
	}
	if size < smallest {
		return corrupt("the header is cut off")
	}
	if version := binary.LittleEndian.Uint16(head[8:]); version != 1 && version != 2 {
		return unsupported(fmt.Sprintf("version %d", version))
	}
	length := uint64(binary.LittleEndian.Uint32(head[12:]))
	if length < smallest || length > headerMax || length%8 != 0 || length > size {
		return corrupt("header length")
	}
	if length > first {
		if head, err = f.read(0, length); err != nil {
			return err
		}
	}
	sum := binary.LittleEndian.Uint64(head[length-8:])
	if xxh3(head[:length-8], 0) != sum {
		return corrupt("header checksum")
	}
	if err := f.takeFields(head, length, size); err != nil {
		return err
	}
	if err := f.checkPadding(head, length); err != nil {
		return err
	}
	if f.unchecked {
		return nil
	}
	return f.takeSums(sum)
}

// takeFields checks the fields against each other and against the file's size, and makes the lookup.
func (f *Filter) takeFields(head []byte, length, size uint64) error {
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(head[at:]) }
	u64 := func(at int) uint64 { return binary.LittleEndian.Uint64(head[at:]) }
	f.header = header{kind: u32(16), hashes: u32(28), seed: u64(32), bits: u64(48), payloadAt: u64(96),
		payloadLen: u64(104)}
	exceptions, outdated := u32(92), head[89]
	own, metadata := uint64(u32(116)), uint64(u32(120))
	end := length - 8 - 8*uint64(exceptions)
	rate := math.Float64frombits(u64(64))
	switch {
	case head[10] != 0 || head[11] != 0 || head[90] != 0 || head[91] != 0:
		return corrupt("reserved bytes")
	case (u32(24) == 2) != (u64(40) != 0):
		return corrupt("secret fingerprint")
	case !(rate >= 0 && rate < 1) || math.Signbit(rate):
		return corrupt("rate")
	case exceptions > exceptionMax || (head[8] == 2) != (exceptions != 0) || outdated > 1 ||
		outdated == 1 && exceptions == 0:
		return corrupt("exceptions")
	case u32(112) != pieceLen:
		return unsupported("piece length")
	case 8*uint64(exceptions) > length-fixedLen-8 || (fixedLen+own+metadata+7)/8*8 != end:
		return corrupt("header length")
	case !zero(head[fixedLen+own+metadata : end]):
		return corrupt("padding")
	case f.payloadAt != (length+page-1)/page*page:
		return corrupt("payload offset")
	}
	pieces := f.payloadLen / pieceLen
	if f.payloadLen%pieceLen != 0 {
		pieces++
	}
	if f.payloadLen > size || f.payloadAt+f.payloadLen+8*pieces+8 != size {
		return corrupt("payload length")
	}
	if err := f.takeRecipe(u32(80), u32(84), head[88], head[fixedLen+own:fixedLen+own+metadata]); err != nil {
		return err
	}
	if err := f.takeExceptions(head[end : length-8]); err != nil {
		return err
	}
	return f.takeKind(u32(20), u32(24), head[fixedLen:fixedLen+own])
}

func (f *Filter) takeExceptions(from []byte) error {
	for ; len(from) > 0; from = from[8:] {
		hash, n := binary.LittleEndian.Uint64(from), len(f.exceptions)
		if n > 0 && hash <= f.exceptions[n-1] {
			return corrupt("exceptions: not in ascending order")
		}
		f.exceptions = append(f.exceptions, hash)
	}
	return nil
}

// takeRecipe refuses files in which a text is not the key, unless it is a domain name.
func (f *Filter) takeRecipe(rule, field uint32, delimiter byte, metadata []byte) error {
	entries, err := entriesOf(metadata)
	if err != nil {
		return err
	}
	recipe, given := entries["recipe"]
	_, column := entries["key.column"]
	switch {
	case rule > 8:
		return unsupported("key rule")
	case rule == 8 && (field != 0 || delimiter != 0 || !given), rule&6 == 6, delimiter != 0 && field == 0:
		return corrupt("key rule")
	case rule == 8 && recipe == "domain", rule == 0 && recipe == "line":
		f.recipe = recipe
	case given:
		return unsupported(fmt.Sprintf("recipe %q", recipe))
	case rule != 0 || field != 0 || column:
		return unsupported("recipe: a field, a column, trimming or letter case")
	default:
		f.recipe = "line"
	}
	return nil
}

func entriesOf(metadata []byte) (map[string]string, error) {
	entries, total := map[string]string{}, 0
	for len(metadata) > 0 {
		if len(metadata) < 6 {
			return nil, corrupt("metadata: an entry is cut off")
		}
		name, value := uint64(binary.LittleEndian.Uint16(metadata)), uint64(binary.LittleEndian.Uint32(metadata[2:]))
		if metadata = metadata[6:]; name+value > uint64(len(metadata)) {
			return nil, corrupt("metadata: an entry is cut off")
		}
		key := string(metadata[:name])
		_, twice := entries[key]
		total += int(name + value)
		if name == 0 || name > 255 || twice || bytes.IndexByte(metadata[:name+value], 0) >= 0 ||
			len(entries) == entryMax || total > metadataMax {
			return nil, corrupt("metadata")
		}
		entries[key] = string(metadata[name : name+value])
		metadata = metadata[name+value:]
	}
	return entries, nil
}

// checkPadding looks at what is between the header, which head begins with, and the payload.
func (f *Filter) checkPadding(head []byte, length uint64) error {
	padding := head[length:]
	if uint64(len(head)) < f.payloadAt {
		more, err := f.read(uint64(len(head)), f.payloadAt-uint64(len(head)))
		if err != nil {
			return err
		}
		padding = append(padding[:len(padding):len(padding)], more...)
	}
	if !zero(padding) {
		return corrupt("padding")
	}
	return nil
}

func (f *Filter) takeSums(seed uint64) error {
	pieces := (f.payloadLen + pieceLen - 1) / pieceLen
	data, err := f.read(f.payloadAt+f.payloadLen, 8*pieces+8)
	if err != nil {
		return err
	}
	f.sums = data[:8*pieces]
	if xxh3(f.sums, seed) != binary.LittleEndian.Uint64(data[8*pieces:]) {
		return corrupt("trailer checksum")
	}
	return nil
}

func zero(data []byte) bool {
	for _, b := range data {
		if b != 0 {
			return false
		}
	}
	return true
}
