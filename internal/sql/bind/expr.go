package bind

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// expr binds a scalar expression. A string literal or NULL comes back with type Unknown,
// see coerce.go; callers give it a type.
func (b *binder) expr(s *scope, e ast.Expr) plan.Expr {
	b.patience.Tick()
	x := b.bare(s, e)
	if s.aggs != nil && s.aggs.constants != nil {
		return b.maybeKey(s, e, x)
	}
	return x
}

// bare is expr without a look at the keys of GROUP BY.
func (b *binder) bare(s *scope, e ast.Expr) plan.Expr {
	switch e := e.(type) {
	case *ast.ColumnRef:
		return b.columnRef(s, e)
	case *ast.Literal:
		return literalValue(e)
	case *ast.Binary:
		return b.binary(s, e)
	case *ast.Logical:
		return b.logical(s, e)
	case *ast.Func:
		if x := b.columnsFunc(s, e); x != nil {
			return x
		}
		return b.function(s, e)
	case *ast.Cast:
		return b.cast(s, e)
	case *ast.TypedLiteral:
		return b.typedLiteral(e)
	case *ast.Interval:
		return b.interval(s, e)
	case *ast.Param:
		return b.param(e)
	case *ast.Unary:
		return b.unary(s, e)
	case *ast.Not:
		return not(b.boolean(s, e.X, "NOT"), e.Pos)
	case *ast.IsNull:
		return b.isNull(s, e)
	case *ast.IsBool:
		return b.isBool(s, e)
	case *ast.IsDistinct:
		return b.isDistinct(s, e)
	case *ast.Between:
		return b.between(s, e)
	case *ast.InList:
		return b.inList(s, e)
	case *ast.InQuery:
		return b.inQuery(s, e)
	case *ast.Like:
		return b.like(s, e)
	case *ast.Quantified:
		return b.quantified(s, e)
	case *ast.Extract:
		return b.extract(b.expr(s, e.X), e.Field, e.X.Position(), e.Pos)
	case *ast.Case:
		return b.caseExpr(s, e)
	case *ast.Subquery:
		return b.scalarSubquery(s, e)
	case *ast.Exists:
		return b.exists(s, e)
	case *ast.Row:
		return b.rowValue(s, e)
	case *ast.Star:
		fail(diag.SyntaxError, e.Pos, "* is not allowed here")
	case *ast.Default:
		fail(diag.SyntaxError, e.Pos, "DEFAULT is not allowed in this context")
	case *ast.Collate:
		return b.collate(s, e)
	case *ast.AtTimeZone:
		return b.atTimeZone(s, e)
	case *ast.Array:
		return b.array(s, e)
	case *ast.Subscript:
		return b.subscript(s, e)
	case *ast.ArrayQuery:
		return b.arrayQuery(s, e)
	case *ast.Struct:
		return b.structLiteral(s, e)
	case *ast.Lambda:
		panic(diag.Unsupported(e.Pos, "a lambda outside of a function of lists"))
	case *ast.Field:
		return b.fieldNamed(b.expr(s, e.X), e.Name.Name, e.Name.Pos)
	}
	panic(diag.Internalf("bind", "expression %T", e))
}

// literalValue is the constant of a literal.
func literalValue(e *ast.Literal) plan.Expr {
	switch e.Kind {
	case ast.LitNull:
		return &plan.Const{V: types.NullOf(types.TUnknown)}
	case ast.LitBool:
		return plan.BoolConst(e.Text == "true")
	case ast.LitString:
		return &plan.Const{V: types.Value{Type: types.TUnknown, S: e.Text}}
	}
	v, err := types.ParseNumber(e.Text)
	check(err, e.Pos)
	return &plan.Const{V: v}
}

// typedLiteral is DATE '1998-09-02' and its like.
func (b *binder) typedLiteral(e *ast.TypedLiteral) plan.Expr {
	t := b.typeName(e.Type)
	text := types.Value{Type: types.TUnknown, S: e.Text}
	v, err := b.castConst(typed(text, t), t)
	check(err, e.Pos)
	return &plan.Const{V: v}
}

// interval is INTERVAL '3' MONTH in its spellings.
func (b *binder) interval(s *scope, e *ast.Interval) plan.Expr {
	if e.X == nil {
		v, err := types.ParseInterval(e.Text, e.Unit)
		check(err, e.Pos)
		return &plan.Const{V: v}
	}
	n := b.expr(s, e.X)
	c, ok := n.(*plan.Const)
	if !ok {
		unsupported(e.Pos, "an interval of a number that is not a constant")
	}
	if !c.V.Type.IsNumeric() && c.V.Type.Kind != types.Unknown {
		fail(diag.DatatypeMismatch, e.X.Position(), "an interval needs a number, not %s", c.V.Type.SQLName())
	}
	if c.V.Null {
		return plan.NullConst(types.TInterval)
	}
	text := c.V.S
	if c.V.Type.IsNumeric() {
		text = c.V.String()
	}
	v, err := types.ParseInterval(text, e.Unit)
	check(err, e.Pos)
	return &plan.Const{V: v}
}

// param is the value given for $n.
func (b *binder) param(e *ast.Param) plan.Expr {
	if e.Index < 1 || e.Index > len(b.params) {
		panic(diag.Errorf(diag.UndefinedParameter, e.Pos, "there is no parameter $%d", e.Index).
			WithDetail("%d values were given", len(b.params)))
	}
	return &plan.Const{V: b.params[e.Index-1]}
}

// condition binds a predicate of WHERE, ON, HAVING or FILTER.
func (b *binder) condition(s *scope, x ast.Expr, clause string) plan.Expr {
	all := eachColumns(b, s, func() plan.Expr { return b.boolean(s, x, clause) })
	if len(all) == 1 {
		return all[0]
	}
	return and(x.Position(), all...)
}

// boolean binds an expression that must be a truth value.
func (b *binder) boolean(s *scope, x ast.Expr, clause string) plan.Expr {
	e := b.expr(s, x)
	switch t := e.Type(); t.Kind {
	case types.Bool:
		return e
	case types.Unknown:
		return b.convert(e, types.TBool, x.Position())
	default:
		fail(diag.DatatypeMismatch, x.Position(), "argument of %s must be type boolean, not type %s", clause, t.SQLName())
	}
	return nil
}

// logical binds AND and OR.
func (b *binder) logical(s *scope, e *ast.Logical) plan.Expr {
	op, name := plan.And, "AND"
	if e.Op == ast.Or {
		op, name = plan.Or, "OR"
	}
	args := make([]plan.Expr, 0, len(e.Args))
	for _, x := range e.Args {
		a := b.boolean(s, x, name)
		// Parentheses do not matter, and BETWEEN is two conjuncts.
		if c, ok := a.(*plan.Call); ok && c.Op == op {
			args = append(args, c.Args...)
		} else {
			args = append(args, a)
		}
	}
	return &plan.Call{Op: op, T: types.TBool, Args: args, Pos: e.Pos}
}

// not is NOT e; constants are computed.
func not(e plan.Expr, pos int) plan.Expr {
	if c, ok := e.(*plan.Const); ok {
		if c.V.Null {
			return e
		}
		return plan.BoolConst(c.V.I == 0)
	}
	return &plan.Call{Op: plan.Not, T: types.TBool, Args: []plan.Expr{e}, Pos: pos}
}

// negateIf is NOT e if neg is set.
func negateIf(neg bool, e plan.Expr, pos int) plan.Expr {
	if neg {
		return not(e, pos)
	}
	return e
}

// and and or are conjunction and disjunction at a position.
func and(pos int, es ...plan.Expr) plan.Expr { return connect(plan.And, es, pos) }
func or(pos int, es ...plan.Expr) plan.Expr  { return connect(plan.Or, es, pos) }

func connect(op plan.Op, es []plan.Expr, pos int) plan.Expr {
	if len(es) == 1 {
		return es[0]
	}
	return &plan.Call{Op: op, T: types.TBool, Args: es, Pos: pos}
}

// collate accepts the collations that compare bytes, which is what we do.
func (b *binder) collate(s *scope, e *ast.Collate) plan.Expr {
	switch e.Name.Last() {
	case "C", "POSIX", "c", "posix", "ucs_basic", "default", "binary":
		return b.expr(s, e.X)
	}
	panic(diag.Unsupported(e.Pos, "collation %s", e.Name.String()).WithHint("texts compare byte by byte; lower(x) and ILIKE ignore case"))
}

// again gives an expression for a second use in the same expression. Operators are shared
// freely, but a subquery's plan has one parent, so it is bound anew.
func (b *binder) again(s *scope, x ast.Expr, e plan.Expr) plan.Expr {
	if plan.HasSubquery(e) {
		return b.expr(s, x)
	}
	return e
}
