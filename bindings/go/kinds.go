// SPDX-License-Identifier: MIT

package umbel

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

var salts = [8]uint32{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947,
	0x5c6bfb31}

var lineSalts = [16]uint32{0xe220a839, 0x6e789e6b, 0x06c45d19, 0xf88bb8a9, 0x1b39896b, 0x53cb9f0d,
	0x2c829abf, 0xc584133b, 0x3ee57891, 0xf3b8488d, 0x657eecdd, 0xc2d326e1, 0x8621a03f, 0x8e1f7555,
	0xb54e0f17, 0x84bb3f97}

const (
	golden = 0x9e3779b97f4a7c15
	mix    = 0xd6e8feb86659fd93
	printM = 0xa0761d6478bd642f
)

// takeKind checks what the kind says about the other fields; afterwards no lookup leaves the payload.
func (f *Filter) takeKind(scheme, hash uint32, own []byte) error {
	makers := map[uint32]func([]byte) error{1: f.makeBlocked, 2: f.makeClassic, 3: f.makeStatic, 7: f.makeTight,
		8: f.makeLine, 9: f.makeExact}
	maker, name := makers[f.kind], kindNames[f.kind]
	if name == "" {
		name = fmt.Sprint(f.kind)
	}
	switch {
	case maker == nil:
		return unsupported("kind " + name)
	case hash == 2:
		return unsupported("a keyed filter")
	case scheme != 1 || hash != 1:
		return unsupported(fmt.Sprintf("scheme %d with hash %d", scheme, hash))
	case len(own) > 0 && f.kind != 3 && f.kind != 7 && f.kind != 9:
		return unsupported("parameters of kind " + name)
	case f.bits/8+(f.bits%8+7)/8 != f.payloadLen || f.bits%8 != 0 && f.kind != 2:
		return corrupt("bits and payload length disagree")
	}
	return maker(own)
}

// ---- blocked ---------------------------------------------------------------------------------

type blocked uint64 // blocks of 32 bytes

func (f *Filter) makeBlocked([]byte) error {
	blocks := f.bits / 256
	if f.hashes != 8 || f.bits%256 != 0 || blocks == 0 || blocks > math.MaxUint32 {
		return corrupt("blocked: hashes or bits")
	}
	f.in = blocked(blocks)
	return nil
}

func (b blocked) has(f *Filter, key []byte) (bool, error) {
	h := xxh3(key, f.seed)
	block, err := f.view((h>>32)*uint64(b)>>32*32, 32)
	if err != nil {
		return false, err
	}
	missing := uint32(0) // no branches: half of them would be guessed wrong
	for i, salt := range salts {
		missing |= ^binary.LittleEndian.Uint32(block[4*i:]) >> (uint32(h) * salt >> 27)
	}
	return missing&1 == 0, nil
}

// ---- line ------------------------------------------------------------------------------------

type line struct{ lines, probes, lane uint64 } // a lane has this many bits

func (f *Filter) makeLine([]byte) error {
	lines := f.bits / 512
	if f.hashes != 4 && f.hashes != 8 && f.hashes != 16 || f.bits%512 != 0 || lines == 0 || lines > math.MaxUint32 {
		return corrupt("line: hashes or bits")
	}
	f.in = line{lines, uint64(f.hashes), 512 / uint64(f.hashes)}
	return nil
}

func (l line) has(f *Filter, key []byte) (bool, error) {
	h := xxh3(key, f.seed)
	bytes, err := f.view((h>>32)*l.lines>>32*64, 64)
	if err != nil {
		return false, err
	}
	for i := uint64(0); i < l.probes; i++ {
		bit := l.lane*i + uint64(uint32(h)*lineSalts[i])*l.lane>>32
		if bytes[bit/8]>>(bit%8)&1 == 0 {
			return false, nil
		}
	}
	return true, nil
}

// ---- classic ---------------------------------------------------------------------------------

type classic struct{ bits, probes uint64 }

func (f *Filter) makeClassic([]byte) error {
	if f.hashes == 0 || f.hashes > 1024 || f.bits == 0 || f.bits > math.MaxInt64 {
		return corrupt("classic: hashes or bits")
	}
	f.in = classic{f.bits, uint64(f.hashes)}
	return nil
}

func (c classic) has(f *Filter, key []byte) (bool, error) {
	x, high := xxh3wide(key, f.seed)
	for i := uint64(0); i < c.probes; i++ {
		bit, _ := bits.Mul64(x, c.bits)
		b, err := f.view(bit/8, 1)
		if err != nil || b[0]>>(bit%8)&1 == 0 {
			return false, err
		}
		x = x*golden + (high | 1)
	}
	return true, nil
}

// ---- static ----------------------------------------------------------------------------------

type static struct {
	hashes, shardBits, segmentBits, segments, width, wide uint64
	tables, wideLen, narrowLen                            uint64 // where they begin, bytes of each
}

func (f *Filter) makeStatic(own []byte) error {
	if len(own) != 24 || f.hashes != 3 && f.hashes != 4 {
		return corrupt("static: hashes or parameters")
	}
	var field [6]uint64
	for i := range field {
		field[i] = uint64(binary.LittleEndian.Uint32(own[4*i:]))
	}
	shards, g, m, r, wide := field[0], field[1], field[2], field[3], field[4]
	if r == 0 || r > 32 || r == 32 && wide != 0 || field[5] != 0 {
		return corrupt("static: width")
	}
	if shards == 0 {
		if g != 0 || m != 0 || wide != 0 || f.payloadLen != 0 {
			return corrupt("static: no shards, but segments")
		}
		f.in = empty{}
		return nil
	}
	hashes := uint64(f.hashes)
	slots := (m + hashes - 1) << (g & 31)
	if shards&(shards-1) != 0 || shards > 1<<24 || g > 18 || m == 0 || (m+hashes)<<(g&31) > math.MaxUint32 ||
		wide >= shards {
		return corrupt("static: shards or segments")
	}
	s := static{hashes, uint64(bits.TrailingZeros64(shards)), g, m, r, wide, (shards + 7) / 8 * 8,
		(slots*(r+1) + 7) / 8, (slots*r + 7) / 8}
	if s.tables+wide*s.wideLen+(shards-wide)*s.narrowLen != f.payloadLen {
		return corrupt("static: tables and payload length disagree")
	}
	f.in = s
	return nil
}

func (s static) has(f *Filter, key []byte) (bool, error) {
	h := xxh3(key, f.seed)
	shard := h >> (64 - s.shardBits)
	seed, err := f.view(shard, 1)
	if err != nil {
		return false, err
	}
	x := scramble(h + uint64(seed[0])*golden)
	width, table := s.width+1, s.tables+shard*s.wideLen
	if shard >= s.wide {
		width, table = s.width, s.tables+s.wide*s.wideLen+(shard-s.wide)*s.narrowLen
	}
	first, _ := bits.Mul64(h<<s.shardBits, s.segments<<s.segmentBits)
	found := x * printM >> 32
	for i := uint64(0); i < s.hashes; i++ {
		slot := first
		if i > 0 {
			slot = (first + i<<s.segmentBits) ^ x>>(21*(i-1))&(1<<s.segmentBits-1)
		}
		bit := slot * width
		b, err := f.view(table+bit/8, (bit%8+width+7)/8)
		if err != nil {
			return false, err
		}
		found ^= word(b) >> (bit % 8)
	}
	return found&(1<<width-1) == 0, nil
}

// scramble is the mixing of static and tight filters.
func scramble(x uint64) uint64 {
	x = (x ^ x>>32) * mix
	x = (x ^ x>>32) * mix
	return x ^ x>>32
}

// word is a number of at most eight bytes.
func word(b []byte) (x uint64) {
	for i, v := range b {
		x |= uint64(v) << (8 * i)
	}
	return x
}

type empty struct{}

func (empty) has(*Filter, []byte) (bool, error) { return false, nil }

// ---- tight and exact -------------------------------------------------------------------------

// A ribbon has levels of equations over neighbouring slots. A tight filter is one, and an exact one is two.
type ribbon struct {
	width, wide uint64 // of its slots, and blocks of a shard of the first level that have a bit more
	window      uint64
	bucket      uint64
	thresholds  [4]uint64
	levels      []level
	verdict     uint64 // 1: its slots say which keys are members, and the lowest bit of its numbers is 0
}

type level struct {
	shardBits, blocks, narrow, seed uint64
	places                          uint64
	marks, marksLen                 uint64 // thresholds: where those of the level begin, bytes of a shard
	table, words                    uint64 // slots, likewise
}

func (f *Filter) makeTight(own []byte) error {
	if f.hashes != 1 {
		return corrupt("tight: hashes")
	}
	r, ok := ribbonOf(own)
	if !ok || r.placeTables(r.placeMarks(0)) != f.payloadLen {
		return corrupt("tight: parameters")
	}
	f.in = r
	return nil
}

// parameters are those of the kind, byte by byte.
type parameters struct {
	left []byte
	bad  bool
}

func (p *parameters) next() uint64 {
	if len(p.left) == 0 {
		p.bad = true
		return 0
	}
	b := p.left[0]
	p.left = p.left[1:]
	return uint64(b)
}

// number is one of at most this many bytes, in the shortest form.
func (p *parameters) number(most int) (x uint64) {
	for i := 0; i < most && !p.bad; i++ {
		b := p.next()
		x |= b & 127 << (7 * i)
		if b < 128 {
			p.bad = p.bad || b == 0 && i > 0 || i == 9 && b > 1
			return x
		}
	}
	p.bad = true
	return 0
}

// ribbonOf reads the parameters of a ribbon. Without any it has no levels.
func ribbonOf(own []byte) (*ribbon, bool) {
	r := &ribbon{window: 1, bucket: 192, thresholds: [4]uint64{0, 24, 48, 192}}
	if len(own) == 0 {
		return r, true
	}
	p := parameters{left: own}
	r.width, r.wide = p.next(), p.number(5)
	shardBits := uint64(0)
	for more := true; more && !p.bad; {
		l := level{blocks: p.number(5), seed: p.next()}
		if more = len(p.left) > 0; more {
			l.shardBits = p.next()
		}
		r.levels = append(r.levels, l)
		p.bad = p.bad || l.shardBits > 24 || len(r.levels) > 8
		shardBits = l.shardBits
	}
	if p.bad || shardBits != 0 || r.wide >= r.levels[0].blocks || r.width > 32 || r.width == 32 && r.wide > 0 {
		return nil, false
	}
	if len(r.levels) > 1 && (r.width < 2 || r.width == 2 && r.wide == 0) {
		r.window, r.bucket, r.thresholds = 2, 640, [4]uint64{0, 48, 96, 640}
	}
	for i := range r.levels {
		l := &r.levels[i]
		if l.blocks < r.window || l.blocks > 1<<24 {
			return nil, false
		}
		l.narrow = l.blocks - (r.wide*l.blocks+r.levels[0].blocks-1)/r.levels[0].blocks
		l.places = 64*(l.blocks-r.window) + 1
		l.words = l.blocks*(r.width+1) - l.narrow
	}
	return r, len(r.levels) > 1 || r.levels[0].words > 0
}

// placeMarks says that the thresholds begin here, and returns where they end.
func (r *ribbon) placeMarks(at uint64) uint64 {
	for i := 0; i < len(r.levels)-1; i++ {
		l := &r.levels[i]
		l.marks, l.marksLen = at, (l.places+4*r.bucket-1)/(4*r.bucket)
		at += l.marksLen << l.shardBits
	}
	return (at + 7) / 8 * 8
}

// placeTables does so for the slots.
func (r *ribbon) placeTables(at uint64) uint64 {
	for i := range r.levels {
		l := &r.levels[i]
		l.table = at
		at += 8 * l.words << l.shardBits
	}
	return at
}

func (r *ribbon) has(f *Filter, key []byte) (bool, error) { return r.agrees(f, xxh3(key, f.seed)) }

// agrees looks a hash up: in a ribbon of fingerprints, whether it has the key's, in one of verdicts, whether it is yes.
func (r *ribbon) agrees(f *Filter, x uint64) (bool, error) {
	for i := range r.levels {
		l := &r.levels[i]
		x &^= r.verdict
		shard := x >> (64 - l.shardBits)
		y := ((x<<l.shardBits)*(1+l.seed*(golden+1)) + shard) &^ r.verdict
		place, _ := bits.Mul64(y, l.places)
		x = scramble(y)
		if i < len(r.levels)-1 {
			bucket := place / r.bucket
			mark, err := f.view(l.marks+shard*l.marksLen+bucket/4, 1)
			if err != nil {
				return false, err
			}
			if place%r.bucket < r.thresholds[mark[0]>>(bucket%4*2)&3] {
				continue
			}
		}
		return r.inLevel(f, l, shard, place, x)
	}
	return false, nil // without levels there are no keys; otherwise the last one keeps every key
}

func (r *ribbon) inLevel(f *Filter, l *level, shard, place, x uint64) (bool, error) {
	k, o := place/64, place%64
	begin := func(block uint64) uint64 { // of a block, in words
		if block <= l.narrow {
			return block * r.width
		}
		return block*r.width + block - l.narrow
	}
	count := r.window
	if o > 0 {
		count++
	}
	from := begin(k)
	n := 8 * (begin(k+count) - from)
	slots, err := f.view(l.table+8*(shard*l.words+from), n)
	if err != nil {
		return false, err
	}
	low, high := x|1, uint64(0)
	if r.window == 2 {
		upper, lower := bits.Mul64(x, golden)
		high = upper ^ lower
	}
	row := [3]uint64{low << o, high<<o | low>>(64-o), high >> (64 - o)}
	print := x * printM >> 32
	if r.verdict != 0 {
		print = 1
	}
	width := begin(k+1) - from
	for c := uint64(0); c < width; c++ {
		sum := uint64(0)
		for j := uint64(0); j < count; j++ {
			sum ^= binary.LittleEndian.Uint64(slots[8*(begin(k+j)-from+c):]) & row[j]
		}
		if uint64(bits.OnesCount64(sum))&1 != print>>c&1 {
			return false, nil
		}
	}
	return true, nil
}

// exact has fingerprints of its members, and verdicts about all known keys that the fingerprints find.
type exact struct {
	prints, verdicts *ribbon
	seed             uint64 // of the verdicts
}

func (f *Filter) makeExact(own []byte) error {
	if f.hashes != 1 {
		return corrupt("exact: hashes")
	}
	p := parameters{left: own}
	p.number(10) // known keys that are not members
	e := exact{seed: p.next()}
	n := p.next()
	if p.bad || n > uint64(len(p.left)) {
		return corrupt("exact: parameters")
	}
	var first, second bool
	e.prints, first = ribbonOf(p.left[:n])
	e.verdicts, second = ribbonOf(p.left[n:])
	if !first || !second || !e.fits() {
		return corrupt("exact: parameters")
	}
	e.verdicts.verdict = 1
	if e.verdicts.placeTables(e.prints.placeTables(e.verdicts.placeMarks(e.prints.placeMarks(0)))) != f.payloadLen {
		return corrupt("exact: parameters")
	}
	f.in = e
	return nil
}

// fits reports whether the ribbons may be together.
func (e exact) fits() bool {
	if len(e.verdicts.levels) == 0 {
		return len(e.prints.levels) == 0 && e.seed == 0
	}
	return e.verdicts.width == 1 && e.verdicts.wide == 0
}

func (e exact) has(f *Filter, key []byte) (bool, error) {
	x := xxh3(key, f.seed)
	if len(e.prints.levels) > 0 {
		if found, err := e.prints.agrees(f, x); !found || err != nil {
			return false, err
		}
	}
	return e.verdicts.agrees(f, scramble(x+(e.seed+1)*golden))
}
