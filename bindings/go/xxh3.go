// SPDX-License-Identifier: MIT

package umbel

import (
	"encoding/binary"
	"encoding/hex"
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
var secret, _ = hex.DecodeString("b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f" +
	"cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea3" +
	"71644897a20df94e3819ef46a9deacd8a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364" +
	"eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce" +
	"45cb3a8f95160428afd7fbcabb4b407e")

func le32(b []byte, at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
func le64(b []byte, at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }

func fold(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

func shift(h uint64, r int) uint64     { return h ^ h>>r }
func finish(h uint64) uint64           { return shift(shift(h, 37)*primeMix1, 32) }
func finish64(h uint64) uint64         { return shift(shift(shift(h, 33)*prime64x2, 29)*prime64x3, 32) }
func twoSecrets(at int) uint64         { return le64(secret, at) ^ le64(secret, at+8) }
func swapSeed(seed uint64) uint64      { return seed ^ uint64(bits.ReverseBytes32(uint32(seed)))<<32 }
func middleOf(b []byte, at int) uint64 { return le64(b, at) + le64(b, at+8) }
func tinySecret(at int) uint64         { return uint64(le32(secret, at) ^ le32(secret, at+4)) }
func tiny(b []byte) uint32 {
	n := len(b)
	return uint32(b[0])<<16 | uint32(b[n>>1])<<24 | uint32(b[n-1]) | uint32(n)<<8
}

func mix16(b []byte, at, s int, seed uint64) uint64 {
	return fold(le64(b, at)^(le64(secret, s)+seed), le64(b, at+8)^(le64(secret, s+8)-seed))
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
		binary.LittleEndian.PutUint64(own[i:], le64(secret, i)+seed)
		binary.LittleEndian.PutUint64(own[i+8:], le64(secret, i+8)-seed)
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
