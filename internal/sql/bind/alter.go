package bind

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/sql/parse"
)

// Alteration is what one action of ALTER TABLE makes of a table.
type Alteration struct {
	Schema, Name string
	Columns      []catalog.ColumnDef
	Keys         [][]int
	Rules        catalog.Rules
	From         []int       // which column of the table each column is; -1: one that Query computes
	Query        *plan.Query // in the order of the table's rows, the columns that are not there yet; nil if there are none
	Sequences    []*catalog.Sequence

	Dropped     int    // the column that goes, or whose type changes; -1: none
	Retyped     bool   // it is the type
	DroppedKey  []int  // the key that goes; nil: none
	Renamed     int    // the column that gets another name; -1: none
	NewChecks   bool   // there are checks or foreign keys that rows were not held to yet
	Notice      string // what there was to skip; then nothing changes
	DroppedName string // of the column or constraint
}

// AlterAction binds an action of ALTER TABLE for the table as it is now.
func AlterAction(env Env, t *catalog.Table, a *ast.AlterAction) (out *Alteration, err error) {
	defer diag.Recover("bind", &err)
	b := newBinder(env, nil)
	d := definitionOf(t)
	out = &Alteration{Dropped: -1, Renamed: -1}
	for i := range t.Columns {
		out.From = append(out.From, i)
	}
	x := &altering{b, t, d, out}
	x.action(a)
	out.Schema, out.Name, out.Columns, out.Keys, out.Rules = d.Schema, d.Name, d.Columns, d.Keys, d.Rules
	return out, nil
}

type altering struct {
	b   *binder
	t   *catalog.Table
	d   *definition
	out *Alteration
}

// column finds a column of the table.
func (x *altering) column(id ast.Ident) int { return tableColumn(x.t, id) }

func (x *altering) action(a *ast.AlterAction) {
	d, out := x.d, x.out
	switch a.Kind {
	case ast.AddColumn:
		x.addColumn(a)
	case ast.DropColumn:
		if a.Exists && x.t.Column(a.Name.Name) < 0 {
			out.Notice = fmt.Sprintf("column %q of relation %q does not exist, skipping", a.Name.Name, x.t.Name)
			return
		}
		x.dropColumn(x.column(a.Name))
	case ast.RenameColumn:
		o := x.column(a.Name)
		if x.t.Column(a.To.Name) >= 0 {
			fail(diag.DuplicateColumn, a.To.Pos, "column %q of relation %q already exists", a.To.Name, x.t.Name)
		}
		x.renameColumn(o, a.To.Name)
	case ast.RenameTable:
		d.Name = a.To.Name
	case ast.SetSchema:
		d.Schema, _ = x.b.newName(ast.Name{a.To, {Name: d.Name}})
	case ast.AlterType:
		x.alterType(x.column(a.Name), a)
	case ast.SetDefaultValue:
		o := x.column(a.Name)
		c := &d.Columns[o]
		switch {
		case c.Generated != "":
			fail(diag.SyntaxError, a.Name.Pos, "column %q of relation %q is a generated column", c.Name, d.Name)
		case c.Identity != catalog.NoIdentity:
			fail(diag.SyntaxError, a.Name.Pos, "column %q of relation %q is an identity column", c.Name, d.Name)
		}
		c.Default = ""
		if a.X != nil {
			c.Default = x.b.defaultText(c, a.X)
		}
	case ast.SetNotNull:
		d.Columns[x.column(a.Name)].NotNull = true
	case ast.DropNotNull:
		o := x.column(a.Name)
		if d.Rules.Primary && slices.Contains(d.Keys[0], o) {
			fail(diag.InvalidTableDefinition, a.Name.Pos, "column %q is in a primary key", a.Name.Name)
		}
		d.Columns[o].NotNull = false
	case ast.DropExpression:
		o := x.column(a.Name)
		if d.Columns[o].Generated == "" {
			if a.Exists {
				out.Notice = fmt.Sprintf("column %q of relation %q is not a stored generated column, skipping", a.Name.Name, d.Name)
				return
			}
			fail(diag.ObjectNotInPrerequisiteState, a.Name.Pos, "column %q of relation %q is not a stored generated column", a.Name.Name, d.Name)
		}
		d.Columns[o].Generated = ""
	case ast.AddConstraint:
		k := a.Constraint
		x.b.constraint(d, &k)
		out.NewChecks = k.Kind == ast.Check || k.Kind == ast.ForeignKey
	case ast.DropConstraint:
		if !x.dropConstraint(a.Name.Name) {
			if a.Exists {
				out.Notice = fmt.Sprintf("constraint %q of relation %q does not exist, skipping", a.Name.Name, d.Name)
				return
			}
			fail(diag.UndefinedObject, a.Name.Pos, "constraint %q of relation %q does not exist", a.Name.Name, d.Name)
		}
		out.DroppedName = a.Name.Name
	case ast.RenameConstraint:
		x.renameConstraint(a)
	}
}

// compute makes the query for columns that are not there yet: exprs over the table's rows, in their order.
func (x *altering) compute(exprs func(s *scope) []plan.Expr) {
	b := x.b
	target, scan, row := b.numbered(x.t, ast.Name{{Name: x.t.Name}}, ast.Ident{})
	es := exprs(&scope{rels: []*rel{target}, clause: "ALTER TABLE"})
	p := b.project(scan, len(es)+1)
	var r result
	for i, e := range es {
		r.cols = append(r.cols, outCol{name: fmt.Sprint("column", i+1), id: p.col(e, "")})
	}
	p.col(b.ref(row), "")
	r.node = &plan.Sort{Input: p.done(), Keys: []plan.SortKey{{Col: row}}, Limit: -1}
	x.out.Query = b.finish(r)
}

func (x *altering) addColumn(a *ast.AlterAction) {
	d, out, b := x.d, x.out, x.b
	if x.t.Column(a.Name.Name) >= 0 {
		if !a.Exists {
			fail(diag.DuplicateColumn, a.Name.Pos, "column %q of relation %q already exists", a.Name.Name, d.Name)
		}
		out.Notice = fmt.Sprintf("column %q of relation %q already exists, skipping", a.Name.Name, d.Name)
		return
	}
	def, seq := b.columnDef(d.Schema, d.Name, &a.Column)
	if seq != nil {
		out.Sequences = append(out.Sequences, seq)
	}
	d.Columns = append(d.Columns, def)
	defs := make([]ast.ColumnDef, len(d.Columns))
	defs[len(defs)-1] = a.Column
	b.checkGenerated(d, defs)
	def = d.Columns[len(d.Columns)-1]
	list := columnConstraints(&a.Column)
	b.constraints(d, list)
	for _, k := range list {
		out.NewChecks = out.NewChecks || k.Kind == ast.Check || k.Kind == ast.ForeignKey
	}
	out.From = append(out.From, -1)
	x.compute(func(s *scope) []plan.Expr {
		switch {
		case def.Generated != "":
			return []plan.Expr{b.store(b.expr(s, parsed(def.Generated)), &def, a.Pos)}
		case seq != nil: // which is not in the catalog yet
			return []plan.Expr{b.convert(b.nextval(seq, a.Pos), def.Type, a.Pos)}
		}
		return []plan.Expr{b.store(b.defaultValue(&def, a.Pos), &def, a.Pos)}
	})
}

// dropColumn takes a column away, with the constraints that are about it.
func (x *altering) dropColumn(o int) {
	d, out := x.d, x.out
	if len(d.Columns) == 1 {
		unsupported(diag.NoPos, "a table without columns")
	}
	out.Dropped, out.DroppedName = o, d.Columns[o].Name
	d.Rules.Checks = slices.DeleteFunc(d.Rules.Checks, func(c catalog.Check) bool { return slices.Contains(x.uses(c.SQL), o) })
	for i := range d.Columns {
		if c := &d.Columns[i]; c.Generated != "" && i != o && slices.Contains(x.uses(c.Generated), o) {
			panic(diag.Errorf(diag.DependentObjectsStillExist, diag.NoPos, "cannot drop column %s of table %s because other objects depend on it",
				d.Columns[o].Name, d.Name).WithDetail("column %s of table %s depends on column %s of table %s", c.Name, d.Name, d.Columns[o].Name, d.Name).
				WithHint("drop the generated column first"))
		}
	}
	d.Rules.Foreign = slices.DeleteFunc(d.Rules.Foreign, func(f catalog.ForeignKey) bool { return slices.Contains(f.Columns, o) })
	d.Rules.Indexes = slices.DeleteFunc(d.Rules.Indexes, func(ix catalog.Index) bool {
		return slices.ContainsFunc(ix.Columns, func(n string) bool { return strings.EqualFold(n, d.Columns[o].Name) })
	})
	for i := len(d.Keys) - 1; i >= 0; i-- {
		if slices.Contains(d.Keys[i], o) {
			out.DroppedKey = d.Keys[i]
			x.dropKey(i)
		}
	}
	down := func(list []int) []int {
		list = slices.Clone(list)
		for i := range list {
			if list[i] > o {
				list[i]--
			}
		}
		return list
	}
	for i := range d.Keys {
		d.Keys[i] = down(d.Keys[i])
	}
	for i := range d.Rules.Foreign {
		d.Rules.Foreign[i].Columns = down(d.Rules.Foreign[i].Columns)
	}
	d.Columns = slices.Delete(d.Columns, o, o+1)
	out.From = slices.Delete(out.From, o, o+1)
}

func (x *altering) dropKey(i int) {
	d := x.d
	if i == 0 && d.Rules.Primary {
		d.Rules.Primary = false
	}
	d.Keys = slices.Delete(d.Keys, i, i+1)
	d.Rules.KeyNames = slices.Delete(d.Rules.KeyNames, i, i+1)
	if i < len(d.Rules.Unique) {
		d.Rules.Unique = slices.Delete(d.Rules.Unique, i, i+1)
	}
}

// dropConstraint takes a constraint away; false if there is none of that name.
func (x *altering) dropConstraint(name string) bool {
	d := x.d
	for i := range d.Keys {
		if strings.EqualFold(d.Rules.KeyNames[i], name) && !x.t.IsIndex(i) {
			x.out.DroppedKey = d.Keys[i]
			x.dropKey(i)
			return true
		}
	}
	n := len(d.Rules.Checks) + len(d.Rules.Foreign)
	d.Rules.Checks = slices.DeleteFunc(d.Rules.Checks, func(c catalog.Check) bool { return strings.EqualFold(c.Name, name) })
	d.Rules.Foreign = slices.DeleteFunc(d.Rules.Foreign, func(f catalog.ForeignKey) bool { return strings.EqualFold(f.Name, name) })
	return len(d.Rules.Checks)+len(d.Rules.Foreign) < n
}

func (x *altering) renameConstraint(a *ast.AlterAction) {
	d := x.d
	if slices.ContainsFunc(d.names(), func(n string) bool { return strings.EqualFold(n, a.To.Name) }) {
		fail(diag.DuplicateObject, a.To.Pos, "constraint %q for relation %q already exists", a.To.Name, d.Name)
	}
	found := false
	rename := func(name *string) {
		if strings.EqualFold(*name, a.Name.Name) {
			*name, found = a.To.Name, true
		}
	}
	for i := range d.Rules.KeyNames {
		rename(&d.Rules.KeyNames[i])
	}
	for i := range d.Rules.Checks {
		rename(&d.Rules.Checks[i].Name)
	}
	for i := range d.Rules.Foreign {
		rename(&d.Rules.Foreign[i].Name)
	}
	if !found {
		fail(diag.UndefinedObject, a.Name.Pos, "constraint %q for table %q does not exist", a.Name.Name, d.Name)
	}
}

// alterType gives a column another type.
func (x *altering) alterType(o int, a *ast.AlterAction) {
	d, b := x.d, x.b
	c := &d.Columns[o]
	if c.Generated != "" && a.X != nil {
		fail(diag.InvalidColumnDefinition, a.Name.Pos, "cannot specify USING when altering type of generated column")
	}
	old := c.Type
	c.Type = b.typeName(a.Type)
	if c.Default != "" && c.Identity == catalog.NoIdentity { // it must be possible still
		b.assign(b.expr(&scope{clause: "DEFAULT expressions"}, parsed(c.Default)), c.Type, a.Pos, "the default of column "+quoted(c.Name))
	}
	for i := range d.Columns {
		if g := &d.Columns[i]; i != o && g.Generated != "" && slices.Contains(x.uses(g.Generated), o) {
			panic(diag.Errorf(diag.FeatureNotSupported, a.Pos, "cannot alter type of a column used by a generated column").
				WithDetail("Column %q is used by generated column %q.", c.Name, g.Name))
		}
	}
	x.out.From[o], x.out.Dropped, x.out.Retyped, x.out.DroppedName = -1, o, true, c.Name
	x.compute(func(s *scope) []plan.Expr {
		var e plan.Expr
		switch {
		case c.Generated != "":
			e = b.expr(s, parsed(c.Generated))
		case a.X != nil:
			if e = b.expr(s, a.X); plan.HasSubquery(e) {
				fail(diag.FeatureNotSupported, a.X.Position(), "cannot use subquery in transform expression")
			}
		default:
			e = b.column(s.rels[0], o)
			if !assignable(e.Type(), c.Type) {
				panic(diag.Errorf(diag.DatatypeMismatch, a.Name.Pos, "column %q cannot be cast automatically to type %s", c.Name, strings.ToLower(c.Type.String())).
					WithHint("You might need to specify \"USING %s::%s\".", ast.QuoteIdent(c.Name), strings.ToLower(c.Type.String())))
			}
		}
		return []plan.Expr{b.store(e, c, a.Pos)}
	})
	for _, ck := range d.Rules.Checks { // they must make sense still
		s, _ := b.over(d, "check constraints")
		b.condition(s, parsed(ck.SQL), "CHECK")
	}
	x.out.NewChecks = old.Kind != c.Type.Kind
}

// renameColumn gives a column another name, in expressions, too.
func (x *altering) renameColumn(o int, to string) {
	d := x.d
	for i := range d.Rules.Checks {
		c := &d.Rules.Checks[i]
		c.SQL = x.renameIn(c.SQL, o, to)
	}
	for i := range d.Columns {
		if c := &d.Columns[i]; c.Generated != "" {
			c.Generated = x.renameIn(c.Generated, o, to)
		}
	}
	for i := range d.Rules.Indexes {
		ix := &d.Rules.Indexes[i]
		ix.Columns = slices.Clone(ix.Columns)
		for k := range ix.Columns {
			if strings.EqualFold(ix.Columns[k], d.Columns[o].Name) {
				ix.Columns[k] = to
			}
		}
	}
	for i := range d.Rules.Foreign {
		f := &d.Rules.Foreign[i]
		if f.Table == d.Name && f.Schema == d.Schema {
			f.Refs = slices.Clone(f.Refs)
			for k := range f.Refs {
				if strings.EqualFold(f.Refs[k], d.Columns[o].Name) {
					f.Refs[k] = to
				}
			}
		}
	}
	d.Columns[o].Name = to
	x.out.Renamed = o
}

// uses are the columns of the table that an expression of its definition refers to.
func (x *altering) uses(text string) []int {
	s, scan := x.b.over(definitionOf(x.t), "")
	x.b.expr(s, parsed(text))
	return scan.Ordinal
}

// renameIn is an expression of the table's definition in which a column has another name.
func (x *altering) renameIn(text string, o int, to string) string {
	var at []int
	s, _ := x.b.over(definitionOf(x.t), "")
	x.b.onColumn = func(e *ast.ColumnRef, r *rel, i int) {
		if i == o {
			at = append(at, e.Name[len(e.Name)-1].Pos)
		}
	}
	x.b.expr(s, parsed(text))
	x.b.onColumn = nil
	return replaceNames(text, at, ast.QuoteIdent(to))
}

// parsed is an expression that is stored as a text.
func parsed(text string) ast.Expr {
	e, err := parse.ParseExpr(text)
	if err != nil {
		panic(diag.Internalf("bind", "stored expression %s: %v", text, err))
	}
	return e
}

// replaceNames puts a text in the place of the names that begin at some places of another.
func replaceNames(text string, at []int, by string) string {
	slices.Sort(at)
	at = slices.Compact(at)
	for i := len(at) - 1; i >= 0; i-- {
		text = text[:at[i]] + by + text[nameEnd(text, at[i]):]
	}
	return text
}

// nameEnd is where the name ends that begins at a place of a text.
func nameEnd(text string, at int) int {
	if text[at] == '"' {
		for i := at + 1; i < len(text); i++ {
			if text[i] != '"' {
				continue
			}
			if i+1 < len(text) && text[i+1] == '"' {
				i++
				continue
			}
			return i + 1
		}
		return len(text)
	}
	end := at
	for end < len(text) && (text[end] >= 0x80 || text[end] == '_' || text[end] == '$' || text[end] >= '0' && text[end] <= '9' ||
		text[end]|0x20 >= 'a' && text[end]|0x20 <= 'z') {
		end++
	}
	return end
}
