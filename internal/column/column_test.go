package column

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/types"
)

var allOptions = []Options{{}, {Narrow: true}, {Dict: true}, {Narrow: true, Dict: true}}

// checkChunk compares a chunk with the values it was made of: every row, every summary,
// and that NULLs and the rows past the end read as zero.
func checkChunk(t *testing.T, c *Chunk, want []types.Value) {
	t.Helper()
	if c.Rows != len(want) {
		t.Fatalf("%d rows, want %d", c.Rows, len(want))
	}
	if c.Data%Align != 0 || c.Null%Align != 0 || c.Heap%Align != 0 {
		t.Errorf("addresses %x %x %x", c.Data, c.Null, c.Heap)
	}
	nulls, sorted, strict, length := 0, true, true, int64(0)
	var lo, hi types.Value
	for i, w := range want {
		got := c.Value(i)
		if got.Null != w.Null || types.Compare(got, w) != 0 || got.Type != c.Type {
			t.Fatalf("row %d is %v, want %v (%+v)", i, got, w, c.Shape)
		}
		if w.Null {
			nulls++
			if !c.IsNull(i) {
				t.Fatalf("row %d is not NULL", i)
			}
			checkZero(t, c, i)
			continue
		}
		length += int64(len(w.S))
		if nulls == i || types.Compare(w, lo) < 0 {
			lo = w
		}
		if nulls == i || types.Compare(w, hi) > 0 {
			hi = w
		}
		if i > 0 {
			cmp := types.Compare(want[i-1], w)
			sorted, strict = sorted && cmp <= 0, strict && cmp < 0
		}
	}
	for i := c.Rows; i < c.Rows+PadRows; i++ {
		checkZero(t, c, i)
		if c.Nulls {
			c.IsNull(i)
		}
	}
	z := c.Zone
	if z.NullCount != nulls || c.Nulls != (nulls > 0) || (c.Null != 0) != (nulls > 0) {
		t.Errorf("%d nulls, want %d", z.NullCount, nulls)
	}
	if c.Type.Kind == types.Interval {
		return
	}
	if nulls < len(want) && (types.Compare(z.Min, lo) != 0 || types.Compare(z.Max, hi) != 0 || z.Min.Type != c.Type || z.Max.Type != c.Type) {
		t.Errorf("zone %v … %v, want %v … %v", z.Min, z.Max, lo, hi)
	}
	any := len(want) > 0 && nulls == 0
	if z.Sorted && z.Runs != countRuns(want) {
		t.Errorf("%d runs, want %d", z.Runs, countRuns(want))
	}
	if z.Sorted != (any && sorted) || z.Strict != (any && strict) {
		t.Errorf("sorted %v strict %v, want %v %v (nulls %d)", z.Sorted, z.Strict, sorted, strict, nulls)
	}
	if c.Type.Kind == types.Text && z.Bytes != length {
		t.Errorf("%d bytes, want %d", z.Bytes, length)
	}
}

func countRuns(vs []types.Value) int {
	n := 1
	for i := 1; i < len(vs); i++ {
		if types.Compare(vs[i-1], vs[i]) != 0 {
			n++
		}
	}
	return n
}

// checkZero checks that the stored element of a row is all zero.
func checkZero(t *testing.T, c *Chunk, row int) {
	t.Helper()
	for _, b := range slice[byte](c.Data+uintptr(row)*uintptr(c.Width), int(c.Width)) {
		if b != 0 {
			t.Fatalf("row %d is not stored as zero (%+v)", row, c.Shape)
		}
	}
}

func ints(t types.Type, xs ...int64) []types.Value {
	var vs []types.Value
	for _, x := range xs {
		if t.Kind == types.Decimal {
			vs = append(vs, types.DecimalValue(t, types.FromInt64(x)))
		} else {
			vs = append(vs, types.IntValue(t, x))
		}
	}
	return vs
}

func texts(ss ...string) []types.Value {
	var vs []types.Value
	for _, s := range ss {
		vs = append(vs, types.TextValue(s))
	}
	return vs
}

func seal(t *testing.T, typ types.Type, vs []types.Value, opts Options, d *Dict) *Chunk {
	t.Helper()
	b := NewBuilder(typ)
	for _, v := range vs {
		b.Append(v)
	}
	c, err := b.Seal(opts, d)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestForms says which form each column gets.
func TestForms(t *testing.T) {
	null := func(typ types.Type) types.Value { return types.NullOf(typ) }
	i64, wide := types.TInt64, types.TDecimal(38, 2)
	huge := types.DecimalValue(wide, types.Int128{Lo: 5, Hi: 7})
	many := make([]string, 300)
	for i := range many {
		many[i] = fmt.Sprint("value number ", i)
	}
	repeated := make([]string, 4000)
	for i := range repeated {
		repeated[i] = many[i%300]
	}
	for _, c := range []struct {
		name string
		t    types.Type
		vs   []types.Value
		want string // Enc, Width, Base
	}{
		{"empty", i64, nil, "int 1 0"},
		{"all null", i64, []types.Value{null(i64), null(i64)}, "int 1 0"},
		{"equal", i64, ints(i64, 7, 7, 7), "int 1 0"},
		{"equal, large", i64, ints(i64, 1<<40, 1<<40), "int 1 1099511627776"},
		{"byte", i64, ints(i64, 0, 255), "int 1 0"},
		{"byte above 0", i64, ints(i64, 200, 300), "int 1 200"},
		{"negative", i64, ints(i64, -1, 0), "int 1 -1"},
		{"short", i64, ints(i64, 5, 261), "int 2 0"},
		{"short frame", i64, ints(i64, 1e6, 1e6+65535), "int 2 1000000"},
		{"word", i64, ints(i64, -5, 65536), "int 4 -5"},
		{"word end", i64, ints(i64, 1, 1<<32), "int 4 1"},
		{"long", i64, ints(i64, 0, 1<<32), "int 8 0"},
		{"extremes", i64, ints(i64, math.MinInt64, math.MaxInt64), "int 8 0"},
		{"min only", i64, ints(i64, math.MinInt64, math.MinInt64+3), "int 1 -9223372036854775808"},
		{"null among", i64, append(ints(i64, 1000, 1001), null(i64)), "int 1 1000"},
		{"bool", types.TBool, ints(types.TBool, 0, 1), "int 1 0"},
		{"date", types.TDate, ints(types.TDate, 8000, 10000), "int 2 0"},
		{"decimal", types.TDecimal(15, 2), ints(types.TDecimal(15, 2), -500, 99999), "int 4 -500"},
		{"wide decimal, small values", wide, ints(wide, -500, 99999), "int 4 -500"},
		{"wide decimal", wide, append(ints(wide, -500, 0), huge), "i128 16 0"},
		{"wide decimal first", wide, append([]types.Value{huge}, ints(wide, -500)...), "i128 16 0"},
		{"wide decimal nulls", wide, []types.Value{null(wide), huge, null(wide)}, "i128 16 0"},
		{"real", types.TFloat32, []types.Value{types.FloatValue(types.TFloat32, 0.5), null(types.TFloat32)}, "f64 4 0"},
		{"double", types.TFloat64, []types.Value{types.FloatValue(types.TFloat64, 0.1), types.FloatValue(types.TFloat64, math.NaN()), types.FloatValue(types.TFloat64, math.Inf(-1))}, "f64 8 0"},
		{"interval", types.TInterval, []types.Value{types.IntervalValue(-1, 2, -3), null(types.TInterval)}, "ivl 16 0"},
		{"text", types.TText, texts("a", "", "a long string that is not inline", "abcdefghijkl", "abcdefghijklm"), "dict 1 0"},
		{"text null", types.TText, []types.Value{null(types.TText), null(types.TText)}, "dict 1 0"},
		{"text many", types.TText, texts(many...), "str 16 0"},
		{"text many repeated", types.TText, texts(repeated...), "dict 2 0"},
		{"text nulls", types.TText, append(texts("x", "y"), null(types.TText)), "dict 1 0"},
		{"varchar", types.Type{Kind: types.Text, Len: 5}, []types.Value{{Type: types.Type{Kind: types.Text, Len: 5}, S: "abc"}}, "dict 1 0"},
		{"text many nulls", types.TText, append(texts(many...), null(types.TText)), "str 16 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, opts := range allOptions {
				ch := seal(t, c.t, c.vs, opts, NewDict())
				checkChunk(t, ch, c.vs)
				got := fmt.Sprint([...]string{"int", "i128", "f64", "dict", "str", "ivl"}[ch.Enc], " ", ch.Width, " ", ch.Base)
				if opts == DefaultOptions() && got != c.want {
					t.Errorf("form %s, want %s", got, c.want)
				}
				if opts == (Options{}) && (ch.Enc == EncInt && ch.Width != 8 || ch.Enc == EncDict) {
					t.Errorf("form %s without options", got)
				}
			}
			if ch := seal(t, c.t, c.vs, DefaultOptions(), nil); ch.Enc == EncDict {
				t.Error("a dictionary out of nothing")
			} else {
				checkChunk(t, ch, c.vs)
			}
		})
	}
}

// TestRandomChunks seals random columns under all options, with several columns in a
// segment and builders used again.
func TestRandomChunks(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	kinds := []types.Type{types.TBool, types.TInt16, types.TInt32, types.TInt64, types.TDecimal(9, 2), types.TDecimal(38, 4),
		types.TFloat32, types.TFloat64, types.TDate, types.TTimestamp, types.TInterval, types.TText}
	bs := make([]*Builder, len(kinds))
	dicts := make([]*Dict, len(kinds))
	for i, k := range kinds {
		bs[i], dicts[i] = NewBuilder(k), NewDict()
	}
	for round := range 24 {
		n := []int{0, 1, 3, 100, 5000}[round%5]
		want := make([][]types.Value, len(kinds))
		for i, k := range kinds {
			bs[i].Reset()
			nullRate, span, order := r.IntN(3), int64(1)<<r.IntN(60), r.IntN(3)
			for row := range n {
				v := randomValue(r, k, span)
				if order == 0 && k.Phys() == types.PhysI64 && k != types.TBool { // rising
					v.I, v.Hi = int64(row)*(1+span%5), 0
				}
				if nullRate == 2 && r.IntN(4) == 0 {
					v = types.NullOf(k)
				}
				bs[i].Append(v)
				want[i] = append(want[i], v)
			}
		}
		cs, err := SealAll(bs, allOptions[round%len(allOptions)], dicts, nil, Unstopped)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range cs {
			checkChunk(t, c, want[i])
			var exact Sketch
			seen := map[string]bool{}
			for _, v := range want[i] {
				if !v.Null && v.Type.Kind != types.Interval {
					seen[v.String()] = true
				}
			}
			c.AddTo(&exact)
			if est := exact.Estimate(); kinds[i].Kind != types.Interval && kinds[i].Kind != types.Float64 && kinds[i].Kind != types.Float32 &&
				math.Abs(est-float64(len(seen))) > 2+0.1*float64(len(seen)) {
				t.Errorf("%s: %d distinct, estimated %.1f", kinds[i], len(seen), est)
			}
			// A copy through AppendChunk is the same chunk.
			b := NewBuilder(kinds[i])
			b.AppendChunk(c, 0, c.Rows)
			copied, err := b.Seal(DefaultOptions(), dicts[i])
			if err != nil {
				t.Fatal(err)
			}
			checkChunk(t, copied, want[i])
			for row := 0; row < n; row += 37 {
				if !c.IsNull(row) && (c.Hash(row) != copied.Hash(row) || !EqualRows(c, row, copied, row)) {
					t.Fatalf("%s row %d: hash or equality depends on the encoding", kinds[i], row)
				}
			}
		}
	}
}

// TestPlainSize: a plain chunk of texts takes no more than they need.
func TestPlainSize(t *testing.T) {
	b := NewBuilder(types.TText)
	long := strings.Repeat("x", 100)
	for range 50 {
		b.AppendString(long)
		b.AppendString("short")
		b.AppendNull()
	}
	took := 0
	var mem *Mem
	c, err := b.Plain(func(size int) (_ uintptr, err error) {
		took = size
		mem, err = Alloc(size)
		return mem.Addr(), err
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.Value(147).S != long || c.Value(148).S != "short" || !c.Value(149).Null {
		t.Errorf("the last rows are %v, %v and %v", c.Value(147), c.Value(148), c.Value(149))
	}
	if most := align((150+PadRows)*descBytesSize) + align(150+PadRows) + 50*len(long) + TextPad; took > most {
		t.Errorf("%d bytes, %d would do", took, most)
	}
	mem.Free()
}

func randomValue(r *rand.Rand, k types.Type, span int64) types.Value {
	switch k.Kind {
	case types.Bool:
		return types.IntValue(k, int64(r.IntN(2)))
	case types.Float32:
		return types.FloatValue(k, float64(float32(r.NormFloat64())))
	case types.Float64:
		return types.FloatValue(k, []float64{r.NormFloat64(), math.NaN(), math.Inf(1), 0, math.Copysign(0, -1)}[r.IntN(5)])
	case types.Interval:
		return types.IntervalValue(int32(r.IntN(40)-20), int32(r.IntN(40)-20), r.Int64()-r.Int64())
	case types.Text:
		return types.TextValue(strings.Repeat("xyz", r.IntN(8)) + fmt.Sprint(r.Int64N(span)))
	case types.Decimal:
		x := types.FromInt64(r.Int64N(span) - span/2)
		if k.Wide() && r.IntN(100) == 0 {
			x.Hi = r.Int64N(1 << 40)
		}
		return types.DecimalValue(k, x)
	}
	return types.IntValue(k, r.Int64N(span)-span/3)
}

// TestBulk compares the bulk appends with the single ones.
func TestBulk(t *testing.T) {
	a, b := NewBuilder(types.TText), NewBuilder(types.TText)
	arena, offsets := []byte("__onetwothreefour and a long string__"), []int32{2, 5, 8, 8, 13, 35}
	b.AppendNull()
	a.AppendNull()
	a.AppendStrings(arena, offsets)
	a.AppendStrings(arena, offsets[:1])
	for i := range offsets[1:] {
		b.AppendBytes(arena[offsets[i]:offsets[i+1]])
	}
	sameChunk(t, a, b)

	wide := types.TDecimal(38, 0)
	a, b = NewBuilder(wide), NewBuilder(wide)
	xs := []int64{1, -2, 3}
	a.AppendInts(xs)
	a.AppendI128(types.Int128{Hi: 1})
	a.AppendInts(xs)
	for _, x := range append(xs, 0) {
		if x == 0 {
			b.AppendI128(types.Int128{Hi: 1})
		} else {
			b.AppendInt(x)
		}
	}
	for _, x := range xs {
		b.AppendI128(types.FromInt64(x))
	}
	sameChunk(t, a, b)

	a, b = NewBuilder(types.TFloat32), NewBuilder(types.TFloat32)
	a.AppendFloats([]float64{0.1, 2})
	b.AppendFloat(0.1)
	b.AppendFloat(2)
	sameChunk(t, a, b)
	if a.Len() != 2 || a.Type() != types.TFloat32 || a.NullCount() != 0 || a.Size() == 0 {
		t.Error("the builder does not know itself")
	}
}

// TestPickFloats keeps every bit of numbers that are read many at a time.
func TestPickFloats(t *testing.T) {
	want := []float64{math.Copysign(0, -1), 0, 1.5, math.Inf(-1)}
	for _, typ := range []types.Type{types.TFloat32, types.TFloat64} {
		b := NewBuilder(typ)
		b.AppendFloats(want)
		c, err := b.Seal(DefaultOptions(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []*Pick{{N: 4}, {Rows: []uint32{0, 1, 2, 3}}} {
			got := make([]float64, 4)
			PickFloats(c, p, got)
			for i := range want {
				if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
					t.Errorf("%s: %v instead of %v", typ, got[i], want[i])
				}
			}
		}
	}
}

func sameChunk(t *testing.T, a, b *Builder) {
	t.Helper()
	ca, err := a.Seal(DefaultOptions(), nil)
	if err != nil {
		t.Fatal(err)
	}
	cb, err := b.Seal(DefaultOptions(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var want []types.Value
	for i := range cb.Rows {
		want = append(want, cb.Value(i))
	}
	checkChunk(t, ca, want)
}

// TestSealStopped: a seal that is stopped, wherever, ends with the error and keeps no memory.
func TestSealStopped(t *testing.T) {
	fill := func() (bs []*Builder) {
		for range 3 {
			b := NewBuilder(types.TText)
			for i := range 100 {
				b.AppendString(fmt.Sprint("a text of some length, number ", i))
			}
			bs = append(bs, b)
		}
		return bs
	}
	halt := errors.New("stopped")
	for after := 0; ; after++ {
		before, asked := BytesInUse(), 0
		cs, err := SealAll(fill(), DefaultOptions(), nil, nil, func() error {
			if asked++; asked > after {
				return halt
			}
			return nil
		})
		if err == nil {
			if cs[0].mem.Free(); after != 6 {
				t.Errorf("asked %d times, not before each of 3 surveys and 3 writes", after)
			}
			return
		}
		if err != halt || asked != after+1 || BytesInUse() > before {
			t.Errorf("stopped at question %d: %v, asked %d times, %d more bytes in use", after, err, asked, BytesInUse()-before)
		}
	}
}
