package bind

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// WithChanges is a statement with WITH queries that change rows. They run first, one after the other, whether anybody asks for
// their rows or not; all of them were bound to the tables as they were before.
type WithChanges struct {
	Changes []*Pending
	Main    Bound
}

// Pending is a WITH query that changes rows. What it returns becomes Rows, of which Scans get a snapshot then.
type Pending struct {
	Bound Bound
	Rows  *catalog.Table // nil without RETURNING
	Scans []*plan.Scan

	name string
}

// withOf is the WITH of a statement, nil if it has none.
func withOf(stmt ast.Statement) *ast.With {
	switch s := stmt.(type) {
	case *ast.Query:
		return s.With
	case *ast.Insert:
		return s.With
	case *ast.Update:
		return s.With
	case *ast.Delete:
		return s.With
	case *ast.Merge:
		return s.With
	}
	return nil
}

// having is a statement with another WITH.
func having(stmt ast.Statement, w *ast.With) ast.Statement {
	if w != nil && len(w.CTEs) == 0 {
		w = nil
	}
	switch s := stmt.(type) {
	case *ast.Query:
		c := *s
		c.With = w
		return &c
	case *ast.Insert:
		c := *s
		c.With = w
		return &c
	case *ast.Update:
		c := *s
		c.With = w
		return &c
	case *ast.Delete:
		c := *s
		c.With = w
		return &c
	case *ast.Merge:
		c := *s
		c.With = w
		return &c
	}
	return stmt
}

// withChanges binds a statement whose WITH changes rows.
func (b *binder) withChanges(s *ast.WithChanges) Bound {
	w, out := s.With, &WithChanges{}
	b.pending = map[string]*Pending{}
	rest := &ast.With{Pos: w.Pos, Recursive: w.Recursive} // queries that change nothing
	for i := range w.CTEs {
		def := &w.CTEs[i]
		if slices.ContainsFunc(w.CTEs[:i], func(o ast.CTE) bool { return o.Name.Name == def.Name.Name }) {
			fail(diag.DuplicateAlias, def.Pos, "WITH query name %q specified more than once", def.Name.Name)
		}
		if def.Change == nil {
			rest.CTEs = append(rest.CTEs, *def)
			continue
		}
		before := &ast.With{Pos: w.Pos, Recursive: w.Recursive, CTEs: slices.Clone(rest.CTEs)}
		if own := withOf(def.Change); own != nil {
			before.CTEs = append(before.CTEs, own.CTEs...)
		}
		sub := newBinder(b.env, b.params)
		sub.pending = b.pending
		p := &Pending{Bound: sub.statement(having(def.Change, before)), name: def.Name.Name}
		p.Rows = returnedRows(p.Bound, def)
		out.Changes = append(out.Changes, p)
		b.pending[p.name] = p
	}
	out.Main = b.statement(having(s.Stmt, rest))
	return out
}

// returnedRows is an empty table for what a statement returns.
func returnedRows(b Bound, def *ast.CTE) *catalog.Table {
	var r *Returning
	switch b := b.(type) {
	case *Insert:
		r = b.Returning
	case *Change:
		r = b.Returning
	case *WithChanges:
		return returnedRows(b.Main, def)
	}
	if r == nil {
		return nil
	}
	if len(def.Columns) > len(r.Query.Output) {
		fail(diag.InvalidColumnReference, def.Columns[len(r.Query.Output)].Pos, "WITH query %q has %d columns available but %d columns specified",
			def.Name.Name, len(r.Query.Output), len(def.Columns))
	}
	var cols []catalog.ColumnDef
	for i, id := range r.Query.Output {
		name := r.Query.Names[i]
		if i < len(def.Columns) {
			name = def.Columns[i].Name
		}
		cols = append(cols, catalog.ColumnDef{Name: name, Type: r.Query.Cols.Get(id).Type})
	}
	return catalog.Shape{Name: def.Name.Name, Columns: cols}.Empty()
}

// scanPending is one use of such a query.
func (b *binder) scanPending(p *Pending, pos int) (plan.Node, *rel) {
	if p.Rows == nil {
		fail(diag.FeatureNotSupported, pos, "WITH query %q does not have a RETURNING clause", p.name)
	}
	n, r := b.scan(p.Rows, "", pos)
	p.Scans = append(p.Scans, n)
	return n, r
}
