package opt

import (
	"time"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Options steers the optimizer.
type Options struct {
	// Disabled names passes that are left out. Passes without which a plan cannot be executed
	// (see Passes) run all the same.
	Disabled map[string]bool
	// Check verifies the plan after every pass; tests set it.
	Check bool
	// Emits says of an operation whether there is code for it; nil: all but the functions that Go computes.
	Emits func(*plan.Call) bool
	// Done, if set, ends the work when it is closed.
	Done <-chan struct{}
	// Spreads: generated code corrects sums of squares row by row (plan.Spread), which lanes that share a group cannot.
	Spreads bool
	// Trace, if set, sees the plan after every pass.
	Trace func(pass string, q *plan.Query)
}

// PassInfo tells what a pass cost.
type PassInfo struct {
	Name string
	Time time.Duration
}

// Pass describes a pass to EXPLAIN and to settings.
type Pass struct {
	Name     string
	Doc      string
	Required bool // cannot be disabled
	run      func(*state)
}

// passes are run in this order. What each needs from those before it:
//
//   - unnest wants conjunctions flat and constants folded, to recognize correlation predicates;
//   - pushdown must see joins instead of subqueries;
//   - apart runs after pushdown, which makes inner joins of some outer ones;
//   - simplekeys comes before distinct, which makes two groupings of the same keys;
//   - aggregate runs after pushdown, since functional dependencies come from join keys;
//   - joinorder compares estimates, which it makes itself, of blocks that pushdown left;
//   - share compares plans that are in their final order, and must come before prune, which makes
//     equal plans differ by the columns that are used of them;
//   - common leaves to prune the columns that nobody reads any more;
//   - reduce refers to joins by pointer, so nothing after it replaces a join.
var passes = []Pass{
	{"fold", "constant folding and simplification of predicates", false, (*state).fold},
	{"unnest", "subqueries and dependent joins become joins", true, (*state).unnest},
	{"inline", "shared plans used once are put in place", false, (*state).inline},
	{"pushdown", "predicates move to the scans, outer joins are strengthened, join keys found", false, (*state).pushdown},
	{"apart", "what Go computes from both sides of an outer or semi join is computed in an inner one", true, (*state).apart},
	{"simplekeys", "group keys become numbers of a small range", false, (*state).simpleKeys},
	{"distinct", "aggregates over distinct values become two groupings", true, (*state).distinct},
	{"aggregate", "avg and stddev become sums and counts, equal aggregates are computed once", true, (*state).aggregate},
	{"groupkeys", "group keys that depend on other keys are not hashed", false, (*state).groupKeys},
	{"sort", "useless sorts disappear, limits move down", false, (*state).sorts},
	{"joinorder", "join order and build sides by estimated cost", false, (*state).joinOrder},
	{"share", "equal subplans are computed once", false, (*state).share},
	{"common", "what expressions have in common is computed once", false, (*state).common},
	{"prune", "columns that nobody reads disappear", false, (*state).prune},
	{"predicates", "cheap and selective predicates are tested first", false, (*state).orderPreds},
	{"keys", "equalities become join keys, keys are made of one type", true, (*state).keys},
	{"reduce", "hash tables filter scans that run later", false, (*state).reduce},
	{"finish", "estimates for every operator, numbers, nullability", true, (*state).finish},
}

// Passes lists the passes in their order.
func Passes() []Pass { return append([]Pass(nil), passes...) }

// Optimize rewrites q, in place, to the plan that is executed. The error is a *diag.Error for a
// query that we cannot run, else an internal error that names the pass.
func Optimize(q *plan.Query, opts Options) (out *plan.Query, infos []PassInfo, err error) {
	s := &state{q: q, cols: q.Cols, emits: opts.Emits, spreads: opts.Spreads, patience: diag.Patience{Done: opts.Done}}
	if s.emits == nil {
		s.emits = func(c *plan.Call) bool { return c.Op != plan.Apply }
	}
	infos = make([]PassInfo, 0, len(passes))
	if opts.Check {
		if err := plan.Check(q); err != nil {
			return nil, nil, diag.Internalf("opt", "before all passes: %v", err)
		}
	}
	for i := range passes {
		p := &passes[i]
		if opts.Disabled[p.Name] && !p.Required {
			continue
		}
		start := time.Now()
		if err := s.runPass(p); err != nil {
			return nil, infos, err
		}
		infos = append(infos, PassInfo{p.Name, time.Since(start)})
		if opts.Trace != nil {
			opts.Trace(p.Name, q)
		}
		if opts.Check {
			check := plan.Check
			if i == len(passes)-1 {
				check = plan.CheckFinal
			}
			if err := check(q); err != nil {
				return nil, infos, diag.Internalf("opt "+p.Name, "%v\n%s", err, plan.Format(q))
			}
		}
	}
	return q, infos, nil
}

func (s *state) runPass(p *Pass) (err error) {
	defer diag.Recover("opt "+p.Name, &err)
	s.patience.Ask()
	p.run(s)
	return nil
}

// state is what the passes share.
type state struct {
	q    *plan.Query
	cols *plan.Columns
	est  estimator
	// emits says of an operation whether there is code for it.
	emits func(*plan.Call) bool
	// spreads: see Options.
	spreads bool

	patience diag.Patience
}

// roots calls f for the root of every tree of the query and puts its result in its place.
func (s *state) roots(f func(plan.Node) plan.Node) {
	for _, sh := range s.q.Shared {
		if sh != nil {
			sh.Plan = f(sh.Plan)
		}
	}
	s.q.Root = f(s.q.Root)
}

// mapNodes rewrites every tree bottom-up.
func (s *state) mapNodes(f func(plan.Node) plan.Node) {
	s.roots(func(n plan.Node) plan.Node { return plan.MapNode(n, f) })
}

// ref is a reference to a column.
func (s *state) ref(id plan.ColID) plan.Expr { return s.cols.NewRef(id) }

// newCol makes a column.
func (s *state) newCol(name string, e plan.Expr) plan.ColID {
	return s.cols.New(name, e.Type(), false)
}

// copyCol makes a column like another.
func (s *state) copyCol(id plan.ColID) plan.ColID {
	c := *s.cols.Get(id)
	return s.cols.New(c.Name, c.Type, c.NotNull)
}
