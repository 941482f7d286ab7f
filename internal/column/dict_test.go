package column

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/kelpiedb/kelpie/internal/types"
)

func TestDict(t *testing.T) {
	d := NewDict()
	words := []string{"", "a", "twelve bytes", "thirteen byte", strings.Repeat("long ", 1000)}
	views := []DictView{}
	for i := range 200 {
		vs := texts(append(words, fmt.Sprint("entry ", i))...)
		checkChunk(t, seal(t, types.TText, vs, DefaultOptions(), d), vs)
		views = append(views, d.View())
	}
	if d.Len() != 205 {
		t.Errorf("%d entries", d.Len())
	}
	for i := range d.Len() {
		if c, ok := d.Lookup(d.String(i)); !ok || c != i {
			t.Errorf("entry %d %q has code %d", i, d.String(i), c)
		}
	}
	if _, ok := d.Lookup("nowhere"); ok {
		t.Error("found what is not there")
	}
	// Old views still read what they read.
	for i, v := range views {
		if v.Len != 6+i {
			t.Fatalf("view %d has %d entries", i, v.Len)
		}
		for c := range v.Len {
			if string(v.Bytes(c)) != d.String(c) {
				t.Fatalf("view %d, entry %d: %q", i, c, v.Bytes(c))
			}
		}
	}
}

// TestDictLimits fills a dictionary: a chunk gets all its codes or none, and small
// chunks do not fill it with strings seen once.
func TestDictLimits(t *testing.T) {
	d := NewDict()
	next := 0
	column := func(distinct, rows int) *Chunk {
		var vs []types.Value
		for i := range rows {
			vs = append(vs, types.TextValue(fmt.Sprint("v", next+i%distinct)))
		}
		next += distinct
		c := seal(t, types.TText, vs, DefaultOptions(), d)
		checkChunk(t, c, vs)
		return c
	}
	for range 8 {
		if c := column(8192, 65536); c.Enc != EncDict {
			t.Fatal("a repeating column without dictionary")
		}
	}
	if c := column(1, 65536); c.Enc != EncStr || d.Len() != MaxDict {
		t.Errorf("entry %d", d.Len())
	}
	next = 65536 - 8192
	if c := column(8192, 65536); c.Enc != EncDict || c.Width != 2 {
		t.Error("known strings without dictionary")
	}

	d = NewDict()
	for range 1000 {
		column(100, 100)
	}
	if d.Len() > smallDict {
		t.Errorf("small chunks made %d entries", d.Len())
	}
}

// TestDictConcurrent seals from many goroutines while others read.
func TestDictConcurrent(t *testing.T) {
	d := NewDict()
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Add(2)
		go func() {
			defer wg.Done()
			for round := range 20 {
				b := NewBuilder(types.TText)
				for i := range 2000 {
					b.AppendString(fmt.Sprint("some longer string ", (i%200)*(1+round%3)+g))
				}
				c, err := b.Seal(DefaultOptions(), d)
				if err != nil {
					t.Error(err)
					return
				}
				for i := range c.Rows {
					if string(c.Bytes(i)) != fmt.Sprint("some longer string ", (i%200)*(1+round%3)+g) {
						t.Error("wrong string")
						return
					}
				}
			}
		}()
		go func() {
			defer wg.Done()
			for range 200 {
				v := d.View()
				for c := range v.Len {
					if !strings.HasPrefix(string(v.Bytes(c)), "some longer string ") {
						t.Error("torn entry")
						return
					}
				}
			}
		}()
	}
	wg.Wait()
}

func TestSketch(t *testing.T) {
	for _, n := range []int{0, 1, 2, 10, 25, 100, 1000, 4096, 10000, 100000, 3000000} {
		parts := [3]Sketch{}
		for i := range n {
			parts[i%3].add(hashInt(uint64(i) * 10))
		}
		var all Sketch
		for i := range parts {
			all.Merge(&parts[i])
			all.Merge(&parts[i]) // again changes nothing
		}
		if est := all.Estimate(); math.Abs(est-float64(n)) > 0.05*float64(n)+0.5 {
			t.Errorf("%d distinct values: estimate %.1f", n, est)
		}
	}
}

// TestSealCounts: sealing counts the different values of every type, by SQL's equality.
func TestSealCounts(t *testing.T) {
	for _, c := range []struct {
		t    types.Type
		want int
		list []types.Value
	}{
		{types.TInterval, 2, []types.Value{types.IntervalValue(1, 0, 0), types.IntervalValue(0, 30, 0), types.IntervalValue(0, 1, 0)}},
		{types.TFloat64, 2, []types.Value{types.FloatValue(types.TFloat64, 0), types.FloatValue(types.TFloat64, math.Copysign(0, -1)), types.FloatValue(types.TFloat64, 1)}},
		{types.TDecimal(38, 0), 2, []types.Value{types.DecimalValue(types.TDecimal(38, 0), types.FromInt64(7)), types.DecimalValue(types.TDecimal(38, 0), types.Pow10(30))}},
	} {
		b := NewBuilder(c.t)
		for b.n < sketchRows { // of fewer rows sealing counts nothing
			for _, v := range c.list {
				b.Append(v)
			}
		}
		chunk, err := b.Seal(DefaultOptions(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if chunk.sketch == nil {
			t.Errorf("%s: nothing is counted", c.t)
		}
		var s Sketch
		for range 2 { // what sealing has counted is what is counted by reading
			chunk.AddTo(&s)
			if got := s.Estimate(); math.Abs(got-float64(c.want)) > 0.5 {
				t.Errorf("%s: %.1f different values, not %d", c.t, got, c.want)
			}
		}
	}
}

// TestHashBytes: every byte of a text counts.
func TestHashBytes(t *testing.T) {
	text := make([]byte, 150)
	for n := range text {
		seen := map[uint64]int{hashBytes(text[:n]): -1}
		for i := range n {
			text[i] = 'x'
			h := hashBytes(text[:n])
			if at, ok := seen[h]; ok {
				t.Fatalf("of %d bytes, byte %d hashes like byte %d", n, i, at)
			}
			seen[h] = i
			text[i] = 0
		}
	}
}

// TestWords loads strings with and without room behind them.
func TestWords(t *testing.T) {
	long := "abcdefghijklmnopqrstuvwxyz0123456789 and more of it"
	for n := range len(long) {
		s := long[:n]
		var w [3]uint64
		for i := range min(n, wordBytes) {
			w[i/8] |= uint64(s[i]) << (8 * (i % 8))
		}
		want := words{w[0], w[1], w[2]}
		padded := []byte("xyz" + s + strings.Repeat("!", wordBytes))
		if got := wordsAt(padded, 3, n); got != want {
			t.Errorf("wordsAt(%q) = %x", s, got)
		}
		if got := wordsOf([]byte(s)); got != want {
			t.Errorf("wordsOf(%q) = %x", s, got)
		}
		if hashBytes([]byte(s)) == hashBytes([]byte(s+"\x00")) {
			t.Errorf("%q hashes like itself and a zero", s)
		}
		if n > 0 && hashBytes([]byte(s)) == hashBytes([]byte(s[:n-1]+"?")) {
			t.Errorf("the last byte of %q does not matter", s)
		}
	}
	if w := wordsOf([]byte("ab")); w.prefix() != 0x6162<<48 {
		t.Errorf("prefix %x", w.prefix())
	}
}
