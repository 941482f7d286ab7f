package bind

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// orderedBy is what x is compared and sorted by: of JSONB, whose text says less, a key that Go computes; of others x itself. It fails for
// types that have no order.
func orderedBy(x plan.Expr, pos int) plan.Expr {
	if x.Type() == types.TJSONB {
		return computed(plan.NewApply(funcs.JSONBKey, types.TBytes, pos, x))
	}
	t := x.Type()
	for t.Kind == types.List {
		t = t.Elem()
	}
	switch t {
	case types.TJSON:
		fail(diag.UndefinedFunction, pos, "could not identify an ordering operator for type json")
	case types.TJSONB:
		unsupported(pos, "the order of lists of jsonb")
	}
	return x
}

// sortable adds the columns to n that its rows are sorted by where the keys themselves are not that.
func (b *binder) sortable(n plan.Node, keys []orderKey, pos int) (plan.Node, []orderKey) {
	p := &plan.Project{Input: n}
	out := make([]orderKey, len(keys))
	for i, k := range keys {
		if x := orderedBy(b.ref(k.col), pos); x.Type() != b.cols.Get(k.col).Type {
			k.col = b.newCol(b.cols.Get(k.col).Name, x)
			p.Exprs, p.Cols = append(p.Exprs, x), append(p.Cols, k.col)
		}
		out[i] = k
	}
	if p.Cols == nil {
		return n, keys
	}
	p.Keep = n.Produces(nil)
	return p, out
}
