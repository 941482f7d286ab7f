package emit

import (
	"math"
	"slices"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/emit/scalar"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
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

// maskCol describes a scanned column whose codes are integers.
func (e *emitter) maskCol(id plan.ColID) (maskCol, bool) {
	c, ok := e.scanCol(id)
	ok = ok && (c.shape.Enc == column.EncInt && c.d.Form == layout.I64 && c.d.Range.Known && narrowSpan(c.d.Range) ||
		c.shape.Enc == column.EncDict && c.d.Form == layout.Code)
	return c, ok
}

// scanCol describes a column of the scan.
func (e *emitter) scanCol(id plan.ColID) (maskCol, bool) {
	scan := e.Pipeline.Source.(*pipe.Table).Scan
	k := slices.Index(scan.Cols, id)
	if k < 0 {
		return maskCol{}, false
	}
	return maskCol{k, e.Shapes[k], e.columnDesc(scan, k), e.Cols.Get(id).Name}, true
}

// narrowSpan reports a range whose differences are 64-bit numbers.
func narrowSpan(r layout.Range) bool {
	const half = math.MaxInt64 / 2
	return r.Fits64() && int64(r.Lo.Lo) > -half && int64(r.Hi.Lo) < half
}

// both is one test after another.
func (e *emitter) both(first, second masker) masker {
	return func(m, at ir.Reg) {
		first(m, at)
		second(m, at)
	}
}

// array calls use with the place of the column's codes from row at on.
func (e *emitter) array(c maskCol, at ir.Reg, use func(codes ir.Mem, width int)) {
	p := e.LoadWord(c.name+".data", code.Word{Kind: code.WordData, Index: c.k})
	use(ir.AtIndex(p, at, int(c.shape.Width), 0), int(c.shape.Width))
	e.B.Clear(p)
}

// notNull keeps the rows in which the column is not NULL (or, if null, those in which it is).
func (e *emitter) notNull(c maskCol, null bool) masker {
	return func(m, at ir.Reg) {
		want := int64(0)
		if null {
			want = 1
		}
		if !c.shape.Nulls {
			if null {
				e.B.Mov(m, ir.K(0))
			}
			return
		}
		p := e.LoadWord(c.name+".nulls", code.Word{Kind: code.WordNull, Index: c.k})
		e.B.MaskRange(m, m.V(), ir.K(want), ir.K(0), ir.AtIndex(p, at, 1, 0), 1)
		e.B.Clear(p)
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
func (e *emitter) inRange(f *front, c maskCol, lo, hi int64) maskTest {
	t := maskTest{cost: c.cost(), share: rangeShare(c.d.Range, lo, hi)}
	first, last := int64(c.d.Range.Lo.Lo), int64(c.d.Range.Hi.Lo)
	lo, hi = max(lo, first), min(hi, last)
	valid := e.notNull(c, false)
	switch {
	case lo > hi:
		t.mask = func(m, at ir.Reg) { e.B.Mov(m, ir.K(0)) }
	case lo == first && hi == last:
		t.mask = valid
	case !c.shape.Based:
		t.mask = e.both(valid, func(m, at ir.Reg) {
			lo, hi := e.codeRange(c, lo, hi)
			if lo > hi {
				e.B.Mov(m, ir.K(0))
				return
			}
			e.array(c, at, func(codes ir.Mem, w int) { e.B.MaskRange(m, m.V(), ir.K(lo), ir.K(hi-lo), codes, w) })
		})
	default:
		low, span, some := e.Scratch(8), e.Scratch(8), e.Scratch(8)
		f.setup = append(f.setup, func() { e.baseRange(c, lo, hi, low, span, some) })
		t.mask = e.both(valid, e.codesFrom(c, low, span, some))
	}
	return t
}

// codesFrom keeps rows whose codes are among those that baseRange has worked out.
func (e *emitter) codesFrom(c maskCol, low, span, some int) masker {
	return func(m, at ir.Reg) {
		x, y := e.Int("low"), e.Int("span")
		e.B.Load8(x, ir.At(ir.Ctx, some))
		e.B.Op2(ir.And, m, m.V(), x.V())
		e.B.Load8(x, ir.At(ir.Ctx, low))
		e.B.Load8(y, ir.At(ir.Ctx, span))
		e.array(c, at, func(codes ir.Mem, w int) { e.B.MaskRange(m, m.V(), x.V(), y.V(), codes, w) })
		e.B.Clear(x, y)
	}
}

// maxCode is the largest code of a column narrower than 8 bytes.
func (c *maskCol) maxCode() int64 { return 1<<(8*c.shape.Width) - 1 }

// codeRange cuts a range down to codes that can be, for columns without a base.
func (e *emitter) codeRange(c maskCol, lo, hi int64) (int64, int64) {
	if c.shape.Width == 8 {
		return lo, hi
	}
	return max(lo, 0), min(hi, c.maxCode())
}

// baseRange works out, for the segment at hand, which codes stand for lo to hi: the lowest, how many follow
// it, and a mask that is 0 if there is none.
func (e *emitter) baseRange(c maskCol, lo, hi int64, low, span, some int) {
	x, y := e.Int("low"), e.Int("high")
	e.B.Mov(x, ir.K(lo))
	e.B.Mov(y, ir.K(hi))
	e.codesBetween(c, x, y, low, span, some)
}

// codesBetween is baseRange for bounds in registers, which it clears.
func (e *emitter) codesBetween(c maskCol, x, y ir.Reg, low, span, some int) {
	if c.shape.Based {
		base := e.LoadWord(c.name+".base", code.Word{Kind: code.WordBase, Index: c.k})
		e.B.Op2(ir.Sub, x, x.V(), base.V())
		e.B.Op2(ir.Sub, y, y.V(), base.V())
		e.B.Clear(base)
	}
	t := e.Int("some")
	if c.shape.Width < 8 {
		e.B.Sel(x, ir.LT, x.V(), ir.K(0), ir.K(0), x.V())
		e.B.Mov(t, ir.K(c.maxCode()))
		e.B.Sel(y, ir.GT, y.V(), t.V(), t.V(), y.V())
	}
	e.B.Set(t, ir.LE, x.V(), y.V())
	e.B.Op1(ir.Neg, t, t.V())
	e.B.Op2(ir.Sub, y, y.V(), x.V())
	e.B.Store(ir.At(ir.Ctx, low), x.V(), 8)
	e.B.Store(ir.At(ir.Ctx, span), y.V(), 8)
	e.B.Store(ir.At(ir.Ctx, some), t.V(), 8)
	e.B.Clear(x, y, t)
}

// inBitmap keeps rows whose value has its bit set in a bitmap that begins with value lo, off bytes into w.
// All values of the mask's rows lie in it.
func (e *emitter) inBitmap(f *front, c maskCol, w code.Word, off int, lo int64) masker {
	low := 0
	if c.shape.Based {
		low = e.Scratch(8)
		f.setup = append(f.setup, func() {
			x := e.Int("low")
			base := e.LoadWord(c.name+".base", code.Word{Kind: code.WordBase, Index: c.k})
			e.B.Mov(x, ir.K(lo))
			e.B.Op2(ir.Sub, x, x.V(), base.V())
			e.B.Store(ir.At(ir.Ctx, low), x.V(), 8)
			e.B.Clear(x, base)
		})
	}
	return func(m, at ir.Reg) {
		bits := e.LoadWord("bits", w)
		if off != 0 {
			e.B.Op2(ir.Add, bits, bits.V(), ir.K(int64(off)))
		}
		e.array(c, at, func(codes ir.Mem, width int) {
			if !c.shape.Based {
				e.B.MaskBits(m, m.V(), ir.K(lo), bits.V(), codes, width)
				return
			}
			x := e.Int("low")
			e.B.Load8(x, ir.At(ir.Ctx, low))
			e.B.MaskBits(m, m.V(), x.V(), bits.V(), codes, width)
			e.B.Clear(x)
		})
		e.B.Clear(bits)
	}
}

// masker finds the test of a predicate on masks: rows for which it is true, or false if not want.
// It fails for what masks cannot do.
func (e *emitter) masker(f *front, x plan.Expr, want bool) (maskTest, bool) {
	switch x := x.(type) {
	case *plan.Ref:
		c, ok := e.maskCol(x.ID)
		if !ok || x.T.Kind != types.Bool {
			return maskTest{}, false
		}
		if want {
			return e.inRange(f, c, 1, 1), true
		}
		return e.inRange(f, c, 0, 0), true
	case *plan.Call:
		switch {
		case x.Op == plan.Not:
			return e.masker(f, x.Args[0], !want)
		case x.Op == plan.And || x.Op == plan.Or:
			return e.maskTree(f, x, want)
		case x.Op == plan.IsNull:
			return e.maskNull(x, want)
		}
		if m, ok := e.maskText(f, x, want); ok {
			return m, true
		}
		switch {
		case x.Op == plan.InList:
			return e.maskIn(f, x, want)
		case x.Op.IsComparison():
			return e.maskCompare(f, x, want)
		}
	}
	return maskTest{}, false
}

// maskTree is a conjunction or disjunction.
func (e *emitter) maskTree(f *front, x *plan.Call, want bool) (maskTest, bool) {
	parts := make([]maskTest, len(x.Args))
	out := maskTest{share: 1}
	all := (x.Op == plan.And) == want
	for i, a := range x.Args {
		p, ok := e.masker(f, a, want)
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
		hits, left := e.Int("hits"), e.Int("left")
		e.B.Mov(hits, ir.K(0))
		for i := range parts { // each looks at those that none before it took
			e.B.Mov(left, m.V())
			parts[i].mask(left, at)
			e.B.Op2(ir.Or, hits, hits.V(), left.V())
			if i < len(parts)-1 {
				e.B.Op2(ir.Xor, m, m.V(), left.V())
			}
		}
		e.B.Mov(m, hits.V())
		e.B.Clear(hits, left)
	}
	return out, true
}

// except turns a test of rows without NULL into its opposite.
func (e *emitter) except(c maskCol, t maskTest) maskTest {
	is, valid := t.mask, e.notNull(c, false)
	t.share = 1 - t.share
	t.mask = func(m, at ir.Reg) {
		valid(m, at)
		hit := e.Int("hit")
		e.B.Mov(hit, m.V())
		is(hit, at)
		e.B.Op2(ir.Xor, m, m.V(), hit.V())
		e.B.Clear(hit)
	}
	return t
}

func (e *emitter) maskNull(x *plan.Call, want bool) (maskTest, bool) {
	ref, ok := x.Args[0].(*plan.Ref)
	if !ok {
		return maskTest{}, false
	}
	c, ok := e.scanCol(ref.ID)
	if !ok {
		return maskTest{}, false
	}
	scan := e.Pipeline.Source.(*pipe.Table).Scan
	share := float64(scan.Snap.Stats[scan.Ordinal[c.k]].NullCount) / float64(max(scan.Snap.Rows, 1))
	if !want {
		share = 1 - share
	}
	return maskTest{share: share, cost: 2 + byteCost, mask: e.notNull(c, want)}, true
}

// maskText is a predicate on a dictionary column: a comparison with one code, or a lookup in a table.
func (e *emitter) maskText(f *front, x *plan.Call, want bool) (maskTest, bool) {
	refs := plan.Refs(x)
	if x.T.Kind != types.Bool || refs.Len() != 1 || !scalar.StrictInText(x) {
		return maskTest{}, false
	}
	id := refs.Slice()[0]
	if e.Cols.Get(id).Type.Kind != types.Text {
		return maskTest{}, false
	}
	c, ok := e.maskCol(id)
	if !ok || c.shape.Enc != column.EncDict {
		return maskTest{}, false
	}
	n := float64(c.d.Range.Hi.Lo) + 1
	if lit, ok := scalar.EqualsLiteral(x); ok {
		lo, hi := int64(1), int64(0) // no row
		if code, found := c.d.Dict.Lookup(lit); found {
			lo, hi = int64(code), int64(code)
		}
		t := e.inRange(f, c, lo, hi)
		if (x.Op == plan.Eq) != want {
			t = e.except(c, t)
		}
		return t, true
	}
	t := maskTest{share: 0.3, cost: c.cost() + gatherCost, looks: true}
	if x.Op == plan.InList {
		t.share = min(float64(len(x.Args)-1)/n, 1)
	}
	if c.shape.Width == 1 && n <= 128 && e.Gather { // the table fits in registers
		t.cost, t.looks = t.cost+shuffleCost-gatherCost, false
	}
	lut := e.lut(x, id, c.d)
	t.mask = e.both(e.notNull(c, false), func(m, at ir.Reg) {
		tab := e.LoadWord("lut", code.Word{Kind: code.WordLut, Index: lut})
		e.array(c, at, func(codes ir.Mem, w int) { e.B.MaskLut(m, m.V(), tab.V(), int(n), codes, w) })
		e.B.Clear(tab)
	})
	if !want {
		t = e.except(c, t)
	}
	return t, true
}

// maskIn is col in (integers).
func (e *emitter) maskIn(f *front, x *plan.Call, want bool) (maskTest, bool) {
	ref, ok := x.Args[0].(*plan.Ref)
	if !ok {
		return maskTest{}, false
	}
	c, ok := e.maskCol(ref.ID)
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
		t := e.inRange(f, c, 1, 0)
		if !want {
			t = e.except(c, t)
		}
		return t, true
	}
	lo, hi := vals[0], vals[len(vals)-1]
	if hi-lo >= scalar.MaxListBits || e.Off.LookupTables {
		return maskTest{}, false
	}
	bits := make([]byte, (hi-lo)/64*8+8)
	for _, v := range vals {
		bits[(v-lo)/8] |= 1 << ((v - lo) % 8)
	}
	t := e.inRange(f, c, lo, hi)
	t.share *= min(float64(len(vals))/float64(hi-lo+1), 1)
	t.cost, t.looks = t.cost+gatherCost, true
	off := e.PoolOffset(string(bits))
	t.mask = e.both(t.mask, e.inBitmap(f, c, code.Word{Kind: code.WordPool}, off, lo))
	if !want {
		t = e.except(c, t)
	}
	return t, true
}

// maskCompare compares an integer column with a literal or another column.
func (e *emitter) maskCompare(f *front, x *plan.Call, want bool) (maskTest, bool) {
	op, l, r := x.Op, x.Args[0], x.Args[1]
	if _, ok := l.(*plan.Const); ok {
		op, l, r = op.Mirror(), r, l
	}
	ref, ok := l.(*plan.Ref)
	if !ok {
		return maskTest{}, false
	}
	c, ok := e.maskCol(ref.ID)
	if !ok || c.shape.Enc != column.EncInt {
		return maskTest{}, false
	}
	if k, ok := r.(*plan.Const); ok {
		if k.V.Null || k.V.Type.Phys() > types.PhysI128 || !k.V.Int128().FitsInt64() {
			return maskTest{}, false
		}
		v := int64(k.V.Int128().Lo)
		if v == math.MinInt64 || v == math.MaxInt64 {
			return maskTest{}, false
		}
		lo, hi := literalRange(op, v)
		t := e.inRange(f, c, lo, hi)
		if (op == plan.Ne) == want {
			t = e.except(c, t)
		}
		return t, true
	}
	other, ok := r.(*plan.Ref)
	if !ok {
		return maskTest{}, false
	}
	d, ok := e.maskCol(other.ID)
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
		e.notNull(c, false)(m, at)
		e.notNull(d, false)(m, at)
		add := e.Int("add")
		e.B.Mov(add, ir.K(0))
		if c.shape.Based {
			e.B.Load8(add, ir.At(ir.Ctx, e.Word(code.Word{Kind: code.WordBase, Index: c.k})))
		}
		if d.shape.Based {
			base := e.LoadWord(d.name+".base", code.Word{Kind: code.WordBase, Index: d.k})
			e.B.Op2(ir.Sub, add, add.V(), base.V())
			e.B.Clear(base)
		}
		e.array(c, at, func(codes ir.Mem, w int) {
			e.array(d, at, func(codes2 ir.Mem, w2 int) {
				y := e.Int("other")
				e.B.Lea(y, codes2)
				e.B.MaskCmp(m, cond, m.V(), add.V(), y.V(), w2, codes, w)
				e.B.Clear(y)
			})
		})
		e.B.Clear(add)
	}
	return t, true
}

// near reports values and differences that fit in 32 bits.
func near(r layout.Range) bool {
	return int64(r.Lo.Lo) > -1<<30 && int64(r.Hi.Lo) < 1<<30
}

// literalRange is the values for which a comparison with v holds; for Ne, those for which it does not.
func literalRange(op plan.Op, v int64) (lo, hi int64) {
	lo, hi = math.MinInt64, math.MaxInt64
	switch op {
	case plan.Eq, plan.Ne:
		return v, v
	case plan.Lt:
		hi = v - 1
	case plan.Le:
		hi = v
	case plan.Gt:
		lo = v + 1
	case plan.Ge:
		lo = v
	}
	return lo, hi
}

// rangeShare guesses the share of a column's rows with values from lo to hi.
func rangeShare(r layout.Range, lo, hi int64) float64 {
	first, last := int64(r.Lo.Lo), int64(r.Hi.Lo)
	lo, hi = max(lo, first), min(hi, last)
	if lo > hi {
		return 0
	}
	return (float64(hi) - float64(lo) + 1) / (float64(last) - float64(first) + 1)
}
