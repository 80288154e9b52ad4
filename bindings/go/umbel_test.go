// SPDX-License-Identifier: MIT

package umbel

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

const planets = "testdata/planets.umb"

// rows are those of a table of tests/golden, without its first line.
func rows(t testing.TB, name string) [][]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../tests/golden", name))
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for _, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")[1:] {
		rows = append(rows, strings.Split(line, "\t"))
	}
	return rows
}

func number(t *testing.T, digits string, base int) uint64 {
	t.Helper()
	x, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func unhex(t testing.TB, digits string) []byte {
	t.Helper()
	data, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestXXH3(t *testing.T) {
	for _, row := range rows(t, "native/xxh3.tsv") {
		key := make([]byte, number(t, row[0], 10))
		for i := range key {
			key[i] = byte(i*167 + len(key))
		}
		seed := number(t, row[1], 16)
		low, high := xxh3wide(key, seed)
		if xxh3(key, seed) != number(t, row[2], 16) || high != number(t, row[3], 16) || low != number(t, row[4], 16) {
			t.Errorf("wrong for %d bytes and seed %x", len(key), seed)
		}
	}
}

func TestHosts(t *testing.T) {
	for _, row := range rows(t, "recipes/hosts.tsv") {
		if row[1] != "key lookup" || row[3] == "empty" {
			continue
		}
		want, text := "", unhex(t, row[3])
		if row[4] == "key" {
			want = string(unhex(t, row[5]))
		}
		if got := string(domainOf(text)); got != want {
			t.Errorf("%q is %q, not %q", text, got, want)
		}
	}
}

// source is a file that counts what is read.
type source struct {
	*bytes.Reader
	reads, bytes atomic.Int64
}

func (s *source) ReadAt(to []byte, at int64) (int, error) {
	s.reads.Add(1)
	s.bytes.Add(int64(len(to)))
	return s.Reader.ReadAt(to, at)
}

func fileOf(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestReadersAgree(t *testing.T) {
	data := fileOf(t, planets)
	inMemory, err := FromBytes(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, options := range [][]Option{nil, {Unchecked()}} {
		s := &source{Reader: bytes.NewReader(data)}
		f, err := New(s, int64(len(data)), options...)
		if err != nil {
			t.Fatal(err)
		}
		opened := s.reads.Load()
		for i := 0; i < 1000; i++ {
			key := []byte(strconv.Itoa(i))
			want, _ := inMemory.Contains(key)
			if got, err := f.Contains(key); got != want || err != nil {
				t.Fatalf("%s: %v, %v", key, got, err)
			}
		}
		if n := s.reads.Load() - opened; n != 1000 {
			t.Errorf("%d reads for 1000 keys", n)
		}
	}
}

// big is a blocked filter of three pieces without keys.
func big() []byte {
	const payload = 5 << 19
	head := make([]byte, page)
	copy(head, "UMBEL\x1a\r\n\x01")
	for at, x := range map[int]uint32{12: 136, 16: 1, 20: 1, 24: 1, 28: 8, 112: pieceLen} {
		binary.LittleEndian.PutUint32(head[at:], x)
	}
	for at, x := range map[int]uint64{48: 8 * payload, 96: page, 104: payload} {
		binary.LittleEndian.PutUint64(head[at:], x)
	}
	return seal(append(head, make([]byte, payload+8*4)...))
}

// seal gives a file right checksums, if there is room for them.
func seal(file []byte) []byte {
	file = append([]byte(nil), file...)
	if len(file) < fixedLen+8 {
		return file
	}
	length := uint64(binary.LittleEndian.Uint32(file[12:]))
	at, n := binary.LittleEndian.Uint64(file[96:]), binary.LittleEndian.Uint64(file[104:])
	size := uint64(len(file))
	if length < 8 || length > size || at > size || n > size-at || size-at-n < 8*((n+pieceLen-1)/pieceLen)+8 {
		return file
	}
	sum := xxh3(file[:length-8], 0)
	binary.LittleEndian.PutUint64(file[length-8:], sum)
	sums := file[at+n:]
	for i := uint64(0); i*pieceLen < n; i++ {
		binary.LittleEndian.PutUint64(sums[8*i:], xxh3(piece(file[at:at+n], i), i))
	}
	binary.LittleEndian.PutUint64(file[size-8:], xxh3(sums[:len(sums)-8], sum))
	return file
}

func TestDamageIsNoticed(t *testing.T) {
	data := big()
	data[page+pieceLen+77] ^= 1
	if _, err := FromBytes(data); !errors.Is(err, ErrCorrupt) {
		t.Errorf("in memory: %v", err)
	}
	f, err := New(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for i := 0; i < 1000; i++ {
		found, err := f.Contains([]byte(strconv.Itoa(i)))
		if found || err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(found, err)
		}
		if err != nil {
			failed++
		}
	}
	if failed < 200 || failed > 600 { // two fifths of the payload
		t.Errorf("%d of 1000 lookups failed", failed)
	}
}

func TestPiecesAreReadOnce(t *testing.T) {
	data := big()
	s := &source{Reader: bytes.NewReader(data)}
	f, err := New(s, int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	opened := s.bytes.Load()
	var all sync.WaitGroup
	for g := 0; g < 8; g++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := 0; i < 500; i++ {
				if found, err := f.Contains([]byte(strconv.Itoa(i))); found || err != nil {
					t.Error(found, err)
				}
			}
		}()
	}
	all.Wait()
	if n := s.bytes.Load() - opened; n < 5<<19 || n > 8*5<<19+8*500*32 {
		t.Errorf("%d bytes were read", n)
	}
}

// A source that is shorter than it was said to be must not cost memory.
func TestSizeIsNotTrue(t *testing.T) {
	data := big()
	const payload = 1 << 60
	binary.LittleEndian.PutUint64(data[48:], 8*payload)
	binary.LittleEndian.PutUint64(data[104:], payload)
	binary.LittleEndian.PutUint64(data[128:], xxh3(data[:128], 0))
	_, err := New(bytes.NewReader(data), page+payload+payload/pieceLen*8+8)
	if !errors.Is(err, ErrCorrupt) { // more blocks than a hash can choose from
		t.Error(err)
	}
	binary.LittleEndian.PutUint32(data[16:], 2) // classic
	binary.LittleEndian.PutUint64(data[48:], 8*(payload-1<<59))
	binary.LittleEndian.PutUint64(data[104:], payload-1<<59)
	binary.LittleEndian.PutUint64(data[128:], xxh3(data[:128], 0))
	const half = payload / 2
	if _, err = New(bytes.NewReader(data), page+half+half/pieceLen*8+8); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}

func TestRefusals(t *testing.T) {
	good := fileOf(t, planets)
	for n := range good {
		if _, err := FromBytes(good[:n]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("cut off at %d: %v", n, err)
		}
		bad := append([]byte(nil), good...)
		bad[n] ^= 1
		if _, err := FromBytes(bad); err == nil {
			t.Fatalf("byte %d changed: %v", n, err)
		}
		if _, err := New(bytes.NewReader(good[:n]), int64(len(good))); err == nil {
			t.Fatalf("shorter than it was said to be: %d", n)
		}
	}
	for _, name := range []string{"keyed_blocked", "keyed_line", "classic_4096", "blocked_meta"} {
		for _, row := range rows(t, "native/filters.tsv") {
			if row[0] != name {
				continue
			}
			if _, err := FromBytes(unhex(t, row[1])); !errors.Is(err, ErrUnsupported) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if _, err := Open("testdata/missing"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := New(bytes.NewReader(nil), -1); !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
}

// No known key is wrong, in memory and elsewhere.
func TestExact(t *testing.T) {
	for _, row := range rows(t, "native/exact.tsv") {
		file := unhex(t, row[3])
		inMemory, err := FromBytes(file)
		if err != nil {
			t.Fatal(err)
		}
		elsewhere, err := New(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		for i, word := range []string{"key", "other"} {
			for n := number(t, row[i], 10); n > 0; n-- {
				key := word + strconv.FormatUint(n-1, 10)
				got, _ := inMemory.ContainsString(key)
				other, err := elsewhere.ContainsString(key)
				if got != (word == "key") || got != other || err != nil {
					t.Fatalf("%s of %s keys: %v, %v, %v", key, row[0], got, other, err)
				}
			}
		}
	}
}

// A list is its base and the deltas beside it, so the base alone would give wrong answers.
func TestDeltasAreNotIgnored(t *testing.T) {
	name := filepath.Join(t.TempDir(), "list.umb")
	if err := os.WriteFile(name, fileOf(t, planets), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(name); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name+".deltas", []byte("UMBD"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(name); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "list.umb.deltas") {
		t.Error(err)
	}
}

func TestContainsMany(t *testing.T) {
	f, err := Open(planets)
	if err != nil {
		t.Fatal(err)
	}
	found, err := f.ContainsMany([][]byte{[]byte("Mars"), []byte("Pluto"), []byte("Venus")})
	if err != nil || len(found) != 3 || !found[0] || found[1] || !found[2] {
		t.Error(found, err)
	}
}

func TestCoreKV(t *testing.T) {
	asked := 0
	for _, row := range rows(t, "corekv/filters.tsv") {
		filter := CoreKV(unhex(t, row[4]))
		n := number(t, row[1], 10)
		hits := uint64(0)
		for i := uint64(0); i < 10000; i++ {
			if filter.ContainsNumber(uint32(1<<30 + i)) {
				hits++
			}
		}
		if hits != number(t, row[8], 10) {
			t.Errorf("%s of %d keys: %d of the absent numbers", row[0], n, hits)
		}
		if row[0] != "range_0_99" {
			continue
		}
		for i := uint32(0); i < 100; i++ {
			if asked++; !filter.ContainsNumber(i) {
				t.Errorf("%d is not found", i)
			}
		}
	}
	if asked == 0 {
		t.Error("no numbers were asked")
	}
}

func TestGoCRC32(t *testing.T) {
	asked := 0
	for _, row := range rows(t, "gocrc32/int64.tsv") {
		rate, err := strconv.ParseFloat(row[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		if number(t, row[2], 10) == 0 {
			continue
		}
		filter, err := NewGoCRC32(unhex(t, row[6]), uint(number(t, row[0], 10)), rate)
		if err != nil {
			t.Errorf("%s: %v", row[4], err)
			continue
		}
		for i, want := range row[7] {
			if asked++; filter.Contains(i) != (want == '1') {
				t.Errorf("%s: wrong about %d", row[4], i)
			}
		}
	}
	if asked != 800 { // one of the five filters has no bits
		t.Errorf("only %d numbers were asked", asked)
	}
	for _, keys := range []uint{0, 100} {
		if _, err := NewGoCRC32(make([]byte, 8), keys, 0.01); !errors.Is(err, ErrCorrupt) {
			t.Error(keys, err)
		}
	}
}

// FuzzFile tries bytes as they are and with right checksums. UMBEL_VECTORS names the folder of the conformance
// kit, whose files are where it begins.
func FuzzFile(f *testing.F) {
	f.Add(fileOf(f, planets))
	for _, name := range []string{"native/tight.tsv", "native/exact.tsv"} {
		for _, row := range rows(f, name) {
			f.Add(unhex(f, row[3]))
		}
	}
	for _, pattern := range []string{"refused/*.umb", "filters/*.umb"} {
		names, _ := filepath.Glob(filepath.Join(os.Getenv("UMBEL_VECTORS"), pattern))
		for _, name := range names {
			if data := fileOf(f, name); len(data) < 1<<16 {
				f.Add(data)
			}
		}
	}
	keys := [][]byte{nil, []byte("Mars"), []byte("http://a.evil.com:80/x"), bytes.Repeat([]byte("long"), 100)}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, file := range [][]byte{data, seal(data)} {
			inMemory, err := FromBytes(file)
			elsewhere, other := New(bytes.NewReader(file), int64(len(file)))
			if err != nil {
				if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrUnsupported) {
					t.Fatal(err)
				}
			} else if other != nil {
				t.Fatal(other)
			}
			for _, key := range keys {
				if err != nil && other == nil {
					elsewhere.Contains(key) // any answer or error
				} else if err == nil {
					want, _ := inMemory.Contains(key)
					if got, err := elsewhere.Contains(key); got != want || err != nil {
						t.Fatal(got, err)
					}
				}
			}
		}
	})
}

// FuzzHost tries texts that are looked up in block lists.
func FuzzHost(f *testing.F) {
	f.Add([]byte("https://user:pw@Evil.com:8443/x?y#z"))
	f.Add([]byte("http://[2001:db8::a]:80/%65"))
	f.Fuzz(func(t *testing.T, text []byte) {
		name := domainOf(text)
		if len(name) > domainMax || bytes.Contains(name, []byte("..")) || bytes.HasPrefix(name, []byte(".")) {
			t.Fatalf("%q", name)
		}
	})
}

func benchmark(b *testing.B, name string) {
	path := os.Getenv("UMBEL_BENCH_" + strings.ToUpper(name))
	if path == "" {
		b.Skip("UMBEL_BENCH_" + strings.ToUpper(name) + " names no filter of key0 to key999999")
	}
	f, err := Open(path)
	if err != nil {
		b.Fatal(err)
	}
	const room = 16
	keys, all := make([][]byte, 1<<20), make([]byte, 0, room<<20)
	for i := range keys {
		all = strconv.AppendInt(append(all[:i*room], "key"...), int64(2*i), 10)
		keys[i] = all[i*room:]
		all = all[:(i+1)*room]
	}
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		if _, err := f.Contains(keys[i&(len(keys)-1)]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBlocked(b *testing.B) { benchmark(b, "blocked") }
func BenchmarkLine(b *testing.B)    { benchmark(b, "line") }
func BenchmarkClassic(b *testing.B) { benchmark(b, "classic") }
func BenchmarkStatic(b *testing.B)  { benchmark(b, "static") }
func BenchmarkTight(b *testing.B)   { benchmark(b, "tight") }
func BenchmarkExact(b *testing.B)   { benchmark(b, "exact") }
