package bind

import (
	"fmt"
	"slices"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// AlterEnum puts another enum in the place of one; Enum is nil if there is nothing to do.
type AlterEnum struct {
	Was, Enum *catalog.Enum
	Renamed   string // the label that has another name, as a literal; "" if none
	To        string // its new name, as a literal
	Notice    string
	Pos       int
}

// maxLabel is how many bytes a label may have, as in PostgreSQL.
const maxLabel = 63

// enumOf is the type of some labels.
func enumOf(name string, labels []ast.Ident) types.Type {
	var texts []string
	for _, l := range labels {
		checkLabel(l)
		if slices.Contains(texts, l.Name) {
			fail(diag.UniqueViolation, l.Pos, "enum label %q is given twice", l.Name)
		}
		texts = append(texts, l.Name)
	}
	return types.TEnum(name, texts)
}

func checkLabel(l ast.Ident) {
	if len(l.Name) > maxLabel {
		panic(diag.Errorf(diag.InvalidName, l.Pos, "invalid enum label %q", l.Name).WithDetail("Labels must be %d bytes or less.", maxLabel))
	}
}

// enumSpelled is how SQL writes the name of an enum.
func enumSpelled(schema, name string) string {
	if catalog.IsMain(schema) {
		return ast.QuoteIdent(name)
	}
	return ast.QuoteIdent(schema) + "." + ast.QuoteIdent(name)
}

// createType binds CREATE TYPE.
func (b *binder) createType(s *ast.CreateType) Bound {
	e := &catalog.Enum{}
	e.Schema, e.Name = b.newName(s.Name)
	labels := s.Labels
	if s.Query != nil {
		labels = b.queriedLabels(s)
	}
	if _, err := types.ParseType(e.Name, nil); err == nil && len(s.Name) == 1 {
		fail(diag.DuplicateObject, s.Name.Pos(), "type %q already exists", e.Name)
	}
	e.Type = enumOf(enumSpelled(e.Schema, e.Name), labels)
	return &Create{Relation: e, Tag: "CREATE TYPE", IfNotExists: s.IfNotExists, Pos: s.Name.Pos()}
}

// queriedLabels are what a query finds, each once, in the order in which they come.
func (b *binder) queriedLabels(s *ast.CreateType) (out []ast.Ident) {
	env, ok := b.env.(Asker)
	if !ok {
		unsupported(s.Pos, "an enum of a query")
	}
	rows, err := env.Ask(s.Query, b.params)
	check(err, s.Query.Position())
	seen := map[string]bool{}
	for _, r := range rows {
		if len(r) != 1 || r[0].Type.Kind != types.Text {
			fail(diag.DatatypeMismatch, s.Query.Position(), "the labels of an enum come from one column of texts")
		}
		if r[0].Null {
			fail(diag.NotNullViolation, s.Query.Position(), "a label of an enum cannot be NULL")
		}
		if !seen[r[0].S] {
			seen[r[0].S] = true
			out = append(out, ast.Ident{Name: r[0].S, Pos: s.Query.Position()})
		}
	}
	return out
}

// findEnum is the enum that a name means; nil if it means none.
func (b *binder) findEnum(schema, name string) *catalog.Enum {
	o, ok := b.env.(Objects)
	if !ok {
		return nil
	}
	e := o.Enum(schema, name)
	if e != nil && b.uses != nil {
		b.uses.Enums[e.Type] = true
	}
	return e
}

// alterEnum binds ALTER TYPE.
func (b *binder) alterEnum(s *ast.AlterEnum) Bound {
	schema, name := splitName(s.Name)
	was := b.findEnum(schema, name)
	if was == nil {
		if _, err := types.ParseType(name, nil); err == nil {
			fail(diag.WrongObjectType, s.Name.Pos(), "%s is not an enum", name)
		}
		fail(diag.UndefinedObject, s.Name.Pos(), "type %q does not exist", s.Name.String())
	}
	out := &AlterEnum{Was: was, Pos: s.Pos}
	if s.Kind == ast.RenameEnum {
		if _, err := types.ParseType(s.To.Name, nil); err == nil || b.findEnum(catalog.SchemaName(was.Schema), s.To.Name) != nil {
			fail(diag.DuplicateObject, s.To.Pos, "type %q already exists", s.To.Name)
		}
		out.Enum = &catalog.Enum{Schema: was.Schema, Name: s.To.Name, Type: types.TEnum(enumSpelled(was.Schema, s.To.Name), was.Type.Labels())}
		return out
	}
	labels := slices.Clone(was.Type.Labels())
	find := func(l ast.Ident) int {
		i := slices.Index(labels, l.Name)
		if i < 0 {
			panic(diag.Errorf(diag.InvalidParameter, l.Pos, "%q is not an existing enum label", l.Name).WithHint(diag.DidYouMean(l.Name, labels)))
		}
		return i
	}
	switch s.Kind {
	case ast.AddLabel:
		checkLabel(s.Label)
		if slices.Contains(labels, s.Label.Name) {
			if !s.Exists {
				fail(diag.DuplicateObject, s.Label.Pos, "enum label %q already exists", s.Label.Name)
			}
			out.Notice = fmt.Sprintf("enum label %q already exists, skipping", s.Label.Name)
			return out
		}
		at := len(labels)
		if s.Beside.Pos >= 0 {
			if at = find(s.Beside); !s.Before {
				at++
			}
		}
		labels = slices.Insert(labels, at, s.Label.Name)
	case ast.RenameLabel:
		at := find(s.Label)
		checkLabel(s.To)
		if slices.Contains(labels, s.To.Name) {
			fail(diag.DuplicateObject, s.To.Pos, "enum label %q already exists", s.To.Name)
		}
		labels[at] = s.To.Name
		out.Renamed, out.To = ast.QuoteString(s.Label.Name), ast.QuoteString(s.To.Name)
	}
	out.Enum = &catalog.Enum{Schema: was.Schema, Name: was.Name, Type: types.TEnum(was.Type.EnumName(), labels)}
	return out
}

// enumArg is the type of the arguments, which are of one enum or NULL.
func (b *binder) enumArg(c *call) types.Type {
	t := types.TUnknown
	for _, a := range c.args {
		switch at := a.Type(); {
		case at.Kind == types.Unknown: // NULL, or a label
		case at.Kind != types.Enum || t.Kind == types.Enum && t != at:
			panic(noFunction(c.name, c.args, c.pos))
		default:
			t = at
		}
	}
	if t.Kind != types.Enum {
		fail(diag.IndeterminateDatatype, c.pos, "could not determine actual enum type")
	}
	return t
}

// enumEnd is enum_first and enum_last: of a type, whatever the value is.
func enumEnd(last bool) func(*binder, *call) plan.Expr {
	return func(b *binder, c *call) plan.Expr {
		t := b.enumArg(c)
		n := len(t.Labels())
		switch {
		case n == 0:
			fail(diag.ObjectNotInPrerequisiteState, c.pos, "enum %s contains no values", t.SQLName())
		case last:
			return &plan.Const{V: types.EnumValue(t, n-1)}
		}
		return &plan.Const{V: types.EnumValue(t, 0)}
	}
}

// enumRange is enum_range: all labels, or those between two.
func enumRange(b *binder, c *call) plan.Expr {
	t := b.enumArg(c)
	if len(c.args) == 1 {
		v, err := funcs.EnumRange.Eval([]types.Value{types.NullOf(t), types.NullOf(t)}, types.TList(t))
		check(err, c.pos)
		return &plan.Const{V: v}
	}
	return plan.NewApply(funcs.EnumRange, types.TList(t), c.pos, b.convert(c.args[0], t, c.pos), b.convert(c.args[1], t, c.pos))
}

// enumCode is enum_code: the place of a label, from 0 on.
func enumCode(b *binder, c *call) plan.Expr {
	return plan.NewApply(funcs.EnumCode, types.TInt32, c.pos, b.convert(c.args[0], b.enumArg(c), c.pos))
}

// asTexts puts texts in the place of what a query has and files have not.
func (b *binder) asTexts(q *plan.Query) {
	p := &plan.Project{Input: q.Root, Keep: q.Root.Produces(nil)}
	for i, id := range q.Output {
		t := q.Cols.Get(id).Type
		text := t.InFiles()
		if text == t {
			continue
		}
		to := q.Cols.New(q.Names[i], text, q.Cols.Get(id).NotNull)
		p.Cols, p.Exprs = append(p.Cols, to), append(p.Exprs, plan.NewCall(plan.Cast, text, q.Cols.NewRef(id)))
		q.Output[i] = to
	}
	if p.Cols != nil {
		q.Root = p
	}
}
