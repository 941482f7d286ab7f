package bind

import (
	"strings"
	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// like binds LIKE and ILIKE.
func (b *binder) like(s *scope, e *ast.Like) plan.Expr {
	x := b.textOperand(s, e.X, e.Kind.String(), e.Pos)
	p := b.textOperand(s, e.Pattern, e.Kind.String(), e.Pos)
	escape := `\`
	args := []plan.Expr{x, p}
	if e.Escape != nil {
		by := b.textOperand(s, e.Escape, "ESCAPE", e.Pos)
		args = append(args, by)
		c, ok := by.(*plan.Const)
		if !ok {
			return negateIf(e.Not, plan.NewApply(funcs.Function(patternWords[e.Kind]), types.TBool, e.Pos, args...), e.Pos)
		}
		if c.V.Null {
			return plan.NullConst(types.TBool)
		}
		escape = c.V.S
		if utf8.RuneCountInString(escape) > 1 {
			panic(diag.Errorf(diag.InvalidEscapeSequence, e.Escape.Position(), "invalid escape string").
				WithHint("escape string must be empty or one character"))
		}
	}
	if e.Kind == ast.SimilarTo {
		return negateIf(e.Not, plan.NewApply(funcs.Function("similar to"), types.TBool, e.Pos, args...), e.Pos)
	}
	return negateIf(e.Not, b.match(x, p, escape, e.Kind == ast.ILike, e.Pos, e.Pattern.Position()), e.Pos)
}

// patternWords are the functions for an escape that is no constant.
var patternWords = map[ast.LikeKind]string{ast.PlainLike: "like escape", ast.ILike: "ilike escape", ast.SimilarTo: "similar to"}

// match is x LIKE p; ILIKE is LIKE over lower case.
func (b *binder) match(x, p plan.Expr, escape string, fold bool, pos, patternPos int) plan.Expr {
	c, ok := p.(*plan.Const)
	if !ok {
		if escape != `\` {
			name := "like escape"
			if fold {
				name = "ilike escape"
			}
			return plan.NewApply(funcs.Function(name), types.TBool, pos, x, p, plan.NewConst(types.TextValue(escape)))
		}
		if fold {
			x = &plan.Call{Op: plan.Lower, T: types.TText, Args: []plan.Expr{x}, Pos: pos}
			p = &plan.Call{Op: plan.Lower, T: types.TText, Args: []plan.Expr{p}, Pos: patternPos}
		}
		return &plan.Call{Op: plan.Like, T: types.TBool, Args: []plan.Expr{x, p}, Pos: pos}
	}
	if c.V.Null {
		return plan.NullConst(types.TBool)
	}
	pattern, ok := funcs.Backslashed(c.V.S, escape)
	if !ok {
		fail(diag.InvalidEscapeSequence, patternPos, "LIKE pattern must not end with escape character")
	}
	if fold {
		pattern = strings.ToLower(pattern)
		x = &plan.Call{Op: plan.Lower, T: types.TText, Args: []plan.Expr{x}, Pos: pos}
	}
	return &plan.Call{Op: plan.Like, T: types.TBool, Args: []plan.Expr{x, plan.NewConst(types.TextValue(pattern))}, Pos: pos}
}

// textOperand binds an operand that must be text.
func (b *binder) textOperand(s *scope, x ast.Expr, op string, pos int) plan.Expr {
	e := b.settle(b.expr(s, x))
	if e.Type().Kind != types.Text {
		panic(diag.Errorf(diag.UndefinedFunction, pos, "%s needs text, not %s", strings.ToUpper(op), e.Type().SQLName()).
			WithHint("cast the operand: x::text"))
	}
	return e
}
