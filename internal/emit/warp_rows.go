package emit

import (
	"maps"
	"slices"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// Where most rows of a scan pass, nothing can be tested before the columns are read. Then each lane takes several rows that lie side by side:
// what they need of the columns is read at once, by wide loads, and the code for a row, which was written for one, is written again for
// each of the others. So no load waits for another, none is for a byte or two alone, and atomics of one row do not wait
// for those of the row before. A lane whose first row is behind the end has none at all, so that what the warp asks before the first holds for all.

// rowCode is where the code for a row stands.
type rowCode struct {
	head     *place // where it is asked whether there is a row, by five instructions
	gate     *place // a lane without a row leaves there
	meet     *place // what lanes do together begins there
	alone    *place // where its registers are not needed any more
	end      *place
	label    int32   // of the loop that it leaves then
	together bool    // lanes do something together but write rows
	writes   float64 // the share of rows that they write; 0: they write none
	tuples   *rowTuples
	active   ir.Reg // 1: the row came to meet
	ofRow    []ir.Reg
	has      ir.Reg // 1: the lane has a row
}

// rowLoad is a load of a column, at the row.
type rowLoad struct {
	name  string
	word  int32 // of the context: where the column begins
	width int
	bits  int // of a code that is packed; 0: it has width bytes
}

// takeSeveral lets the lanes take several rows at a time, where that pays: row is the number of a lane's row, end that behind the last of
// all, step what lies between the rows of a lane.
func (e *warp) takeSeveral(c rowCode, row, end, step ir.Reg) {
	e.placeInsertions()
	f := e.B.F
	from, gate, to := c.head.at+5, c.gate.at, c.end.at
	body, give := copied(f.Code[from:to])
	defer give()
	facts := phys.RowCode{Together: c.together, Writes: c.writes, Kept: len(c.ofRow) - 1}
	if e.stage != nil {
		facts.Most = e.stage.rows
	}
	loads := e.rowLoads(body, row, &facts)
	n := phys.ChooseLaneRows(facts)
	if n.Rows == 0 {
		return
	}
	e.f.How.LaneRows = n
	tail, give := copied(f.Code[to:])
	defer give()
	f.Code = f.Code[:from]
	r := laneRows{warp: e, how: n, row: row, loads: loads, vecs: map[rowLoad]ir.Reg{}}
	rows := func() {
		r.countLeft(end)
		r.read()
		if n.Joined {
			r.writeJoined(body, from, c, end, step)
		} else {
			for j := range n.Rows {
				r.write(body, j, gate-from, c.label)
			}
		}
		e.B.Clear(r.left)
		e.B.Clear(r.open...)
	}
	if e.stage == nil {
		rows()
	} else {
		e.unlessIdle(c.has, rows)
	}
	f.Code = append(f.Code, tail...)
	was := len(f.Code)
	e.insert(e.stride, func() { // row and step count lanes so far
		e.B.Op2(ir.Mul, row, row.V(), ir.K(int64(n.Rows)))
		e.B.Op2(ir.Mul, step, step.V(), ir.K(int64(n.Rows)))
		if n.Rows > n.Side {
			t := e.Int("t")
			e.B.Special(t, ir.LaneID)
			e.B.Op2(ir.Mul, t, t.V(), ir.K(int64(n.Rows-n.Side)))
			e.B.Op2(ir.Sub, row, row.V(), t.V())
			e.B.Clear(t)
		}
	})
	e.placeInsertions()
	e.begin += len(f.Code) - was
	if e.stage != nil {
		e.takeAtATime(n.Rows)
	}
}

// unlessIdle does something in warps of which some lane has a row: of those without one, which take a turn for the block's sake, the rows would lie far beyond the end.
func (e *warp) unlessIdle(has ir.Reg, f func()) {
	any := e.ballot("any", has.V())
	e.When(ir.NE, any.V(), ir.K(0), f, nil)
	e.B.Clear(any)
}

// rowLoads finds the loads of columns that every row makes before it is looked up anywhere, by their places in the code, and notes what else
// there is.
func (e *warp) rowLoads(body []ir.Instr, row ir.Reg, facts *phys.RowCode) map[int]rowLoad {
	words := map[ir.Reg]int32{} // registers with words of the context
	loads, known := map[int]rowLoad{}, map[rowLoad]bool{}
	depth := 0
	for i := range body {
		switch in := &body[i]; in.Op {
		case ir.Nop, ir.Comment, ir.Vreg, ir.Clear, ir.Narrow, ir.Widen, ir.WidenU: // a half of a register is read as it is
			continue
		case ir.Loop:
			depth++
		case ir.EndLoop:
			depth--
		case ir.Load, ir.FLoad, ir.LoadBits:
			if in.Op == ir.Load && in.M.Base == ir.Ctx && in.M.Index == ir.NoReg && in.W == 8 {
				words[in.D] = in.M.Disp
				continue
			}
			if e.looks > 0 && in.D >= e.looks || depth != 1 {
				break // what few rows read is read for them alone
			}
			word, ok := words[in.M.Base]
			if !ok || in.M.Index != row {
				break
			}
			l := rowLoad{e.B.F.Regs[in.D].Name, word, int(in.W), 0}
			if in.Op == ir.LoadBits {
				l.bits = int(in.B.Imm)
			}
			switch {
			case in.Op == ir.LoadBits && in.M.Disp != 0:
				facts.Others++
			case in.Op != ir.LoadBits && (in.Signed || in.Kind != ir.Plain || in.M.Disp != 0 || in.M.Scale != in.W || in.Op == ir.FLoad && in.W != 8):
				facts.Others++
			default:
				loads[i] = l
				if known[l] {
					break
				}
				known[l] = true
				if l.bits > 0 {
					facts.Bytes += (l.bits + 7) / 8
				} else {
					facts.Bytes += l.width
					facts.Widest = max(facts.Widest, l.width)
				}
			}
		case ir.Shl:
			if in.A.R == row && (e.looks == 0 || in.D < e.looks) { // an address of 16 bytes
				facts.Others++
			}
		}
		facts.Instrs++
	}
	return loads
}

// laneRows are the rows of a lane. Those side by side are as many as a load of 16 bytes has of the widest column, and so are
// those of all lanes of a warp; then come the next.
type laneRows struct {
	*warp
	how   phys.LaneRows
	row   ir.Reg // the first
	left  ir.Reg // how many rows there are from it on, as far as that matters
	loads map[int]rowLoad
	vecs  map[rowLoad]ir.Reg // the first of the registers with the lane's rows of a column
	open  []ir.Reg           // all of these
}

// at is by how much the number of a lane's row j is greater than that of its first.
func (r *laneRows) at(j int) int64 {
	return int64(j/r.how.Side*r.how.Side*32 + j%r.how.Side)
}

// countLeft opens the register with the number of rows that are left.
func (r *laneRows) countLeft(end ir.Reg) {
	r.left = r.word("left")
	t, most := r.Int("t"), ir.K(32*int64(r.how.Rows))
	r.B.Op2(ir.Sub, t, end.V(), r.row.V())
	r.B.Sel(t, ir.LT, t.V(), most, t.V(), most)
	r.B.Op1(ir.Narrow, r.left, t.V())
	r.B.Clear(t)
}

// read loads the lane's rows of all columns, also where there are none: no further beyond the last than ArrayPad.
func (r *laneRows) read() {
	order, done := slices.Sorted(maps.Keys(r.loads)), map[rowLoad]bool{}
	var packed []func()
	for _, i := range order {
		if l := r.loads[i]; r.vecs[l] == 0 {
			t, n := l.registers(r.how.Side)
			n *= r.how.Rows / r.how.Side
			r.vecs[l] = r.B.Vregs(l.name, t, n)
			for k := range n {
				r.open = append(r.open, r.vecs[l]+ir.Reg(k))
			}
		}
	}
	for _, i := range order {
		l := r.loads[i]
		if done[l] {
			continue
		}
		done[l] = true
		t, n := l.registers(r.how.Side)
		p := r.Int(r.PartName(l.name, ".data"))
		r.B.Load8(p, ir.At(ir.Ctx, int(l.word)))
		if l.bits > 0 {
			packed = append(packed, r.readPacked(l, p))
			continue
		}
		for j := 0; j < r.how.Rows; j += r.how.Side {
			first, at := r.vecs[l]+ir.Reg(j/r.how.Side*n), ir.AtIndex(p, r.row, l.width, int(r.at(j))*l.width)
			switch {
			case n == 1:
				r.B.LoadAs(ir.ReadOnly, first, at, l.width*r.how.Side, false)
			case t == ir.I64:
				r.B.LoadN(ir.ReadOnly, first, n, at, 8)
			default:
				r.B.LoadN(ir.ReadOnly, first, n, at, 4)
			}
		}
		r.B.Clear(p)
	}
	for _, align := range packed {
		align()
	}
}

// readPacked loads the lane's rows of a packed column, which begins at p, as they are. What it returns shifts them, once all loads have begun.
func (r *laneRows) readPacked(l rowLoad, p ir.Reg) (align func()) {
	row := r.row
	if r.Rows < 1<<32 {
		row = r.word("row")
		r.B.Op1(ir.Narrow, row, r.row.V())
	}
	a := r.packedAt(packedRows{l.bits, r.how.Side}, p, row)
	r.B.Clear(p)
	if row != r.row {
		r.B.Clear(row)
	}
	groups := r.how.Rows / r.how.Side
	for g := range groups {
		a.load(r.warp, r.vecs[l]+ir.Reg(g*a.loaded()), int(r.at(g*r.how.Side)))
	}
	return func() {
		for g := range groups {
			a.align(r.warp, r.vecs[l]+ir.Reg(g*a.loaded()))
		}
		a.close(r.warp)
	}
}

// registers are what holds so many rows side by side of a column.
func (l rowLoad) registers(rows int) (ir.Type, int) {
	if l.bits > 0 {
		return ir.I32, packedRows{l.bits, rows}.loaded()
	}
	if l.width == 8 {
		return ir.I64, rows
	}
	return ir.I32, max(rows*l.width/4, 1)
}

// write writes the code for row j, and tells which registers it has there. gate is where a lane without a row leaves it, by breaking out of a loop.
func (r *laneRows) write(body []ir.Instr, j, gate int, label int32) *ir.Again {
	again := r.B.Again()
	row := r.row
	if j > 0 && slices.ContainsFunc(body, func(in ir.Instr) bool { return in.Reads(r.row) }) { // somebody wants its number
		row = r.Int("row")
		r.B.Op2(ir.Add, row, r.row.V(), ir.K(r.at(j)))
	}
	for i, in := range body {
		if i == gate && j > 0 { // instead of the first row's test
			r.B.Break(again.Label(label), ir.LE, r.left.V(), ir.K(r.at(j)))
			continue
		}
		l, wide := r.loads[i]
		switch {
		case in.Op == ir.Nop || in.Op == ir.Comment && j > 0:
		case wide:
			r.take(again.Reg(in.D), in.Op, l, j)
		default:
			if in.M.Index == r.row {
				in.M.Disp += int32(r.at(j)) * int32(in.M.Scale)
			}
			for _, v := range []*ir.Val{&in.A, &in.A2, &in.B, &in.B2, &in.C, &in.C2} {
				if v.R == r.row {
					v.R = row
				}
			}
			again.Add(in)
		}
	}
	if row != r.row {
		r.B.Clear(row)
	}
	return again
}

// take sets d to a column of row j.
func (r *laneRows) take(d ir.Reg, op ir.Op, l rowLoad, j int) {
	_, n := l.registers(r.how.Side)
	x := r.vecs[l] + ir.Reg(j/r.how.Side*n)
	k := j % r.how.Side * l.width // its first byte
	switch {
	case l.bits > 0:
		t := r.word("code")
		r.bitsOf(t, x, j%r.how.Side*l.bits, l.bits)
		r.B.Op1(ir.WidenU, d, t.V())
		r.B.Clear(t)
	case op == ir.FLoad:
		r.B.Op1(ir.BitsF, d, (x + ir.Reg(k/8)).V())
	case l.width == 8:
		r.B.Mov(d, (x + ir.Reg(k/8)).V())
	case l.width == 4:
		r.B.Op1(ir.WidenU, d, (x + ir.Reg(k/4)).V())
	default:
		t := r.word("code")
		r.B.Part(t, (x + ir.Reg(k/4)).V(), k%4, l.width, false)
		r.B.Op1(ir.WidenU, d, t.V())
		r.B.Clear(t)
	}
}
