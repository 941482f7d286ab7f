package funcs

import (
	"errors"
	"math/big"
	"strconv"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// pathRun follows a path. In lax mode arrays stand for their elements where something else is wanted, what is no array for an array of it, and what is not there is
// nothing; in strict mode all of that is an error. Values are given to a function as they are found; it answers with errEnough when it wants no more.
type pathRun struct {
	tree   *jsonPathTree
	root   types.JSONValue
	vars   types.JSONValue
	bare   bool              // of an operator, to which all variables are null
	at     []types.JSONValue // what filters look at, the innermost last
	length []int             // of arrays that subscripts are of
	deeply int               // behind how many .** it is, where strict mode minds no missing parts, either
	fatal  error             // what is an error even in a predicate
}

var errEnough = errors.New("enough")

type found = func(types.JSONValue) error

// truth is three-valued.
type truth int8

const (
	isFalse truth = iota
	isTrue
	isUnknown
)

func truthOf(b bool) truth {
	if b {
		return isTrue
	}
	return isFalse
}

func (r *pathRun) lax() bool { return !r.tree.strict }

// structural is an error that lax mode takes for nothing there.
func (r *pathRun) structural(code, format string, args ...any) error {
	if r.lax() || r.deeply > 0 {
		return nil
	}
	return errorf(code, format, args...)
}

// eval gives the values of an expression. unwrap: those of arrays are given in their place.
func (r *pathRun) eval(n *pathNode, unwrap bool, give found) error {
	if unwrap {
		to := give
		give = func(v types.JSONValue) error {
			if v.Kind != '[' {
				return to(v)
			}
			for _, e := range v.Elems {
				if err := to(e); err != nil {
					return err
				}
			}
			return nil
		}
	}
	if n.isPredicate() {
		switch r.test(n) {
		case isUnknown:
			return give(types.JSONValue{Kind: 'n', Raw: "null"})
		case isTrue:
			return give(types.JSONValue{Kind: 't', Raw: "true"})
		}
		return give(types.JSONValue{Kind: 't', Raw: "false"})
	}
	switch n.op {
	case "$":
		return give(r.root)
	case "@":
		return give(r.at[len(r.at)-1])
	case "c":
		return give(n.lit)
	case "l":
		return give(jsonNumber(strconv.Itoa(r.length[len(r.length)-1] - 1)))
	case "v":
		v, ok := r.vars.Field(n.name)
		if !ok && r.bare {
			return give(types.JSONValue{Kind: 'n', Raw: "null"})
		}
		if !ok {
			r.fatal = errorf(diag.UndefinedObject, "could not find jsonpath variable %q", n.name)
			return r.fatal
		}
		return give(v)
	case "steps":
		return r.eval(n.kids[0], false, func(v types.JSONValue) error { return r.follow(v, n.steps, r.lax(), give) })
	case "u-", "u+":
		return r.eval(n.kids[0], r.lax(), func(v types.JSONValue) error {
			if v.Kind != '0' {
				return errorf("2203B", "operand of unary jsonpath operator %s is not a numeric value", n.op[1:])
			}
			if n.op == "u-" && strings.Trim(v.Raw, "0.") != "" {
				if rest, ok := strings.CutPrefix(v.Raw, "-"); ok {
					return give(jsonNumber(rest))
				}
				return give(jsonNumber("-" + v.Raw))
			}
			return give(v)
		})
	}
	x, err := r.operand(n.kids[0], "left", n.op)
	if err != nil {
		return err
	}
	y, err := r.operand(n.kids[1], "right", n.op)
	if err != nil {
		return err
	}
	v, err := pathArith(n.op, x, y)
	if err != nil {
		return err
	}
	return give(v)
}

func jsonNumber(s string) types.JSONValue { return types.JSONValue{Kind: '0', Raw: s} }

// operand is the one number that an operand of arithmetic is.
func (r *pathRun) operand(n *pathNode, side, op string) (types.JSONValue, error) {
	vs, err := r.all(n, r.lax())
	if err != nil {
		return types.JSONValue{}, err
	}
	if len(vs) != 1 || vs[0].Kind != '0' {
		return types.JSONValue{}, errorf("22038", "%s operand of jsonpath operator %s is not a single numeric value", side, op)
	}
	return vs[0], nil
}

func (r *pathRun) all(n *pathNode, unwrap bool) (out []types.JSONValue, err error) {
	err = r.eval(n, unwrap, func(v types.JSONValue) error {
		out = append(out, v)
		return nil
	})
	return out, err
}

// follow gives what steps from v lead to. unwrap: an array may stand for its elements at the first of them.
func (r *pathRun) follow(v types.JSONValue, steps []pathStep, unwrap bool, give found) error {
	if len(steps) == 0 {
		return give(v)
	}
	s, rest := &steps[0], steps[1:]
	next := func(v types.JSONValue) error { return r.follow(v, rest, r.lax(), give) }
	if v.Kind == '[' && unwrap && (s.kind == 'k' || s.kind == '*' || s.kind == '?' || s.kind == 'm' && s.name != "type" && s.name != "size") {
		for _, e := range v.Elems {
			if err := r.follow(e, steps, false, give); err != nil {
				return err
			}
		}
		return nil
	}
	switch s.kind {
	case 'k':
		if v.Kind != '{' {
			return r.structural("2203A", "jsonpath member accessor can only be applied to an object")
		}
		e, ok := v.Field(s.name)
		if !ok {
			return r.structural("2203A", "JSON object does not contain key %q", s.name)
		}
		return next(e)
	case '*':
		if v.Kind != '{' {
			return r.structural("2203C", "jsonpath wildcard member accessor can only be applied to an object")
		}
		return each(v.Elems, next)
	case 'e':
		switch {
		case v.Kind == '[':
			return each(v.Elems, next)
		case r.lax():
			return next(v)
		}
		return r.structural("22039", "jsonpath wildcard array accessor can only be applied to an array")
	case 'i':
		return r.subscripted(v, s, next)
	case 'd':
		r.deeply++
		defer func() { r.deeply-- }()
		return r.deep(v, s, 0, next)
	case '?':
		r.at = append(r.at, v)
		passes := r.test(s.filter)
		if r.at = r.at[:len(r.at)-1]; passes == isTrue {
			return next(v)
		}
		return nil
	}
	if s.name == "size" && v.Kind != '[' && !r.lax() {
		return r.structural("22039", "jsonpath item method .size() can only be applied to an array")
	}
	v, err := r.method(v, s.name)
	if err != nil {
		return err
	}
	return next(v)
}

func each(vs []types.JSONValue, give found) error {
	for _, v := range vs {
		if err := give(v); err != nil {
			return err
		}
	}
	return nil
}

// deep gives v and all that is in it, at the depths of a step.
func (r *pathRun) deep(v types.JSONValue, s *pathStep, depth int, give found) error {
	from, to := s.from, s.to
	leaf := !isContainer(v)
	if from >= 0 && depth >= from && (to < 0 || depth <= to) || from < 0 && leaf {
		if err := give(v); err != nil {
			return err
		}
	}
	if to >= 0 && depth >= to && from >= 0 {
		return nil
	}
	return each(v.Elems, func(e types.JSONValue) error { return r.deep(e, s, depth+1, give) })
}

func (r *pathRun) subscripted(v types.JSONValue, s *pathStep, next found) error {
	elems := v.Elems
	if v.Kind != '[' {
		if !r.lax() {
			return r.structural("22039", "jsonpath array accessor can only be applied to an array")
		}
		elems = []types.JSONValue{v}
	}
	r.length = append(r.length, len(elems))
	defer func() { r.length = r.length[:len(r.length)-1] }()
	for _, sub := range s.subs {
		from, err := r.index(sub[0])
		if err != nil {
			return err
		}
		to := from
		if sub[1] != sub[0] {
			if to, err = r.index(sub[1]); err != nil {
				return err
			}
		}
		if !r.lax() && r.deeply == 0 && (from < 0 || from > to || to >= int64(len(elems))) {
			return errorf("22033", "jsonpath array subscript is out of bounds")
		}
		for i := max(from, 0); i <= min(to, int64(len(elems)-1)); i++ {
			if err := next(elems[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// index is the number that a subscript is, without what is behind its point.
func (r *pathRun) index(n *pathNode) (int64, error) {
	vs, err := r.all(n, false)
	if err != nil {
		return 0, err
	}
	if len(vs) != 1 || vs[0].Kind != '0' {
		return 0, errorf("22033", "jsonpath array subscript is not a single numeric value")
	}
	x, scale := scaled(vs[0].Raw)
	x.Quo(x, tenTo(scale))
	if !x.IsInt64() || x.Int64() != int64(int32(x.Int64())) {
		return 0, errorf("22033", "jsonpath array subscript is out of integer range")
	}
	return x.Int64(), nil
}

// method is what a method makes of a value.
func (r *pathRun) method(v types.JSONValue, name string) (types.JSONValue, error) {
	switch name {
	case "type":
		return types.JSONValue{Kind: '"', Raw: `"` + v.TypeName() + `"`}, nil
	case "size":
		if v.Kind != '[' {
			return jsonNumber("1"), nil
		}
		return jsonNumber(strconv.Itoa(len(v.Elems))), nil
	case "double":
		switch v.Kind {
		case '0', '"':
			f, err := types.ParseValue(types.TFloat64, v.Text())
			if err != nil || f.F-f.F != 0 {
				return v, errorf("22036", "%s argument of jsonpath item method .double() is not a valid representation of a double precision number", v.TypeName())
			}
			raw, err := types.ParseValue(types.TJSONB, f.String())
			return jsonNumber(raw.S), err
		}
		return v, errorf("22036", "jsonpath item method .double() can only be applied to a string or numeric value")
	}
	if v.Kind != '0' {
		return v, errorf("22036", "jsonpath item method .%s() can only be applied to a numeric value", name)
	}
	if name == "abs" {
		return jsonNumber(strings.TrimPrefix(v.Raw, "-")), nil
	}
	x, scale := scaled(v.Raw)
	q, rest := new(big.Int).QuoRem(x, tenTo(scale), new(big.Int))
	switch {
	case name == "floor" && rest.Sign() < 0:
		q.Sub(q, big.NewInt(1))
	case name == "ceiling" && rest.Sign() > 0:
		q.Add(q, big.NewInt(1))
	}
	return jsonNumber(q.String()), nil
}

// test is whether a predicate holds. What fails inside of it makes it unknown.
func (r *pathRun) test(n *pathNode) truth {
	switch n.op {
	case "&&":
		x := r.test(n.kids[0])
		if x == isFalse {
			return x
		}
		if y := r.test(n.kids[1]); y != isTrue {
			return y
		}
		return x
	case "||":
		x := r.test(n.kids[0])
		if x == isTrue {
			return x
		}
		if y := r.test(n.kids[1]); y != isFalse {
			return y
		}
		return x
	case "!":
		switch r.test(n.kids[0]) {
		case isTrue:
			return isFalse
		case isFalse:
			return isTrue
		}
		return isUnknown
	case "is unknown":
		return truthOf(r.test(n.kids[0]) == isUnknown)
	case "exists":
		any := false
		err := r.eval(n.kids[0], false, func(types.JSONValue) error {
			any = true
			if r.lax() {
				return errEnough
			}
			return nil
		})
		if err != nil && err != errEnough {
			return isUnknown
		}
		return truthOf(any)
	case "like_regex":
		re, err := pathPattern(n)
		if err != nil {
			return isUnknown
		}
		return r.pairs(n.kids[0], nil, func(x, _ types.JSONValue) truth {
			if x.Kind != '"' {
				return isUnknown
			}
			return truthOf(re.MatchString(x.Text()))
		})
	case "starts with":
		return r.pairs(n.kids[0], n.kids[1], func(x, y types.JSONValue) truth {
			if x.Kind != '"' || y.Kind != '"' {
				return isUnknown
			}
			return truthOf(strings.HasPrefix(x.Text(), y.Text()))
		})
	}
	return r.pairs(n.kids[0], n.kids[1], func(x, y types.JSONValue) truth { return pathCompare(n.op, x, y) })
}

// pairs is whether a test holds for any pair of values of two expressions, of which there may be one. In lax mode the first that does decides; in strict mode each pair must be known.
func (r *pathRun) pairs(left, right *pathNode, holds func(x, y types.JSONValue) truth) truth {
	xs, err := r.all(left, r.lax())
	if err != nil {
		return isUnknown
	}
	ys := []types.JSONValue{{}}
	if right != nil {
		if ys, err = r.all(right, r.lax()); err != nil {
			return isUnknown
		}
	}
	any, unknown := false, false
	for _, x := range xs {
		for _, y := range ys {
			switch holds(x, y) {
			case isUnknown:
				if !r.lax() {
					return isUnknown
				}
				unknown = true
			case isTrue:
				if r.lax() {
					return isTrue
				}
				any = true
			}
		}
	}
	switch {
	case any:
		return isTrue
	case unknown:
		return isUnknown
	}
	return isFalse
}

// pathCompare compares scalars. Those of different kinds are neither equal nor not, except that null is no other.
func pathCompare(op string, x, y types.JSONValue) truth {
	c := 0
	switch {
	case x.Kind != y.Kind:
		if x.Kind == 'n' || y.Kind == 'n' {
			return truthOf(op == "!=")
		}
		return isUnknown
	case isContainer(x):
		return isUnknown
	case x.Kind == '"':
		c = strings.Compare(x.Text(), y.Text())
	case x.Kind == 't':
		c = strings.Compare(x.Raw, y.Raw) // false is before true
	case x.Kind == '0':
		a, s := scaled(x.Raw)
		b, t := scaled(y.Raw)
		c = a.Mul(a, tenTo(t)).Cmp(b.Mul(b, tenTo(s)))
	}
	switch op {
	case "==":
		return truthOf(c == 0)
	case "!=":
		return truthOf(c != 0)
	}
	return truthOf(compares(op, c))
}

// scaled is a number of JSONB, which has no exponent: x × 10^-scale.
func scaled(s string) (x *big.Int, scale int) {
	whole, frac, _ := strings.Cut(s, ".")
	x, ok := new(big.Int).SetString(whole+frac, 10)
	if !ok { // with an exponent that is too large to be written out
		f, _, err := big.ParseFloat(s, 10, 256, big.ToNearestEven)
		if err != nil {
			return new(big.Int), 0
		}
		x, _ = f.Int(nil)
		return x, 0
	}
	return x, len(frac)
}

func tenTo(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// unscaled writes x × 10^-scale with all its digits.
func unscaled(x *big.Int, scale int) types.JSONValue {
	s := new(big.Int).Abs(x).String()
	if len(s) <= scale {
		s = strings.Repeat("0", scale-len(s)+1) + s
	}
	if scale > 0 {
		s = s[:len(s)-scale] + "." + s[len(s)-scale:]
	}
	if x.Sign() < 0 {
		s = "-" + s
	}
	return jsonNumber(s)
}

// pathArith computes as NUMERIC of PostgreSQL does.
func pathArith(op string, l, r types.JSONValue) (types.JSONValue, error) {
	x, s := scaled(l.Raw)
	y, t := scaled(r.Raw)
	if op == "*" {
		return unscaled(x.Mul(x, y), s+t), nil
	}
	if op == "/" || op == "%" {
		if y.Sign() == 0 {
			return l, errorf(diag.DivisionByZero, "division by zero")
		}
	}
	if op == "/" {
		scale := quotientScale(l.Raw, r.Raw, s, t)
		// x/10^s / (y/10^t) × 10^scale, half away from zero
		num := new(big.Int).Mul(x, tenTo(t+scale))
		den := new(big.Int).Mul(y, tenTo(s))
		q, rest := new(big.Int).QuoRem(num, den, new(big.Int))
		if rest.Abs(rest).Lsh(rest, 1).CmpAbs(den) >= 0 {
			q.Add(q, big.NewInt(int64(num.Sign()*den.Sign())))
		}
		return unscaled(q, scale), nil
	}
	scale := max(s, t)
	x.Mul(x, tenTo(scale-s))
	y.Mul(y, tenTo(scale-t))
	switch op {
	case "+":
		x.Add(x, y)
	case "-":
		x.Sub(x, y)
	default:
		x.Rem(x, y)
	}
	return unscaled(x, scale), nil
}

// quotientScale is how many digits after the point PostgreSQL gives a quotient: 16 that mean something, counted by four, and at least those of the operands.
func quotientScale(l, r string, s, t int) int {
	w1, d1 := leadingDigits(l)
	w2, d2 := leadingDigits(r)
	weight := w1 - w2
	if d1 <= d2 {
		weight--
	}
	return max(16-4*weight, s, t, 0)
}

// leadingDigits is the first group of four digits of a number that is not zero, and which power of 10000 it counts.
func leadingDigits(s string) (weight, digits int) {
	whole, frac, _ := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	whole = strings.Repeat("0", (4-len(whole)%4)%4) + whole
	frac += strings.Repeat("0", (4-len(frac)%4)%4)
	all := whole + frac
	for i := 0; i < len(all); i += 4 {
		if d, _ := strconv.Atoi(all[i : i+4]); d != 0 {
			return len(whole)/4 - 1 - i/4, d
		}
	}
	return 0, 0
}
