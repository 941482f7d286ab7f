package emit

import "github.com/kelpiedb/kelpie/internal/ir"

// expandBalanced numbers the candidates of all lanes by a prefix sum, and each lane takes every 32nd of them, whosever row they are
// for: all lanes have work until the last round.
//
// Whose a candidate is, lanes find out together: in each round, those whose first candidate is in it set its bit; the number of bits up to
// the own says how many lanes with candidates to go on. Rows come from their lanes by shuffles.
//
// Outer joins learn from a ballot in each round which of its candidates were matches: each lane looks at its own. Lanes that still lack
// one in the end take a last round for themselves.
func (e *warp) expandBalanced(x *expansion) {
	active, size, asks := e.guard.active, int64(x.p.t.Tuple.Size), x.lacking != ir.NoReg
	b := &balance{warp: e, x: x, size: size, most: e.stretch(size)}
	b.open(asks)
	h := e.newHanded(x)

	e.B.Comment("each lane takes the next of all lanes' candidates")
	e.B.Sel(x.to, ir.NE, active.V(), ir.K(0), x.to.V(), x.from.V())
	if asks {
		e.B.Op2(ir.And, x.lacking, x.lacking.V(), active.V())
	}
	l := e.B.Loop()
	some := e.Int("some")
	e.B.Set(some, ir.ULT, x.from.V(), x.to.V())
	if asks && !x.exists {
		e.B.Op2(ir.Or, some, some.V(), x.lacking.V())
	}
	e.B.Op1(ir.Ballot, some, some.V())
	e.B.Break(l, ir.EQ, some.V(), ir.K(0))
	e.B.Clear(some)
	b.number()
	e.rebind(h.cols)
	w := while{c: ir.ULT, x: b.pos.V(), y: b.total.V(), before: func() {
		b.find()
		e.hand(h, b.src)
	}}
	if asks && !x.exists {
		w.set = b.orOwed
	}
	e.warpLoop(w, func() {
		if x.exists { // one is enough
			e.skip(ir.EQ, b.last.V(), ir.K(0))
		}
		if !asks || x.exists {
			e.take(x, h.p, b.cur, b.found)
			return
		}
		r := e.Int("match")
		e.B.Mov(r, ir.K(0))
		e.When(ir.EQ, b.last.V(), ir.K(0), func() {
			e.take(x, h.p, b.cur, b.found)
			e.B.Mov(r, b.cur.V())
		}, nil)
		e.outerRow(h.p, r, func() { e.consume(x.p.i + 1) })
		e.B.Clear(r)
	}, func() {
		if asks {
			b.tell()
		}
		e.B.Op2(ir.Add, b.pos, b.pos.V(), ir.K(32))
		e.B.Op2(ir.Add, b.base, b.base.V(), ir.K(32))
	})
	e.B.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
	e.freeHanded(h)
	b.close()
}

// balance is the state of a balanced expansion: words, if nothing else is said.
type balance struct {
	*warp
	x    *expansion
	size int64
	most int64 // candidates of a lane that are numbered at a time

	n, start ir.Reg // how many candidates the lane has, and the number of the first
	home     ir.Reg // 64 bits: where candidate 0 were, if the lane's own began there
	nth      ir.Reg // in lane k: which lane is the kth that has candidates
	total    ir.Reg // of all lanes
	begun    ir.Reg // lanes whose first candidate was in a round before
	base     ir.Reg // the number of the round's first candidate
	pos      ir.Reg // that of the lane's
	rank     ir.Reg
	src      ir.Reg // 64 bits: whose it is
	cur      ir.Reg // 64 bits: where it is

	found ir.Reg // 64 bits: 1: it is a match
	// last, 64 bits, is 1 in the round of rows without match; where only existence is asked, while the candidate's row lacks one.
	last ir.Reg
	regs []ir.Reg
}

func (b *balance) open(asks bool) {
	word := func(name string) ir.Reg { b.regs = append(b.regs, b.warp.word(name)); return b.regs[len(b.regs)-1] }
	long := func(name string) ir.Reg { b.regs = append(b.regs, b.Int(name)); return b.regs[len(b.regs)-1] }
	b.n, b.start, b.home, b.nth, b.total = word("n"), word("start"), long("home"), word("nth"), word("total")
	b.begun, b.base, b.pos, b.rank = word("begun"), word("base"), word("pos"), word("rank")
	b.src, b.cur, b.found, b.last = long("src"), long("cur"), ir.NoReg, ir.NoReg
	if asks {
		b.found, b.last = long("found"), long("last")
	}
}

func (b *balance) close() { b.B.Clear(b.regs...) }

// number takes the next candidates of each lane, no more than can be numbered, and numbers them.
func (b *balance) number() {
	bytes, t := b.Int("bytes"), b.warp.word("t")
	b.B.Op2(ir.Sub, bytes, b.x.to.V(), b.x.from.V())
	b.B.Sel(bytes, ir.ULT, bytes.V(), ir.K(b.most*b.size), bytes.V(), ir.K(b.most*b.size))
	b.B.Op1(ir.Narrow, b.n, bytes.V())
	b.B.Op2(ir.Div, b.n, b.n.V(), ir.K(b.size))
	b.B.Mov(b.start, b.n.V())
	lane := b.warp.word("lane")
	b.B.Op1(ir.Narrow, lane, b.lane.V())
	for d := int64(1); d < 32; d *= 2 {
		b.B.Op2(ir.ShflUp, t, b.start.V(), ir.K(d))
		b.B.Sel(t, ir.UGE, lane.V(), ir.K(d), t.V(), ir.K(0))
		b.B.Op2(ir.Add, b.start, b.start.V(), t.V())
	}
	b.B.Op2(ir.Shfl, b.total, b.start.V(), ir.K(31))
	b.B.Op2(ir.Sub, b.start, b.start.V(), b.n.V())
	// Where candidate number 0 would be.
	b.B.Op2(ir.MulWU, b.home, b.start.V(), ir.K(b.size))
	b.B.Op2(ir.Sub, b.home, b.x.from.V(), b.home.V())
	b.B.Op2(ir.Add, b.x.from, b.x.from.V(), bytes.V())
	b.nthLane(lane, t)
	b.B.Mov(b.begun, ir.K(0))
	b.B.Mov(b.base, ir.K(0))
	b.B.Mov(b.pos, lane.V())
	b.B.Clear(bytes, t, lane)
}

// nthLane finds the lane that is number k, the own number, of those that have candidates: the place of the kth one in their mask, by halves.
func (b *balance) nthLane(k, t ir.Reg) {
	mask, want, low := b.warp.word("mask"), b.warp.word("want"), b.warp.word("low")
	b.B.Op1(ir.Ballot, mask, b.n.V())
	b.B.Mov(want, k.V())
	b.B.Mov(b.nth, ir.K(0))
	for half := int64(16); half > 0; half /= 2 {
		b.B.Op2(ir.And, low, mask.V(), ir.K(1<<half-1))
		b.B.Op1(ir.Popcnt, t, low.V())
		// In the lower half if there are more than that many.
		b.B.Op2(ir.Shr, low, mask.V(), ir.K(half))
		b.B.Sel(mask, ir.ULT, want.V(), t.V(), mask.V(), low.V())
		b.B.Sel(low, ir.ULT, want.V(), t.V(), ir.K(0), ir.K(half))
		b.B.Op2(ir.Add, b.nth, b.nth.V(), low.V())
		b.B.Sel(t, ir.ULT, want.V(), t.V(), ir.K(0), t.V())
		b.B.Op2(ir.Sub, want, want.V(), t.V())
	}
	b.B.Clear(mask, want, low)
}

// find finds the round's candidate of each lane.
func (b *balance) find() {
	bit, t := b.warp.word("bit"), b.warp.word("t")
	b.B.Op2(ir.Sub, t, b.start.V(), b.base.V())
	b.B.Op2(ir.Shl, bit, ir.K(1), t.V())
	b.B.Sel(bit, ir.ULT, t.V(), ir.K(32), bit.V(), ir.K(0)) // without candidates: the bit of the next that has some, or behind all
	b.B.Op1(ir.RedOr, bit, bit.V())
	// The bits up to the own.
	b.B.Special(t, ir.LanesBelow)
	b.B.Op2(ir.Shl, b.rank, t.V(), ir.K(1))
	b.B.Op2(ir.Or, t, b.rank.V(), ir.K(1))
	b.B.Op2(ir.And, t, t.V(), bit.V())
	b.B.Op1(ir.Popcnt, t, t.V())
	b.B.Op2(ir.Add, b.rank, b.begun.V(), t.V())
	b.B.Op2(ir.Sub, b.rank, b.rank.V(), ir.K(1))
	b.B.Op2(ir.Shfl, t, b.nth.V(), b.rank.V())
	b.B.Op1(ir.WidenU, b.src, t.V())
	if b.last != ir.NoReg && !b.x.exists {
		b.B.Sel(b.src, ir.NE, b.last.V(), ir.K(0), b.lane.V(), b.src.V())
	}
	b.B.Op1(ir.Popcnt, t, bit.V())
	b.B.Op2(ir.Add, b.begun, b.begun.V(), t.V())
	b.B.Op2(ir.Shfl, b.cur, b.home.V(), b.src.V())
	at := b.Int("at")
	b.B.Op2(ir.MulWU, at, b.pos.V(), ir.K(b.size))
	b.B.Op2(ir.Add, b.cur, b.cur.V(), at.V())
	b.B.Clear(at)
	if b.found != ir.NoReg {
		b.B.Mov(b.found, ir.K(0))
	}
	if b.x.exists {
		b.B.Op2(ir.Shfl, b.last, b.x.lacking.V(), b.src.V())
	}
	b.B.Clear(bit, t)
}

// orOwed lets lanes that lack a match have a row when there are no candidates any more.
func (b *balance) orOwed(has ir.Reg) {
	any, t := b.ballot("any", has.V()), b.Int("t")
	b.B.Set(b.last, ir.EQ, any.V(), ir.K(0))
	b.B.Set(t, ir.UGE, b.x.from.V(), b.x.to.V())
	b.B.Op2(ir.And, t, t.V(), b.last.V())
	b.B.Op2(ir.And, t, t.V(), b.x.lacking.V())
	b.B.Op2(ir.Or, has, has.V(), t.V())
	b.B.Clear(any, t)
}

// tell lets each lane look whether one of its candidates in this round was a match.
func (b *balance) tell() {
	first, behind, t := b.Int("first"), b.Int("behind"), b.ballot("found", b.found.V())
	w := b.warp.word("t")
	b.B.Op2(ir.Sub, w, b.start.V(), b.base.V())
	b.B.Op1(ir.Widen, first, w.V())
	b.B.Op2(ir.Add, w, w.V(), b.n.V())
	b.B.Op1(ir.Widen, behind, w.V())
	for _, r := range []ir.Reg{first, behind} { // bits of the round
		b.B.Sel(r, ir.LT, r.V(), ir.K(0), ir.K(0), r.V())
		b.B.Sel(r, ir.GT, r.V(), ir.K(32), ir.K(32), r.V())
		b.B.Op2(ir.Shl, r, ir.K(1), r.V())
	}
	b.B.Op2(ir.Sub, behind, behind.V(), first.V())
	b.B.Op2(ir.And, t, t.V(), behind.V())
	b.B.Sel(b.x.lacking, ir.NE, t.V(), ir.K(0), ir.K(0), b.x.lacking.V())
	if !b.x.exists { // who has had the round of rows without match
		b.B.Set(t, ir.UGE, b.x.from.V(), b.x.to.V())
		b.B.Op2(ir.And, t, t.V(), b.last.V())
		b.B.Sel(b.x.lacking, ir.NE, t.V(), ir.K(0), ir.K(0), b.x.lacking.V())
	}
	b.B.Clear(first, behind, t, w)
}

// manyCandidates is how many candidates of a lane are numbered at a time: numbers of all lanes have 31 bits.
const manyCandidates = 1 << 25

// stretch is manyCandidates, or what somebody wants, if so many bytes can be told in 31 bits.
func (e *warp) stretch(size int64) int64 {
	most := int64(manyCandidates)
	if e.Stretch > 0 {
		most = e.Stretch
	}
	return min(most, (1<<31-1)/size)
}
