// SPDX-License-Identifier: MIT

package peer

import (
	"strconv"
	"testing"

	"github.com/willf/bloom" // bits-and-blooms, as Debian 12 calls it
)

// BenchmarkPeer looks up keys as the benchmarks of bindings/go do, in a filter of a million keys at 1%.
func BenchmarkPeer(b *testing.B) {
	filter := bloom.NewWithEstimates(1_000_000, 0.01)
	for i := 0; i < 1_000_000; i++ {
		filter.Add([]byte("key" + strconv.Itoa(i)))
	}
	keys := make([][]byte, 1<<20)
	for i := range keys {
		keys[i] = []byte("key" + strconv.Itoa(2*i))
	}
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		filter.Test(keys[i&(1<<20-1)])
	}
}
