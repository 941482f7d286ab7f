package plan

import (
	"hash/maphash"
	"math"
)

// Index finds the items of a list by hash. A short list is looked through; from some length on there
// is a table, so that looking for n items among each other costs n.
type Index struct {
	hashes []uint64
	heads  map[uint64]int32 // the last item with a hash, once there are many …
	next   []int32          // … and the one before each; -1: none
}

const indexFrom = 24

// Find is the first item with the hash for which same holds, -1 if there is none.
func (x *Index) Find(h uint64, same func(i int) bool) int {
	if x.heads == nil {
		for i, o := range x.hashes {
			if o == h && same(i) {
				return i
			}
		}
		return -1
	}
	found := -1
	if at, ok := x.heads[h]; ok {
		for i := at; i >= 0; i = x.next[i] {
			if same(int(i)) {
				found = int(i)
			}
		}
	}
	return found
}

// Add notes the hash of the next item.
func (x *Index) Add(h uint64) {
	x.hashes = append(x.hashes, h)
	if len(x.hashes) < indexFrom {
		return
	}
	if x.heads == nil {
		x.heads = make(map[uint64]int32, 4*indexFrom)
	}
	for i := len(x.next); i < len(x.hashes); i++ {
		before, ok := x.heads[x.hashes[i]]
		if !ok {
			before = -1
		}
		x.heads[x.hashes[i]] = int32(i)
		x.next = append(x.next, before)
	}
}

// ExprList is a list of expressions that are all different.
type ExprList struct {
	Exprs []Expr
	index Index
}

// Find is the place of an expression equal to e, -1 if there is none.
func (l *ExprList) Find(e Expr) int {
	if len(l.Exprs) < indexFrom { // hashes cost more than comparing a few
		for i, o := range l.Exprs {
			if EqualExpr(o, e) {
				return i
			}
		}
		return -1
	}
	for i := len(l.index.hashes); i < len(l.Exprs); i++ {
		l.index.Add(HashExpr(l.Exprs[i]))
	}
	return l.index.Find(HashExpr(e), func(i int) bool { return EqualExpr(l.Exprs[i], e) })
}

// Add appends e unless it is there already, and reports that it did.
func (l *ExprList) Add(e Expr) bool {
	if l.Find(e) >= 0 {
		return false
	}
	l.Exprs = append(l.Exprs, e)
	return true
}

var hashSeed = maphash.MakeSeed()

func mix(h, x uint64) uint64 {
	h = (h ^ x) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}

// HashExpr is a number that is the same for expressions which are equal.
func HashExpr(e Expr) uint64 {
	switch x := e.(type) {
	case *Ref:
		return mix(1, uint64(x.ID))
	case *Const:
		h := mix(2, uint64(x.V.I))
		h = mix(h, uint64(x.V.Hi))
		h = mix(h, math.Float64bits(x.V.F))
		if x.V.S != "" {
			h = mix(h, maphash.String(hashSeed, x.V.S))
		}
		return h
	case *Call:
		h := mix(3, uint64(x.Op))
		if x.Fn != nil {
			h = mix(h, maphash.String(hashSeed, x.Fn.Name))
		}
		for _, a := range x.Args {
			h = mix(h, HashExpr(a))
		}
		return h
	}
	return 0
}

// Hash is a number that is the same for aggregates that compute the same.
func (a *Agg) Hash() uint64 {
	h := mix(4, uint64(a.Func))
	for _, e := range [2]Expr{a.Arg, a.Filter} {
		x := uint64(0)
		if e != nil {
			x = HashExpr(e)
		}
		h = mix(h, x)
	}
	for _, e := range a.More {
		h = mix(h, HashExpr(e))
	}
	return h
}

// Same reports that two aggregates compute the same.
func (a *Agg) Same(b *Agg) bool {
	return a.Func == b.Func && a.Distinct == b.Distinct && sameOrNil(a.Arg, b.Arg) && sameOrNil(a.Filter, b.Filter) && a.sameFold(b)
}

func sameOrNil(a, b Expr) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return EqualExpr(a, b)
}
