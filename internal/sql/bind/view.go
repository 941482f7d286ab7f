package bind

import (
	"errors"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/sql/parse"
)

// view binds the text of a view in place of its name.
func (b *binder) view(v *catalog.View, pos int) (plan.Node, *rel) {
	end := b.expanding("view "+qualifiedName(v.Schema, v.Name), pos)
	if b.uses != nil {
		b.uses.Views[v] = true
	}
	q := b.viewQuery(v, pos)
	end()
	if v.Width > 0 && len(q.cols) > v.Width { // a star does not show columns that were added later
		q.cols = q.cols[:v.Width]
	}
	for i, name := range v.Columns {
		if i < len(q.cols) {
			q.cols[i].name = name
		}
	}
	r := b.derived(&q, pos)
	r.name = v.Name
	return q.node, r
}

// viewQuery binds a view as if it stood alone. Its mistakes have positions in its own text, which
// say nothing in this query: they are reported where the view is named.
func (b *binder) viewQuery(v *catalog.View, pos int) (q result) {
	ctes, agg, free, env := b.ctes, b.agg, b.free, b.env
	b.ctes, b.agg = nil, nil
	if o, ok := b.env.(Objects); ok && v.Path != nil { // names mean what they meant when it was made
		b.env = o.Along(v.Path)
	}
	defer func() {
		b.ctes, b.agg, b.free, b.env = ctes, agg, free, env
		if p := recover(); p != nil {
			var e *diag.Error
			if err, ok := p.(error); ok && errors.As(err, &e) {
				moved := *e
				moved.Pos = pos
				moved.Msg = "in view " + ast.QuoteIdent(v.Name) + ": " + e.Msg
				panic(&moved)
			}
			panic(p)
		}
	}()
	script, err := parse.Parse(v.SQL)
	check(err, pos)
	if len(script) != 1 {
		panic(diag.Internalf("bind", "view %s has %d statements", v.Name, len(script)))
	}
	query, ok := script[0].Stmt.(*ast.Query)
	if !ok {
		panic(diag.Internalf("bind", "view %s is no query", v.Name))
	}
	return b.query(query, nil)
}
