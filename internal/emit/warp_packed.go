package emit

import (
	"math/bits"

	"github.com/kelpiedb/kelpie/internal/ir"
)

// Packed columns. A lane that takes several rows side by side reads the words in which their codes lie, and takes each code by a shift that is known when
// the kernel is written.

// packedRows are rows of a packed column that lie side by side, from a multiple of their number on.
type packedRows struct {
	bits int // of a code
	rows int
}

// span is how many bits they have.
func (p packedRows) span() int { return p.bits * p.rows }

// even reports that they begin where a load can begin: else they must be shifted to the beginning of a word.
func (p packedRows) even() bool { return p.span()%32 == 0 || p.span() == 8 || p.span() == 16 }

// words is how many registers their codes take, loaded how many words must be read for that, wherever they begin.
func (p packedRows) words() int { return (p.span() + 31) / 32 }

func (p packedRows) loaded() int {
	if p.even() {
		return p.words()
	}
	apart := p.span() & -p.span() // they begin at multiples of it
	return (p.span() + 32 - min(apart, 32) + 31) / 32
}

// packedAt is where packed rows of a lane lie: at an address, and from a bit of the word there on; NoReg: from the first.
type packedAt struct {
	packedRows
	addr, shift ir.Reg
}

// packedAt opens the registers for the rows from row on of the array at base. row has 32 or 64 bits.
func (e *warp) packedAt(p packedRows, base, row ir.Reg) packedAt {
	a := packedAt{p, e.Int("at"), ir.NoReg}
	short := e.B.F.Regs[row].Type == ir.I32
	if p.even() {
		step, log := int64(p.span()/8), int64(bits.Len(uint(p.rows))-1)
		if short {
			t := e.word("t")
			e.B.Op2(ir.Shr, t, row.V(), ir.K(log))
			e.B.Op2(ir.MulWU, a.addr, t.V(), ir.K(step))
			e.B.Clear(t)
		} else {
			e.B.Op2(ir.Shr, a.addr, row.V(), ir.K(log))
			e.B.Op2(ir.Mul, a.addr, a.addr.V(), ir.K(step))
		}
		e.B.Op2(ir.Add, a.addr, a.addr.V(), base.V())
		return a
	}
	if short {
		e.B.Op2(ir.MulWU, a.addr, row.V(), ir.K(int64(p.bits)))
	} else {
		e.B.Op2(ir.Mul, a.addr, row.V(), ir.K(int64(p.bits)))
	}
	a.shift = e.word("shift")
	e.B.Op1(ir.Narrow, a.shift, a.addr.V())
	e.B.Op2(ir.And, a.shift, a.shift.V(), ir.K(31))
	e.B.Op2(ir.Shr, a.addr, a.addr.V(), ir.K(5))
	e.B.Op2(ir.Shl, a.addr, a.addr.V(), ir.K(2))
	e.B.Op2(ir.Add, a.addr, a.addr.V(), base.V())
	return a
}

// close ends its registers.
func (a packedAt) close(e *warp) {
	e.B.Clear(a.addr)
	if a.shift != ir.NoReg {
		e.B.Clear(a.shift)
	}
}

// load reads the words of the rows that lie so many rows further on, a multiple of 32, to registers from first on.
func (a packedAt) load(e *warp, first ir.Reg, further int) {
	disp := further * a.bits / 8
	if a.even() && a.span() < 32 {
		e.B.LoadAs(ir.ReadOnly, first, ir.At(a.addr, disp), a.span()/8, false)
		return
	}
	for k := 0; k < a.loaded(); {
		n, at := 1, ir.At(a.addr, disp+4*k)
		left := a.loaded() - k
		switch r := first + ir.Reg(k); {
		case a.even() && a.span()%128 == 0 && left >= 4:
			n = 4
			e.B.LoadN(ir.ReadOnly, r, 4, at, 4)
		case a.even() && a.span()%64 == 0 && left >= 2:
			n = 2
			e.B.LoadN(ir.ReadOnly, r, 2, at, 4)
		default:
			e.B.LoadAs(ir.ReadOnly, r, at, 4, false)
		}
		k += n
	}
}

// align shifts what was read to the beginning of the first register, where it does not begin there.
func (a packedAt) align(e *warp, first ir.Reg) {
	if a.shift == ir.NoReg {
		return
	}
	n := a.loaded()
	for k := range ir.Reg(a.words()) {
		if int(k)+1 == n {
			e.B.Op2(ir.Shr, first+k, (first + k).V(), a.shift.V())
			continue
		}
		low, high := e.Int("low"), e.Int("high")
		e.B.Op1(ir.WidenU, low, (first + k).V())
		e.B.Op1(ir.WidenU, high, (first + k + 1).V())
		e.B.Op2(ir.Shl, high, high.V(), ir.K(32))
		e.B.Op2(ir.Or, low, low.V(), high.V())
		e.B.Op2(ir.Shr, low, low.V(), a.shift.V())
		e.B.Op1(ir.Narrow, first+k, low.V())
		e.B.Clear(low, high)
	}
}

// bitsOf sets d to n bits, 32 at the most, from bit at on of consecutive registers.
func (e *warp) bitsOf(d, first ir.Reg, at, n int) {
	x, from := first+ir.Reg(at/32), at%32
	if from == 0 && n == 32 {
		e.B.Mov(d, x.V())
		return
	}
	src := x
	if from > 0 {
		e.B.Op2(ir.Shr, d, x.V(), ir.K(int64(from)))
		src = d
	}
	if from+n > 32 {
		t := e.word("t")
		e.B.Op2(ir.Shl, t, (x + 1).V(), ir.K(int64(32-from)))
		e.B.Op2(ir.Or, d, d.V(), t.V())
		e.B.Clear(t)
	}
	if from+n != 32 && n < 32 {
		e.B.Op2(ir.And, d, src.V(), ir.K(1<<n-1))
	}
}

// spread sets registers from to on to the codes of the rows, of 1 or 2 bytes each, from the words of packed ones.
func (p packedRows) spread(e *warp, to, from ir.Reg, width int) {
	per := 4 / width // codes of a register
	t := e.word("t")
	// part lets parts of n bits, of which there are two in each of several fields, begin where half a field does, by bits further on. one has the first bit of
	// each field.
	part := func(d ir.Reg, n, by int, one int64) {
		low := (1<<n - 1) * one
		e.B.Op2(ir.Shl, t, d.V(), ir.K(int64(by)))
		if by < n { // they meet
			e.B.Op2(ir.And, d, d.V(), ir.K(low))
			e.B.Op2(ir.And, t, t.V(), ir.K(low<<(n+by)))
			e.B.Op2(ir.Or, d, d.V(), t.V())
			return
		}
		e.B.Op2(ir.Or, d, d.V(), t.V())
		e.B.Op2(ir.And, d, d.V(), ir.K(low|low<<(n+by)))
	}
	for i := range p.rows / per {
		d := to + ir.Reg(i)
		e.bitsOf(d, from, i*per*p.bits, per*p.bits)
		if width == 1 {
			part(d, 2*p.bits, 16-2*p.bits, 1)
			part(d, p.bits, 8-p.bits, 0x00010001)
		} else {
			part(d, p.bits, 16-p.bits, 1)
		}
	}
	e.B.Clear(t)
}
