package plan

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/types"
)

// Fold is an aggregate that Go computes from all rows of a group at once: one that depends on their order, or that
// cannot be put together from parts. Package funcs has one for each; two are the same exactly when they are one pointer.
type Fold struct {
	Name  string
	Skips Skips
	// Eval computes a value of type t. The rows are those that count, in order and without duplicates where the query
	// says so. Many threads may call it at once.
	Eval func(rows FoldRows, direct []types.Value, t types.Type) (types.Value, error)
	// Parts, where not nil, puts the same value together from those of stretches of rows: frames of a window share them.
	Parts *FoldParts
	// Ranked is the place, of n values in order, of the one that it is; ok is false where it is NULL. nil: it is not one of them. If Lo and
	// Hi differ, Between has the value between those.
	Ranked  func(n int, direct []types.Value) (r FoldRank, ok bool, err error)
	Between func(a, b types.Value, part float64, t types.Type) (types.Value, error)
	// Extreme: the value is the first argument of the first row whose second is least (-1) or greatest (1); 0: it is not.
	Extreme int
	// Lists: the value is the list of the argument's values, NULL or not.
	Lists bool
}

// FoldRank is a place in an order, from 0: Lo, or a part of the way from Lo to Hi.
type FoldRank struct {
	Lo, Hi int
	Part   float64
}

// FoldParts computes an aggregate of rows from that of some and that of those behind them. Nothing is ever taken away
// again, so that no digits are lost.
type FoldParts struct {
	Of    func(a, b uint64) FoldState // of a row with these arguments: whole numbers, or the bits of doubles
	Join  func(a, b FoldState) (FoldState, error)
	Value func(s FoldState, t types.Type) types.Value // s is of one row at least
	// Sums, where not nil, has states of many groups at once. Aggregates with one pointer have the same states of the same arguments.
	Sums *FoldSums
	// OfSums, where not nil, is the value as a function of sums that generated code computes: of N, X and XX, or of N, X, Y, XX, YY and XY.
	OfSums *Function
}

// FoldSums keeps the states of groups, so that rows need not lie beside others of their group.
type FoldSums struct {
	// Add adds rows with these arguments, in their order, to the states of the groups that they belong to.
	Add func(states []FoldState, groups, a, b []uint64) error
}

// FoldState is what FoldParts know of N rows: bits, or sums of two columns and of the products of distances from their means.
type FoldState struct {
	N          float64
	Bits       uint64
	X, Y       float64
	XX, YY, XY float64
}

// Skips says which rows do not count.
type Skips uint8

const (
	SkipNone    Skips = iota
	SkipNull          // the first argument is NULL
	SkipAnyNull       // some argument is NULL
)

// FoldRows are the rows of a group.
type FoldRows interface {
	Len() int
	// Value is an argument of a row. Texts are not copied.
	Value(row, arg int) types.Value
	// Room asks for memory for a result of so many bytes.
	Room(bytes int64) error
}

// FoldColumns is what FoldRows may have besides: an argument of all rows, none of which is NULL, if it is of such numbers; else nil. What is
// given is good until the same argument is asked for again.
type FoldColumns interface {
	Floats(arg int) []float64
	Integers(arg int) []int64
	// Texts are those of an argument, one of the first two, in n rows from a row on; NULL is an empty one.
	Texts(arg, row, n int) []string
	// Scratch is room for a result of so many bytes, which is copied before another group is computed.
	Scratch(bytes int) []byte
}

// AggOrder is an element of the ORDER BY inside of an aggregate.
type AggOrder struct {
	X          Expr
	Desc       bool
	NullsFirst bool
}

// Folded reports a group whose aggregates are folds. The optimizer leaves no other aggregates beside them.
func (n *Group) Folded() bool {
	return slices.ContainsFunc(n.Aggs, func(a Agg) bool { return a.Func == Folded })
}

// Args are the arguments of an aggregate.
func (a *Agg) Args() []Expr {
	if a.Arg == nil {
		return nil
	}
	return append([]Expr{a.Arg}, a.More...)
}

// EachExpr calls f for every expression of an aggregate.
func (a *Agg) EachExpr(f func(Expr)) {
	for _, x := range a.Args() {
		f(x)
	}
	if a.Filter != nil {
		f(a.Filter)
	}
	for i := range a.Order {
		f(a.Order[i].X)
	}
}

// MapExprs replaces every expression of an aggregate. Lists may be shared with another one: they are copied.
func (a *Agg) MapExprs(f func(Expr) Expr) {
	if a.Filter != nil {
		a.Filter = f(a.Filter)
	}
	if a.Arg != nil {
		a.Arg = f(a.Arg)
	}
	a.More, a.Order = slices.Clone(a.More), slices.Clone(a.Order)
	for i, x := range a.More {
		a.More[i] = f(x)
	}
	for i := range a.Order {
		a.Order[i].X = f(a.Order[i].X)
	}
}

// sameFold compares what only folds have.
func (a *Agg) sameFold(b *Agg) bool {
	return a.Fold == b.Fold && EqualExprs(a.More, b.More) && slices.Equal(a.Direct, b.Direct) &&
		slices.EqualFunc(a.Order, b.Order, func(x, y AggOrder) bool {
			return x.Desc == y.Desc && x.NullsFirst == y.NullsFirst && EqualExpr(x.X, y.X)
		})
}

// fold prints an aggregate that Go computes.
func (p *printer) fold(a Agg) {
	p.b.WriteString(a.Fold.Name + "(")
	if a.Distinct {
		p.b.WriteString("distinct ")
	}
	p.exprs("", a.Args(), ", ")
	for _, v := range a.Direct {
		p.b.WriteString("; ")
		p.expr(NewConst(v), 0)
	}
	for i, o := range a.Order {
		p.b.WriteString([]string{" order by ", ", "}[min(i, 1)])
		p.expr(o.X, 0)
		p.direction(o.Desc, o.NullsFirst)
	}
	p.b.WriteByte(')')
}
