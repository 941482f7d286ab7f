package file

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
)

// TestChoose: what columns of these kinds are written as.
func TestChoose(t *testing.T) {
	plain, delta := parquet.Encodings.Plain, parquet.Encodings.DeltaBinaryPacked
	ints := func(f func(i int) int64) (out []int64) {
		for i := range sampleRows {
			out = append(out, f(i))
		}
		return out
	}
	texts := func(f func(i int) string) (out []parquet.ByteArray) {
		for i := range sampleRows {
			out = append(out, parquet.ByteArray(f(i)))
		}
		return out
	}
	any64 := func(int) int64 { return rand.Int64() }
	for _, c := range []struct {
		name string
		got  encoding
		want encoding
	}{
		{"sorted", chooseInts(ints(func(i int) int64 { return int64(i * 3) })), encoding{enc: delta}},
		{"prices", chooseInts(ints(func(int) int64 { return rand.Int64N(1 << 24) })), encoding{enc: delta}},
		{"dates", chooseInts(ints(func(int) int64 { return rand.Int64N(2500) })), encoding{dict: true, enc: delta}},
		{"one", chooseInts(ints(func(int) int64 { return 7 })), encoding{dict: true, enc: delta}},
		{"hashes", chooseInts(ints(any64)), encoding{enc: plain}},
		{"few hashes", chooseInts(ints(func(i int) int64 { return int64(uint64(i%9) * 0x9e3779b97f4a7c15) })), encoding{dict: true, enc: delta}},
		{"flags", chooseBytes(texts(func(i int) string { return "ANR"[i%3 : i%3+1] }), 4), encoding{dict: true, enc: plain}},
		{"names", chooseBytes(texts(func(i int) string { return fmt.Sprintf("Customer#%09d", i) }), 4), encoding{enc: plain, compress: true}},
		{"noise", chooseBytes(texts(func(int) string { return string(bytesOf([]int64{rand.Int64(), rand.Int64()})) }), 4), encoding{enc: plain}},
		{"floats", chooseFloats([]float64{1.5, 2.25, 1e9, rand.Float64()}), encoding{enc: plain}},
	} {
		if c.got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, c.got, c.want)
		}
	}
}
