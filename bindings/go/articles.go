// SPDX-License-Identifier: MIT

package umbel

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
)

// CoreKV is a filter of the key-value store corekv, with which "umbel build --format corekv" writes the same
// bytes: the bits, then one byte with the number of probes.
type CoreKV []byte

// Contains reports whether the key may be in the filter. Filters whose last byte is above 30 are reserved, so
// every key may be in them; none is in one that has no bits.
func (f CoreKV) Contains(key []byte) bool {
	if len(f) < 2 {
		return false
	}
	last := len(f) - 1
	m, h := uint64(8*last), levelHash(key)
	step := h>>17 | h<<15
	for i := byte(0); f[last] <= 30 && i < f[last]; i++ {
		bit := uint64(h) % m
		if f[bit/8]>>(bit%8)&1 == 0 {
			return false
		}
		h += step
	}
	return true
}

// ContainsNumber is Contains for one of the numbers that the store's filters are made of: four big-endian bytes.
func (f CoreKV) ContainsNumber(number uint32) bool {
	var key [4]byte
	binary.BigEndian.PutUint32(key[:], number)
	return f.Contains(key[:])
}

func levelHash(key []byte) uint32 {
	const m = 0xc6a4a793
	h := uint32(0xbc9f1d34) ^ uint32(len(key))*m
	for ; len(key) >= 4; key = key[4:] {
		h = (h + binary.LittleEndian.Uint32(key)) * m
		h ^= h >> 16
	}
	if len(key) > 0 {
		h = (h + uint32(word(key))) * m
		h ^= h >> 24
	}
	return h
}

// GoCRC32 is the filter of a tutorial that derives all its probes from one CRC-32, with which
// "umbel build --format gocrc32" writes the same bytes.
type GoCRC32 struct {
	words []byte
	m, k  uint64
}

// NewGoCRC32 takes the bytes, and what the filter was made for: the number of keys and the false-positive rate.
func NewGoCRC32(words []byte, keys uint, rate float64) (GoCRC32, error) {
	bits := float64(keys) * math.Log(rate) / -(math.Ln2 * math.Ln2)
	probes := math.Trunc(bits) * math.Ln2 / float64(keys)
	if keys == 0 || !(bits >= 1 && bits < 1<<53 && probes < 1025) {
		return GoCRC32{}, corrupt("gocrc32: keys or rate")
	}
	f := GoCRC32{words, uint64(bits), uint64(probes)}
	if want := (f.m + 63) / 64 * 8; uint64(len(words)) != want {
		return GoCRC32{}, corrupt(fmt.Sprintf("gocrc32: %d bytes instead of %d", len(words), want))
	}
	return f, nil
}

// Contains reports whether the key may be in the filter. It is printed as "%v", which is what the tutorial's code
// does.
func (f GoCRC32) Contains(key any) bool {
	h := uint64(crc32.ChecksumIEEE([]byte(fmt.Sprintf("%v", key))))
	for i := uint64(1); i <= f.k; i++ {
		bit := (h + i*(h>>16)) % f.m
		if f.words[bit/8]>>(bit%8)&1 == 0 {
			return false
		}
	}
	return true
}
