package bind

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// createTable binds CREATE TABLE in both forms.
func (b *binder) createTable(s *ast.CreateTable) Bound {
	out := &CreateTable{IfNotExists: s.IfNotExists, OrReplace: s.OrReplace, Temp: s.Temp, Pos: s.Name.Pos()}
	out.Schema, out.Name = b.newName(s.Name)
	if s.As != nil {
		b.createTableAs(s, out)
		out.Rules.OnCommit = s.OnCommit
		return out
	}
	s = b.withLike(s)
	var list []ast.Constraint
	for i := range s.Columns {
		c := &s.Columns[i]
		def, seq := b.columnDef(out.Schema, out.Name, c)
		if seq != nil {
			out.Sequences = append(out.Sequences, seq)
		}
		def.Comment = c.Comment
		out.addColumn(def, c.Pos)
		if bareNumeric(c.Type) {
			out.Notices = append(out.Notices, fmt.Sprintf("column %q is stored as %s: give NUMERIC a precision and scale to keep more digits", def.Name, def.Type))
		}
		list = append(list, columnConstraints(c)...)
	}
	d := &definition{Schema: out.Schema, Name: out.Name, Columns: out.Columns}
	b.checkGenerated(d, s.Columns)
	b.constraints(d, append(list, s.Constraints...))
	out.Columns, out.Keys, out.Rules = d.Columns, d.Keys, d.Rules
	out.Rules.OnCommit = s.OnCommit
	return out
}

// newName is where an object is made: in the schema that is named, or the first of the path.
func (b *binder) newName(n ast.Name) (schema, name string) {
	schema, name = splitName(n)
	objects, ok := b.env.(Objects)
	switch {
	case !ok:
		return schema, name
	case schema == "":
		schema = objects.CurrentSchema()
		if schema == "" {
			fail(diag.InvalidSchemaName, n.Pos(), "no schema has been selected to create in")
		}
	case !objects.HasSchema(schema):
		fail(diag.InvalidSchemaName, n.Pos(), "schema %q does not exist", schema)
	case isSystemSchema(schema):
		fail(diag.InsufficientPrivilege, n.Pos(), "permission denied to create %q", n.String())
	}
	if catalog.IsMain(schema) {
		schema = ""
	}
	return schema, name
}

func isSystemSchema(schema string) bool {
	return schema == "information_schema" || schema == "pg_catalog"
}

// columnDef binds a column, without its constraints but NOT NULL, and the sequence that it needs, if it does.
func (b *binder) columnDef(schema, table string, c *ast.ColumnDef) (catalog.ColumnDef, *catalog.Sequence) {
	def := catalog.ColumnDef{Name: c.Name.Name, NotNull: c.NotNull || c.PrimaryKey}
	serial := serialTypes[c.Type.Name]
	switch {
	case serial.Kind != types.Unknown && c.Type.Schema == "":
		def.Type, def.NotNull = serial, true
		if c.Default != nil {
			fail(diag.SyntaxError, c.Pos, "multiple default values specified for column %q of table %q", def.Name, table)
		}
	case c.Type.Name == "" && c.Generated != nil: // of a generated column: see checkGenerated
	default:
		def.Type = b.typeName(c.Type)
	}
	if c.Default != nil {
		def.Default = b.defaultText(&def, c.Default)
	}
	if c.Generated != nil {
		switch {
		case c.Default != nil:
			fail(diag.SyntaxError, c.Pos, "both default and generation expression specified for column %q of table %q", def.Name, table)
		case c.Identity != ast.NoIdentity:
			fail(diag.SyntaxError, c.Pos, "both identity and generation expression specified for column %q of table %q", def.Name, table)
		}
		def.Generated = ast.Format(c.Generated)
	}
	if serial.Kind == types.Unknown && c.Identity == ast.NoIdentity {
		return def, nil
	}
	if c.Identity != ast.NoIdentity {
		if c.Default != nil {
			fail(diag.SyntaxError, c.Pos, "both default and identity specified for column %q of table %q", def.Name, table)
		}
		if k := def.Type.Kind; k != types.Int16 && k != types.Int32 && k != types.Int64 {
			fail(diag.InvalidParameter, c.Pos, "identity column type must be smallint, integer, or bigint")
		}
		def.Identity = catalog.Identity(c.Identity)
	}
	seq := b.newSequence(schema, b.freeName(schema, table+"_"+def.Name+"_seq"), def.Type, c.Sequence, c.Pos)
	seq.OwnerTable, seq.OwnerCol = table, def.Name
	def.Default = "nextval(" + ast.QuoteString(qualifiedName(schema, seq.Name)) + ")"
	return def, seq
}

// serialTypes are integers with a sequence.
var serialTypes = map[string]types.Type{
	"smallserial": types.TInt16, "serial2": types.TInt16, "serial": types.TInt32, "serial4": types.TInt32,
	"bigserial": types.TInt64, "serial8": types.TInt64,
}

// qualifiedName is a name that means the same whatever the path is.
func qualifiedName(schema, name string) string {
	if catalog.IsMain(schema) {
		return ast.QuoteIdent(name)
	}
	return ast.QuoteIdent(schema) + "." + ast.QuoteIdent(name)
}

// freeName is a name that no relation of the schema has.
func (b *binder) freeName(schema, name string) string {
	o, ok := b.env.(Objects)
	if !ok {
		return name
	}
	for i, free := 0, name; ; i++ {
		if !o.Taken(schema, free) {
			return free
		}
		free = name + strconv.Itoa(i+1)
	}
}

// defaultText checks a DEFAULT and is its text.
func (b *binder) defaultText(def *catalog.ColumnDef, x ast.Expr) string {
	e := b.assign(b.expr(&scope{clause: "DEFAULT expressions"}, x), def.Type, x.Position(), "column "+quoted(def.Name))
	if plan.HasSubquery(e) {
		fail(diag.FeatureNotSupported, x.Position(), "cannot use subquery in DEFAULT expression")
	}
	return ast.Format(x)
}

func quoted(name string) string { return `"` + name + `"` }

// addColumn checks that the name is new.
func (t *CreateTable) addColumn(def catalog.ColumnDef, pos int) {
	for i := range t.Columns {
		if strings.EqualFold(t.Columns[i].Name, def.Name) {
			fail(diag.DuplicateColumn, pos, "column %q specified more than once", def.Name)
		}
	}
	t.Columns = append(t.Columns, def)
}

func (b *binder) createTableAs(s *ast.CreateTable, out *CreateTable) {
	q := b.root(s.As)
	if len(s.AsColumns) > len(q.Output) {
		fail(diag.SyntaxError, s.AsColumns[len(q.Output)].Pos, "too many column names were specified")
	}
	for i, id := range q.Output {
		name, pos := q.Names[i], s.As.Pos
		if i < len(s.AsColumns) {
			name, pos = s.AsColumns[i].Name, s.AsColumns[i].Pos
		}
		q.Names[i] = name
		out.addColumn(catalog.ColumnDef{Name: name, Type: q.Cols.Get(id).Type}, pos)
	}
	if !s.NoData {
		out.Query = q
	}
}

func (b *binder) createView(s *ast.CreateView) Bound {
	out := &CreateView{IfNotExists: s.IfNotExists, OrReplace: s.OrReplace, Temp: s.Temp, Pos: s.Name.Pos()}
	out.View = &catalog.View{SQL: s.QueryText}
	out.View.Schema, out.View.Name = b.newName(s.Name)
	if o, ok := b.env.(Objects); ok {
		out.View.Path = o.Path()
	}
	b.params = nil                // a view is bound again without them
	b.views = append(b.views, "") // what depends on rows is refused as where the view is used
	q := b.finish(b.query(s.Query, nil))
	b.views = nil
	if len(s.Columns) > len(q.Output) {
		fail(diag.SyntaxError, s.Columns[len(q.Output)].Pos, "CREATE VIEW specifies more column names than columns")
	}
	out.View.Width = len(q.Output)
	names := append([]string(nil), q.Names...)
	for i, id := range s.Columns {
		names[i] = id.Name
		out.View.Columns = names
	}
	for i := range names {
		for j := range i {
			if names[i] == names[j] {
				fail(diag.DuplicateColumn, s.Query.Pos, "column %q specified more than once", names[i])
			}
		}
	}
	return out
}

// defaultValue is the DEFAULT of a column, NULL if it has none.
func (b *binder) defaultValue(c *catalog.ColumnDef, pos int) plan.Expr {
	if c.Default == "" {
		return plan.NullConst(c.Type)
	}
	x, err := parseDefault(c.Default)
	if err != nil {
		panic(diag.Internalf("bind", "default of column %s: %v", c.Name, err))
	}
	return b.assign(b.expr(&scope{clause: "DEFAULT expressions"}, x), c.Type, pos, "column "+quoted(c.Name))
}
