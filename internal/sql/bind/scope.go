package bind

import (
	"iter"
	"strings"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// scope is what the expressions of one SELECT see: the relations of its FROM, and
// through outer those of the queries around it.
type scope struct {
	outer *scope
	depth int // 0 for the outermost
	rels  []*rel
	aggs  *aggregates // of the SELECT; nil where there cannot be any
	// windows are the window functions of the SELECT, nil where there cannot be any.
	windows *windows
	// clause names the place being bound if aggregates are forbidden there; "" allows them.
	clause string
	// items are those of the select list once FROM is bound: where there is no column of a name, it may be that of an item.
	items []ast.SelectItem
	// params: the relation is the parameters of a macro, whose columns are expressions of the query around its call.
	params bool
}

func (s *scope) push() *scope {
	if s == nil {
		return &scope{}
	}
	return &scope{outer: s, depth: s.depth + 1}
}

// rel is a relation of FROM. Columns of stored tables and shared plans get their
// ColID when they are first used, so that a scan produces nothing in vain.
type rel struct {
	name    string // the alias, or the table's name; "" cannot be named
	schema  string // as written
	cols    []relCol
	pos     int
	table   *catalog.Table   // a stored table: its keys matter to GROUP BY
	scan    *plan.Scan       // columns come from here on demand …
	ordinal func(i int) int  // which column of the scanned table column i is; nil: column i
	shared  *plan.SharedScan // … or from here
	padded  bool             // an outer join may fill the columns with NULL
	sides   []*paddedSide    // of outer joins that may, the innermost first
	values  bool             // rows are values of a function, not rows with a column
	aliased bool             // name is an alias: the table's own name is hidden
	working bool             // the last round of a recursion
	stored  bool             // the rows of a stored table, which have numbers
	byName  map[string][]int // places of a wide relation's columns
	asked   int              // how often a name was looked for
}

// named are the places of the columns with a name. A wide relation that is often asked gets a table of them.
func (r *rel) named(name string) iter.Seq[int] {
	const often = 8
	return func(yield func(int) bool) {
		if r.asked++; r.asked < often || len(r.cols) < 4*often {
			for i := range r.cols {
				if r.cols[i].name == name && !yield(i) {
					return
				}
			}
			return
		}
		if r.byName == nil {
			r.byName = make(map[string][]int, len(r.cols))
			places := make([]int, len(r.cols))
			for i := range r.cols {
				places[i] = i
				n := r.cols[i].name
				if had := r.byName[n]; had != nil {
					r.byName[n] = append(had, i)
				} else {
					r.byName[n] = places[i : i+1 : i+1]
				}
			}
		}
		for _, i := range r.byName[name] {
			if !yield(i) {
				return
			}
		}
	}
}

// relCol is a column of a relation.
type relCol struct {
	name    string
	typ     types.Type
	id      plan.ColID // 0: not used yet
	source  plan.ColID // shared: the column of the shared plan
	notNull bool
	hidden  bool      // merged by USING: seen only through its table's name
	expr    plan.Expr // how to read it; nil until first used
}

// found is a name resolved.
type found struct {
	scope *scope
	rel   *rel
	i     int
}

// read is the expression for a column, noting who refers to whom.
func (b *binder) read(c found, pos int) plan.Expr {
	d := c.scope.depth
	b.free = min(b.free, d)
	inAgg := false
	for f := b.agg; f != nil; f = f.outer {
		if d <= f.scope.depth {
			f.level = max(f.level, d)
			inAgg = true
		}
	}
	if a := c.scope.aggs; a != nil && !inAgg && !c.scope.params {
		a.refs = append(a.refs, written{c.rel, c.i, pos})
	}
	return b.column(c.rel, c.i)
}

// column is the expression for a relation's column.
func (b *binder) column(r *rel, i int) plan.Expr {
	c := &r.cols[i]
	if c.expr == nil {
		b.require(r, i)
		c.expr = &plan.Ref{ID: c.id, T: c.typ}
	}
	return c.expr
}

// require makes a scan produce a column.
func (b *binder) require(r *rel, i int) {
	c := &r.cols[i]
	if c.id != 0 {
		return
	}
	c.id = b.cols.New(c.name, c.typ, c.notNull && !r.padded)
	if b.uses != nil && r.table != nil {
		b.uses.table(r.table)[i] = true
	}
	switch {
	case r.scan != nil:
		r.scan.Cols = append(r.scan.Cols, c.id)
		o := i
		if r.ordinal != nil {
			o = r.ordinal(i)
		}
		r.scan.Ordinal = append(r.scan.Ordinal, o)
	case r.shared != nil:
		r.shared.Cols = append(r.shared.Cols, c.id)
		r.shared.Source = append(r.shared.Source, c.source)
	}
	b.noteForeign(r, i)
	keep(r.sides, c.id)
}

// pad notes that an outer join may fill the relations' columns with NULL. Col.NotNull
// promises for the whole query, so it is taken back even for uses below the join. at is the
// join's input with these relations; nil if none asks for whole rows of them.
func (b *binder) pad(rels []*rel, at *plan.Node) {
	side := &paddedSide{input: at}
	for _, r := range rels {
		r.padded = true
		if at != nil {
			r.sides = append(r.sides, side)
		}
		for i := range r.cols {
			if id := r.cols[i].id; id != 0 {
				b.cols.Get(id).NotNull = false
			}
		}
	}
}

// columnRef binds a name in an expression.
func (b *binder) columnRef(s *scope, e *ast.ColumnRef) plan.Expr {
	c, ok := b.lookup(s, e)
	if !ok {
		if x := b.alias(s, e); x != nil {
			return x
		}
		if x := b.columnField(s, e); x != nil {
			return x
		}
		panic(b.unknownColumn(s, e))
	}
	if b.onColumn != nil {
		b.onColumn(e, c.rel, c.i)
	}
	return b.mustReadExpr(b.read(c, e.Pos), e.Pos)
}

// lookup finds a name in the nearest scope that has it.
func (b *binder) lookup(s *scope, e *ast.ColumnRef) (found, bool) {
	n := e.Name
	switch len(n) {
	case 1:
		for ; s != nil; s = s.outer {
			if c, ok := s.find(n[0].Name, e.Pos); ok {
				return c, true
			}
		}
	case 2, 3:
		schema := ""
		if len(n) == 3 {
			schema = n[0].Name
		}
		table, col := n[len(n)-2].Name, n[len(n)-1].Name
		for ; s != nil; s = s.outer {
			r := s.relation(schema, table, e.Pos)
			if r == nil {
				continue
			}
			return s.in(r, col, e.Pos)
		}
	}
	return found{}, false
}

// find looks for an unqualified column in one scope.
func (s *scope) find(name string, pos int) (at found, ok bool) {
	for _, r := range s.rels {
		for i := range r.named(name) {
			if r.cols[i].hidden {
				continue
			}
			if ok {
				panic(diag.Errorf(diag.AmbiguousColumn, pos, "column reference %q is ambiguous", name).
					WithHint("write %s", qualifiedChoices(name, at.rel, r)))
			}
			at, ok = found{s, r, i}, true
		}
	}
	return at, ok
}

// qualifiedChoices is `"a.x" or "b.x"`.
func qualifiedChoices(name string, a, b *rel) string {
	if a.name == "" || b.name == "" || a.name == b.name {
		return "a table's name or alias before it"
	}
	return `"` + a.name + "." + name + `" or "` + b.name + "." + name + `"`
}

// relation finds a relation by name in one scope.
func (s *scope) relation(schema, name string, pos int) *rel {
	var found *rel
	for _, r := range s.rels {
		if r.name != name || schema != "" && (r.aliased || r.schema != schema) {
			continue
		}
		if found != nil {
			fail(diag.AmbiguousColumn, pos, "table reference %q is ambiguous", name)
		}
		found = r
	}
	return found
}

// in finds a column in one relation.
func (s *scope) in(r *rel, name string, pos int) (at found, ok bool) {
	for i := range r.named(name) {
		if ok {
			fail(diag.AmbiguousColumn, pos, "column reference %q is ambiguous", r.name+"."+name)
		}
		at, ok = found{s, r, i}, true
	}
	return at, ok
}

// unknownColumn explains why a name means nothing here.
func (b *binder) unknownColumn(s *scope, e *ast.ColumnRef) *diag.Error {
	n := e.Name
	if len(n) > 3 {
		return diag.Errorf(diag.SyntaxError, e.Pos, "improper qualified name (too many dotted names): %s", n.String())
	}
	switch n.Last() {
	case "ctid", "xmin", "xmax", "cmin", "cmax", "tableoid", "rowid":
		return diag.Unsupported(e.Pos, "the column %s that each table has in PostgreSQL or DuckDB", n.Last()).WithHint("row_number() OVER () numbers rows")
	}
	if len(n) == 1 {
		err := diag.Errorf(diag.UndefinedColumn, e.Pos, "column %q does not exist", n[0].Name)
		if c, ok := (&scope{rels: b.beyond}).first(n[0].Name); ok {
			return err.WithDetail("there is a column named %q in table %q, but it cannot be referenced from this part of the query",
				n[0].Name, c.rel.name).WithHint(b.beyondHint)
		}
		return err.WithHint(suggestColumn(n[0].Name, s))
	}
	table, col := n[len(n)-2].Name, n[len(n)-1].Name
	for sc := s; sc != nil; sc = sc.outer {
		for _, r := range sc.rels {
			if r.name != table {
				continue
			}
			err := diag.Errorf(diag.UndefinedColumn, e.Pos, "column %s.%s does not exist", table, col)
			return err.WithHint(diag.DidYouMean(col, r.names()))
		}
	}
	for _, r := range b.beyond {
		if r.name == table {
			return diag.Errorf(diag.UndefinedTable, e.Pos, "invalid reference to FROM-clause entry for table %q", table).
				WithDetail("there is an entry for table %q, but it cannot be referenced from this part of the query", table).
				WithHint(b.beyondHint)
		}
	}
	err := diag.Errorf(diag.UndefinedTable, e.Pos, "missing FROM-clause entry for table %q", table)
	var names []string
	for sc := s; sc != nil; sc = sc.outer {
		for _, r := range sc.rels {
			if r.aliased && r.table != nil && r.table.Name == table {
				return err.WithHint("perhaps you meant to reference the table alias %q", r.name)
			}
			names = append(names, r.name)
		}
	}
	return err.WithHint(diag.DidYouMean(table, names))
}

func (r *rel) names() []string {
	names := make([]string, len(r.cols))
	for i := range r.cols {
		names[i] = r.cols[i].name
	}
	return names
}

// suggestColumn is the hint for a misspelt column: the nearest name in scope, with its
// table.
func suggestColumn(name string, s *scope) string {
	var names []string
	for sc := s; sc != nil; sc = sc.outer {
		for _, r := range sc.rels {
			names = append(names, r.names()...)
		}
	}
	best := diag.Suggest(name, names)
	if best == "" {
		return ""
	}
	for sc := s; sc != nil; sc = sc.outer {
		if c, ok := sc.first(best); ok {
			if c.rel.name == "" {
				break
			}
			return `did you mean "` + best + `" (` + c.rel.name + `)?`
		}
	}
	return `did you mean "` + best + `"?`
}

// first finds a column without minding ambiguity.
func (s *scope) first(name string) (found, bool) {
	for _, r := range s.rels {
		for i := range r.cols {
			if strings.EqualFold(r.cols[i].name, name) {
				return found{s, r, i}, true
			}
		}
	}
	return found{}, false
}
