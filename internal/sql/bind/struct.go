package bind

import (
	"fmt"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// fieldType is the type that a value has as a field or an element.
func (b *binder) fieldType(t types.Type, pos int) types.Type { return b.listOf(t, pos).Elem() }

// nestedType is STRUCT(a INTEGER, …), ROW(…) or MAP(key, value).
func (b *binder) nestedType(n ast.TypeName) types.Type {
	fields := make([]types.Member, len(n.Members))
	seen := map[string]bool{}
	for i, m := range n.Members {
		t := b.typeName(m.Type)
		if !types.CanList(t) {
			unsupported(m.Type.Pos, "%s in a nested type", t.SQLName())
		}
		if t.Kind == types.Text {
			t.Len = 0 // as those of elements
		}
		fields[i] = types.Member{Name: m.Name.Name, Type: t}
		if key := strings.ToLower(m.Name.Name); n.Name != "map" && seen[key] {
			fail(diag.DuplicateColumn, m.Name.Pos, "struct field %q is given twice", m.Name.Name)
		} else {
			seen[key] = true
		}
	}
	switch {
	case n.Name == "map" && len(fields) != 2:
		fail(diag.SyntaxError, n.Pos, "MAP needs two types: that of keys and that of values")
	case n.Name == "map":
		return types.TMap(fields[0].Type, fields[1].Type)
	case len(fields) == 0:
		fail(diag.SyntaxError, n.Pos, "a struct needs at least one field")
	case n.Name == "row":
		return types.TRow(fields)
	}
	return types.TStruct(fields)
}

// structure makes a struct of values. Names differ, unless it is a row.
func (b *binder) structure(names []string, vals []plan.Expr, at func(i int) int, row bool, pos int) plan.Expr {
	if len(vals) == 0 && !row {
		fail(diag.SyntaxError, pos, "a struct needs at least one field")
	}
	fields := make([]types.Member, len(vals))
	seen := map[string]bool{}
	args := make([]plan.Expr, len(vals))
	for i, x := range vals {
		fields[i] = types.Member{Name: names[i], Type: b.fieldType(x.Type(), at(i))}
		if key := strings.ToLower(names[i]); !row && seen[key] {
			fail(diag.DuplicateColumn, at(i), "struct field %q is given twice", names[i])
		} else {
			seen[key] = true
		}
		args[i] = b.convert(x, fields[i].Type, at(i))
	}
	t := types.TStruct(fields)
	if row {
		t = types.TRow(fields)
	}
	return constantStruct(plan.NewApply(funcs.StructMake, t, pos, args...))
}

func constantStruct(x *plan.Call) plan.Expr {
	vs := make([]types.Value, len(x.Args))
	for i, a := range x.Args {
		c, ok := a.(*plan.Const)
		if !ok {
			return x
		}
		vs[i] = c.V
	}
	return &plan.Const{V: types.StructValue(x.T, vs)}
}

// structLiteral is {'a': x, …}.
func (b *binder) structLiteral(s *scope, e *ast.Struct) plan.Expr {
	names := make([]string, len(e.Keys))
	vals := make([]plan.Expr, len(e.Keys))
	for i, k := range e.Keys {
		names[i], vals[i] = k.Name, b.expr(s, e.Values[i])
	}
	return b.structure(names, vals, func(i int) int { return e.Values[i].Position() }, false, e.Pos)
}

// rowValue is ROW(x, …) and (x, y): its fields are called f1, f2 and so on, as PostgreSQL does.
func (b *binder) rowValue(s *scope, e *ast.Row) plan.Expr {
	vals := make([]plan.Expr, len(e.Elems))
	for i, x := range e.Elems {
		vals[i] = b.expr(s, x)
	}
	return b.rowOf(vals, func(i int) int { return e.Elems[i].Position() }, e.Pos)
}

// rowFunc is "row"(x, …), where the name is that of a function.
func (b *binder) rowFunc(c *call) plan.Expr { return b.rowOf(c.args, c.argPos, c.pos) }

func (b *binder) rowOf(vals []plan.Expr, at func(i int) int, pos int) plan.Expr {
	names := make([]string, len(vals))
	for i := range names {
		names[i] = fmt.Sprintf("f%d", i+1)
	}
	return b.structure(names, vals, at, true, pos)
}

// structCall is struct_pack(a := x, …) and struct_insert(s, b := y, …), whose parameters have the names that a query gives them.
func (b *binder) structCall(s *scope, e *ast.Func) plan.Expr {
	var names []string
	var vals []plan.Expr
	var at []int
	for i, a := range e.Args {
		x := b.expr(s, a.X)
		if i == 0 && e.Name.Last() == "struct_insert" {
			b.mustBe(types.Struct, x, e.Name.Last(), a.X.Position())
			for k, f := range x.Type().Fields() {
				names, vals, at = append(names, f.Name), append(vals, b.fieldAt(x, k, a.X.Position())), append(at, a.X.Position())
			}
			continue
		}
		name := a.Name.Name
		if a.Name.Empty() {
			ref, ok := a.X.(*ast.ColumnRef)
			if !ok {
				panic(diag.Errorf(diag.SyntaxError, a.X.Position(), "a field of %s needs a name", e.Name.Last()).WithHint("write %s(a := x)", e.Name.Last()))
			}
			name = ref.Name.Last()
		}
		names, vals, at = append(names, name), append(vals, x), append(at, a.X.Position())
	}
	return b.structure(names, vals, func(i int) int { return at[i] }, false, e.Pos)
}

// mustBe refuses an argument of another kind.
func (b *binder) mustBe(kind types.Kind, x plan.Expr, name string, pos int) {
	if x.Type().Kind != kind {
		panic(noFunction(name, []plan.Expr{x}, pos))
	}
}

// fieldAt is a struct's field.
func (b *binder) fieldAt(x plan.Expr, i, pos int) plan.Expr {
	t := x.Type().Fields()[i].Type
	if c, ok := x.(*plan.Const); ok {
		if c.V.Null {
			return plan.NullConst(t)
		}
		return &plan.Const{V: c.V.FieldValue(i)}
	}
	if c, ok := x.(*plan.Call); ok && c.Fn == funcs.StructMake {
		return c.Args[i] // it need not be made first
	}
	return plan.NewApply(funcs.StructAt, t, pos, x, plan.NewConst(types.IntValue(types.TInt64, int64(i))))
}

// fieldNamed is the field of a struct with a name.
func (b *binder) fieldNamed(x plan.Expr, name string, pos int) plan.Expr {
	t := x.Type()
	if t.Kind != types.Struct {
		fail(diag.WrongObjectType, pos, "column notation .%s applied to type %s, which is not a composite type", name, t.SQLName())
	}
	i := t.FindField(name)
	if i < 0 {
		var names []string
		for _, f := range t.Fields() {
			names = append(names, f.Name)
		}
		panic(diag.Errorf(diag.UndefinedColumn, pos, "column %q not found in data type %s", name, t.SQLName()).WithHint(diag.DidYouMean(name, names)))
	}
	return b.fieldAt(x, i, pos)
}

// columnField is a.b where b is a field of the column a, or a.b.c and so on; and a table's name for a whole row of it. nil: it is not.
func (b *binder) columnField(s *scope, e *ast.ColumnRef) plan.Expr {
	for n := min(len(e.Name)-1, 3); n >= 1; n-- {
		base := &ast.ColumnRef{Pos: e.Pos, Name: e.Name[:n]}
		c, ok := b.lookup(s, base)
		if !ok || c.rel.cols[c.i].typ.Kind != types.Struct {
			continue
		}
		if b.onColumn != nil {
			b.onColumn(base, c.rel, c.i)
		}
		x := b.mustReadExpr(b.read(c, e.Pos), e.Pos)
		for _, id := range e.Name[n:] {
			x = b.fieldNamed(x, id.Name, id.Pos)
		}
		return x
	}
	if len(e.Name) != 1 {
		return nil
	}
	for sc := s; sc != nil; sc = sc.outer {
		if r := sc.relation("", e.Name[0].Name, e.Pos); r != nil {
			return b.wholeRow(sc, r, e.Pos)
		}
	}
	return nil
}

// wholeRow is the row of a relation as one value, which is NULL where an outer join found none.
func (b *binder) wholeRow(s *scope, r *rel, pos int) plan.Expr {
	if r.values {
		return b.mustReadExpr(b.read(found{s, r, 0}, pos), pos)
	}
	names := make([]string, len(r.cols))
	vals := make([]plan.Expr, len(r.cols))
	for i := range r.cols {
		names[i], vals[i] = r.cols[i].name, b.mustReadExpr(b.read(found{s, r, i}, pos), pos)
	}
	row := b.structure(names, vals, func(int) int { return pos }, true, pos)
	if len(r.sides) == 0 {
		return row
	}
	return &plan.Call{Op: plan.Case, T: row.Type(), Args: []plan.Expr{b.rowThere(r), row, plan.NullConst(row.Type())}, Pos: pos}
}

// structSubscript is s['a'], and s[1] for its first field.
func (b *binder) structSubscript(x plan.Expr, s *scope, e *ast.Subscript) plan.Expr {
	if e.Slice {
		fail(diag.DatatypeMismatch, e.Pos, "cannot take a slice of type %s", x.Type().SQLName())
	}
	return b.constantField(x, b.expr(s, e.Index), e.Index.Position())
}

func (b *binder) constantField(x, index plan.Expr, pos int) plan.Expr {
	c, ok := index.(*plan.Const)
	switch {
	case !ok || c.V.Null:
		unsupported(pos, "a struct's field whose name is not a constant")
	case c.V.Type.IsInteger():
		if n := int64(len(x.Type().Fields())); c.V.I < 1 || c.V.I > n {
			fail(diag.UndefinedColumn, pos, "a struct of %d fields has no field %d", n, c.V.I)
		}
		return b.fieldAt(x, int(c.V.I-1), pos)
	}
	return b.fieldNamed(x, c.V.S, pos)
}

// mapSubscript is m[key].
func (b *binder) mapSubscript(x plan.Expr, s *scope, e *ast.Subscript) plan.Expr {
	if e.Slice {
		fail(diag.DatatypeMismatch, e.Pos, "cannot take a slice of type %s", x.Type().SQLName())
	}
	return b.mapLookup(funcs.MapAt, x.Type().Fields()[1].Type, x, b.expr(s, e.Index), e.Pos, e.Index.Position())
}

// mapLookup is a function of a map and a key of it.
func (b *binder) mapLookup(f *plan.Function, t types.Type, m, key plan.Expr, pos, keyPos int) plan.Expr {
	kt := m.Type().Fields()[0].Type
	common, ok := types.CommonType(kt, key.Type())
	if !ok {
		fail(diag.DatatypeMismatch, keyPos, "a key of %s cannot be of type %s", m.Type().SQLName(), key.Type().SQLName())
	}
	if common != kt && common.Kind != types.Text { // keys of a map are compared with the key as numbers are with numbers
		m = b.convert(m, types.TMap(common, m.Type().Fields()[1].Type), pos)
	}
	return plan.NewApply(f, t, pos, m, b.convert(key, common, keyPos))
}

// structFunc makes the calls of structRows.
func (b *binder) structFunc(c *call) plan.Expr {
	x := c.args[0]
	apply := func(f *plan.Function, t types.Type, args ...plan.Expr) plan.Expr {
		return plan.NewApply(f, t, c.pos, args...)
	}
	switch c.name {
	case "struct_extract":
		b.mustBe(types.Struct, x, c.name, c.pos)
		return b.constantField(x, c.args[1], c.argPos(1))
	case "struct_keys":
		b.mustBe(types.Struct, x, c.name, c.pos)
		var names []types.Value
		for _, f := range x.Type().Fields() {
			names = append(names, types.TextValue(f.Name))
		}
		return plan.NewConst(types.ListValue(types.TText, names))
	case "row_to_json":
		b.mustBe(types.Struct, x, c.name, c.pos)
		lines := plan.Expr(plan.BoolConst(false))
		if len(c.args) > 1 {
			lines = c.args[1]
		}
		return apply(funcs.JSONLines, types.TJSON, x, lines, plan.NewConst(types.TextValue(b.zone().Spec())))
	case "map_from_entries":
		t := x.Type()
		if t.Kind != types.List || t.Elem().Kind != types.Struct || len(t.Elem().Fields()) != 2 {
			panic(noFunction(c.name, c.args, c.pos))
		}
		kv := t.Elem().Fields()
		return apply(funcs.MapOf, types.TMap(kv[0].Type, kv[1].Type), x)
	}
	b.mustBe(types.Map, x, c.name, c.pos)
	kv := x.Type().Fields()
	switch c.name {
	case "map_keys":
		return apply(funcs.MapKeys, types.TList(kv[0].Type), x)
	case "map_values":
		return apply(funcs.MapValues, types.TList(kv[1].Type), x)
	case "map_entries":
		return apply(funcs.MapEntries, types.TList(x.Type().Elem()), x)
	case "cardinality":
		return apply(funcs.MapLen, types.TInt32, x)
	case "map_contains":
		return b.mapLookup(funcs.MapContains, types.TBool, x, c.args[1], c.pos, c.argPos(1))
	case "map_extract_value":
		return b.mapLookup(funcs.MapAt, kv[1].Type, x, c.args[1], c.pos, c.argPos(1))
	}
	return b.mapLookup(funcs.MapExtract, types.TList(kv[1].Type), x, c.args[1], c.pos, c.argPos(1))
}

// mapFunc is map(keys, values), which is what MAP {k: v} means.
func (b *binder) mapFunc(c *call) plan.Expr {
	if len(c.args) == 0 {
		return plan.NewConst(types.Value{Type: types.TMap(types.TText, types.TText), S: "\x00"})
	}
	if len(c.args) != 2 {
		panic(noFunction(c.name, c.args, c.pos))
	}
	for i, a := range c.args {
		if a.Type().Kind == types.Unknown {
			c.args[i] = b.convert(a, types.TList(types.TText), c.argPos(i))
		}
		b.mustBe(types.List, c.args[i], c.name, c.argPos(i))
	}
	t := types.TMap(c.args[0].Type().Elem(), c.args[1].Type().Elem())
	return computed(plan.NewApply(funcs.MapMake, t, c.pos, c.args...))
}

// unnestStruct is unnest(s) of a struct in a select list: a column for each field. nil: it is not that.
func (b *binder) unnestStruct(s *scope, x ast.Expr) []item {
	f, ok := x.(*ast.Func)
	if !ok || f.Name.Last() != "unnest" || len(f.Args) != 1 {
		return nil
	}
	refs := len(s.aggs.refs)
	e := b.expr(s, f.Args[0].X)
	if e.Type().Kind != types.Struct {
		s.aggs.refs = s.aggs.refs[:refs] // it is bound again
		return nil
	}
	var items []item
	for i, m := range e.Type().Fields() {
		items = append(items, item{x: b.fieldAt(e, i, f.Pos), name: m.Name, at: span{f.Pos, refs, len(s.aggs.refs)}})
	}
	return items
}

// typeOfExpr is the type of an expression, which is bound again where it is used.
func (b *binder) typeOfExpr(s *scope, x ast.Expr) types.Type {
	refs := len(s.aggs.refs)
	t := b.expr(s, x).Type()
	s.aggs.refs = s.aggs.refs[:refs]
	return t
}

// withField is a struct of type t, with another value in the place of a field, or of a field of a field.
func (b *binder) withField(x plan.Expr, path []ast.Ident, pos int, value func(t types.Type, name string) plan.Expr) plan.Expr {
	t := x.Type()
	b.fieldNamed(x, path[0].Name, path[0].Pos) // it must have such a field
	at := t.FindField(path[0].Name)
	args := make([]plan.Expr, len(t.Fields()))
	for i, f := range t.Fields() {
		switch {
		case i != at:
			args[i] = b.fieldAt(x, i, pos)
		case len(path) > 1:
			args[i] = b.withField(b.fieldAt(x, i, pos), path[1:], pos, value)
		default:
			args[i] = value(f.Type, f.Name)
		}
	}
	return constantStruct(plan.NewApply(funcs.StructMake, t, pos, args...))
}

// loose is the type of e, where literals in structs and maps that could be of another type, NULLs and texts, have none yet: their
// surroundings say what they are, as they do for literals alone.
func loose(e plan.Expr) types.Type {
	switch x := e.(type) {
	case *plan.Const:
		return looseValue(x.V, true)
	case *plan.Call:
		if x.Fn == funcs.StructMake {
			fields := make([]types.Member, len(x.Args))
			for i, f := range x.T.Fields() {
				fields[i] = types.Member{Name: f.Name, Type: looseField(x.Args[i])}
			}
			return sameStruct(x.T, fields)
		}
		if x.Fn == funcs.ListMake {
			elem := types.TUnknown
			for _, a := range x.Args {
				elem = meet(elem, loose(a))
			}
			return types.TList(elem)
		}
	}
	return e.Type()
}

func looseField(e plan.Expr) types.Type {
	if c, ok := e.(*plan.Const); ok && c.V.Type.Kind == types.Text {
		return types.TUnknown
	}
	return loose(e)
}

func sameStruct(t types.Type, fields []types.Member) types.Type {
	if t.IsRow() {
		return types.TRow(fields)
	}
	return types.TStruct(fields)
}

// looseValue is loose of a constant. A text is one that could be something else only in a struct.
func looseValue(v types.Value, top bool) types.Type {
	t := v.Type
	switch {
	case v.Null && !top:
		return types.TUnknown
	case v.Null:
		return t
	case t.Kind == types.Struct:
		fields := make([]types.Member, len(t.Fields()))
		for i, x := range v.FieldValues() {
			fields[i] = types.Member{Name: t.Fields()[i].Name, Type: looseValue(x, false)}
			if x.Type.Kind == types.Text {
				fields[i].Type = types.TUnknown
			}
		}
		return sameStruct(t, fields)
	case t.Kind == types.List && !t.Elem().IsNested() && t.Elem().Kind != types.Text: // somebody said so: NULLs alone make an array of texts
		return t
	case t.Kind == types.List, t.Kind == types.Map:
		elem := types.TUnknown
		for _, x := range v.Elems() {
			elem = meet(elem, looseValue(x, false))
		}
		if t.Kind == types.List {
			return types.TList(elem)
		}
		if elem.Kind == types.Unknown {
			return types.TMap(elem, elem)
		}
		return types.TMap(elem.Fields()[0].Type, elem.Fields()[1].Type)
	}
	return t
}

// meet is the common type of elements of one list, which have one.
func meet(a, b types.Type) types.Type {
	t, _ := types.CommonType(a, b)
	return t
}

// settled is t with texts where nothing says what the type is.
func settled(t types.Type) types.Type {
	switch t.Kind {
	case types.Unknown:
		return types.TText
	case types.List:
		return types.TList(settled(t.Elem()))
	case types.Struct, types.Map:
		fields := make([]types.Member, len(t.Fields()))
		for i, f := range t.Fields() {
			fields[i] = types.Member{Name: f.Name, Type: settled(f.Type)}
		}
		if t.Kind == types.Map {
			return types.TMap(fields[0].Type, fields[1].Type)
		}
		return sameStruct(t, fields)
	}
	return t
}
