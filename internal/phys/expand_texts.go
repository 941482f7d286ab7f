package phys

import (
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Push-down parallelism for texts: lanes whose rows have texts of the right length hand them to the whole warp, which compares the bytes of one pair after the
// other side by side. It is ExpandWarp's alone: left to themselves, lanes compare eight bytes at a time and most end with the first, which is faster on all GPUs
// that were measured, so that nothing chooses it but whoever sets expand.

// TextTest is a test of two texts that a warp can do for each of its lanes.
type TextTest struct {
	Text, With plan.Expr
	Prefix     bool // Text begins with With; else they are equal
}

// longText is how many bytes of a literal are worth to be compared by several lanes.
const longText = 32

// TextTestOf recognizes such a test.
func TextTestOf(x plan.Expr) (t TextTest, ok bool) {
	c, ok := x.(*plan.Call)
	if !ok || len(c.Args) != 2 || c.Args[0].Type().Kind != types.Text || c.Args[1].Type().Kind != types.Text {
		return t, false
	}
	t = TextTest{Text: c.Args[0], With: c.Args[1], Prefix: c.Op != plan.Eq}
	switch c.Op {
	case plan.Eq, plan.StartsWith:
	case plan.Like:
		pattern, ok := t.With.(*plan.Const)
		if !ok {
			return t, false
		}
		prefix, ok := prefixOf(pattern.V.S)
		if !ok {
			return t, false
		}
		t.With = plan.NewConst(types.TextValue(prefix))
	default:
		return t, false
	}
	return t, inMemory(t.Text) && inMemory(t.With)
}

// prefixOf is what a LIKE pattern wants texts to begin with, if it wants nothing else.
func prefixOf(pattern string) (prefix string, ok bool) {
	prefix, ok = strings.CutSuffix(pattern, "%")
	return prefix, ok && !strings.ContainsAny(prefix, `%_\`)
}

// inMemory reports a text that all lanes can read: a column's, or a long literal.
func inMemory(x plan.Expr) bool {
	switch x := x.(type) {
	case *plan.Ref:
		return true
	case *plan.Const:
		return !x.V.Null && len(x.V.S) >= longText
	}
	return false
}

// Apply makes operators of the tests of texts that scans have, so that lanes come together for them.
func (x Expand) Apply(prog *pipe.Program) {
	if x != ExpandWarp {
		return
	}
	for _, p := range prog.Pipelines {
		testBehind(p, func(f plan.Expr) bool { _, ok := TextTestOf(f); return ok })
	}
}

// testBehind makes an operator of those filters of a pipeline's scan of which later says so. What may fail comes along: it is only computed of rows that pass the others.
func testBehind(p *pipe.Pipeline, later func(plan.Expr) bool) {
	t, ok := p.Source.(*pipe.Table)
	if !ok || p.Loop != nil || !slices.ContainsFunc(t.Filter, later) {
		return
	}
	var own, behind []plan.Expr
	for _, f := range t.Filter {
		if later(f) || pipe.MayFail(f) {
			behind = append(behind, f)
		} else {
			own = append(own, f)
		}
	}
	t.Filter = own
	p.Ops = append([]pipe.Op{&pipe.Filter{Preds: behind, Node: t.Scan}}, p.Ops...)
}

// ForTexts is how a filter's texts are compared.
func (x Expand) ForTexts(op *pipe.Filter) Expand {
	if x == ExpandWarp {
		for _, p := range op.Preds {
			if _, ok := TextTestOf(p); ok {
				return ExpandWarp
			}
		}
	}
	return ExpandLane
}
