package vector

import (
	"math"
	"slices"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/emit/scalar"
	"github.com/kelpiedb/kelpie/internal/emit/scanned"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// masker clears the bits of mask m, for the 64 rows from row at on, for which a test does not hold.
// Tests compare codes as they are stored: what a column's base adds is taken off the literals.
type masker func(m, at ir.Reg)

// Costs of tests for 64 rows, in cycles: measured by x64's BenchmarkMasks, rounded.
const (
	byteCost    = 2.5 // for each byte of an element
	shuffleCost = 4   // a lookup in a register
	gatherCost  = 80  // 64 lookups in memory
)

// maskCol is a scanned integer column, as its codes are stored.
type maskCol struct {
	k     int // in Scan.Cols
	shape scanned.Shape
	d     layout.Desc
	name  string
}

// maskCol describes a scanned column whose codes are integers.
func (f *Front) maskCol(id plan.ColID) (maskCol, bool) {
	c, ok := f.scanCol(id)
	ok = ok && (c.shape.Enc == column.EncInt && c.d.Form == layout.I64 && c.d.Range.Known && narrowSpan(c.d.Range) ||
		c.shape.Enc == column.EncDict && c.d.Form == layout.Code)
	return c, ok
}

// scanCol describes a column of the scan.
func (f *Front) scanCol(id plan.ColID) (maskCol, bool) {
	k := slices.Index(f.Scan.Cols, id)
	if k < 0 {
		return maskCol{}, false
	}
	return maskCol{k, f.Shapes[k], f.Desc(k), f.Cols.Get(id).Name}, true
}

// stats is what is known of a column's values.
func (f *Front) stats(c maskCol) *catalog.ColumnStats { return &f.Scan.Snap.Stats[f.Scan.Ordinal[c.k]] }

// narrowSpan reports a range whose differences are 64-bit numbers.
func narrowSpan(r layout.Range) bool {
	const half = math.MaxInt64 / 2
	return r.Fits64() && int64(r.Lo.Lo) > -half && int64(r.Hi.Lo) < half
}

// both is one test after another.
func (f *Front) both(first, second masker) masker {
	return func(m, at ir.Reg) {
		first(m, at)
		second(m, at)
	}
}

// array calls use with the place of the column's codes from row at on.
func (f *Front) array(c maskCol, at ir.Reg, use func(codes ir.Mem, width int)) {
	p := f.LoadWord(c.name+".data", code.Word{Kind: code.WordData, Index: c.k})
	use(ir.AtIndex(p, at, int(c.shape.Width), 0), int(c.shape.Width))
	f.B.Clear(p)
}

// notNull keeps the rows in which the column is not NULL (or, if null, those in which it is).
func (f *Front) notNull(c maskCol, null bool) masker {
	return func(m, at ir.Reg) {
		want := int64(0)
		if null {
			want = 1
		}
		if !c.shape.Nulls {
			if null {
				f.B.Mov(m, ir.K(0))
			}
			return
		}
		p := f.LoadWord(c.name+".nulls", code.Word{Kind: code.WordNull, Index: c.k})
		f.B.MaskRange(m, m.V(), ir.K(want), ir.K(0), ir.AtIndex(p, at, 1, 0), 1)
		f.B.Clear(p)
	}
}

func (c *maskCol) cost() float64 {
	x := 2 + byteCost*float64(c.shape.Width)
	if c.shape.Nulls {
		x += byteCost
	}
	return x
}

// inRange keeps rows with a value from lo to hi; NULL is in no range.
func (f *Front) inRange(c maskCol, lo, hi int64) maskTest {
	t := maskTest{cost: c.cost(), share: scanned.ShareOf(c.d.Range, lo, hi)}
	first, last := int64(c.d.Range.Lo.Lo), int64(c.d.Range.Hi.Lo)
	lo, hi = max(lo, first), min(hi, last)
	valid := f.notNull(c, false)
	switch {
	case lo > hi:
		t.mask = func(m, at ir.Reg) { f.B.Mov(m, ir.K(0)) }
	case lo == first && hi == last:
		t.mask = valid
	case !c.shape.Based:
		t.mask = f.both(valid, func(m, at ir.Reg) {
			lo, hi := f.codeRange(c, lo, hi)
			if lo > hi {
				f.B.Mov(m, ir.K(0))
				return
			}
			f.array(c, at, func(codes ir.Mem, w int) { f.B.MaskRange(m, m.V(), ir.K(lo), ir.K(hi-lo), codes, w) })
		})
	default:
		low, span, some := f.Scratch(8), f.Scratch(8), f.Scratch(8)
		f.setup = append(f.setup, func() { f.baseRange(c, lo, hi, low, span, some) })
		t.mask = f.both(valid, f.codesFrom(c, low, span, some))
	}
	return t
}

// codesFrom keeps rows whose codes are among those that baseRange has worked out.
func (f *Front) codesFrom(c maskCol, low, span, some int) masker {
	return func(m, at ir.Reg) {
		x, y := f.Int("low"), f.Int("span")
		f.B.Load8(x, ir.At(ir.Ctx, some))
		f.B.Op2(ir.And, m, m.V(), x.V())
		f.B.Load8(x, ir.At(ir.Ctx, low))
		f.B.Load8(y, ir.At(ir.Ctx, span))
		f.array(c, at, func(codes ir.Mem, w int) { f.B.MaskRange(m, m.V(), x.V(), y.V(), codes, w) })
		f.B.Clear(x, y)
	}
}

// maxCode is the largest code of a column narrower than 8 bytes.
func (c *maskCol) maxCode() int64 { return 1<<(8*c.shape.Width) - 1 }

// codeRange cuts a range down to codes that can be, for columns without a base.
func (f *Front) codeRange(c maskCol, lo, hi int64) (int64, int64) {
	if c.shape.Width == 8 {
		return lo, hi
	}
	return max(lo, 0), min(hi, c.maxCode())
}

// baseRange works out, for the segment at hand, which codes stand for lo to hi: the lowest, how many follow
// it, and a mask that is 0 if there is none.
func (f *Front) baseRange(c maskCol, lo, hi int64, low, span, some int) {
	x, y := f.Int("low"), f.Int("high")
	f.B.Mov(x, ir.K(lo))
	f.B.Mov(y, ir.K(hi))
	f.codesBetween(c, x, y, low, span, some)
}

// codesBetween is baseRange for bounds in registers, which it clears.
func (f *Front) codesBetween(c maskCol, x, y ir.Reg, low, span, some int) {
	if c.shape.Based {
		base := f.LoadWord(c.name+".base", code.Word{Kind: code.WordBase, Index: c.k})
		f.B.Op2(ir.Sub, x, x.V(), base.V())
		f.B.Op2(ir.Sub, y, y.V(), base.V())
		f.B.Clear(base)
	}
	t := f.Int("some")
	if c.shape.Width < 8 {
		f.B.Sel(x, ir.LT, x.V(), ir.K(0), ir.K(0), x.V())
		f.B.Mov(t, ir.K(c.maxCode()))
		f.B.Sel(y, ir.GT, y.V(), t.V(), t.V(), y.V())
	}
	f.B.Set(t, ir.LE, x.V(), y.V())
	f.B.Op1(ir.Neg, t, t.V())
	f.B.Op2(ir.Sub, y, y.V(), x.V())
	f.B.Store(ir.At(ir.Ctx, low), x.V(), 8)
	f.B.Store(ir.At(ir.Ctx, span), y.V(), 8)
	f.B.Store(ir.At(ir.Ctx, some), t.V(), 8)
	f.B.Clear(x, y, t)
}

// inBitmap keeps rows whose value has its bit set in a bitmap that begins with value lo, off bytes into w.
// All values of the mask's rows lie in it.
func (f *Front) inBitmap(c maskCol, w code.Word, off int, lo int64) masker {
	low := 0
	if c.shape.Based {
		low = f.Scratch(8)
		f.setup = append(f.setup, func() {
			x := f.Int("low")
			base := f.LoadWord(c.name+".base", code.Word{Kind: code.WordBase, Index: c.k})
			f.B.Mov(x, ir.K(lo))
			f.B.Op2(ir.Sub, x, x.V(), base.V())
			f.B.Store(ir.At(ir.Ctx, low), x.V(), 8)
			f.B.Clear(x, base)
		})
	}
	return func(m, at ir.Reg) {
		bits := f.LoadWord("bits", w)
		if off != 0 {
			f.B.Op2(ir.Add, bits, bits.V(), ir.K(int64(off)))
		}
		f.array(c, at, func(codes ir.Mem, width int) {
			if !c.shape.Based {
				f.B.MaskBits(m, m.V(), ir.K(lo), bits.V(), codes, width)
				return
			}
			x := f.Int("low")
			f.B.Load8(x, ir.At(ir.Ctx, low))
			f.B.MaskBits(m, m.V(), x.V(), bits.V(), codes, width)
			f.B.Clear(x)
		})
		f.B.Clear(bits)
	}
}

// masker finds the test of a predicate on masks: rows for which it is true, or false if not want.
// It fails for what masks cannot do.
func (f *Front) masker(x plan.Expr, want bool) (maskTest, bool) {
	switch x := x.(type) {
	case *plan.Ref:
		c, ok := f.maskCol(x.ID)
		if !ok || x.T.Kind != types.Bool {
			return maskTest{}, false
		}
		if want {
			return f.inRange(c, 1, 1), true
		}
		return f.inRange(c, 0, 0), true
	case *plan.Call:
		switch {
		case x.Op == plan.Not:
			return f.masker(x.Args[0], !want)
		case x.Op == plan.And || x.Op == plan.Or:
			return f.maskTree(x, want)
		case x.Op == plan.IsNull:
			return f.maskNull(x, want)
		}
		if m, ok := f.maskText(x, want); ok {
			return m, true
		}
		switch {
		case x.Op == plan.InList:
			return f.maskIn(x, want)
		case x.Op.IsComparison():
			return f.maskCompare(x, want)
		}
	}
	return maskTest{}, false
}

// maskTree is a conjunction or disjunction.
func (f *Front) maskTree(x *plan.Call, want bool) (maskTest, bool) {
	parts := make([]maskTest, len(x.Args))
	out := maskTest{share: 1}
	all := (x.Op == plan.And) == want
	for i, a := range x.Args {
		p, ok := f.masker(a, want)
		if !ok {
			return p, false
		}
		parts[i] = p
		out.cost, out.looks = out.cost+p.cost, out.looks || p.looks
		if all {
			out.share *= p.share
		} else {
			out.share *= 1 - p.share
		}
	}
	if all {
		out.mask = func(m, at ir.Reg) {
			for i := range parts {
				parts[i].mask(m, at)
			}
		}
		return out, true
	}
	out.share = 1 - out.share
	out.mask = func(m, at ir.Reg) {
		hits, left := f.Int("hits"), f.Int("left")
		f.B.Mov(hits, ir.K(0))
		for i := range parts { // each looks at those that none before it took
			f.B.Mov(left, m.V())
			parts[i].mask(left, at)
			f.B.Op2(ir.Or, hits, hits.V(), left.V())
			if i < len(parts)-1 {
				f.B.Op2(ir.Xor, m, m.V(), left.V())
			}
		}
		f.B.Mov(m, hits.V())
		f.B.Clear(hits, left)
	}
	return out, true
}

// except turns a test of rows without NULL into its opposite.
func (f *Front) except(c maskCol, t maskTest) maskTest {
	is, valid := t.mask, f.notNull(c, false)
	t.share = 1 - t.share
	t.mask = func(m, at ir.Reg) {
		valid(m, at)
		hit := f.Int("hit")
		f.B.Mov(hit, m.V())
		is(hit, at)
		f.B.Op2(ir.Xor, m, m.V(), hit.V())
		f.B.Clear(hit)
	}
	return t
}

func (f *Front) maskNull(x *plan.Call, want bool) (maskTest, bool) {
	ref, ok := x.Args[0].(*plan.Ref)
	if !ok {
		return maskTest{}, false
	}
	c, ok := f.scanCol(ref.ID)
	if !ok {
		return maskTest{}, false
	}
	share := float64(f.stats(c).NullCount) / float64(max(f.Scan.Snap.Rows, 1))
	if !want {
		share = 1 - share
	}
	return maskTest{share: share, cost: 2 + byteCost, mask: f.notNull(c, want)}, true
}

// maskText is a predicate on a dictionary column: a comparison with one code, or a lookup in a table.
func (f *Front) maskText(x *plan.Call, want bool) (maskTest, bool) {
	refs := plan.Refs(x)
	if x.T.Kind != types.Bool || refs.Len() != 1 || !scalar.StrictInText(x) {
		return maskTest{}, false
	}
	id := refs.Slice()[0]
	if f.Cols.Get(id).Type.Phys() != types.PhysStr {
		return maskTest{}, false
	}
	c, ok := f.maskCol(id)
	if !ok || c.shape.Enc != column.EncDict {
		return maskTest{}, false
	}
	n := float64(c.d.Range.Hi.Lo) + 1
	if lit, ok := scalar.EqualsLiteral(x); ok {
		lo, hi := int64(1), int64(0) // no row
		if code, found := c.d.Dict.Lookup(lit); found {
			lo, hi = int64(code), int64(code)
		}
		t := f.inRange(c, lo, hi)
		if (x.Op == plan.Eq) != want {
			t = f.except(c, t)
		}
		return t, true
	}
	t := maskTest{share: 0.3, cost: c.cost() + gatherCost, looks: true}
	if x.Op == plan.InList {
		t.share = min(float64(len(x.Args)-1)/n, 1)
	}
	if c.shape.Width == 1 && n <= 128 && f.Gather { // the table fits in registers
		t.cost, t.looks = t.cost+shuffleCost-gatherCost, false
	}
	lut := f.Tabulate(x, id, c.d)
	t.mask = f.both(f.notNull(c, false), func(m, at ir.Reg) {
		tab := f.LoadWord("lut", code.Word{Kind: code.WordLut, Index: lut})
		f.array(c, at, func(codes ir.Mem, w int) { f.B.MaskLut(m, m.V(), tab.V(), int(n), codes, w) })
		f.B.Clear(tab)
	})
	if !want {
		t = f.except(c, t)
	}
	return t, true
}

// maskIn is col in (integers).
func (f *Front) maskIn(x *plan.Call, want bool) (maskTest, bool) {
	ref, ok := x.Args[0].(*plan.Ref)
	if !ok {
		return maskTest{}, false
	}
	c, ok := f.maskCol(ref.ID)
	if !ok || c.shape.Enc != column.EncInt {
		return maskTest{}, false
	}
	items := make([]types.Value, 0, len(x.Args)-1)
	for _, a := range x.Args[1:] {
		k, ok := a.(*plan.Const)
		if !ok || k.V.Null || k.V.Type.Phys() > types.PhysI128 {
			return maskTest{}, false
		}
		items = append(items, k.V)
	}
	vals := scalar.Listed(c.d.Range, items)
	if len(vals) == 0 {
		t := f.inRange(c, 1, 0)
		if !want {
			t = f.except(c, t)
		}
		return t, true
	}
	lo, hi := vals[0], vals[len(vals)-1]
	if hi-lo >= scalar.MaxListBits || f.Off.LookupTables {
		return maskTest{}, false
	}
	bits := make([]byte, (hi-lo)/64*8+8)
	for _, v := range vals {
		bits[(v-lo)/8] |= 1 << ((v - lo) % 8)
	}
	t := f.inRange(c, lo, hi)
	t.share *= min(float64(len(vals))/float64(hi-lo+1), 1)
	t.cost, t.looks = t.cost+gatherCost, true
	off := f.PoolOffset(string(bits))
	t.mask = f.both(t.mask, f.inBitmap(c, code.Word{Kind: code.WordPool}, off, lo))
	if !want {
		t = f.except(c, t)
	}
	return t, true
}

// maskCompare compares an integer column with a literal or another column.
func (f *Front) maskCompare(x *plan.Call, want bool) (maskTest, bool) {
	op, l, r := x.Op, x.Args[0], x.Args[1]
	if _, ok := l.(*plan.Const); ok {
		op, l, r = op.Mirror(), r, l
	}
	ref, ok := l.(*plan.Ref)
	if !ok {
		return maskTest{}, false
	}
	c, ok := f.maskCol(ref.ID)
	if !ok || c.shape.Enc != column.EncInt {
		return maskTest{}, false
	}
	if k, ok := r.(*plan.Const); ok {
		if k.V.Null || k.V.Type.Phys() > types.PhysI128 || !k.V.Int128().FitsInt64() {
			return maskTest{}, false
		}
		lo, hi := scanned.RangeOf(op, int64(k.V.Int128().Lo))
		t := f.inRange(c, lo, hi)
		if (op == plan.Ne) == want {
			t = f.except(c, t)
		}
		return t, true
	}
	other, ok := r.(*plan.Ref)
	if !ok {
		return maskTest{}, false
	}
	d, ok := f.maskCol(other.ID)
	if !ok || d.shape.Enc != column.EncInt || !near(c.d.Range) || !near(d.d.Range) {
		return maskTest{}, false
	}
	cond := scalar.Conds[op]
	if !want {
		cond = cond.Negate()
	}
	t := maskTest{share: 0.5, cost: 2 * (c.cost() + d.cost())}
	if cond == ir.EQ {
		t.share = 0.1
	}
	t.mask = func(m, at ir.Reg) {
		f.notNull(c, false)(m, at)
		f.notNull(d, false)(m, at)
		add := f.Int("add")
		f.B.Mov(add, ir.K(0))
		if c.shape.Based {
			f.B.Load8(add, ir.At(ir.Ctx, f.Word(code.Word{Kind: code.WordBase, Index: c.k})))
		}
		if d.shape.Based {
			base := f.LoadWord(d.name+".base", code.Word{Kind: code.WordBase, Index: d.k})
			f.B.Op2(ir.Sub, add, add.V(), base.V())
			f.B.Clear(base)
		}
		f.array(c, at, func(codes ir.Mem, w int) {
			f.array(d, at, func(codes2 ir.Mem, w2 int) {
				y := f.Int("other")
				f.B.Lea(y, codes2)
				f.B.MaskCmp(m, cond, m.V(), add.V(), y.V(), w2, codes, w)
				f.B.Clear(y)
			})
		})
		f.B.Clear(add)
	}
	return t, true
}

// near reports values and differences that fit in 32 bits.
func near(r layout.Range) bool {
	return int64(r.Lo.Lo) > -1<<30 && int64(r.Hi.Lo) < 1<<30
}
