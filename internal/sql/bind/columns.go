package bind

import (
	"regexp"
	"slices"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/eval"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// columnsCall is COLUMNS('pattern') or COLUMNS(*) in an item of a select list, which stands for as many items as there are
// columns of such names: min(COLUMNS(*)) is the minimum of each. In GROUP BY and ORDER BY it is likewise, and conditions must hold for
// all of them.
type columnsCall struct {
	scope   *scope
	pattern string
	all     []found // nil: there is no such call
	at      int     // the one that is being bound
}

// eachColumns binds something once for each column that COLUMNS in it stands for; once, without any.
func eachColumns[T any](b *binder, s *scope, bind func() T) []T {
	saved := b.columns
	b.columns = &columnsCall{scope: s}
	defer func() { b.columns = saved }()
	all := []T{bind()}
	for i := 1; i < len(b.columns.all); i++ {
		b.columns.at = i
		all = append(all, bind())
	}
	return all
}

// columnsFunc is the column that such a call stands for now, nil for other calls.
func (b *binder) columnsFunc(s *scope, e *ast.Func) plan.Expr {
	if len(e.Name) != 1 || e.Name[0].Name != "columns" || e.Name[0].Quoted {
		return nil
	}
	c := b.columns
	if c == nil || c.scope != s {
		unsupported(e.Pos, "COLUMNS in this place")
	}
	pattern := ast.Format(e)
	switch {
	case c.all == nil:
		c.pattern, c.all = pattern, b.columnsOf(s, e)
	case c.pattern != pattern:
		unsupported(e.Pos, "more than one pattern of COLUMNS in an item")
	}
	col := c.all[c.at]
	return b.mustReadExpr(b.read(col, e.Pos), e.Pos)
}

// columnsOf are the columns that COLUMNS(*), COLUMNS(* EXCLUDE (a)) or COLUMNS('pattern') stands for: those in whose names there
// is something that the pattern matches.
func (b *binder) columnsOf(s *scope, e *ast.Func) []found {
	if e.Star {
		return b.columnsBut(s, e.StarOf, e.Pos)
	}
	lit, ok := (*ast.Literal)(nil), false
	if len(e.Args) == 1 {
		switch x := e.Args[0].X.(type) {
		case *ast.Lambda:
			return b.columnsWhere(s, x)
		case *ast.Array:
			return b.columnsNamed(s, x)
		case *ast.Literal:
			lit, ok = x, true
		}
	}
	if !ok || lit.Kind != ast.LitString {
		panic(diag.Unsupported(e.Pos, "COLUMNS of anything but *, a pattern, a list of names or a lambda").WithHint("write COLUMNS(*), COLUMNS('^a.*') or COLUMNS(c -> c LIKE 'a%%')"))
	}
	re, err := regexp.Compile(lit.Text)
	if err != nil {
		fail(diag.InvalidRegularExpression, e.Pos, "invalid regular expression: %v", err)
	}
	all := s.columns(func(name string) bool { return re.MatchString(name) })
	if all == nil {
		fail(diag.UndefinedColumn, e.Pos, "no column has a name like %q", lit.Text)
	}
	return all
}

// unpackColumns puts the columns that *COLUMNS(…) stands for among the arguments of a call.
func (b *binder) unpackColumns(s *scope, e *ast.Func) *ast.Func {
	unpacked := func(a ast.Arg) bool {
		f, ok := a.X.(*ast.Func)
		return ok && f.Unpack
	}
	if !slices.ContainsFunc(e.Args, unpacked) {
		return e
	}
	out := *e
	out.Args = nil
	for _, a := range e.Args {
		if !unpacked(a) {
			out.Args = append(out.Args, a)
			continue
		}
		for _, c := range b.columnsOf(s, a.X.(*ast.Func)) {
			name := ast.Name{{Name: c.rel.cols[c.i].name, Pos: a.X.Position()}}
			if c.rel.name != "" {
				name = append(ast.Name{{Name: c.rel.name, Pos: a.X.Position()}}, name...)
			}
			out.Args = append(out.Args, ast.Arg{X: &ast.ColumnRef{Pos: a.X.Position(), Name: name}})
		}
	}
	return &out
}

// columnsWhere are the columns for whose names a lambda is true.
func (b *binder) columnsWhere(s *scope, x *ast.Lambda) []found {
	l := b.lambda(s, x, 1, types.TText)
	if l.body.Type().Kind != types.Bool || len(l.outer) > 0 || plan.Volatile(l.body) {
		fail(diag.DatatypeMismatch, x.Body.Position(), "the lambda of COLUMNS must say true or false of a column's name")
	}
	all := s.columns(func(name string) bool {
		v, err := eval.Expr(l.body, func(plan.ColID) (types.Value, bool) { return types.TextValue(name), true })
		check(err, x.Body.Position())
		return !v.Null && v.I != 0
	})
	if all == nil {
		fail(diag.UndefinedColumn, x.Pos, "no column has such a name")
	}
	return all
}

// columnsNamed are the columns of a list of names, in its order.
func (b *binder) columnsNamed(s *scope, x *ast.Array) []found {
	var all []found
	for _, e := range x.Elems {
		lit, ok := e.(*ast.Literal)
		if !ok || lit.Kind != ast.LitString {
			fail(diag.DatatypeMismatch, e.Position(), "COLUMNS of a list takes the names of columns")
		}
		c, ok := s.find(lit.Text, lit.Pos)
		if !ok {
			panic(b.unknownColumn(s, &ast.ColumnRef{Pos: lit.Pos, Name: ast.Name{{Name: lit.Text, Pos: lit.Pos}}}))
		}
		all = append(all, c)
	}
	if all == nil {
		fail(diag.UndefinedColumn, x.Pos, "there is no column in the list")
	}
	return all
}

// columnsBut are all columns but those that a star excludes; it may be nil.
func (b *binder) columnsBut(s *scope, star *ast.Star, pos int) []found {
	var out []ast.Ident
	if star != nil {
		if star.Qualifier != nil || star.Replace != nil || star.Rename != nil {
			panic(diag.Unsupported(star.Pos, "COLUMNS of a star with more than EXCLUDE"))
		}
		out = star.Exclude
	}
	for _, id := range out {
		if _, ok := s.find(id.Name, id.Pos); !ok {
			b.starMiss(s, id, "EXCLUDE")
		}
	}
	all := s.columns(func(name string) bool {
		return !slices.ContainsFunc(out, func(id ast.Ident) bool { return id.Name == name })
	})
	if all == nil {
		fail(diag.UndefinedColumn, pos, "there is no column left")
	}
	return all
}

// columns are the columns of a scope with names that want is true for.
func (s *scope) columns(want func(name string) bool) []found {
	var all []found
	for _, r := range s.rels {
		for i := range r.cols {
			if !r.cols[i].hidden && want(r.cols[i].name) {
				all = append(all, found{s, r, i})
			}
		}
	}
	return all
}
