package bind

import (
	"strings"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/sql/parse"
)

// A macro is bound in the place of its call: its parameters are names in a scope around the text that mean the arguments.

// createMacro binds CREATE MACRO and CREATE FUNCTION, without looking at the text's names: what they mean is known when it is used.
func (b *binder) createMacro(s *ast.CreateMacro) Bound {
	m := &catalog.Macro{SQL: s.Text, Table: s.Query != nil, Function: s.Function}
	m.Schema, m.Name = b.newName(s.Name)
	for _, p := range s.Params {
		q := catalog.Param{Name: p.Name.Name}
		for _, o := range m.Params {
			if o.Name == q.Name {
				fail(diag.InvalidFunctionDefinition, p.Name.Pos, "parameter name %q used more than once", q.Name)
			}
		}
		if p.Type != nil {
			q.Type = b.typeName(*p.Type).String()
		}
		if p.Default != nil {
			q.Default = ast.Format(p.Default)
		}
		m.Params = append(m.Params, q)
	}
	if s.Result != nil {
		m.Result = b.typeName(*s.Result).String()
	}
	tag := "CREATE MACRO"
	if s.Function {
		tag = "CREATE FUNCTION"
	}
	return &Create{Relation: m, Tag: tag, IfNotExists: s.IfNotExists, OrReplace: s.OrReplace, Pos: s.Name.Pos()}
}

// findMacro is the macro that a call means, nil if it means none.
func (b *binder) findMacro(n ast.Name, table bool) *catalog.Macro {
	o, ok := b.env.(Objects)
	if !ok {
		return nil
	}
	schema, name := splitName(n)
	if m := o.Macro(schema, name); m != nil && m.Table == table {
		return m
	}
	return nil
}

// parameters is the scope of a macro's parameters: a relation of one row, of which each column is an argument.
func (b *binder) parameters(s *scope, m *catalog.Macro, f *ast.Func) *scope {
	given := make([]ast.Expr, len(m.Params))
	for i, a := range f.Args {
		at := i
		if !a.Name.Empty() {
			at = -1
			for k, p := range m.Params {
				if strings.EqualFold(p.Name, a.Name.Name) {
					at = k
				}
			}
		}
		if at < 0 || at >= len(given) || given[at] != nil {
			fail(diag.UndefinedFunction, f.Pos, "function %s does not take these arguments", m.Name)
		}
		given[at] = a.X
	}
	r := &rel{name: m.Name, pos: f.Pos}
	for i, p := range m.Params {
		x := given[i]
		if x == nil {
			if p.Default == "" {
				fail(diag.UndefinedFunction, f.Pos, "function %s needs a value for its parameter %q", m.Name, p.Name)
			}
			x = parsed(p.Default)
		}
		e := b.expr(s, x)
		if p.Type != "" {
			e = b.convert(e, b.storedType(p.Type), x.Position())
		} else {
			e = b.settle(e)
		}
		r.cols = append(r.cols, relCol{name: p.Name, typ: e.Type(), expr: e})
	}
	return &scope{outer: nil, depth: s.depth, rels: []*rel{r}, aggs: s.aggs, clause: s.clause, params: true}
}

// macro binds the call of a macro of one value.
func (b *binder) macro(s *scope, m *catalog.Macro, f *ast.Func) plan.Expr {
	defer b.expanding("function "+m.Name, f.Pos)()
	sc := b.parameters(s, m, f)
	ctes := b.ctes
	b.ctes = nil
	e := b.expr(sc, parsed(m.SQL))
	b.ctes = ctes
	if m.Result != "" {
		e = b.assign(b.settle(e), b.storedType(m.Result), f.Pos, "the result of function "+m.Name)
	}
	return e
}

// macroTable binds the call of a macro in FROM.
func (b *binder) macroTable(s *scope, m *catalog.Macro, t *ast.FuncTable) (plan.Node, []*rel) {
	defer b.expanding("function "+m.Name, t.Pos)()
	script, err := parse.Parse(m.SQL)
	if err != nil || len(script) != 1 {
		panic(diag.Internalf("bind", "macro %s: %v", m.Name, err))
	}
	ctes := b.ctes
	b.ctes = nil
	q := b.query(script[0].Stmt.(*ast.Query), b.parameters(s, m, t.Call))
	b.ctes = ctes
	r := b.derived(&q, t.Pos)
	r.name = m.Name
	applyAlias(r, t.Alias)
	return q.node, []*rel{r}
}

// expanding notes that a view or macro is bound in place of its name, and stops those that contain themselves. The result ends it.
func (b *binder) expanding(name string, pos int) func() {
	for _, n := range b.views {
		if n == name {
			fail(diag.InvalidRecursion, pos, "%s refers to itself", name)
		}
	}
	b.views = append(b.views, name)
	return func() { b.views = b.views[:len(b.views)-1] }
}
