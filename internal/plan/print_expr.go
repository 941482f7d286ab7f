package plan

import (
	"fmt"
	"strings"
)

// Precedences of infix operators in print, as in SQL; 0 needs no parentheses.
const (
	precOr = iota + 1
	precAnd
	precNot
	precCmp
	precLike
	precAdd
	precMul
	precTight
)

func precedence(op Op) int {
	switch op {
	case Or:
		return precOr
	case And:
		return precAnd
	case Not:
		return precNot
	case Eq, Ne, Lt, Le, Gt, Ge, NotDistinct, InList, IsNull, IsTrue:
		return precCmp
	case Like:
		return precLike
	case Add, Sub, Concat:
		return precAdd
	case Mul, Div, Mod:
		return precMul
	}
	return precTight
}

// expr prints e; level is the precedence of what stands around it.
func (p *printer) expr(e Expr, level int) {
	switch x := e.(type) {
	case nil:
		p.b.WriteString("<nil>")
	case *Ref:
		p.col(x.ID)
	case *Const:
		p.value(x.V)
	case *Subquery:
		p.subquery(x)
	case *Call:
		prec := precedence(x.Op)
		if x.Op == Apply && len(x.Args) == 2 && !wordy(x.Fn.Name) {
			prec = precLike
		}
		if prec < level {
			p.b.WriteByte('(')
			defer p.b.WriteByte(')')
		}
		p.call(x, prec)
	default:
		fmt.Fprintf(&p.b, "%T", e)
	}
}

func (p *printer) call(x *Call, prec int) {
	switch {
	case x.Op == Apply && len(x.Args) == 2 && !wordy(x.Fn.Name):
		p.expr(x.Args[0], prec)
		p.b.WriteString(" " + x.Fn.Name + " ")
		p.expr(x.Args[1], prec+1)
	case ops[x.Op].infix && len(x.Args) >= 2:
		for i, a := range x.Args {
			level := prec
			if i > 0 {
				p.b.WriteString(" " + x.Op.String() + " ")
				level++ // a - (b - c)
			} else if prec == precCmp {
				level++
			}
			if x.Op == And || x.Op == Or {
				level = prec + 1
			}
			p.expr(a, level)
		}
	case x.Op == Not:
		p.b.WriteString("not ")
		p.expr(x.Args[0], precNot)
	case x.Op == IsNull:
		p.expr(x.Args[0], precCmp+1)
		p.b.WriteString(" is null")
	case x.Op == IsTrue:
		p.expr(x.Args[0], precCmp+1)
		p.b.WriteString(" is true")
	case x.Op == InList && len(x.Args) > 0:
		p.expr(x.Args[0], precCmp+1)
		p.b.WriteString(" in (")
		p.args(x.Args[1:])
		p.b.WriteByte(')')
	case x.Op == Cast && len(x.Args) == 1, x.Op == Apply && x.Fn.Cast:
		p.b.WriteString("cast(")
		p.expr(x.Args[len(x.Args)-1], 0)
		p.b.WriteString(" as " + strings.ToLower(x.T.String()) + ")")
	case x.Op == Case:
		p.b.WriteString("case")
		for i := 0; i+1 < len(x.Args); i += 2 {
			p.b.WriteString(" when ")
			p.expr(x.Args[i], 0)
			p.b.WriteString(" then ")
			p.expr(x.Args[i+1], 0)
		}
		if len(x.Args)%2 == 1 {
			p.b.WriteString(" else ")
			p.expr(x.Args[len(x.Args)-1], 0)
		}
		p.b.WriteString(" end")
	default:
		p.b.WriteString(x.Name() + "(")
		p.args(x.Args)
		p.b.WriteByte(')')
	}
}

// wordy tells the name of a function from an operator.
func wordy(name string) bool { return name[0] >= 'a' && name[0] <= 'z' && !strings.Contains(name, " ") }

func (p *printer) args(es []Expr) {
	for i, a := range es {
		if i > 0 {
			p.b.WriteString(", ")
		}
		p.expr(a, 0)
	}
}

// subquery names the kind and the output; the tree form prints the plan below.
func (p *printer) subquery(x *Subquery) {
	switch x.Kind {
	case Exists:
		p.b.WriteString("exists(subquery)")
		return
	case In, All:
		if len(x.Needle) > 1 {
			p.b.WriteByte('(')
		}
		p.args(x.Needle)
		if len(x.Needle) > 1 {
			p.b.WriteByte(')')
		}
		p.b.WriteString(" " + x.Cmp.String() + " " + [...]string{In: "any", All: "all"}[x.Kind] + " ")
	}
	p.b.WriteString("(subquery ")
	p.ids(x.Output)
	p.b.WriteByte(')')
}
