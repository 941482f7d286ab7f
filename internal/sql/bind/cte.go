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
	// working: the name is used in the recursive term of its own definition.
	working   *working
	recursive bool
}

// with brings the CTEs of a query into scope; the caller restores b.ctes.
func (b *binder) with(w *ast.With, q *ast.Query, around *scope) {
	list := make([]*ast.CTE, len(w.CTEs))
	for i := range w.CTEs {
		def := &w.CTEs[i]
		for j := range i {
			if w.CTEs[j].Name.Name == def.Name.Name {
				fail(diag.DuplicateAlias, def.Pos, "WITH query name %q specified more than once", def.Name.Name)
			}
		}
		list[i] = def
	}
	if w.Recursive {
		list = inDependencyOrder(w)
	}
	for _, def := range list {
		uses := usesOf(w, def, q)
		c := &cte{outer: b.ctes, def: def, scope: around, shared: -1}
		free := b.free
		b.free = noDepth
		c.recursive = w.Recursive && countUses(def.Query, def.Name.Name) > 0
		r := b.define(c)
		alone := around == nil || b.free > around.depth
		for o := b.ctes; c.recursive && !alone && o != nil; o = o.outer {
			if o.working != nil {
				panic(nestedRecursion(def.Pos))
			}
		}
		b.free = min(free, b.free)

		c.ready = &r
		share := uses > 1 && (c.recursive || def.Materialized != ast.MaterializeNo) || def.Materialized == ast.MaterializeYes
		if !c.recursive && plan.Works(r.node) {
			share = false // it has other rows in each round
		}
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

// define binds the definition where it stands.
func (b *binder) define(c *cte) result {
	if c.recursive {
		return b.recursive(c)
	}
	ctes, agg := b.ctes, b.agg
	b.ctes, b.agg = c.outer, nil // an aggregate around the use is not around the definition
	r := b.query(c.def.Query, c.scope)
	b.ctes, b.agg = ctes, agg
	renameColumns(c.def, &r)
	return r
}

// renameColumns gives a result the names that the definition lists.
func renameColumns(def *ast.CTE, r *result) {
	if len(def.Columns) > len(r.cols) {
		fail(diag.InvalidColumnReference, def.Columns[len(r.cols)].Pos,
			"WITH query %q has %d columns available but %d columns specified",
			def.Name.Name, len(r.cols), len(def.Columns))
	}
	for i, id := range def.Columns {
		r.cols[i].name = id.Name
	}
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
	if c.working != nil {
		return b.scanWork(c, pos)
	}
	if c.shared < 0 {
		r := c.ready
		c.ready = nil
		if r == nil {
			again := b.define(c)
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

// usesOf counts the uses of a CTE: in the others that can see it, and in the query.
func usesOf(w *ast.With, def *ast.CTE, q *ast.Query) int {
	n, name, seen := 0, def.Name.Name, w.Recursive
	for j := range w.CTEs {
		if other := &w.CTEs[j]; other == def {
			seen = true
		} else if seen {
			n += countUses(other.Query, name)
		}
	}
	body := *q
	body.With = nil
	return n + countUses(&body, name)
}
