package column

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/kelpiedb/kelpie/internal/types"
)

// dictChunk is a chunk of texts with a dictionary; empty ones are NULL.
func dictChunk(t *testing.T, d *Dict, texts ...string) *Chunk {
	t.Helper()
	b := NewBuilder(types.TText)
	for _, s := range texts {
		if s == "" {
			b.AppendNull()
		} else {
			b.AppendString(s)
		}
	}
	c, err := b.Seal(DefaultOptions(), d)
	if err != nil {
		t.Fatal(err)
	}
	if c.Enc != EncDict {
		t.Fatalf("%v has no dictionary", texts)
	}
	return c
}

// TestCoded appends texts that are codes and texts that are not, in every order.
func TestCoded(t *testing.T) {
	t.Cleanup(func() { // others count bytes in use: what this test leaves is not to go meanwhile
		runtime.GC()
		time.Sleep(50 * time.Millisecond)
	})
	d1, d2 := NewDict(), NewDict()
	long := "a text that does not fit in a descriptor"
	a := dictChunk(t, d1, "x", "", long, "x", "ü")
	z := dictChunk(t, d2, "", "q", "x")
	steps := map[string]struct {
		do   func(b *Builder)
		want []string
	}{
		"codes":       {func(b *Builder) { b.AppendChunk(a, 1, 5) }, []string{"", long, "x", "ü"}},
		"picked":      {func(b *Builder) { b.AppendPick(a, &Pick{Rows: []uint32{4, 1, 0}}) }, []string{"ü", "", "x"}},
		"other codes": {func(b *Builder) { b.AppendChunk(z, 0, 3) }, []string{"", "q", "x"}},
		"string":      {func(b *Builder) { b.AppendString("s") }, []string{"s"}},
		"null":        {func(b *Builder) { b.AppendNull() }, []string{""}},
		"words": {func(b *Builder) { b.AppendCodes(d1, d1.View(), []uint64{1, 0, 2}, []uint8{0, 1, 0}) },
			[]string{long, "", "ü"}},
	}
	for n1, s1 := range steps {
		for n2, s2 := range steps {
			for n3, s3 := range steps {
				for _, opts := range []Options{DefaultOptions(), {}} {
					b := NewBuilder(types.TText)
					for range 2 { // the second time with what Reset leaves
						b.Reset()
						s1.do(b)
						s2.do(b)
						s3.do(b)
						c, err := b.Seal(opts, NewDict())
						if err != nil {
							t.Fatal(err)
						}
						var got []string
						bytes, nulls := int64(0), 0
						for i := range c.Rows {
							v := c.Value(i)
							if v.Null {
								nulls++
							}
							bytes += int64(len(v.S))
							got = append(got, v.S)
						}
						want := append(append(append([]string(nil), s1.want...), s2.want...), s3.want...)
						if fmt.Sprint(got) != fmt.Sprint(want) || c.Zone.Bytes != bytes || c.Zone.NullCount != nulls {
							t.Errorf("%s, %s, %s %+v: %q with %d bytes and %d NULLs, zone %+v", n1, n2, n3, opts, got, bytes, nulls, c.Zone)
						}
					}
				}
			}
		}
	}
}

// TestCodedReset: a builder that had codes has none after Reset, whatever comes next.
func TestCodedReset(t *testing.T) {
	a, z := dictChunk(t, NewDict(), "x", "y"), dictChunk(t, NewDict(), "q")
	for _, next := range []func(b *Builder){
		func(b *Builder) { b.AppendString("q") },
		func(b *Builder) { b.AppendChunk(z, 0, 1) },
	} {
		b := NewBuilder(types.TText)
		b.AppendChunk(a, 0, 2)
		b.Reset()
		if b.Size() != 0 {
			t.Errorf("%d bytes after Reset", b.Size())
		}
		next(b)
		c, err := b.Seal(DefaultOptions(), NewDict())
		if err != nil {
			t.Fatal(err)
		}
		if c.Rows != 1 || c.Value(0).S != "q" || c.Zone.Bytes != 1 {
			t.Errorf("%d rows, the first %q, zone %+v", c.Rows, c.Value(0).S, c.Zone)
		}
	}
}

// TestCodedMany has more different texts than a dictionary takes for so few rows.
func TestCodedMany(t *testing.T) {
	d := NewDict()
	var keys [][]byte
	for i := range 5000 {
		keys = append(keys, fmt.Appendf(nil, "text number %d", i))
	}
	if ok, err := d.Add(keys, make([]uint32, len(keys)), 1<<20, nil); !ok || err != nil {
		t.Fatal(ok, err)
	}
	words := make([]uint64, 10000)
	for i := range words {
		words[i] = uint64(i % 5000)
	}
	b := NewBuilder(types.TText)
	b.AppendCodes(d, d.View(), words, nil)
	c, err := b.Seal(DefaultOptions(), NewDict())
	if err != nil {
		t.Fatal(err)
	}
	if c.Enc != EncStr {
		t.Errorf("5000 different texts of 10000 rows have a dictionary")
	}
	for i, w := range words {
		if got := c.Value(i).S; got != string(keys[w]) {
			t.Fatalf("row %d is %q", i, got)
		}
	}
}
