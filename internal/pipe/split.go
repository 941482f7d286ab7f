package pipe

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Split finds the expressions for which no code can be generated, has them computed in Go by
// Compute operators, and cuts the pipelines that got one into stages. emits says of an operation,
// by its types and constant operands, whether there is code for it.
//
// Columns are computed as late as possible: a row that a filter or a join drops before anybody
// reads the column costs nothing and cannot fail.
func (p *Program) Split(emits func(*plan.Call) bool) error {
	s := &splitter{cols: p.Query.Cols, emits: emits, tails: map[Sink]*Map{}, extra: map[*Build]*Map{}}
	for _, q := range p.Pipelines {
		s.sink(q.Sink)
	}
	works := make([]*splitting, len(p.Pipelines))
	for i, q := range p.Pipelines {
		works[i] = s.start(q)
		for _, op := range q.Ops {
			if err := works[i].op(op); err != nil {
				return err
			}
		}
	}
	// Joins may have asked their build sides for more columns: sinks come last.
	for i, q := range p.Pipelines {
		if w := works[i]; s.needed(w, q) {
			if err := w.finish(); err != nil {
				return err
			}
			q.Ops = w.ops
			if t, ok := q.Source.(*Table); ok {
				t.Filter = w.scan
			}
			q.cutStages()
		}
	}
	return nil
}

// splitter rewrites all pipelines of a program.
type splitter struct {
	cols  *plan.Columns
	emits func(*plan.Call) bool
	// tails define the columns by which sinks read what they cannot compute, as if a Map stood
	// before the sink; extra are those that joins want of their build sides.
	tails map[Sink]*Map
	extra map[*Build]*Map
	texts bool // texts may be computed where something shorter could be: see whole
}

// sink replaces what a sink cannot compute by references to columns of its tail.
func (s *splitter) sink(k Sink) {
	if s.tails[k] != nil {
		return
	}
	tail := &Map{}
	s.tails[k] = tail
	define := func(x plan.Expr) plan.Expr {
		if s.all(x) {
			return x
		}
		id := s.column(x)
		tail.Exprs, tail.Cols = append(tail.Exprs, x), append(tail.Cols, id)
		return s.cols.NewRef(id)
	}
	switch k := k.(type) {
	case *Build:
		tail.Node = k.Join
		k.Keys = mapped(k.Keys, define)
	case *Aggregate:
		tail.Node = k.Group
		g := *k.Group
		g.Keys = mapped(g.Keys, define)
		g.Aggs = slices.Clone(g.Aggs)
		for i := range g.Aggs {
			a := &g.Aggs[i]
			if a.Arg != nil && a.Filter != nil && !s.all(a.Arg) && MayFail(a.Arg) {
				// The argument is only looked at where the filter is true.
				a.Arg = plan.NewCall(plan.Case, a.Arg.Type(), a.Filter, a.Arg)
			}
			if a.Arg != nil {
				a.Arg = define(a.Arg)
			}
			if a.Filter != nil {
				a.Filter = define(a.Filter)
			}
		}
		if len(tail.Cols) > 0 {
			k.Group = &g
		}
	}
}

// mapped is xs with f applied; a list in which nothing changes stays the same.
func mapped(xs []plan.Expr, f func(plan.Expr) plan.Expr) []plan.Expr {
	out := xs
	for i, x := range xs {
		if y := f(x); y != x {
			if &out[0] == &xs[0] {
				out = slices.Clone(xs)
			}
			out[i] = y
		}
	}
	return out
}

// column makes a column for an expression, named after the operation if that is a word.
func (s *splitter) column(x plan.Expr) plan.ColID {
	name := "expr"
	if c, ok := x.(*plan.Call); ok {
		if op := c.Name(); op[0] >= 'a' && op[0] <= 'z' {
			name = op
		}
	}
	return s.cols.New(name, x.Type(), false)
}

// needed reports that a pipeline has something to compute in Go.
func (s *splitter) needed(w *splitting, q *Pipeline) bool {
	b, _ := q.Sink.(*Build)
	return w.changed || len(w.late) > 0 || len(s.tails[q.Sink].Cols) > 0 || b != nil && s.extra[b] != nil
}

// splitting is the rewriting of one pipeline.
type splitting struct {
	*splitter
	p    *Pipeline
	scan []plan.Expr // what the scan still tests
	ops  []Op
	// late are columns that some Map defined and nobody has read yet.
	late map[plan.ColID]plan.Expr
	// done are expressions that a Compute has computed, or todo will.
	done    []computed
	todo    *Compute
	changed bool
}

type computed struct {
	x  plan.Expr
	id plan.ColID
}

// start rewrites the source.
func (s *splitter) start(q *Pipeline) *splitting {
	w := &splitting{splitter: s, p: q, late: map[plan.ColID]plan.Expr{}}
	if t, ok := q.Source.(*Table); ok {
		var rest []plan.Expr
		for _, x := range t.Filter {
			if s.all(x) && !(len(rest) > 0 && MayFail(x)) {
				w.scan = append(w.scan, x)
			} else {
				rest = append(rest, x)
			}
		}
		if len(rest) > 0 {
			w.filter(rest, t.Scan)
		}
	}
	return w
}

// add appends an operator, after what must be computed for it.
func (w *splitting) add(op Op, node plan.Node) { w.ops = append(append(w.ops, w.pop(node)...), op) }

// pop is the operator that computes what is to be computed, if anything is.
func (w *splitting) pop(node plan.Node) []Op {
	c := w.todo
	if c == nil {
		return nil
	}
	c.Node = node
	w.todo, w.changed = nil, true
	return []Op{c}
}

// op rewrites one operator. Operators may be shared between pipelines: they are copied when they change.
func (w *splitting) op(op Op) error {
	switch op := op.(type) {
	case *Filter:
		w.filter(op.Preds, op.Node)
	case *Map:
		now := &Map{Node: op.Node}
		for i, x := range op.Exprs {
			if y := w.inlined(x); y == x && w.all(x) {
				now.Exprs, now.Cols = append(now.Exprs, x), append(now.Cols, op.Cols[i])
			} else {
				w.late[op.Cols[i]] = y
			}
		}
		switch {
		case len(now.Cols) == len(op.Cols):
			w.ops = append(w.ops, op)
		case len(now.Cols) > 0:
			w.ops = append(w.ops, now)
		}
	case *Rename:
		now := &Rename{Node: op.Node}
		for i, from := range op.From {
			if x, ok := w.late[from]; ok {
				w.late[op.To[i]] = x
			} else {
				now.From, now.To = append(now.From, from), append(now.To, op.To[i])
			}
		}
		if len(now.To) == len(op.To) {
			now = op
		}
		w.ops = append(w.ops, now)
	case *Probe:
		return w.probe(op)
	case *Repeat:
		now := *op
		if now.Count = w.compute(op.Count); now.Count == op.Count {
			w.ops = append(w.ops, op)
		} else {
			w.add(&now, op.Node)
		}
	default:
		w.ops = append(w.ops, op)
	}
	return nil
}

// inlined is x with the definitions of late columns in place of references to them.
func (w *splitting) inlined(x plan.Expr) plan.Expr {
	if len(w.late) == 0 {
		return x
	}
	return plan.Substitute(x, func(id plan.ColID) plan.Expr {
		if y, ok := w.late[id]; ok {
			return y
		}
		return nil
	})
}

// compute is x with the parts that must be computed in Go replaced by columns.
func (w *splitting) compute(x plan.Expr) plan.Expr {
	return w.extract(w.inlined(x), w.place)
}

// place has an expression computed before the next operator, once.
func (w *splitting) place(x *plan.Call) plan.Expr { return w.placeAs(x, 0) }

// placeAs is place for an expression that has a column already, unless id is 0.
func (w *splitting) placeAs(x *plan.Call, id plan.ColID) plan.Expr {
	for _, c := range w.done {
		if plan.EqualExpr(c.x, x) {
			return w.cols.NewRef(c.id)
		}
	}
	if id == 0 {
		id = w.column(x)
	}
	if w.todo == nil {
		w.todo = &Compute{}
	}
	w.todo.Exprs, w.todo.Cols = append(w.todo.Exprs, x), append(w.todo.Cols, id)
	w.done = append(w.done, computed{x, id})
	return w.cols.NewRef(id)
}

// filter tests what code can be generated for before anything is computed for the rest, unless
// it might fail where the rest, which the query says first, does not hold.
func (w *splitting) filter(preds []plan.Expr, node plan.Node) {
	var first, rest, last []plan.Expr
	fails := false
	for _, x := range preds {
		switch x = w.inlined(x); {
		case !w.all(x):
			rest = append(rest, x)
			fails = fails || MayFail(x)
		case len(rest) > 0 && MayFail(x):
			last = append(last, x)
		default:
			first = append(first, x)
		}
	}
	if len(first) > 0 {
		w.ops = append(w.ops, &Filter{first, node})
	}
	if len(rest) > 0 {
		w.slowly(rest, fails, node)
	}
	if len(last) > 0 {
		w.ops = append(w.ops, &Filter{last, node})
	}
}

// slowly is filter for predicates that need something computed in Go.
func (w *splitting) slowly(rest []plan.Expr, fails bool, node plan.Node) {
	if len(rest) > 1 && fails {
		// One predicate may keep another from failing: all are computed together, in their order, up to
		// the first that does not hold.
		for i, x := range rest {
			rest[i] = plan.NewCall(plan.IsTrue, types.TBool, x)
		}
		w.add(&Filter{[]plan.Expr{w.place(plan.AndOf(rest...).(*plan.Call))}, node}, node)
		return
	}
	for i, x := range rest {
		rest[i] = w.compute(x)
	}
	w.add(&Filter{rest, node}, node)
}

// probe computes keys before the probe. A further condition that reads both sides can only be
// computed after it, which is the same for inner joins alone.
func (w *splitting) probe(op *Probe) error {
	now := *op
	after := []plan.Expr(nil)
	now.Keys = mapped(op.Keys, w.compute)
	now.On = nil
	build := plan.MakeColSet(op.Build.KeyCols...)
	build.AddAll(op.Build.Payload)
	for _, x := range op.On {
		x = w.inlined(x)
		if w.all(x) {
			now.On = append(now.On, x)
			continue
		}
		both, fails := w.sides(x, build)
		if both != nil { // what a comparison is made of may belong to one side each
			w.texts = true
			both, fails = w.sides(x, build)
		}
		switch {
		case op.Join.Kind == plan.Inner && (both != nil || fails):
			after = append(after, x)
		case both != nil:
			w.texts = false
			return diag.Errorf(diag.FeatureNotSupported, both.Pos,
				"%s over columns of both sides of a %s join is not supported", both.Name(), op.Join.Kind).
				WithHint("compute it from one side, or write an inner join")
		default:
			now.On = append(now.On, w.extract(x, func(c *plan.Call) plan.Expr {
				refs := plan.Refs(c)
				outside := refs
				outside.Minus(build)
				if refs.Empty() || !outside.Empty() {
					return w.place(c)
				}
				return w.fromBuild(op.Build, c)
			}))
		}
		w.texts = false
	}
	if w.todo == nil && len(after) == 0 && plan.EqualExprs(now.Keys, op.Keys) && plan.EqualExprs(now.On, op.On) {
		w.ops = append(w.ops, op)
		return nil
	}
	w.changed = true
	w.add(&now, op.Join)
	if len(after) > 0 {
		w.filter(after, op.Join)
	}
	return nil
}

// sides looks at the parts of a join's condition that must be computed in Go: one that reads
// both sides, if there is one, and whether any may fail.
func (s *splitter) sides(x plan.Expr, build plan.ColSet) (both *plan.Call, fails bool) {
	s.extract(x, func(c *plan.Call) plan.Expr {
		refs := plan.Refs(c)
		outside := refs
		outside.Minus(build)
		if !outside.Empty() && outside.Len() < refs.Len() {
			both = c
		}
		fails = fails || MayFail(c)
		return c
	})
	return both, fails
}

// fromBuild is a column of the build side's tuples that holds x.
func (s *splitter) fromBuild(b *Build, x plan.Expr) plan.Expr {
	m := s.extra[b]
	if m == nil {
		m = &Map{Node: b.Join}
		s.extra[b] = m
	}
	for i, y := range m.Exprs {
		if plan.EqualExpr(x, y) {
			return s.cols.NewRef(m.Cols[i])
		}
	}
	id := s.column(x)
	m.Exprs, m.Cols = append(m.Exprs, x), append(m.Cols, id)
	b.Payload = append(b.Payload[:len(b.Payload):len(b.Payload)], id)
	return s.cols.NewRef(id)
}

// finish makes the late columns that the sink reads.
func (w *splitting) finish() error {
	k := w.p.Sink
	if err := w.op(w.tails[k]); err != nil {
		return err
	}
	if b, ok := k.(*Build); ok && w.extra[b] != nil {
		if err := w.op(w.extra[b]); err != nil {
			return err
		}
	}
	m := &Map{Node: sinkNode(k)}
	read := sinkReads(k)
	for id := range read.All {
		x, ok := w.late[id]
		if !ok {
			continue
		}
		y := w.extract(x, func(c *plan.Call) plan.Expr {
			if c == x { // all of it: no other name is needed
				return w.placeAs(c, id)
			}
			return w.place(c)
		})
		if r, ok := y.(*plan.Ref); !ok || r.ID != id {
			m.Exprs, m.Cols = append(m.Exprs, y), append(m.Cols, id)
		}
	}
	w.ops = append(w.ops, w.pop(m.Node)...)
	if len(m.Cols) > 0 {
		w.ops = append(w.ops, m)
	}
	return nil
}

func sinkNode(k Sink) plan.Node {
	switch k := k.(type) {
	case *Build:
		return k.Join
	case *Aggregate:
		return k.Group
	case *Collect:
		return k.Node
	case *Fold:
		return k.Node
	case *Rounds:
		return k.Node
	}
	return nil
}
