package emit

import (
	"math"
	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Calls of functions on texts: operands are evaluated here, what is done with them stands with texts.

// textCall is a function that takes a text, or makes one.
func (e *evaluator) textCall(x *plan.Call) value {
	arg := func(i int) value { return e.eval(x.Args[i]) }
	switch x.Op {
	case plan.Like:
		return e.like(x)
	case plan.StartsWith:
		if c := constantOf(x.Args[1]); c != nil && utf8.ValidString(c.S) {
			return e.beginsWith(e.eachText(x.Args[0]), c.S)
		}
		v := e.text(arg(0))
		return e.startsWith(v, arg(1))
	case plan.Substring:
		return e.substringCall(x)
	case plan.LeftStr, plan.RightStr:
		return e.leftRight(x)
	case plan.Trim, plan.Ltrim, plan.Rtrim:
		return e.trim(arg(0), constantOf(x.Args[1]).S, x.Op != plan.Rtrim, x.Op != plan.Ltrim)
	case plan.Position:
		return e.positionOf(e.eachText(x.Args[0]), constantOf(x.Args[1]).S, x.T)
	case plan.Length, plan.OctetLength:
		return e.length(x)
	case plan.Concat:
		return e.concatCall(x)
	case plan.Lower, plan.Upper:
		return e.changeCase(arg(0), x.Op == plan.Upper)
	case plan.Replace:
		return e.replace(arg(0), constantOf(x.Args[1]).S, constantOf(x.Args[2]).S)
	}
	panic("CanEmit promised code for " + x.Op.String())
}

// like is text LIKE 'pattern'.
func (e *evaluator) like(x *plan.Call) value {
	c, ok := x.Args[1].(*plan.Const)
	if !ok {
		refuse(x.Pos, "LIKE needs a literal pattern")
	}
	if c.V.Null {
		return e.nullValue(types.TBool)
	}
	return e.likePattern(e.eachText(x.Args[0]), c.V.S, x.Pos)
}

// substringCall is substring(text from start for count), counted in characters.
func (e *evaluator) substringCall(x *plan.Call) value {
	v := e.text(e.eval(x.Args[0]))
	if from, to, ok := fixedPart(x); ok && !v.isNull() {
		return e.fixedSubstring(v, from, to)
	}
	start := e.eval(x.Args[1])
	if len(x.Args) == 2 || allTheRest(x) {
		return e.substring(v, start, nil, x.Pos)
	}
	count := e.eval(x.Args[2])
	return e.substring(v, start, &count, x.Pos)
}

// allTheRest reports a count that no text has characters for.
func allTheRest(x *plan.Call) bool {
	from, count := constantOf(x.Args[1]), constantOf(x.Args[2])
	return from != nil && from.I >= 1 && count != nil && count.I >= math.MaxInt32
}

// fixedPart is from which to which character a substring reaches whose place is given by constants
// and is near the start.
func fixedPart(x *plan.Call) (from, to int64, ok bool) {
	if len(x.Args) < 3 {
		return 0, 0, false
	}
	s, n := constantOf(x.Args[1]), constantOf(x.Args[2])
	if s == nil || n == nil || s.I < 1 || n.I < 0 || s.I > 64 || n.I > 64 {
		return 0, 0, false
	}
	from, to = s.I-1, s.I-1+n.I
	return from, to, to > 0 && to <= 8
}

// leftRight is left(text, k) and right(text, k).
func (e *evaluator) leftRight(x *plan.Call) value {
	if c := constantOf(x.Args[1]); c != nil && c.I >= 0 && x.Op == plan.LeftStr {
		return e.firstChars(e.eval(x.Args[0]), c.I)
	}
	if c := constantOf(x.Args[1]); c != nil && c.I >= 0 && c.I <= maxBack && x.Op == plan.RightStr {
		return e.lastChars(e.eval(x.Args[0]), c.I)
	}
	v := e.text(e.eval(x.Args[0]))
	k := e.eval(x.Args[1])
	if x.Op == plan.LeftStr {
		return e.leftChars(v, k)
	}
	return e.rightChars(v, k)
}

// length is the number of characters, or of bytes.
func (e *evaluator) length(x *plan.Call) value {
	var v value
	var r ir.Reg
	if x.Op == plan.OctetLength {
		v, r = e.text(e.eval(x.Args[0])), e.int("length")
		e.b.Mov(r, v.b)
	} else {
		v = e.eachText(x.Args[0])
		r = e.countChars(v)
	}
	n, own := e.anyNull(v)
	e.free(v)
	return intVal(x.T, r, layout.Between(0, 1<<31-1)).withNull(n, own)
}

// concatCall puts texts together.
func (e *evaluator) concatCall(x *plan.Call) value {
	var parts []textPart
	for _, a := range x.Args {
		switch c := constantOf(a); {
		case c == nil || len(c.S) > maxLiteral:
			parts = append(parts, textPart{v: e.text(e.eval(a))})
		case c.S != "":
			parts = append(parts, textPart{lit: c.S})
		}
	}
	return e.concat(parts)
}

// textLiteral is a comparison of something, by cond, with a text literal.
func textLiteral(x *plan.Call) (cond ir.Cond, other plan.Expr, lit string, ok bool) {
	cond, ok = conds[x.Op]
	if !ok {
		return
	}
	for i, a := range x.Args {
		if c := constantOf(a); c != nil && !c.Null && c.Type.Phys() == types.PhysStr {
			if i == 0 {
				cond = cond.Swap()
			}
			return cond, x.Args[1-i], c.S, true
		}
	}
	return 0, nil, "", false
}

// compareText is cond(x, lit).
func (e *evaluator) compareText(cond ir.Cond, x plan.Expr, lit string) value {
	if cond == ir.EQ || cond == ir.NE { // most texts differ in length already
		return e.compareLiteral(cond, e.eval(x), lit)
	}
	return e.compareLiteral(cond, e.eachText(x), lit)
}

// textAhead is how far ahead of a scan its texts are fetched: they lie one behind the other, but
// the processor cannot tell from the descriptors in time.
const textAhead = 1024

// eachText evaluates a text whose bytes will be read, for most rows of a scan if it is one of
// its columns.
func (e *evaluator) eachText(x plan.Expr) value {
	v := e.eval(x)
	if v.isNull() {
		return v
	}
	v = e.text(v)
	if r, ok := x.(*plan.Ref); ok && !e.Off.Prefetch && e.scans(r.ID) {
		e.b.Prefetch(ir.At(v.a.R, textAhead))
	}
	return v
}
