// SPDX-License-Identifier: MIT

// Package umbel asks Bloom filters that umbel wrote (.umb files) whether they have a key.
//
// It only reads, in pure Go. A "no" is certain; a "yes" is wrong at the rate that the filter was
// planned for. What it reads are the kinds blocked, classic, line, static, tight and exact, with and
// without exceptions, under the recipes "line" and "domain". Anything else (keyed filters, kinds that
// grow or count, other recipes) is refused with an error that names it and is [ErrUnsupported]; damage
// is [ErrCorrupt]. Nothing here panics on bad bytes, or allocates more than they amount to.
//
// It does not read the deltas that "umbel apply" puts beside a list, in NAME.deltas: [Open] refuses a
// list that they follow, while [FromBytes] and [New] see only the base and answer for that.
//
// A [Filter] never changes, so any number of goroutines may ask it.
package umbel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"sync/atomic"
)

// ErrCorrupt is wrapped by errors about damaged, incomplete or contradictory files.
var ErrCorrupt = errors.New("damaged or not an umbel file")

// ErrUnsupported is wrapped by errors about sound files that this package does not read: other versions,
// kinds and recipes, and filters that need a secret.
var ErrUnsupported = errors.New("not supported by this reader")

// Filter is a filter that can be asked.
type Filter struct {
	header
	in         lookup
	payload    []byte // all of it, checked; nil: ranges of src are read
	src        io.ReaderAt
	sums       []byte // of the pieces of src
	unchecked  bool
	checked    []uint32 // a bit for each piece that was found undamaged
	exceptions []uint64 // hashes, ascending
}

// A lookup says where a key's bits are, and is the same for filters in memory and elsewhere.
type lookup interface {
	has(f *Filter, key []byte) (bool, error)
}

// Open reads a file into memory and checks all of it. If there are deltas beside it, so that it alone
// is not the list, the error is [ErrUnsupported]. For files that should not be in memory as a whole,
// give an *os.File to [New].
func Open(name string) (*Filter, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(name + ".deltas"); err == nil {
		return nil, unsupported("the deltas in " + name + ".deltas")
	}
	return FromBytes(data)
}

// FromBytes checks the bytes of a file and makes a filter of them. They are not copied, so they must
// not change; they may be a mapped file. Lookups in such a filter never fail.
func FromBytes(data []byte) (*Filter, error) {
	f := &Filter{src: memory(data)}
	if err := f.open(uint64(len(data))); err != nil {
		return nil, err
	}
	payload := data[f.payloadAt : f.payloadAt+f.payloadLen]
	for i := uint64(0); i*pieceLen < f.payloadLen; i++ {
		if xxh3(piece(payload, i), i) != binary.LittleEndian.Uint64(f.sums[8*i:]) {
			return nil, damaged(i)
		}
	}
	if used := f.bits % 8; used != 0 && payload[len(payload)-1]>>used != 0 {
		return nil, corrupt("bits are set after the last one")
	}
	f.payload, f.src, f.sums = payload, nil, nil
	return f, nil
}

// Option is an option of [New].
type Option func(*Filter)

// Unchecked leaves out the checksums of the payload. Damage then gives wrong answers. It is for sources
// that are checked in another way, where a lookup should read as little as possible.
func Unchecked() Option { return func(f *Filter) { f.unchecked = true } }

// New makes a filter of a file of this many bytes that is not in memory. Opening it reads the header
// and, for each MiB of the payload, a checksum of 8 bytes. A lookup then reads what it needs: 32 bytes at
// once in blocked filters, 64 in those of kind line. It checks each MiB before it first uses a part of
// it, and reads all of that MiB to do so, unless the filter is [Unchecked].
//
// Lookups return the errors of r, and [ErrCorrupt] where the file is damaged. The file must not change.
// r is called from all goroutines that ask.
func New(r io.ReaderAt, size int64, options ...Option) (*Filter, error) {
	if size < 0 {
		return nil, corrupt("size: is negative")
	}
	f := &Filter{src: r}
	for _, option := range options {
		option(f)
	}
	if err := f.open(uint64(size)); err != nil {
		return nil, err
	}
	f.checked = make([]uint32, (len(f.sums)/8+31)/32)
	return f, nil
}

// Kind returns the filter's kind: blocked, classic, line, static, tight or exact.
func (f *Filter) Kind() string { return kindNames[f.kind] }

// Recipe returns how texts become keys: line or domain.
func (f *Filter) Recipe() string { return f.recipe }

// Contains reports whether the text may be in the filter. Under the recipe "line" the text is the key;
// under "domain" it may be a name, a URL or a host with a port, and names below a listed one are found
// as well. The error is nil if the filter is in memory.
func (f *Filter) Contains(text []byte) (bool, error) {
	if f.recipe == "line" {
		return f.containsKey(text)
	}
	for key := domainOf(text); len(key) > 0; key = parentOf(key) {
		if found, err := f.containsKey(key); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// ContainsString is [Filter.Contains] for a string.
func (f *Filter) ContainsString(text string) (bool, error) { return f.Contains([]byte(text)) }

// ContainsMany reports for each text whether it may be in the filter, and stops at the first error.
func (f *Filter) ContainsMany(texts [][]byte) ([]bool, error) {
	found := make([]bool, len(texts))
	for i, text := range texts {
		var err error
		if found[i], err = f.Contains(text); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (f *Filter) containsKey(key []byte) (bool, error) {
	found, err := f.in.has(f, key)
	if !found || len(f.exceptions) == 0 {
		return found, err
	}
	hash := xxh3(key, f.seed)
	i := sort.Search(len(f.exceptions), func(i int) bool { return f.exceptions[i] >= hash })
	return i == len(f.exceptions) || f.exceptions[i] != hash, nil
}

// view returns n bytes of the payload, which must be within it.
func (f *Filter) view(at, n uint64) ([]byte, error) {
	if f.payload != nil {
		return f.payload[at : at+n], nil
	}
	return f.fetch(at, n)
}

func (f *Filter) fetch(at, n uint64) ([]byte, error) {
	if f.unchecked {
		return f.read(f.payloadAt+at, n)
	}
	for i := at / pieceLen; i*pieceLen < at+n; i++ {
		if atomic.LoadUint32(&f.checked[i/32])>>(i%32)&1 != 0 {
			continue
		}
		data, err := f.checkPiece(i)
		if err != nil {
			return nil, err
		}
		if from := at - i*pieceLen; at >= i*pieceLen && from+n <= uint64(len(data)) {
			return data[from : from+n], nil
		}
	}
	return f.read(f.payloadAt+at, n)
}

func (f *Filter) checkPiece(i uint64) ([]byte, error) {
	n := f.payloadLen - i*pieceLen
	if n > pieceLen {
		n = pieceLen
	}
	data, err := f.read(f.payloadAt+i*pieceLen, n)
	if err != nil {
		return nil, err
	}
	if xxh3(data, i) != binary.LittleEndian.Uint64(f.sums[8*i:]) {
		return nil, damaged(i)
	}
	word, bit := &f.checked[i/32], uint32(1)<<(i%32)
	for old := atomic.LoadUint32(word); old&bit == 0; old = atomic.LoadUint32(word) {
		atomic.CompareAndSwapUint32(word, old, old|bit)
	}
	return data, nil
}

// read returns n bytes of the file. It asks for a MiB at a time, so that a size that is not true costs
// no memory.
func (f *Filter) read(at, n uint64) ([]byte, error) {
	if data, ok := f.src.(memory); ok {
		return data[at : at+n], nil
	}
	var data []byte
	for from := uint64(0); from < n; {
		step := n - from
		if step > pieceLen {
			step = pieceLen
		}
		data = append(data, make([]byte, step)...)
		got, err := f.src.ReadAt(data[from:], int64(at+from))
		if uint64(got) < step {
			if err == nil || err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, fmt.Errorf("umbel: reading %d bytes at %d: %w", step, at+from, err)
		}
		from += step
	}
	return data, nil
}

// memory is a file in memory. open has compared all lengths with its own, so that read cannot miss.
type memory []byte

func (memory) ReadAt([]byte, int64) (int, error) { return 0, io.EOF }

func piece(payload []byte, i uint64) []byte {
	if payload = payload[i*pieceLen:]; len(payload) > pieceLen {
		payload = payload[:pieceLen]
	}
	return payload
}

func corrupt(what string) error { return fmt.Errorf("umbel: %s: %w", what, ErrCorrupt) }

func damaged(i uint64) error { return corrupt(fmt.Sprintf("payload checksum: piece %d", i)) }

func unsupported(what string) error { return fmt.Errorf("umbel: %s: %w", what, ErrUnsupported) }
