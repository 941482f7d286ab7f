package planjson

import (
	"fmt"
	"strings"

	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

func (r *reader) exprs(list []operand, have plan.ColSet, path string) []plan.Expr {
	out := make([]plan.Expr, len(list))
	for i := range list {
		out[i] = r.expr(&list[i], have, fmt.Sprintf("%s[%d]", path, i))
	}
	return out
}

// expr reads an expression over the columns in have.
func (r *reader) expr(o *operand, have plan.ColSet, path string) plan.Expr {
	if o.Column != "" {
		return r.q.Cols.NewRef(r.ref(o.Column, have, path))
	}
	kinds := 0
	for _, is := range []bool{o.Value != nil, o.Null, o.Op != "", o.Function != ""} {
		if is {
			kinds++
		}
	}
	if kinds != 1 {
		fail(path, "an expression is the name of a column, or has one of value, null, op and function")
	}
	if o.Value != nil || o.Null {
		return r.constant(o, path)
	}
	x := &plan.Call{Args: r.exprs(o.Args, have, path+".args"), Pos: -1}
	if o.Function != "" {
		x.Op, x.Fn = plan.Apply, choice(functions, o.Function, "function", path+".function")
		x.T = r.typeAt(o.Type, path+".type")
		return x
	}
	x.Op = choice(operations, o.Op, "operation", path+".op")
	if o.Type != "" {
		x.T = r.typeAt(o.Type, path+".type")
	} else if sig := signatures[x.Op]; strings.HasSuffix(sig, ">b") {
		x.T = types.TBool
	} else {
		fail(path+".type", "a type is missing")
	}
	if problem := misfit(x); problem != "" {
		fail(path, "%s", problem)
	}
	return x
}

func (r *reader) constant(o *operand, path string) plan.Expr {
	if len(o.Args) > 0 {
		fail(path+".args", "a literal has no arguments")
	}
	t := r.typeAt(o.Type, path+".type")
	if o.Null {
		return plan.NewConst(types.NullOf(t))
	}
	if t.Kind == types.Unknown {
		fail(path+".type", "only NULL has this type")
	}
	v, err := types.ParseValue(t, *o.Value)
	if err != nil {
		fail(path+".value", "%v", err)
	}
	return plan.NewConst(v)
}

// fits reports that values of type a can stand where b is expected without a cast.
func fits(a, b types.Type) bool {
	return a.Kind == types.Unknown || b.Kind == types.Unknown || a.Kind == b.Kind && (a.Kind != types.Decimal || a.Scale == b.Scale) && (a.Kind != types.Enum || a == b)
}

func typesOf(es []plan.Expr) string {
	var out []string
	for _, e := range es {
		out = append(out, e.Type().String())
	}
	return strings.Join(out, ", ")
}
