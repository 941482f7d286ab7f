package scalar

import (
	"math"
	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/automaton"
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/emit/text"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Calls of functions on texts: operands are evaluated here, what is done with them stands with texts.

// textCall is a function that takes a text, or makes one.
func (e *Evaluator) textCall(x *plan.Call) code.Value {
	arg := func(i int) code.Value { return e.Eval(x.Args[i]) }
	switch x.Op {
	case plan.Like:
		return e.like(x)
	case plan.StartsWith:
		if c := constantOf(x.Args[1]); c != nil && utf8.ValidString(c.S) {
			return text.BeginsWith(&e.Emitter, e.eachText(x.Args[0]), c.S)
		}
		v := e.Text(arg(0))
		return text.StartsWith(&e.Emitter, v, arg(1))
	case plan.Substring:
		return e.substringCall(x)
	case plan.LeftStr, plan.RightStr:
		return e.leftRight(x)
	case plan.Trim, plan.Ltrim, plan.Rtrim:
		return text.Trim(&e.Emitter, arg(0), constantOf(x.Args[1]).S, x.Op != plan.Rtrim, x.Op != plan.Ltrim)
	case plan.Position:
		return text.Position(&e.Emitter, e.eachText(x.Args[0]), constantOf(x.Args[1]).S, x.T)
	case plan.Length, plan.OctetLength:
		return e.length(x)
	case plan.Concat:
		return e.concatCall(x)
	case plan.Lower, plan.Upper:
		return text.ChangeCase(&e.Emitter, arg(0), x.Op == plan.Upper)
	case plan.Replace:
		return text.Replace(&e.Emitter, arg(0), constantOf(x.Args[1]).S, constantOf(x.Args[2]).S)
	}
	panic("CanEmit promised code for " + x.Op.String())
}

// matching is a function that applies an automaton to a text.
func (e *Evaluator) matching(x *plan.Call) code.Value {
	if countsElements(x) {
		width, _ := types.FixedElem(x.Args[0].Type().Elem())
		return text.CountElements(&e.Emitter, e.Eval(x.Args[0]), width, x.T)
	}
	switch u := x.Matching(); u.Does {
	case automaton.Tests:
		return text.Matches(&e.Emitter, e.eachText(x.Args[0]), u)
	case automaton.Takes:
		return text.TakeMatch(&e.Emitter, e.eachText(x.Args[0]), u)
	case automaton.Counts:
		return text.CountMatches(&e.Emitter, e.eachText(x.Args[0]), u, x.T)
	default:
		return text.ReplaceMatches(&e.Emitter, e.eachText(x.Args[0]), u)
	}
}

// like is text LIKE 'pattern'.
func (e *Evaluator) like(x *plan.Call) code.Value {
	c, ok := x.Args[1].(*plan.Const)
	if !ok {
		code.Refuse(x.Pos, "LIKE needs a literal pattern")
	}
	if c.V.Null {
		return e.NullValue(types.TBool)
	}
	if inner, upper, ok := e.foldedText(x); ok {
		v := e.eachText(inner)
		return text.Folded(&e.Emitter, upper, func() code.Value { return text.Like(&e.Emitter, v, c.V.S, x.Pos) })
	}
	return text.Like(&e.Emitter, e.eachText(x.Args[0]), c.V.S, x.Pos)
}

// foldedText is the text of a search in another case, such as x in lower(x) LIKE 'pattern', if it can be read in that case, and need not be made. Operations
// on masks cannot do that.
func (e *Evaluator) foldedText(x *plan.Call) (inner plan.Expr, upper, ok bool) {
	if x.Op != plan.Like || e.Can.Masks {
		return nil, false, false
	}
	c, pattern := x.Args[0], constantOf(x.Args[1])
	call, isCall := c.(*plan.Call)
	if !isCall || pattern == nil || call.Op != plan.Lower && call.Op != plan.Upper || !text.CanFold(pattern.S, call.Op == plan.Upper) {
		return nil, false, false
	}
	return call.Args[0], call.Op == plan.Upper, true
}

// substringCall is substring(text from start for count), counted in characters.
func (e *Evaluator) substringCall(x *plan.Call) code.Value {
	v := e.Text(e.Eval(x.Args[0]))
	if from, to, ok := fixedPart(x); ok && !v.IsNull() {
		return text.FixedSubstring(&e.Emitter, v, from, to)
	}
	start := e.Eval(x.Args[1])
	if allTheRest(x) {
		return text.Substring(&e.Emitter, v, start, nil, x.Pos)
	}
	count := e.Eval(x.Args[2])
	return text.Substring(&e.Emitter, v, start, &count, x.Pos)
}

// allTheRest reports a count that no text has characters for.
func allTheRest(x *plan.Call) bool {
	from, count := constantOf(x.Args[1]), constantOf(x.Args[2])
	return from != nil && from.I >= 1 && count != nil && count.I >= math.MaxInt32
}

// fixedPart is from which to which character a substring reaches whose place is given by constants
// and is near the start.
func fixedPart(x *plan.Call) (from, to int64, ok bool) {
	s, n := constantOf(x.Args[1]), constantOf(x.Args[2])
	if s == nil || n == nil || s.I < 1 || n.I < 0 || s.I > 64 || n.I > 64 {
		return 0, 0, false
	}
	from, to = s.I-1, s.I-1+n.I
	return from, to, to > 0 && to <= 8
}

// leftRight is left(text, k) and right(text, k).
func (e *Evaluator) leftRight(x *plan.Call) code.Value {
	if c := constantOf(x.Args[1]); c != nil && c.I >= 0 && x.Op == plan.LeftStr {
		return text.FirstChars(&e.Emitter, e.Eval(x.Args[0]), c.I)
	}
	if c := constantOf(x.Args[1]); c != nil && c.I >= 0 && c.I <= text.MaxBack && x.Op == plan.RightStr {
		return text.LastChars(&e.Emitter, e.Eval(x.Args[0]), c.I)
	}
	v := e.Text(e.Eval(x.Args[0]))
	k := e.Eval(x.Args[1])
	if x.Op == plan.LeftStr {
		return text.Left(&e.Emitter, v, k)
	}
	return text.Right(&e.Emitter, v, k)
}

// length is the number of characters, or of bytes.
func (e *Evaluator) length(x *plan.Call) code.Value {
	var v code.Value
	var r ir.Reg
	if x.Op == plan.OctetLength {
		v, r = e.Text(e.Eval(x.Args[0])), e.Int("length")
		e.B.Mov(r, v.B)
	} else {
		v = e.eachText(x.Args[0])
		r = text.CountChars(&e.Emitter, v)
	}
	n, own := e.AnyNull(v)
	e.Free(v)
	return code.IntValue(x.T, r, layout.Between(0, 1<<31-1)).WithNull(n, own)
}

// concatCall puts texts together.
func (e *Evaluator) concatCall(x *plan.Call) code.Value {
	var parts []text.Part
	for _, a := range x.Args {
		switch c := constantOf(a); {
		case c == nil || len(c.S) > text.MaxLiteral:
			parts = append(parts, text.Part{Value: e.Text(e.Eval(a))})
		case c.S != "":
			parts = append(parts, text.Part{Lit: c.S})
		}
	}
	return text.Concat(&e.Emitter, parts)
}

// textLiteral is a comparison of something, by cond, with a text literal.
func textLiteral(x *plan.Call) (cond ir.Cond, other plan.Expr, lit string, ok bool) {
	cond, ok = Conds[x.Op]
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
func (e *Evaluator) compareText(cond ir.Cond, x plan.Expr, lit string) code.Value {
	if cond == ir.EQ || cond == ir.NE { // most texts differ in length already
		return text.CompareLiteral(&e.Emitter, cond, e.Eval(x), lit)
	}
	return text.CompareLiteral(&e.Emitter, cond, e.eachText(x), lit)
}

// textAhead is how far ahead of a scan its texts are fetched: they lie one behind the other, but
// the processor cannot tell from the descriptors in time.
const textAhead = 1024

// eachText evaluates a text whose bytes will be read, for most rows of a scan if it is one of
// its columns.
func (e *Evaluator) eachText(x plan.Expr) code.Value {
	v := e.Eval(x)
	if v.IsNull() {
		return v
	}
	v = e.Text(v)
	if r, ok := x.(*plan.Ref); ok && !e.Off.Prefetch && e.Scans(r.ID) {
		e.B.Prefetch(ir.At(v.A.R, textAhead))
	}
	return v
}
