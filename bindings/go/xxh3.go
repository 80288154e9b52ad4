// SPDX-License-Identifier: MIT

package umbel

import (
	"encoding/binary"
	"math/bits"
)

// XXH3 of xxHash 0.8 under a seed: xxh3 has 64 bits, xxh3wide 128.

const (
	prime32x1 = 0x9e3779b1
	prime32x2 = 0x85ebca77
	prime32x3 = 0xc2b2ae3d
	prime64x1 = 0x9e3779b185ebca87
	prime64x2 = 0xc2b2ae3d27d4eb4f
	prime64x3 = 0x165667b19e3779f9
	prime64x4 = 0x85ebca77c2b2ae63
	prime64x5 = 0x27d4eb2f165667c5
	primeMix1 = 0x165667919e3779f9
	primeMix2 = 0x9fb21c651e98df25
	stripe    = 64
)

// secret is the default one of XXH3.
var secret = [192]byte{
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
}

func le32(b []byte, at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
func le64(b []byte, at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }

func fold(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

func shift(h uint64, r int) uint64     { return h ^ h>>r }
func finish(h uint64) uint64           { return shift(shift(h, 37)*primeMix1, 32) }
func finish64(h uint64) uint64         { return shift(shift(shift(h, 33)*prime64x2, 29)*prime64x3, 32) }
func twoSecrets(at int) uint64         { return le64(secret[:], at) ^ le64(secret[:], at+8) }
func swapSeed(seed uint64) uint64      { return seed ^ uint64(bits.ReverseBytes32(uint32(seed)))<<32 }
func middleOf(b []byte, at int) uint64 { return le64(b, at) + le64(b, at+8) }
func tinySecret(at int) uint64         { return uint64(le32(secret[:], at) ^ le32(secret[:], at+4)) }
func tiny(b []byte) uint32 {
	n := len(b)
	return uint32(b[0])<<16 | uint32(b[n>>1])<<24 | uint32(b[n-1]) | uint32(n)<<8
}

func mix16(b []byte, at, s int, seed uint64) uint64 {
	return fold(le64(b, at)^(le64(secret[:], s)+seed), le64(b, at+8)^(le64(secret[:], s+8)-seed))
}

func xxh3(b []byte, seed uint64) uint64 {
	switch n := len(b); {
	case n <= 16:
		return short(b, seed)
	case n <= 128:
		acc := uint64(n) * prime64x1
		for i := 0; i <= (n-1)/32; i++ {
			acc += mix16(b, 16*i, 32*i, seed) + mix16(b, n-16*i-16, 32*i+16, seed)
		}
		return finish(acc)
	case n <= 240:
		acc := uint64(n) * prime64x1
		for i := 0; i < 8; i++ {
			acc += mix16(b, 16*i, 16*i, seed)
		}
		acc = finish(acc)
		for i := 8; i < n/16; i++ {
			acc += mix16(b, 16*i, 16*i-125, seed)
		}
		return finish(acc + mix16(b, n-16, 119, seed))
	}
	own := seededSecret(seed)
	acc := accumulate(b, &own)
	return merge(&acc, own[11:], uint64(len(b))*prime64x1)
}

func short(b []byte, seed uint64) uint64 {
	switch n := len(b); {
	case n == 0:
		return finish64(seed ^ twoSecrets(56))
	case n < 4:
		return finish64(uint64(tiny(b)) ^ (tinySecret(0) + seed))
	case n < 9:
		h := (uint64(le32(b, n-4)) + uint64(le32(b, 0))<<32) ^ (twoSecrets(8) - swapSeed(seed))
		h = (h ^ bits.RotateLeft64(h, 49) ^ bits.RotateLeft64(h, 24)) * primeMix2
		return shift((h^(h>>35+uint64(n)))*primeMix2, 28)
	default:
		low, high := le64(b, 0)^(twoSecrets(24)+seed), le64(b, n-8)^(twoSecrets(40)-seed)
		return finish(uint64(n) + bits.ReverseBytes64(low) + high + fold(low, high))
	}
}

func seededSecret(seed uint64) (own [192]byte) {
	for i := 0; i < len(own); i += 16 {
		binary.LittleEndian.PutUint64(own[i:], le64(secret[:], i)+seed)
		binary.LittleEndian.PutUint64(own[i+8:], le64(secret[:], i+8)-seed)
	}
	return own
}

// accumulate sums up more than 240 bytes.
func accumulate(b []byte, own *[192]byte) [8]uint64 {
	acc := [8]uint64{prime32x3, prime64x1, prime64x2, prime64x3, prime64x4, prime32x2, prime64x5, prime32x1}
	last := b[len(b)-stripe:]
	for i := 0; len(b) > stripe; i++ {
		addStripe(&acc, b, own[8*(i%16):])
		b = b[stripe:]
		if i%16 == 15 {
			for j := range acc {
				acc[j] = (shift(acc[j], 47) ^ le64(own[128:], 8*j)) * prime32x1
			}
		}
	}
	addStripe(&acc, last, own[121:])
	return acc
}

func addStripe(acc *[8]uint64, b, key []byte) {
	b, key = b[:stripe], key[:stripe]
	for i := 0; i < 8; i += 2 {
		v, w := binary.LittleEndian.Uint64(b[8*i:]), binary.LittleEndian.Uint64(b[8*i+8:])
		x, y := v^binary.LittleEndian.Uint64(key[8*i:]), w^binary.LittleEndian.Uint64(key[8*i+8:])
		acc[i] += w + (x&0xffffffff)*(x>>32)
		acc[i+1] += v + (y&0xffffffff)*(y>>32)
	}
}

func merge(acc *[8]uint64, key []byte, start uint64) uint64 {
	for i := 0; i < 8; i += 2 {
		start += fold(acc[i]^le64(key, 8*i), acc[i+1]^le64(key, 8*i+8))
	}
	return finish(start)
}

// xxh3wide returns the two halves of 128 bits.
func xxh3wide(b []byte, seed uint64) (low, high uint64) {
	n := len(b)
	switch {
	case n <= 16:
		return shortWide(b, seed)
	case n > 240:
		own := seededSecret(seed)
		acc := accumulate(b, &own)
		return merge(&acc, own[11:], uint64(n)*prime64x1), merge(&acc, own[117:], ^(uint64(n) * prime64x2))
	}
	low = uint64(n) * prime64x1
	mix32 := func(i, j, s int, seed uint64) {
		low = (low + mix16(b, i, s, seed)) ^ middleOf(b, j)
		high = (high + mix16(b, j, s+16, seed)) ^ middleOf(b, i)
	}
	if n <= 128 {
		for i := (n - 1) / 32; i >= 0; i-- {
			mix32(16*i, n-16*i-16, 32*i, seed)
		}
	} else {
		for i := 0; i < 4; i++ {
			mix32(32*i, 32*i+16, 32*i, seed)
		}
		low, high = finish(low), finish(high)
		for i := 4; i < n/32; i++ {
			mix32(32*i, 32*i+16, 32*i-125, seed)
		}
		mix32(n-16, n-32, 103, -seed)
	}
	return finish(low + high), -finish(low*prime64x1 + high*prime64x4 + (uint64(n)-seed)*prime64x2)
}

func shortWide(b []byte, seed uint64) (low, high uint64) {
	switch n := len(b); {
	case n == 0:
		return finish64(seed ^ twoSecrets(64)), finish64(seed ^ twoSecrets(80))
	case n < 4:
		x := bits.RotateLeft32(bits.ReverseBytes32(tiny(b)), 13)
		return short(b, seed), finish64(uint64(x) ^ (tinySecret(8) - seed))
	case n < 9:
		word := (uint64(le32(b, 0)) + uint64(le32(b, n-4))<<32) ^ (twoSecrets(16) + swapSeed(seed))
		high, low = bits.Mul64(word, prime64x1+uint64(n)<<2)
		high += low << 1
		low ^= high >> 3
		return shift(shift(low, 35)*primeMix2, 28), finish(high)
	default:
		upper := le64(b, n-8)
		high, low = bits.Mul64(le64(b, 0)^upper^(twoSecrets(32)-seed), prime64x1)
		low += uint64(n-1) << 54
		upper ^= twoSecrets(48) + seed
		high += upper + (upper&0xffffffff)*(prime32x2-1)
		low ^= bits.ReverseBytes64(high)
		carry, product := bits.Mul64(low, prime64x2)
		return finish(product), finish(carry + high*prime64x2)
	}
}
