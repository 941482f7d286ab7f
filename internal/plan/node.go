package plan

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/types"
)

// ColID names a column of the query: each scan column, computed expression and
// aggregate has its own. 0 is no column.
type ColID int32

// Col is what is known of a column, whichever operator produces it.
type Col struct {
	ID      ColID
	Name    string
	Type    types.Type
	NotNull bool
}

// Columns hands out ColIDs and remembers what they are; one per query.
type Columns struct{ cols []Col }

// New makes a column.
func (c *Columns) New(name string, t types.Type, notNull bool) ColID {
	if len(c.cols) == 0 {
		c.cols = append(c.cols, Col{})
	}
	id := ColID(len(c.cols))
	c.cols = append(c.cols, Col{id, name, t, notNull})
	return id
}

// Clone is the same columns, to which others can be added.
func (c *Columns) Clone() *Columns { return &Columns{slices.Clone(c.cols)} }

// Get is the column with that id.
func (c *Columns) Get(id ColID) *Col { return &c.cols[id] }

// Len is one more than the largest ColID.
func (c *Columns) Len() int { return len(c.cols) }

// Query is a bound statement's relational part.
type Query struct {
	Cols   *Columns
	Root   Node
	Output []ColID  // the result's columns, in order
	Names  []string // and their names
	// Shared are subplans used more than once (CTEs, recognized common subplans);
	// Shared nodes refer to them by index.
	Shared []*SharedPlan
}

// SharedPlan is a subplan whose result is materialized once and scanned by each
// SharedScan that refers to it.
type SharedPlan struct {
	Name string
	Plan Node
	Cols []ColID // what it produces
}

// Node is a relational operator.
type Node interface {
	Inputs() []Node
	SetInput(i int, n Node)
	// Produces appends the columns visible above the operator.
	Produces(dst []ColID) []ColID
	Props() *Props
}

// Props are the optimizer's notes on a node.
type Props struct {
	Rows float64 // estimated rows; 0 = not estimated yet
	ID   int     // number of the operator in EXPLAIN
	// Switches are settings that hold here alone, by their names: see phys/switches.go.
	Switches map[string]string
}

// Scan reads a stored table.
type Scan struct {
	Props_  Props
	Table   *catalog.Table
	Snap    *catalog.Snapshot
	Alias   string
	Cols    []ColID // produced columns …
	Ordinal []int   // … and which column of the table each is, or Tested
	// Filter is a conjunction evaluated at the scan (pushed down); may be nil.
	Filter []Expr
	// Reduce are semi-join filters: rows whose Col cannot be among the keys that a
	// join hashed may be dropped here. They only save work; results do not depend on them.
	Reduce []Reducer
}

// Tested is no column of a table: 1 where a row has passed the filters of a scan, which somebody else has tested, else 0.
const Tested = -1

// Reducer lets a scan drop rows early: Join's build side is hashed before the scan
// starts, and Col must equal build key number Key of it for a row to matter.
type Reducer struct {
	Join *Join
	Key  int
	Col  ColID
}

// Values is a constant relation; each row has one expression per column, without
// references.
type Values struct {
	Props_ Props
	Cols   []ColID
	Rows   [][]Expr
}

// Series is From, From + Step, … of N integers, in this order.
type Series struct {
	Props_     Props
	Col        ColID
	From, Step int64
	N          int64
}

// Last is the last element; N is not 0.
func (n *Series) Last() int64 { return n.From + (n.N-1)*n.Step }

// SharedScan reads the result of Query.Shared[Index]; Cols[i] renames Source[i].
type SharedScan struct {
	Props_ Props
	Index  int
	Cols   []ColID
	Source []ColID
}

// Filter keeps rows for which every predicate is true.
type Filter struct {
	Props_ Props
	Input  Node
	Preds  []Expr
}

// Project computes new columns; the input's columns stay visible only if listed
// in Keep.
type Project struct {
	Props_ Props
	Input  Node
	Keep   []ColID
	Exprs  []Expr
	Cols   []ColID // names of Exprs
}

// JoinKind says what a join produces.
type JoinKind uint8

const (
	Inner  JoinKind = iota // pairs
	Left                   // pairs, and unmatched left rows with NULLs
	Full                   // … and unmatched right rows with NULLs
	Semi                   // left rows with a match
	Anti                   // left rows without a match (NOT EXISTS)
	Mark                   // every left row, with MarkCol: true/false/NULL as IN would say
	Single                 // like Left, but more than one match is an error (scalar subquery)
)

func (k JoinKind) String() string {
	return [...]string{"inner", "left", "full", "semi", "anti", "mark", "single"}[k]
}

// Join combines Left (probe side unless BuildLeft) and Right. On is a conjunction; the
// optimizer keeps equalities left = right in Keys.
type Join struct {
	Props_       Props
	Kind         JoinKind
	Left, Right  Node
	LKeys, RKeys []Expr // LKeys[i] = RKeys[i]; each refers to its own side only
	NullSafe     []bool // per key: IS NOT DISTINCT FROM instead of =; nil = none
	On           []Expr // the rest
	MarkCol      ColID  // Mark only
	// Dependent: the right side refers to columns of the left. Unnesting removes
	// this; later stages never see it.
	Dependent bool
	// BuildLeft: hash the left side and probe with the right (Inner, Semi, Anti, Left, Full).
	BuildLeft bool
	// AtMostOne: each left row has at most one match, by keys known to be unique.
	AtMostOne bool
	// Gate, of a semi join: nothing on the left may be evaluated unless the right side has a row. It is what
	// keeps a subquery quiet that no row asks for; see opt/unnest_guard.go.
	Gate bool
}

// AggFunc is an aggregate function.
type AggFunc uint8

const (
	CountStar AggFunc = iota
	Count
	Sum
	Avg
	Min
	Max
	AnyValue // first value seen; for columns functionally dependent on the keys
	BoolAnd
	BoolOr
	StddevSamp
	StddevPop
	VarSamp
	VarPop
	First  // the value, NULL or not, of the row that makes the group: with several of them, all from one row
	Folded // computed in Go from all rows of the group: see Fold
	// Spread is the sum of the squared distances of Arg from its mean; with More, which is one column, of the products of the two columns'
	// distances. Beside it, for the same rows, stand count(*) and the sum of each column, from which each row is corrected: see SpreadParts.
	Spread
)

func (f AggFunc) String() string {
	return [...]string{"count(*)", "count", "sum", "avg", "min", "max", "any_value", "bool_and", "bool_or",
		"stddev_samp", "stddev_pop", "var_samp", "var_pop", "first", "folded", "spread"}[f]
}

// Agg is one aggregate computation.
type Agg struct {
	Func     AggFunc
	Arg      Expr // nil for CountStar
	Distinct bool
	Filter   Expr // FILTER (WHERE …); nil = none
	Col      ColID

	More []Expr // arguments after Arg, of Folded and Spread

	// Of Folded alone.
	Fold   *Fold
	Direct []types.Value // arguments that are the same for all rows: of percentile_cont, say
	Order  []AggOrder
}

// Group groups by key expressions and aggregates. No keys: one row always.
type Group struct {
	Props_  Props
	Input   Node
	Keys    []Expr
	KeyCols []ColID
	Aggs    []Agg
}

// SetOp is UNION ALL: it puts the rows of its inputs together, position by position: input i's column
// InCols[i][k] becomes Cols[k]. The other set operations are made of it, of Group, of Repeat and of joins.
type SetOp struct {
	Props_ Props
	Args   []Node
	InCols [][]ColID
	Cols   []ColID
}

// Repeat gives each row as often as Count says, not at all where that is NULL or less than one. Col numbers the
// copies of a row from 0 on.
type Repeat struct {
	Props_ Props
	Input  Node
	Count  Expr // BIGINT
	Col    ColID
}

// SortKey is one ORDER BY element.
type SortKey struct {
	Col        ColID
	Desc       bool
	NullsFirst bool
}

// Sort orders rows; Limit < 0 is none. With a limit it is top-N.
type Sort struct {
	Props_ Props
	Input  Node
	Keys   []SortKey // may be empty: a plain LIMIT
	Limit  int64
	Offset int64
}

func (n *Scan) Props() *Props       { return &n.Props_ }
func (n *Values) Props() *Props     { return &n.Props_ }
func (n *Series) Props() *Props     { return &n.Props_ }
func (n *SharedScan) Props() *Props { return &n.Props_ }
func (n *Filter) Props() *Props     { return &n.Props_ }
func (n *Project) Props() *Props    { return &n.Props_ }
func (n *Join) Props() *Props       { return &n.Props_ }
func (n *Group) Props() *Props      { return &n.Props_ }
func (n *SetOp) Props() *Props      { return &n.Props_ }
func (n *Repeat) Props() *Props     { return &n.Props_ }
func (n *Sort) Props() *Props       { return &n.Props_ }

func (n *Scan) Inputs() []Node       { return nil }
func (n *Values) Inputs() []Node     { return nil }
func (n *Series) Inputs() []Node     { return nil }
func (n *SharedScan) Inputs() []Node { return nil }
func (n *Filter) Inputs() []Node     { return []Node{n.Input} }
func (n *Project) Inputs() []Node    { return []Node{n.Input} }
func (n *Join) Inputs() []Node       { return []Node{n.Left, n.Right} }
func (n *Group) Inputs() []Node      { return []Node{n.Input} }
func (n *SetOp) Inputs() []Node      { return n.Args }
func (n *Repeat) Inputs() []Node     { return []Node{n.Input} }
func (n *Sort) Inputs() []Node       { return []Node{n.Input} }

func (n *Scan) SetInput(int, Node)        {}
func (n *Values) SetInput(int, Node)      {}
func (n *Series) SetInput(int, Node)      {}
func (n *SharedScan) SetInput(int, Node)  {}
func (n *Filter) SetInput(_ int, m Node)  { n.Input = m }
func (n *Project) SetInput(_ int, m Node) { n.Input = m }
func (n *Group) SetInput(_ int, m Node)   { n.Input = m }
func (n *SetOp) SetInput(i int, m Node)   { n.Args[i] = m }
func (n *Repeat) SetInput(_ int, m Node)  { n.Input = m }
func (n *Sort) SetInput(_ int, m Node)    { n.Input = m }
func (n *Join) SetInput(i int, m Node) {
	if i == 0 {
		n.Left = m
	} else {
		n.Right = m
	}
}

func (n *Scan) Produces(dst []ColID) []ColID       { return append(dst, n.Cols...) }
func (n *Values) Produces(dst []ColID) []ColID     { return append(dst, n.Cols...) }
func (n *Series) Produces(dst []ColID) []ColID     { return append(dst, n.Col) }
func (n *SharedScan) Produces(dst []ColID) []ColID { return append(dst, n.Cols...) }
func (n *Filter) Produces(dst []ColID) []ColID     { return n.Input.Produces(dst) }
func (n *Project) Produces(dst []ColID) []ColID {
	return append(append(dst, n.Keep...), n.Cols...)
}
func (n *Join) Produces(dst []ColID) []ColID {
	dst = n.Left.Produces(dst)
	switch n.Kind {
	case Inner, Left, Full, Single:
		dst = n.Right.Produces(dst)
	case Mark:
		dst = append(dst, n.MarkCol)
	}
	return dst
}
func (n *Group) Produces(dst []ColID) []ColID {
	dst = append(dst, n.KeyCols...)
	for _, a := range n.Aggs {
		dst = append(dst, a.Col)
	}
	return dst
}
func (n *SetOp) Produces(dst []ColID) []ColID { return append(dst, n.Cols...) }
func (n *Sort) Produces(dst []ColID) []ColID  { return n.Input.Produces(dst) }
func (n *Repeat) Produces(dst []ColID) []ColID {
	return append(n.Input.Produces(dst), n.Col)
}
