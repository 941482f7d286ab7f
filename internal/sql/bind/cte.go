package bind

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// cte is a WITH query in scope. One that is used once is bound in place; one that is
// used more often becomes a shared plan, unless it refers to a query around it: then it has
// another result for each row there, and every use gets a plan of its own.
type cte struct {
	outer *cte // the next one in scope; those were visible to its definition
	def   *ast.CTE
	scope *scope // around the WITH
	// ready is the plan bound at the definition, until a use takes it.
	ready  *result
	shared int // index into binder.shared, -1 if not shared
	names  []string
}

// with brings the CTEs of a query into scope; the caller restores b.ctes.
func (b *binder) with(w *ast.With, q *ast.Query, around *scope) {
	for i := range w.CTEs {
		def := &w.CTEs[i]
		for j := range i {
			if w.CTEs[j].Name.Name == def.Name.Name {
				fail(diag.DuplicateAlias, def.Pos, "WITH query name %q specified more than once", def.Name.Name)
			}
		}
		uses := usesAfter(w, i, q, def.Name.Name)
		if w.Recursive && countUses(def.Query, def.Name.Name) > 0 {
			unsupported(def.Pos, "WITH RECURSIVE")
		}
		c := &cte{outer: b.ctes, def: def, scope: around, shared: -1}
		free := b.free
		b.free = noDepth
		r := b.bindCTE(c)
		alone := around == nil || b.free > around.depth
		b.free = min(free, b.free)

		c.ready = &r
		share := uses > 1 && def.Materialized != ast.MaterializeNo || def.Materialized == ast.MaterializeYes
		if share && alone {
			c.shared, c.ready = len(b.shared), nil
			p := &plan.SharedPlan{Name: def.Name.Name, Plan: r.node, Cols: make([]plan.ColID, len(r.cols))}
			for k, col := range r.cols {
				p.Cols[k] = col.id
				c.names = append(c.names, col.name)
			}
			b.shared = append(b.shared, p)
		}
		b.ctes = c
	}
}

// bindCTE binds the definition where it stands.
func (b *binder) bindCTE(c *cte) result {
	ctes, agg := b.ctes, b.agg
	b.ctes, b.agg = c.outer, nil // an aggregate around the use is not around the definition
	r := b.query(c.def.Query, c.scope)
	b.ctes, b.agg = ctes, agg
	if len(c.def.Columns) > len(r.cols) {
		fail(diag.InvalidColumnReference, c.def.Columns[len(r.cols)].Pos,
			"WITH query %q has %d columns available but %d columns specified",
			c.def.Name.Name, len(r.cols), len(c.def.Columns))
	}
	for i, id := range c.def.Columns {
		r.cols[i].name = id.Name
	}
	return r
}

func (b *binder) findCTE(name string) *cte {
	for c := b.ctes; c != nil; c = c.outer {
		if c.def.Name.Name == name {
			return c
		}
	}
	return nil
}

// scanCTE is one use of a CTE.
func (b *binder) scanCTE(c *cte, pos int) (plan.Node, *rel) {
	if c.shared < 0 {
		r := c.ready
		c.ready = nil
		if r == nil {
			again := b.bindCTE(c)
			r = &again
		}
		d := b.derived(r, pos)
		d.name = c.def.Name.Name
		return r.node, d
	}
	n := &plan.SharedScan{Index: c.shared}
	p := b.shared[c.shared]
	r := &rel{name: c.def.Name.Name, shared: n, pos: pos, cols: make([]relCol, len(p.Cols))}
	for i, id := range p.Cols {
		col := b.cols.Get(id)
		r.cols[i] = relCol{name: c.names[i], typ: col.Type, source: id, notNull: col.NotNull}
	}
	return n, r
}

// usesAfter counts the uses of CTE number i: in the later ones and in the query.
func usesAfter(w *ast.With, i int, q *ast.Query, name string) int {
	n := 0
	for j := i + 1; j < len(w.CTEs); j++ {
		n += countUses(w.CTEs[j].Query, name)
	}
	body := *q
	body.With = nil
	return n + countUses(&body, name)
}
