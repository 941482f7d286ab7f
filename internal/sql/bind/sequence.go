package bind

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Numbers is what a session remembers of the numbers that it got from sequences, and of those at random.
type Numbers struct {
	mu   sync.Mutex
	of   map[string]int64
	last int64
	any  bool
	// random is where random() stands since setseed; nil: it was never called.
	random *rand.Rand
}

// setseedFunc is setseed(x): from then on random() gives the same numbers again, row by row.
func (b *binder) setseedFunc(c *call) plan.Expr {
	o, ok := b.env.(Objects)
	if !ok {
		unsupported(c.pos, "setseed here")
	}
	n := o.Numbers()
	fn := &plan.Function{Name: "setseed", Strict: true, Fails: true, Volatile: true,
		Eval: func(a []types.Value, t types.Type) (types.Value, error) {
			if x := a[0].F; !(x >= -1 && x <= 1) {
				return types.Value{}, &types.Error{Code: diag.InvalidParameter, Msg: fmt.Sprintf("setseed parameter %g is out of allowed range [-1,1]", x)}
			}
			n.mu.Lock()
			defer n.mu.Unlock()
			n.random = rand.New(rand.NewPCG(math.Float64bits(a[0].F+0), 0))
			return types.TextValue(""), nil
		}}
	return plan.NewApply(fn, types.TText, c.pos, c.args...)
}

// seededRandom is random() in a session with a seed; nil without.
func (b *binder) seededRandom(pos int) plan.Expr {
	o, ok := b.env.(Objects)
	if !ok {
		return nil
	}
	n := o.Numbers()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.random == nil {
		return nil
	}
	fn := &plan.Function{Name: "random", Volatile: true, InOrder: true,
		Eval: func([]types.Value, types.Type) (types.Value, error) {
			n.mu.Lock()
			defer n.mu.Unlock()
			return types.FloatValue(types.TFloat64, n.random.Float64()), nil
		}}
	return plan.NewApply(fn, types.TFloat64, pos)
}

func (n *Numbers) note(q *catalog.Sequence, x int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.of == nil {
		n.of = map[string]int64{}
	}
	n.of[strings.ToLower(qualifiedName(q.Schema, q.Name))] = x
	n.last, n.any = x, true
}

// newSequence makes a sequence with options.
func (b *binder) newSequence(schema, name string, t types.Type, options []ast.Option, pos int) *catalog.Sequence {
	q := catalog.Sequence{Schema: schema, Name: name, Increment: 1}
	most := int64(math.MaxInt64)
	switch t.Kind {
	case types.Int16:
		most = math.MaxInt16
	case types.Int32:
		most = math.MaxInt32
	}
	b.sequenceOptions(&q, options, most, pos)
	return catalog.NewSequence(q)
}

// sequenceOptions sets what the options say; what they leave open follows from the increment.
func (b *binder) sequenceOptions(q *catalog.Sequence, options []ast.Option, most int64, pos int) (restart *int64) {
	given := map[string]int64{}
	fresh := q.Min == 0 && q.Max == 0
	open := map[string]bool{"minvalue": fresh, "maxvalue": fresh, "start": fresh}
	for _, o := range options {
		if o.Value == nil {
			if open[o.Name] = true; o.Name == "restart" { // NO MAXVALUE, say
				restart = &q.Start
			}
			continue
		}
		v := b.constant(o.Value, "a sequence's option")
		if o.Name == "cycle" {
			q.Cycle = v.I != 0
			continue
		}
		x, err := types.Cast(v, types.TInt64)
		check(err, o.Pos)
		given[o.Name] = x.I
	}
	if x, ok := given["increment"]; ok {
		if x == 0 {
			fail(diag.InvalidParameter, pos, "INCREMENT must not be zero")
		}
		q.Increment = x
	}
	set := func(to *int64, name string, otherwise int64) {
		if x, ok := given[name]; ok {
			*to = x
		} else if open[name] {
			*to = otherwise
		}
	}
	lo, hi := catalog.SequenceBounds(q.Increment)
	set(&q.Min, "minvalue", lo)
	set(&q.Max, "maxvalue", min(hi, most))
	first := q.Min
	if q.Increment < 0 {
		first = q.Max
	}
	set(&q.Start, "start", first)
	switch {
	case q.Min >= q.Max:
		fail(diag.InvalidParameter, pos, "MINVALUE (%d) must be less than MAXVALUE (%d)", q.Min, q.Max)
	case q.Start < q.Min:
		fail(diag.InvalidParameter, pos, "START value (%d) cannot be less than MINVALUE (%d)", q.Start, q.Min)
	case q.Start > q.Max:
		fail(diag.InvalidParameter, pos, "START value (%d) cannot be greater than MAXVALUE (%d)", q.Start, q.Max)
	}
	if x, ok := given["restart"]; ok {
		restart = &x
	}
	return restart
}

// sequence binds CREATE and ALTER SEQUENCE.
func (b *binder) sequence(s *ast.Sequence) Bound {
	if !s.Alter {
		schema, name := b.newName(s.Name)
		q := b.newSequence(schema, name, types.TInt64, s.Options, s.Pos)
		return &Create{Relation: q, Tag: "CREATE SEQUENCE", IfNotExists: s.IfNotExists, OrReplace: s.OrReplace, Pos: s.Name.Pos()}
	}
	schema, name := splitName(s.Name)
	o, _ := b.env.(Objects)
	old, ok := o.Sequence(schema, name)
	if !ok {
		if !s.IfNotExists {
			fail(diag.UndefinedTable, s.Name.Pos(), "relation %q does not exist", s.Name.String())
		}
		return &AlterSequence{Name: name, Pos: s.Pos}
	}
	q := *old
	restart := b.sequenceOptions(&q, s.Options, math.MaxInt64, s.Pos)
	if restart != nil {
		if *restart < q.Min || *restart > q.Max {
			fail(diag.InvalidParameter, s.Pos, "RESTART value (%d) must be between MINVALUE (%d) and MAXVALUE (%d)", *restart, q.Min, q.Max)
		}
		return &AlterSequence{Sequence: q.Restarted(*restart), Name: name, Pos: s.Pos}
	}
	return &AlterSequence{Sequence: &q, Name: name, Pos: s.Pos}
}

// sequenceArg is the sequence that a function names.
func (b *binder) sequenceArg(c *call) *catalog.Sequence {
	k, ok := c.args[0].(*plan.Const)
	if !ok || k.V.Null {
		unsupported(c.argPos(0), "%s of a name that is not a constant", c.name)
	}
	n, err := parseName(k.V.S)
	if err != nil {
		fail(diag.InvalidName, c.argPos(0), "invalid name syntax")
	}
	o, isObjects := b.env.(Objects)
	if isObjects {
		schema, name := splitName(n)
		if q, ok := o.Sequence(schema, name); ok {
			return q
		}
		if o.Taken(schema, name) {
			fail(diag.WrongObjectType, c.argPos(0), "%q is not a sequence", name)
		}
	}
	panic(diag.Errorf(diag.UndefinedTable, c.argPos(0), "relation %q does not exist", k.V.S))
}

// nextval is the next number of a sequence, another one in each row.
func (b *binder) nextval(q *catalog.Sequence, pos int) plan.Expr {
	o, _ := b.env.(Objects)
	numbers := o.Numbers()
	fn := &plan.Function{Name: "nextval", Strict: true, Fails: true, Volatile: true, InOrder: true,
		Eval: func([]types.Value, types.Type) (types.Value, error) {
			x, err := q.Next()
			if err == nil {
				numbers.note(q, x)
			}
			return types.IntValue(types.TInt64, x), err
		}}
	return plan.NewApply(fn, types.TInt64, pos)
}

func (b *binder) nextvalFunc(c *call) plan.Expr { return b.nextval(b.sequenceArg(c), c.pos) }

func (b *binder) currvalFunc(c *call) plan.Expr {
	q := b.sequenceArg(c)
	o, _ := b.env.(Objects)
	n := o.Numbers()
	fn := &plan.Function{Name: "currval", Strict: true, Fails: true, Volatile: true,
		Eval: func([]types.Value, types.Type) (types.Value, error) {
			n.mu.Lock()
			defer n.mu.Unlock()
			x, ok := n.of[strings.ToLower(qualifiedName(q.Schema, q.Name))]
			if !ok {
				return types.Value{}, &types.Error{Code: diag.ObjectNotInPrerequisiteState, Msg: `currval of sequence "` + q.Name + `" is not yet defined in this session`}
			}
			return types.IntValue(types.TInt64, x), nil
		}}
	return plan.NewApply(fn, types.TInt64, c.pos)
}

func (b *binder) lastvalFunc(c *call) plan.Expr {
	o, ok := b.env.(Objects)
	if !ok {
		unsupported(c.pos, "lastval")
	}
	n := o.Numbers()
	fn := &plan.Function{Name: "lastval", Strict: true, Fails: true, Volatile: true,
		Eval: func([]types.Value, types.Type) (types.Value, error) {
			n.mu.Lock()
			defer n.mu.Unlock()
			if !n.any {
				return types.Value{}, &types.Error{Code: diag.ObjectNotInPrerequisiteState, Msg: "lastval is not yet defined in this session"}
			}
			return types.IntValue(types.TInt64, n.last), nil
		}}
	return plan.NewApply(fn, types.TInt64, c.pos)
}

func (b *binder) setvalFunc(c *call) plan.Expr {
	q := b.sequenceArg(c)
	o, _ := b.env.(Objects)
	numbers := o.Numbers()
	args := []plan.Expr{b.convert(c.args[1], types.TInt64, c.argPos(1))}
	if len(c.args) > 2 {
		args = append(args, b.convert(c.args[2], types.TBool, c.argPos(2)))
	}
	fn := &plan.Function{Name: "setval", Strict: true, Fails: true, Volatile: true,
		Eval: func(a []types.Value, _ types.Type) (types.Value, error) {
			called := len(a) < 2 || a[1].I != 0
			if err := q.Set(a[0].I, called); err != nil {
				return types.Value{}, err
			}
			if called {
				numbers.note(q, a[0].I)
			}
			return types.IntValue(types.TInt64, a[0].I), nil
		}}
	return plan.NewApply(fn, types.TInt64, c.pos, args...)
}

// currentSchema is where new objects are made.
func (b *binder) currentSchema(c *call) plan.Expr {
	if o, ok := b.env.(Objects); ok {
		s := o.CurrentSchema()
		if s == "" {
			return plan.NullConst(types.TText)
		}
		return &plan.Const{V: types.TextValue(catalog.SchemaName(s))}
	}
	return &plan.Const{V: types.TextValue(catalog.Main)}
}
