package bind

import (
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// from binds the FROM clause of the SELECT whose scope is s, and fills the scope.
func (b *binder) from(s *scope, items []ast.TableExpr) plan.Node {
	if len(items) == 0 {
		return oneRow()
	}
	var node plan.Node
	for _, t := range items {
		seen := b.lateral
		n, rels := b.tableExpr(s, s.rels, t)
		distinctNames(s.rels, rels)
		s.rels = append(s.rels, rels...)
		if node == nil {
			node = n
			continue
		}
		j := &plan.Join{Kind: plan.Inner, Left: node, Right: n}
		j.Dependent = b.lateral != seen && dependsOn(n, node)
		node = j
	}
	return node
}

// oneRow is the relation of one row without columns: what SELECT without FROM reads.
func oneRow() plan.Node { return &plan.Values{Rows: [][]plan.Expr{{}}} }

// dependsOn reports that n reads columns that left produces.
func dependsOn(n, left plan.Node) bool {
	free, made := plan.FreeRefs(n), plan.Produced(left)
	return free.Intersects(&made)
}

// distinctNames checks that no two relations of one FROM have the same name.
func distinctNames(have, more []*rel) {
	for _, m := range more {
		for _, h := range have {
			if m.name != "" && m.name == h.name && (m.aliased || h.aliased || m.schema == h.schema) {
				panic(diag.Errorf(diag.DuplicateAlias, m.pos, "table name %q specified more than once", m.name).
					WithHint("give one of them an alias"))
			}
		}
	}
}

// tableExpr binds one entry of FROM. s is the SELECT's scope, of which only outer and depth
// count here: left are the relations that LATERAL may see.
func (b *binder) tableExpr(s *scope, left []*rel, t ast.TableExpr) (plan.Node, []*rel) {
	switch t := t.(type) {
	case *ast.TableRef:
		return b.tableRef(t)
	case *ast.FileRef:
		return b.fileTable(FileRef{Path: t.Path}, t.Pos, t.Alias)
	case *ast.SubqueryTable:
		return b.subqueryTable(s, left, t)
	case *ast.FuncTable:
		return b.funcTable(s, left, t)
	case *ast.SampleTable:
		n, rels := b.tableExpr(s, left, t.Table)
		return b.sample(n, rels, t.Sample), rels
	case *ast.Join:
		return b.join(s, left, t)
	}
	panic(diag.Internalf("bind", "FROM entry %T", t))
}

// fileName is what a file is called in the query: its name without folders and suffix.
func fileName(path string) string {
	start, end := 0, len(path)
	for i := 0; i < len(path); i++ {
		if path[i] == '/' || path[i] == '\\' {
			start, end = i+1, len(path)
		}
	}
	for i := end - 1; i > start; i-- {
		if path[i] == '.' {
			return path[start:i]
		}
	}
	return path[start:end]
}

// tableRef binds a name in FROM: a CTE, a view or a stored table.
func (b *binder) tableRef(t *ast.TableRef) (plan.Node, []*rel) {
	schema, name := splitName(t.Name)
	if schema == "" {
		if p := b.pending[name]; p != nil && b.findCTE(name) == nil {
			n, r := b.scanPending(p, t.Pos)
			applyAlias(r, t.Alias)
			return n, []*rel{r}
		}
		if c := b.findCTE(name); c != nil {
			n, r := b.scanCTE(c, t.Pos)
			applyAlias(r, t.Alias)
			return n, []*rel{r}
		}
	}
	table, ok := b.env.Table(schema, name)
	if !ok {
		if v, ok := b.env.View(schema, name); ok {
			n, r := b.view(v, t.Pos)
			r.schema = schema
			applyAlias(r, t.Alias)
			return n, []*rel{r}
		}
		panic(b.unknownTable(t.Name))
	}
	if b.onTable != nil {
		b.onTable(t, table)
	}
	n, r := b.scan(table, schema, t.Pos)
	r.stored = true
	applyAlias(r, t.Alias)
	n.Alias = r.name
	return n, []*rel{r}
}

// splitName takes the table and schema of a dotted name; a database before them is
// ignored, since there is one only.
func splitName(n ast.Name) (schema, name string) {
	if len(n) > 1 {
		schema = n[len(n)-2].Name
	}
	return schema, n.Last()
}

func (b *binder) unknownTable(n ast.Name) *diag.Error {
	names := b.env.TableNames()
	for c := b.ctes; c != nil; c = c.outer {
		names = append(names[:len(names):len(names)], c.def.Name.Name)
	}
	schema, name := splitName(n)
	if hint := foreignRelation(strings.ToLower(schema), strings.ToLower(name)); hint != "" {
		return diag.Unsupported(n.Pos(), "the catalog %s", n.String()).WithHint("%s", hint)
	}
	return diag.Errorf(diag.UndefinedTable, n.Pos(), "relation %q does not exist", n.String()).
		WithHint(diag.DidYouMean(n.Last(), names))
}

// scan makes the scan of a stored table, of no columns yet.
func (b *binder) scan(t *catalog.Table, schema string, pos int) (*plan.Scan, *rel) {
	if b.uses != nil {
		b.uses.table(t)
	}
	n := &plan.Scan{Table: t, Snap: t.Snapshot(), Alias: t.Name}
	r := &rel{name: t.Name, schema: schema, table: t, scan: n, pos: pos, cols: make([]relCol, len(t.Columns))}
	for i := range t.Columns {
		c := &t.Columns[i]
		r.cols[i] = relCol{name: c.Name, typ: c.Type, notNull: c.NotNull}
	}
	return n, r
}

// applyAlias renames a relation and its columns.
func applyAlias(r *rel, a *ast.Alias) {
	if a == nil {
		return
	}
	if !a.Name.Empty() {
		r.name, r.aliased, r.pos = a.Name.Name, true, a.Name.Pos
	}
	if len(a.Columns) > len(r.cols) {
		fail(diag.InvalidColumnReference, a.Columns[len(r.cols)].Pos,
			"table %q has %d columns available but %d columns specified", r.name, len(r.cols), len(a.Columns))
	}
	for i, c := range a.Columns {
		r.cols[i].name = c.Name
	}
	r.byName = nil
}

// derived makes a relation of a bound query. A column that the query gives twice becomes two: grouping sets
// may have one of them without the other.
func (b *binder) derived(q *result, pos int) *rel {
	q.node = b.distinctCols(q)
	r := &rel{pos: pos, cols: make([]relCol, len(q.cols))}
	for i, c := range q.cols {
		col := b.cols.Get(c.id)
		r.cols[i] = relCol{name: c.name, typ: col.Type, id: c.id, notNull: col.NotNull}
	}
	return r
}

// distinctCols is the query's plan, with a projection on top that gives repeated columns names of their own.
func (b *binder) distinctCols(q *result) plan.Node {
	var p *plan.Project
	for i := range q.cols {
		c := &q.cols[i]
		if !slices.ContainsFunc(q.cols[:i], func(o outCol) bool { return o.id == c.id }) {
			continue
		}
		if p == nil {
			p = &plan.Project{Input: q.node}
		}
		e := b.ref(c.id)
		c.id = b.newCol(c.name, e)
		p.Exprs, p.Cols = append(p.Exprs, e), append(p.Cols, c.id)
	}
	if p == nil {
		return q.node
	}
	for _, c := range q.cols {
		if !slices.Contains(p.Cols, c.id) {
			p.Keep = append(p.Keep, c.id)
		}
	}
	return p
}

// subqueryTable binds (select …) in FROM.
func (b *binder) subqueryTable(s *scope, left []*rel, t *ast.SubqueryTable) (plan.Node, []*rel) {
	around, beyond, hint := s.outer, b.beyond, b.beyondHint
	if t.Lateral {
		b.lateral++
		around = lateralScope(s, left)
	} else {
		b.beyond, b.beyondHint = left, "to see the tables to its left, a subquery needs the word LATERAL before it"
	}
	query := withColumn(t.Query)
	q := b.query(query, around)
	b.beyond, b.beyondHint = beyond, hint
	r := b.derived(&q, t.Pos)
	if query != t.Query {
		r.cols = nil // only its rows count
	}
	applyAlias(r, t.Alias)
	return q.node, []*rel{r}
}

// lateralScope lends the relations to the left of a LATERAL item. It stands for the
// SELECT's own scope, hence the same depth.
func lateralScope(s *scope, left []*rel) *scope {
	return &scope{outer: s.outer, depth: s.depth, rels: left, clause: "FROM clause of their own query level"}
}
