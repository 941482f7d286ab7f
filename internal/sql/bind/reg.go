package bind

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/sql/parse"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Numbered is an Env that knows the numbers by which pg_catalog's tables refer to each other.
type Numbered interface {
	// ClassNumber is that of a table, view, sequence or index.
	ClassNumber(schema, name string) (oid int64, ok bool)
	// TypeNumber is that of a type, 0 if PostgreSQL has no such.
	TypeNumber(t types.Type) int64
}

// A value of regclass, regtype and their like is a number that is shown as a name. There are no such types here: x::regclass is the name, a text,
// and the binder remembers the number beside it, which takes the name's place where numbers are wanted: in comparisons with them, and casts.

// registered is what the binder remembers of such a value.
type registered struct {
	kind string
	oid  plan.Expr
}

// regKinds are PostgreSQL's types of names for numbers, with the query that finds the name of the number p1.
var regKinds = map[string]string{
	"regclass": `(SELECT CASE WHEN n.nspname = ANY(current_schemas(true)) THEN quote_ident(c.relname) ELSE quote_ident(n.nspname) || '.' || quote_ident(c.relname) END
		FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = p1)`,
	"regtype":      `format_type(p1, NULL)`,
	"regnamespace": `(SELECT quote_ident(nspname) FROM pg_catalog.pg_namespace WHERE oid = p1)`,
	"regrole":      `(SELECT quote_ident(rolname) FROM pg_catalog.pg_roles WHERE oid = p1)`,
	"regproc":      `(SELECT quote_ident(proname) FROM pg_catalog.pg_proc WHERE oid = p1)`,
}

// regFinders are the queries that find the number of the name p1, which may have a schema.
var regFinders = map[string]string{
	"regclass": `(SELECT c.oid FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname || '.' || c.relname = p1 OR c.relname = p1 AND n.nspname = ANY(current_schemas(true)) ORDER BY array_position(current_schemas(true), n.nspname) LIMIT 1)`,
	"regtype":      `(SELECT t.oid FROM pg_catalog.pg_type t WHERE t.typname = p1 OR format_type(t.oid, NULL) = p1 LIMIT 1)`,
	"regnamespace": `(SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = p1)`,
	"regrole":      `(SELECT oid FROM pg_catalog.pg_roles WHERE rolname = p1)`,
	"regproc":      `(SELECT oid FROM pg_catalog.pg_proc WHERE proname = p1)`,
}

// regCast binds x::regclass and its like; nil if the type is none of these.
func (b *binder) regCast(s *scope, e *ast.Cast) plan.Expr {
	if regKinds[e.Type.Name] == "" || e.Type.Dims > 0 || len(e.Type.Mods) > 0 {
		return nil
	}
	return b.registered(s, b.expr(s, e.X), e.Type.Name, e.X.Position(), !e.Try)
}

// registered is the name that a value has, with its number beside it. Where it must be there, a constant that names nothing is an error, else NULL.
func (b *binder) registered(s *scope, x plan.Expr, kind string, pos int, must bool) plan.Expr {
	if r, ok := b.regs[x]; ok {
		if r.kind == kind {
			return x
		}
		x = r.oid
	}
	var name, oid plan.Expr
	c, constant := x.(*plan.Const)
	text := x.Type().Kind == types.Unknown || x.Type().Kind == types.Text
	switch {
	case constant && c.V.Null:
		name, oid = &plan.Const{V: types.NullOf(types.TText)}, plan.NullConst(types.TInt64)
	case constant && text && c.V.S == "-":
		name, oid = &plan.Const{V: types.TextValue("-")}, &plan.Const{V: types.IntValue(types.TInt64, 0)}
	case constant && text && (c.V.S == "" || strings.Trim(c.V.S, "0123456789") != ""):
		name, oid = b.registeredName(s, c.V.S, kind, pos, must)
	case text:
		if constant {
			n, err := strconv.ParseInt(c.V.S, 10, 64)
			if err != nil {
				fail(diag.InvalidTextRepresentation, pos, "invalid name: %q", c.V.S)
			}
			oid = &plan.Const{V: types.IntValue(types.TInt64, n)}
		} else {
			oid = b.sqlOver(s, regFinders[kind], pos, x)
		}
		name = b.sqlOver(s, shownNumber(kind), pos, oid)
	case x.Type().IsInteger():
		oid = b.convert(x, types.TInt64, pos)
		name = b.sqlOver(s, shownNumber(kind), pos, oid)
	default:
		fail(diag.CannotCoerce, pos, "cannot cast type %s to %s", x.Type().SQLName(), kind)
	}
	if b.regs == nil {
		b.regs = map[plan.Expr]registered{}
	}
	b.regs[name] = registered{kind, oid}
	return name
}

// shownNumber is the name of the number p1, or the number; nothing has the number 0.
func shownNumber(kind string) string {
	return "CASE WHEN p1 = 0 THEN '-' ELSE coalesce(" + regKinds[kind] + ", p1::text) END"
}

// registeredName finds what a constant names.
func (b *binder) registeredName(s *scope, text, kind string, pos int, must bool) (name, oid plan.Expr) {
	none := func(code, format string, args ...any) (plan.Expr, plan.Expr) {
		if must {
			fail(code, pos, format, args...)
		}
		return &plan.Const{V: types.NullOf(types.TText)}, plan.NullConst(types.TInt64)
	}
	number := func(n int64) plan.Expr { return &plan.Const{V: types.IntValue(types.TInt64, n)} }
	env, ok := b.env.(Numbered)
	if !ok {
		unsupported(pos, "%s here", kind)
	}
	if kind == "regtype" {
		n, err := parse.ParseType(text)
		if err != nil {
			return none(diag.SyntaxError, "invalid type name %q", text)
		}
		if _, err := types.ParseType(n.Name, nil); err != nil && n.Members == nil {
			if o, ok := b.env.(Objects); !ok || o.Enum("", n.Name) == nil {
				return none(diag.UndefinedObject, "type %q does not exist", text)
			}
		}
		n.Mods = nil // PostgreSQL forgets them
		t := b.typeName(n)
		oid := number(env.TypeNumber(writtenType(n, t)))
		return b.sqlOver(s, regKinds[kind], pos, oid), oid
	}
	n, err := parseName(text)
	if err != nil || len(n) == 0 || len(n) > 3 {
		return none("42602", "invalid name syntax")
	}
	schema := ""
	if len(n) > 1 {
		schema = n[len(n)-2].Name
	}
	switch kind {
	case "regclass":
		found, ok := env.ClassNumber(schema, n.Last())
		if !ok {
			return none(diag.UndefinedTable, "relation %q does not exist", text)
		}
		oid = number(found)
	case "regnamespace":
		if o, ok := b.env.(Objects); !ok || !o.HasSchema(n.Last()) {
			return none(diag.InvalidSchemaName, "schema %q does not exist", n.Last())
		}
		oid = b.sqlOver(s, regFinders[kind], pos, &plan.Const{V: types.TextValue(n.Last())})
	case "regproc":
		_, isAgg := aggregateNamed(n.Last())
		if !isAgg && funcs.Find(n.Last()) == nil && funcs.FindFold(n.Last(), false) == nil && b.findMacro(n, false) == nil {
			return none(diag.UndefinedFunction, "function %q does not exist", text)
		}
		return &plan.Const{V: types.TextValue(n.Last())}, plan.NullConst(types.TInt64)
	case "regrole":
		if n.Last() != "kelpie" {
			return none(diag.UndefinedObject, "role %q does not exist", n.Last())
		}
		oid = number(10)
	}
	return b.sqlOver(s, regKinds[kind], pos, oid), oid
}

// writtenType is a type by the name that was written: varchar and char are texts here.
func writtenType(n ast.TypeName, t types.Type) types.Type {
	if t.Kind == types.Text && n.Dims == 0 && slices.Contains([]string{"varchar", "character varying", "char", "character", "bpchar"}, n.Name) {
		return types.Type{Kind: types.Text, Len: 1}
	}
	return t
}

// number is the number beside a name; nil if there is none.
func (b *binder) number(e plan.Expr) plan.Expr {
	if r, ok := b.regs[e]; ok {
		return r.oid
	}
	return nil
}

// numbers are the operands of a comparison, of which at least one is the name of a number: both are numbers then, unless the other one is a text.
func (b *binder) numbers(s *scope, l, r plan.Expr, at place) (plan.Expr, plan.Expr) {
	if len(b.regs) == 0 {
		return l, r
	}
	x, y := b.number(l), b.number(r)
	other := func(mine, e plan.Expr, pos int) plan.Expr {
		if e.Type().Kind == types.Unknown {
			return b.regs[b.registered(s, e, b.regs[mine].kind, pos, true)].oid
		}
		return e
	}
	switch {
	case x != nil && y != nil:
		return x, y
	case x != nil && (r.Type().IsInteger() || r.Type().Kind == types.Unknown):
		return x, other(l, r, at.r)
	case y != nil && (l.Type().IsInteger() || l.Type().Kind == types.Unknown):
		return other(r, l, at.l), y
	}
	return l, r
}

// sqlOver binds a text in which p1, p2 … are the arguments.
func (b *binder) sqlOver(s *scope, text string, pos int, args ...plan.Expr) plan.Expr {
	r := &rel{name: "of", pos: pos}
	for i, a := range args {
		a = b.settle(a)
		r.cols = append(r.cols, relCol{name: "p" + strconv.Itoa(i+1), typ: a.Type(), expr: a})
	}
	inner := &scope{rels: []*rel{r}, params: true}
	if s != nil {
		inner.depth, inner.aggs, inner.clause, inner.windows = s.depth, s.aggs, s.clause, s.windows
	}
	ctes := b.ctes
	b.ctes = nil
	e := b.expr(inner, parsed(text))
	b.ctes = ctes
	return e
}

// currentSchemas is the path, as a list.
func (b *binder) currentSchemas(c *call) plan.Expr {
	var names []types.Value
	implicit, ok := c.args[0].(*plan.Const)
	if !ok || implicit.V.Null {
		unsupported(c.pos, "current_schemas of what is no constant")
	}
	if implicit.V.I != 0 {
		names = append(names, types.TextValue("pg_catalog"))
	}
	if o, ok := b.env.(Objects); ok {
		for _, n := range o.Path() {
			names = append(names, types.TextValue(catalog.SchemaName(n)))
		}
	}
	return &plan.Const{V: types.ListValue(types.TText, names)}
}
