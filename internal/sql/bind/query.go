package bind

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// query binds a query expression; around is the scope that a subquery may refer to.
func (b *binder) query(q *ast.Query, around *scope) result {
	if b.queries++; b.queries > maxQueries {
		fail(diag.StatementTooComplex, q.Pos, "the statement has more than %d subqueries, views and WITH queries included", maxQueries)
	}
	saved := b.ctes
	if q.With != nil {
		b.with(q.With, q, around)
	}
	var r result
	if sel, ok := q.Body.(*ast.Select); ok {
		r = b.selectBody(sel, q, around)
	} else {
		r = b.body(q.Body, around)
		if len(q.OrderBy) > 0 || q.Limit != nil || q.Offset != nil {
			r.node = b.sort(r.node, b.orderOutput(q.OrderBy, r), q)
		}
	}
	b.ctes = saved
	return r
}

// body binds a query without ORDER BY and LIMIT.
func (b *binder) body(body ast.Body, around *scope) result {
	switch body := body.(type) {
	case *ast.Select:
		return b.selectBody(body, &ast.Query{}, around)
	case *ast.Query:
		return b.query(body, around)
	case *ast.Values:
		return b.values(body, around)
	case *ast.SetOp:
		return b.setOp(body, around)
	case *ast.Pivot:
		return b.pivot(body, around)
	case *ast.Unpivot:
		return b.unpivot(body, around)
	case *ast.Summarize:
		return b.summarize(body, around)
	case *ast.Describe:
		return b.described(body, around)
	case *ast.ShowTables:
		return b.query(b.pragmaQuery("show_tables", nil, body.Pos), around)
	}
	panic(diag.Internalf("bind", "query body %T", body))
}

// projector collects the columns that a SELECT computes. A reference to a column of
// the input is that column; everything else, references to outer queries too, gets a
// column of its own.
type projector struct {
	b    *binder
	in   plan.ColSet
	node *plan.Project
}

func (b *binder) project(input plan.Node, n int) *projector {
	return &projector{
		b: b, in: plan.Produced(input),
		node: &plan.Project{Input: input, Keep: make([]plan.ColID, 0, n)},
	}
}

// col is the column that holds e.
func (p *projector) col(e plan.Expr, name string) plan.ColID {
	if r, ok := e.(*plan.Ref); ok && p.in.Has(r.ID) {
		for _, id := range p.node.Keep {
			if id == r.ID {
				return r.ID
			}
		}
		p.node.Keep = append(p.node.Keep, r.ID)
		return r.ID
	}
	id := p.b.newCol(name, e)
	p.node.Exprs = append(p.node.Exprs, e)
	p.node.Cols = append(p.node.Cols, id)
	return id
}

// shared is col, except that an expression that was computed before is not computed again.
func (p *projector) shared(e plan.Expr, name string) plan.ColID {
	for i, have := range p.node.Exprs {
		if plan.EqualExpr(have, e) {
			return p.node.Cols[i]
		}
	}
	return p.col(e, name)
}

// done is the plan with the columns; there is no operator if all were there already.
func (p *projector) done() plan.Node {
	if len(p.node.Exprs) == 0 {
		return p.node.Input
	}
	return p.node
}

// filter keeps the rows for which pred is true.
func filter(n plan.Node, pred plan.Expr) plan.Node {
	preds := plan.Conjuncts(nil, pred)
	if len(preds) == 0 {
		return n
	}
	return &plan.Filter{Input: n, Preds: preds}
}
