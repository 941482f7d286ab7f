package emit

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/emit/scanned"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Tests of a front. Codes of 1 or 2 bytes that leave their highest bits free are tested four or two at a time, in a register:
// what is added to or taken from each does not reach the next, and sets the highest bit where the test holds.

// test sets the mask to the rows that pass.
func (f *laneFront) test(n ir.Reg) {
	var terms [3][]term // by width
	type single struct {
		k        int
		lo, span int64
	}
	var singles []single
	for _, r := range f.ranges {
		f.Detail("where", func(n plan.Names) string { return n.And(r.Preds) + ", several rows at a time" })
		k := f.column(r.Col)
		w := f.width(k)
		lo, hi := r.Lo-f.least(k), r.Hi-f.least(k)
		if w > 2 || f.most(k) >= top(w) {
			singles = append(singles, single{k, lo, hi - lo})
			continue
		}
		if r.Below { // code + (top - lo) has the bit from lo on
			terms[w] = append(terms[w], term{k, -1, f.all(w, top(w)-lo), ir.Add})
		}
		if r.Above { // top + hi - code has it up to hi
			terms[w] = append(terms[w], term{k, -1, f.all(w, top(w)+hi), ir.Sub})
		}
	}
	for _, c := range f.compares {
		f.Detail("where", func(n plan.Names) string { return n.Expr(c.pred) + ", several rows at a time" })
		// top + large - small, of the values, has it where large is not below.
		w := f.width(c.small)
		d := top(w) + f.least(c.large) - f.least(c.small)
		if c.strict {
			d--
		}
		terms[w] = append(terms[w], term{c.large, c.small, f.all(w, d), ir.Add})
	}
	// All loads come first, so that none waits for another.
	var cols []int
	for w := 1; w <= 2; w++ {
		for _, t := range terms[w] {
			cols = append(cols, t.k)
			if t.less >= 0 {
				cols = append(cols, t.less)
			}
		}
	}
	for _, s := range singles {
		cols = append(cols, s.k)
	}
	own := f.read(cols)
	f.B.Mov(f.mask, ir.K(1<<f.n-1))
	for w := 1; w <= 2; w++ {
		if len(terms[w]) > 0 {
			f.testWords(w, terms[w])
		}
	}
	for _, s := range singles {
		f.testEach(s.k, s.lo, s.span)
	}
	f.cutTail(n)
	for _, x := range f.filters {
		f.testBits(x)
	}
	f.forget(own)
}

// term is a part of a test: by has its highest bits where it holds, after each code of k was added to it or taken from it,
// and each of column less was taken from it, unless that is -1.
type term struct {
	k, less int
	by      ir.Reg
	op      ir.Op
}

// all is a register of the kernel with a number at each code's place.
func (f *laneFront) all(width int, x int64) ir.Reg {
	if width == 1 {
		return f.factWord(x * 0x01010101)
	}
	return f.factWord(x * 0x00010001)
}

// read loads the lane's rows of columns that are not there yet, and returns which those were.
func (f *laneFront) read(cols []int) (own []int) {
	var packed []packedColumn
	for _, k := range cols {
		if _, ok := f.vecs[k]; ok {
			continue
		}
		w := f.width(k)
		name := f.Cols.Get(f.table.Scan.Cols[k]).Name
		p := f.LoadWord(f.PartName(name, ".data"), code.Word{Kind: code.WordData, Index: k})
		row := f.first
		if f.short != ir.NoReg {
			row = f.short
		}
		if bits := int(f.table.Shapes[k].Bits); bits > 0 {
			c := packedColumn{k, f.packedAt(packedRows{bits, f.n}, p, row), 0}
			c.words = f.B.Vregs(name, ir.I32, c.at.loaded())
			c.at.load(f.warp, c.words, 0)
			packed = append(packed, c)
			f.vecs[k] = c.words
		} else {
			words := f.n * w / 4
			r := f.B.Vregs(name, ir.I32, words)
			at := ir.AtIndex(p, row, w, 0)
			if words == 1 {
				f.B.LoadAs(ir.ReadOnly, r, at, 4, false)
			} else {
				f.B.LoadN(ir.ReadOnly, r, words, at, 4)
			}
			f.vecs[k] = r
		}
		f.B.Clear(p)
		f.reads(k)
		own = append(own, k)
	}
	for _, c := range packed {
		f.unpack(c)
	}
	return own
}

// packedColumn is one of which the lane's rows were read as they are packed.
type packedColumn struct {
	k     int
	at    packedAt
	words ir.Reg
}

// unpack makes codes of 1 or 2 bytes of it, of which several are tested at a time. Those of 4 are taken one by one.
func (f *laneFront) unpack(c packedColumn) {
	c.at.align(f.warp, c.words)
	c.at.close(f.warp)
	keep := c.at.words()
	if w := f.width(c.k); w < 4 {
		name := f.Cols.Get(f.table.Scan.Cols[c.k]).Name
		f.vecs[c.k] = f.B.Vregs(name, ir.I32, f.n*w/4)
		c.at.spread(f.warp, f.vecs[c.k], c.words, w)
		keep = 0
	}
	for i := keep; i < c.at.loaded(); i++ {
		f.B.Clear(c.words + ir.Reg(i))
	}
}

// registers is how many hold the lane's rows of a column.
func (f *laneFront) registers(k int) int {
	w := f.width(k)
	if bits := int(f.table.Shapes[k].Bits); bits > 0 && w == 4 {
		return packedRows{bits, f.n}.words()
	}
	return f.n * w / 4
}

// forget ends the registers of columns.
func (f *laneFront) forget(cols []int) {
	for _, k := range cols {
		for i := range f.registers(k) {
			f.B.Clear(f.vecs[k] + ir.Reg(i))
		}
		delete(f.vecs, k)
	}
}

// testWords clears the bits of rows that do not pass tests of columns of one width.
func (f *laneFront) testWords(width int, terms []term) {
	words := f.n * width / 4
	flags, t, bits := f.B.Vregs("flags", ir.I32, words), f.word("t"), f.word("bits")
	for i := range ir.Reg(words) {
		for j, x := range terms {
			d := t
			if j == 0 {
				d = flags + i
			}
			f.B.Op2(x.op, d, x.by.V(), (f.vecs[x.k] + i).V())
			if x.less >= 0 {
				f.B.Op2(ir.Sub, d, d.V(), (f.vecs[x.less] + i).V())
			}
			if j > 0 {
				f.B.Op2(ir.And, flags+i, (flags + i).V(), t.V())
			}
		}
	}
	// The highest bits of four rows go to the four bits at the top of a product, each by its power of two; no two of
	// the other products meet.
	for i := range ir.Reg(f.n / 4) {
		if width == 1 {
			f.B.Op2(ir.And, bits, (flags + i).V(), ir.K(int64(int32(-0x7f7f7f80))))
			f.B.Op2(ir.Mul, bits, bits.V(), ir.K(1<<21+1<<14+1<<7+1))
		} else {
			f.B.Op2(ir.And, bits, (flags + 2*i).V(), ir.K(int64(int32(-0x7fff8000))))
			f.B.Op2(ir.And, t, (flags + 2*i + 1).V(), ir.K(int64(int32(-0x7fff8000))))
			f.B.Op2(ir.Shr, bits, bits.V(), ir.K(8))
			f.B.Op2(ir.Or, bits, bits.V(), t.V())
			f.B.Op2(ir.Mul, bits, bits.V(), ir.K(1<<21+1<<15+1<<6+1))
		}
		f.B.Op2(ir.Shr, bits, bits.V(), ir.K(28))
		if i == 0 && f.n == 4 {
			f.B.Op2(ir.And, f.mask, f.mask.V(), bits.V())
			continue
		}
		// Rows of other words stay.
		f.B.Op2(ir.Shl, bits, bits.V(), ir.K(int64(4*i)))
		f.B.Op2(ir.Or, bits, bits.V(), ir.K(^(int64(15) << (4 * i))))
		f.B.Op2(ir.And, f.mask, f.mask.V(), bits.V())
	}
	for i := range ir.Reg(words) {
		f.B.Clear(flags + i)
	}
	f.B.Clear(t, bits)
}

// laneCode is a code in the lane's row, and a register for what is made of it.
type laneCode struct {
	x   ir.Val
	own ir.Reg
}

// code is the code of a column in the lane's row j; its register is the caller's.
func (f *laneFront) code(k, j int) laneCode {
	w := f.width(k)
	own := f.word("code")
	if bits := int(f.table.Shapes[k].Bits); bits > 0 && w == 4 {
		f.bitsOf(own, f.vecs[k], j*bits, bits)
		return laneCode{own.V(), own}
	}
	x := (f.vecs[k] + ir.Reg(j*w/4)).V()
	if w < 4 {
		f.B.Part(own, x, j*w%4, w, false)
		x = own.V()
	}
	return laneCode{x, own}
}

// testEach clears the bits of rows whose code does not lie within span of lo.
func (f *laneFront) testEach(k int, lo, span int64) {
	low, wide, pass := f.factWord(lo), f.factWord(span), f.word("pass")
	f.B.Mov(pass, ir.K(0))
	for j := range f.n {
		x := f.code(k, j)
		f.B.Op2(ir.Sub, x.own, x.x, low.V())
		f.B.Sel(x.own, ir.ULE, x.own.V(), wide.V(), ir.K(1<<j), ir.K(0))
		f.B.Op2(ir.Or, pass, pass.V(), x.own.V())
		f.B.Clear(x.own)
	}
	f.B.Op2(ir.And, f.mask, f.mask.V(), pass.V())
	f.B.Clear(pass)
}

// cutTail clears the bits of rows behind the last.
func (f *laneFront) cutTail(n ir.Reg) {
	left := f.Int("left")
	f.B.Op2(ir.Sub, left, n.V(), f.first.V())
	f.When(ir.LT, left.V(), ir.K(int64(f.n)), func() {
		t := f.word("t")
		f.B.Op1(ir.Narrow, t, left.V())
		f.B.Op2(ir.Shl, t, ir.K(1), t.V())
		f.B.Op2(ir.Sub, t, t.V(), ir.K(1))
		f.B.Op2(ir.And, f.mask, f.mask.V(), t.V())
		f.B.Clear(t)
	}, nil)
	f.B.Clear(left)
}

// testBits clears the bits of rows whose value is not in a semi-join filter's bitmap. What lies outside of it reads its first bit
// in vain, and so do rows that are out already, unless the bitmap is near.
func (f *laneFront) testBits(x scanned.Filter) {
	f.B.Comment("semi-join filter on " + f.Cols.Get(x.Col).Name + ", several rows at a time")
	k := f.column(x.Col)
	lo, span := int64(x.Range.Lo.Lo)-f.least(k), int64(x.Range.Hi.Lo)-int64(x.Range.Lo.Lo)
	low, wide := f.factWord(lo), f.factWord(span)
	f.When(ir.NE, f.mask.V(), ir.K(0), func() {
		own := f.read([]int{k})
		bits, pass := f.LoadWord("bits", code.Word{Kind: code.WordFilter, Index: x.Index}), f.word("pass")
		f.B.Mov(pass, ir.K(0))
		for j := range f.n {
			v := f.code(k, j)
			at, ok, word := v.own, f.word("ok"), f.word("word")
			f.B.Op2(ir.Sub, at, v.x, low.V())
			f.B.Sel(ok, ir.ULE, at.V(), wide.V(), ir.K(1<<j), ir.K(0))
			if !near(x) {
				f.B.Op2(ir.And, ok, ok.V(), f.mask.V())
			}
			f.B.Sel(at, ir.NE, ok.V(), ir.K(0), at.V(), ir.K(0))
			f.B.Op2(ir.Shr, word, at.V(), ir.K(5))
			f.B.LoadAs(ir.ReadOnly, word, ir.AtIndex(bits, word, 4, 0), 4, false)
			f.B.Op2(ir.Shr, word, word.V(), at.V())
			f.B.Op2(ir.Shl, word, word.V(), ir.K(int64(j)))
			f.B.Op2(ir.And, word, word.V(), ok.V())
			f.B.Op2(ir.Or, pass, pass.V(), word.V())
			f.B.Clear(at, ok, word)
		}
		f.B.Op2(ir.And, f.mask, f.mask.V(), pass.V())
		f.B.Clear(bits, pass)
		f.forget(own)
	}, nil)
}
