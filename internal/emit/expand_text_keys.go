package emit

import (
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// Push-down parallelism for text keys of joins: of the candidates that the lanes of a warp look at side by side, those with a key of the right length are compared with
// the row's one after the other, by all lanes.

// textKey is the number of a key that lanes compare together; -1: there is none. What a lane made, others may not see.
func (e *warp) textKey(p *probe) int {
	if e.strategy(p.i) != phys.ExpandWarp || p.t.Kind != layout.Buckets {
		return -1
	}
	for k, key := range p.keys {
		f := &p.t.Tuple.Fields[k]
		if key.Desc.Form == layout.Str && f.Desc.Form == layout.Str && !p.nullSafe(k) && !e.Makes(p.op.Keys[k], false) {
			return k
		}
	}
	return -1
}

// pairOf is what the lanes of a warp compare for one of them: so many bytes from two addresses on.
type pairOf struct{ one, two, size ir.Reg }

func (e *warp) newPair() pairOf {
	return pairOf{e.perRow("one", ir.I64, 0), e.perRow("two", ir.I64, 0), e.perRow("size", ir.I64, 0)}
}

// candidate goes on with rest if the keys of the tuple at r are the row's.
func (e *warp) candidate(p *probe, r ir.Reg, rest func()) {
	k := e.textKey(p)
	if k < 0 {
		e.mismatch(p, r, e.skip)
		rest()
		return
	}
	pair := e.newPair()
	e.offer(p, k, r, pair)
	e.arrive(func() { e.whereSame(pair, rest) })
}

// offer fills in the texts that are to be compared for the candidate at r, unless it differs from the row by something else.
func (e *warp) offer(p *probe, k int, r ir.Reg, pair pairOf) {
	e.f.How.Texts = true
	others := *p
	others.skips = k + 1
	e.mismatch(&others, r, e.skip)
	key := p.keys[k]
	v := e.loadField(r, &p.t.Tuple.Fields[k], ir.K(0))
	e.skipNulls(v)
	e.skip(ir.NE, v.B, key.B)
	e.B.Mov(pair.one, v.A)
	e.B.Mov(pair.two, key.A)
	e.B.Mov(pair.size, key.B)
	e.Free(v)
}

// whereSame runs rest for lanes whose texts are the same. All lanes come here.
func (e *warp) whereSame(pair pairOf, rest func()) {
	same := e.sameTexts(e.guard.active, pair.one, pair.two, pair.size)
	e.warpLoop(while{c: ir.NE, x: same.V(), y: ir.K(0), once: true}, rest, func() {})
	e.B.Clear(same)
}

// outerCandidate is what a lane does for an outer join whose rows a team walks: it goes on with the candidate at cur, if that is a match, or with NULLs where last is 1: then all
// candidates are through, and the lane owes the row. A lane that owes one has two empty texts, which are the same.
func (e *warp) outerCandidate(x *expansion, p *probe, cur, last, found ir.Reg) {
	i := x.p.i + 1
	k := e.textKey(p)
	if k < 0 {
		r := e.Int("match")
		e.B.Mov(r, ir.K(0))
		e.When(ir.EQ, last.V(), ir.K(0), func() {
			e.take(x, p, cur, found)
			e.B.Mov(r, cur.V())
		}, nil)
		e.outerRow(p, r, func() { e.consume(i) })
		e.B.Clear(r)
		return
	}
	pair, match := e.newPair(), e.perRow("match", ir.I64, 0)
	e.When(ir.EQ, last.V(), ir.K(0), func() {
		e.offer(p, k, cur, pair)
		e.B.Mov(match, cur.V())
	}, nil)
	e.arrive(func() {
		e.whereSame(pair, func() {
			e.When(ir.NE, match.V(), ir.K(0), func() { e.matched(p, match, found) }, nil)
			r := e.Int("match")
			e.B.Mov(r, match.V())
			e.outerRow(p, r, func() { e.consume(i) })
			e.B.Clear(r)
		})
	})
}
