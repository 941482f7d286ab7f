package bind

import (
	"strings"
	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// like binds LIKE and ILIKE.
func (b *binder) like(s *scope, e *ast.Like) plan.Expr {
	if e.Kind == ast.SimilarTo {
		unsupported(e.Pos, "SIMILAR TO")
	}
	x := b.textOperand(s, e.X, e.Kind.String(), e.Pos)
	p := b.textOperand(s, e.Pattern, e.Kind.String(), e.Pos)
	escape := `\`
	if e.Escape != nil {
		c, ok := b.textOperand(s, e.Escape, "ESCAPE", e.Pos).(*plan.Const)
		if !ok {
			unsupported(e.Escape.Position(), "an ESCAPE that is not a constant")
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
	return negateIf(e.Not, b.match(x, p, escape, e.Kind == ast.ILike, e.Pos, e.Pattern.Position()), e.Pos)
}

// match is x LIKE p; ILIKE is LIKE over lower case.
func (b *binder) match(x, p plan.Expr, escape string, fold bool, pos, patternPos int) plan.Expr {
	c, ok := p.(*plan.Const)
	if !ok {
		if escape != `\` {
			unsupported(patternPos, "ESCAPE for a LIKE pattern that is not a constant")
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
	pattern, ok := backslashed(c.V.S, escape)
	if !ok {
		fail(diag.InvalidEscapeSequence, patternPos, "LIKE pattern must not end with escape character")
	}
	if fold {
		pattern = strings.ToLower(pattern)
		x = &plan.Call{Op: plan.Lower, T: types.TText, Args: []plan.Expr{x}, Pos: pos}
	}
	return &plan.Call{Op: plan.Like, T: types.TBool, Args: []plan.Expr{x, plan.NewConst(types.TextValue(pattern))}, Pos: pos}
}

// backslashed rewrites a pattern so that its escape character is the backslash, whatever it was:
// plans know only that one. ok is false if the pattern ends with an escape.
func backslashed(pattern, escape string) (string, bool) {
	if !strings.Contains(pattern, escape) && !strings.Contains(pattern, `\`) {
		return pattern, true
	}
	var out strings.Builder
	for i := 0; i < len(pattern); {
		_, n := utf8.DecodeRuneInString(pattern[i:])
		ch := pattern[i : i+n]
		i += n
		if escape != "" && ch == escape {
			if i == len(pattern) {
				return "", false
			}
			_, n := utf8.DecodeRuneInString(pattern[i:])
			ch = pattern[i : i+n]
			i += n
			if ch == "%" || ch == "_" || ch == `\` {
				out.WriteByte('\\')
			}
		} else if ch == `\` {
			out.WriteByte('\\')
		}
		out.WriteString(ch)
	}
	return out.String(), true
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
