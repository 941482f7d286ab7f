package bind

import (
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// setOp binds UNION, INTERSECT and EXCEPT. A chain of one operator on the left, as a long
// UNION is parsed, becomes one node.
func (b *binder) setOp(op *ast.SetOp, around *scope) result {
	bodies, ops := chain(op)
	args := make([]result, len(bodies))
	for i, body := range bodies {
		args[i] = b.body(body, around)
		if i > 0 && !op.ByName && len(args[i].cols) != len(args[0].cols) {
			fail(diag.SyntaxError, ops[i-1].Pos, "each %s query must have the same number of columns", keyword(op))
		}
	}
	if op.ByName {
		b.byName(args, op.Pos)
	}
	ids := b.unite(args, keyword(op))
	switch {
	case op.Kind == ast.Union:
		r := b.unionAll(args, ids)
		if !op.All {
			b.distinct(&r)
		}
		return r
	case op.All:
		return b.bag(op.Kind, args, ids)
	}
	// Distinct INTERSECT and EXCEPT keep rows of the left with or without a match in
	// each other, NULL matching NULL.
	r := args[0]
	for k := range r.cols {
		r.cols[k].id, r.cols[k].lit = ids[0][k], nil
	}
	b.distinct(&r)
	for i := 1; i < len(args); i++ {
		j := &plan.Join{Kind: plan.Semi, Left: r.node, Right: args[i].node, NullSafe: make([]bool, len(r.cols))}
		if op.Kind == ast.Except {
			j.Kind = plan.Anti
		}
		for k := range r.cols {
			j.LKeys = append(j.LKeys, b.ref(r.cols[k].id))
			j.RKeys = append(j.RKeys, b.ref(ids[i][k]))
			j.NullSafe[k] = true
		}
		r.node = j
	}
	return r
}

func keyword(op *ast.SetOp) string { return strings.ToUpper(op.Kind.String()) }

// bag is INTERSECT ALL or EXCEPT ALL of two results: the rows of both are counted together, NULLs being equal, and
// what occurs l times on the left and r times on the right is given least(l, r) or l - r times.
func (b *binder) bag(kind ast.SetKind, args []result, ids [][]plan.ColID) result {
	var sides [2]plan.ColID
	for i := range args {
		p := b.project(args[i].node, len(ids[i])+1)
		for k, id := range ids[i] {
			ids[i][k] = p.col(b.ref(id), args[i].cols[k].name)
		}
		sides[i] = p.col(plan.NewConst(types.BoolValue(i == 1)), "right")
		args[i].node = p.done()
	}
	side := outCol{name: "right"}
	for i := range args {
		args[i].cols = append(args[i].cols, side)
		ids[i] = append(ids[i], sides[i])
	}
	r := b.unionAll(args, ids)
	side = r.cols[len(r.cols)-1]
	r.cols = r.cols[:len(r.cols)-1]

	g := &plan.Group{Input: r.node}
	b.groupKeys(g, r.cols)
	count := func(name string, filter plan.Expr) plan.Expr {
		id := b.cols.New(name, types.TInt64, true)
		g.Aggs = append(g.Aggs, plan.Agg{Func: plan.CountStar, Filter: filter, Col: id})
		return b.ref(id)
	}
	left, right := count("left", plan.Negate(b.ref(side.id))), count("right", b.ref(side.id))
	times := plan.NewCall(plan.Least, types.TInt64, left, right)
	if kind == ast.Except {
		times = plan.NewCall(plan.Sub, types.TInt64, left, right)
	}
	r.node = &plan.Repeat{Input: g, Count: times, Col: b.cols.New("copy", types.TInt64, true)}
	return r
}

// chain takes (a op b) op c apart, as long as the operators are the same. bag takes two inputs only.
func chain(op *ast.SetOp) (bodies []ast.Body, ops []*ast.SetOp) {
	for l := op; ; {
		ops = append(ops, l)
		next, ok := l.L.(*ast.SetOp)
		if !ok || next.Kind != op.Kind || next.All != op.All || next.ByName != op.ByName || op.All && op.Kind != ast.Union {
			break
		}
		l = next
	}
	bodies = append(bodies, ops[len(ops)-1].L)
	for i, j := 0, len(ops)-1; i < j; i, j = i+1, j-1 {
		ops[i], ops[j] = ops[j], ops[i]
	}
	for _, o := range ops {
		bodies = append(bodies, o.R)
	}
	return bodies, ops
}

// unite brings the columns of several results to common types, adding casts to their plans,
// and gives the columns of each.
func (b *binder) unite(args []result, what string) [][]plan.ColID {
	n := len(args[0].cols)
	want := make([]types.Type, n)
	column := make([]plan.Expr, len(args))
	for k := range want {
		for i := range args {
			c := &args[i].cols[k]
			column[i] = b.ref(c.id)
			if c.lit != nil {
				column[i] = c.lit
			}
		}
		want[k] = b.commonType(column, func(i int) int { return args[i].cols[k].pos }, what)
	}
	ids := make([][]plan.ColID, len(args))
	for i := range args {
		ids[i] = b.recast(&args[i], want)
	}
	return ids
}

// recast converts the columns of a result to the wanted types and gives their ids.
func (b *binder) recast(r *result, want []types.Type) []plan.ColID {
	ids := make([]plan.ColID, len(want))
	same := true
	for k, c := range r.cols {
		ids[k] = c.id
		t := b.cols.Get(c.id).Type
		same = same && (t == want[k] || t.Kind == types.Text && want[k].Kind == types.Text)
	}
	if same {
		return ids
	}
	p := b.project(r.node, len(want))
	for k, c := range r.cols {
		e := b.ref(c.id)
		if c.lit != nil {
			e = c.lit
		}
		ids[k] = p.col(b.convert(e, want[k], c.pos), c.name)
	}
	r.node = p.done()
	return ids
}

// unionAll puts united results together.
func (b *binder) unionAll(args []result, ids [][]plan.ColID) result {
	n := &plan.SetOp{InCols: ids, Args: make([]plan.Node, len(args))}
	for i := range args {
		n.Args[i] = args[i].node
	}
	r := result{node: n, cols: make([]outCol, len(ids[0]))}
	for k := range r.cols {
		c := *b.cols.Get(ids[0][k])
		typ, notNull, lits := c.Type, true, true
		for i := range args {
			col := b.cols.Get(ids[i][k])
			notNull = notNull && col.NotNull
			lits = lits && args[i].cols[k].lit != nil
			if col.Type != typ { // texts of different limits
				typ, _ = types.CommonType(typ, col.Type)
			}
		}
		name := args[0].cols[k].name
		id := b.cols.New(name, typ, notNull)
		r.cols[k] = outCol{name: name, id: id, pos: args[0].cols[k].pos}
		n.Cols = append(n.Cols, id)
	}
	return r
}
