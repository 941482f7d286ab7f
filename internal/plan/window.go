package plan

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/types"
)

// Window computes functions of a row and of the rows around it, its window. Rows stay what they are, each with
// the functions' columns beside its own. All that functions look at are columns: whoever makes the operator has the
// expressions computed below.
type Window struct {
	Props_ Props
	Input  Node
	Specs  []WindowSpec
	Funcs  []WindowFunc
}

// WindowSpec is which rows belong together, and in which order.
type WindowSpec struct {
	Partition []ColID
	Order     []SortKey
}

// WinFunc is a function of a window.
type WinFunc uint8

const (
	RowNumber WinFunc = iota
	Rank
	DenseRank
	PercentRank
	CumeDist
	Ntile      // number of parts
	Lag        // value [, offset [, default]]
	Lead       // likewise
	FirstValue // value
	LastValue  // value
	NthValue   // value, n
	WinAgg     // an aggregate of the frame: WindowFunc.Agg
)

func (f WinFunc) String() string {
	return [...]string{"row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead",
		"first_value", "last_value", "nth_value", "aggregate"}[f]
}

// Framed reports a function that looks at the rows of the frame only.
func (f WinFunc) Framed() bool { return f >= FirstValue }

// WindowFunc is one computation.
type WindowFunc struct {
	Func  WinFunc
	Agg   AggFunc // of WinAgg: CountStar, Count, Sum, Min, Max, AnyValue, BoolAnd, BoolOr or Folded
	Args  []ColID
	Spec  int // its window, among Window.Specs
	Frame Frame
	// IgnoreNulls: rows whose value is NULL do not count, of Lag, Lead, FirstValue, LastValue and NthValue.
	IgnoreNulls bool
	Fold        *WindowFold // of WinAgg where Agg is Folded
	Col         ColID
}

// WindowFold is an aggregate of a frame that Go computes from all its rows: see Fold. What it looks at are columns.
type WindowFold struct {
	*Fold
	Direct   []types.Value
	Filter   ColID // 0: all rows count
	Distinct bool
	Order    []SortKey // of the rows of a frame; none: that of the window
}

// Same reports that two functions have the same fold, or none.
func (f *WindowFold) Same(g *WindowFold) bool {
	if f == nil || g == nil {
		return f == g
	}
	return f.Fold == g.Fold && slices.Equal(f.Direct, g.Direct) && f.Filter == g.Filter && f.Distinct == g.Distinct && slices.Equal(f.Order, g.Order)
}

// NeverNull reports a function that is NULL in no row.
func (f *WindowFunc) NeverNull() bool {
	return f.Func <= CumeDist || f.Func == WinAgg && (f.Agg == Count || f.Agg == CountStar)
}

// Frame is the rows of a window that a function looks at, from Start to End, both included.
type Frame struct {
	Unit       FrameUnit
	Start, End FrameBound
	Exclude    FrameExclude
	// Key is the value of which bounds of a RANGE are a distance away: the only sort key, in the type in which it is
	// computed. 0: no bound has an offset.
	Key  ColID
	Desc bool // the order of Key
}

// DefaultFrame is all rows up to the peers of the current one.
func DefaultFrame() Frame {
	return Frame{Unit: RangeFrame, Start: FrameBound{Kind: UnboundedPreceding}, End: FrameBound{Kind: CurrentRow}}
}

// Whole reports a frame that is the whole partition, with or without an order.
func (f *Frame) Whole(ordered bool) bool {
	if f.Exclude != ExcludeNone || f.Start.Kind != UnboundedPreceding {
		return false
	}
	return f.End.Kind == UnboundedFollowing || f.End.Kind == CurrentRow && f.Unit == RangeFrame && !ordered
}

// FrameUnit is what bounds count.
type FrameUnit uint8

const (
	RowsFrame   FrameUnit = iota // rows
	RangeFrame                   // values of the sort key
	GroupsFrame                  // groups of rows with equal sort keys
)

func (u FrameUnit) String() string { return [...]string{"rows", "range", "groups"}[u] }

// BoundKind is the kind of a frame bound, in the order of the rows.
type BoundKind uint8

const (
	UnboundedPreceding BoundKind = iota
	Preceding                    // Offset before the current row
	CurrentRow
	Following
	UnboundedFollowing
)

// FrameBound is where a frame begins or ends.
type FrameBound struct {
	Kind   BoundKind
	Offset types.Value // BIGINT, or of a RANGE what is added to Frame.Key
}

// FrameExclude is which of the rows around the current one are left out of the frame.
type FrameExclude uint8

const (
	ExcludeNone FrameExclude = iota
	ExcludeCurrentRow
	ExcludeGroup // with its peers
	ExcludeTies  // its peers, without itself
)

func (n *Window) Props() *Props          { return &n.Props_ }
func (n *Window) Inputs() []Node         { return []Node{n.Input} }
func (n *Window) SetInput(_ int, m Node) { n.Input = m }
func (n *Window) Produces(dst []ColID) []ColID {
	return append(n.Input.Produces(dst), n.Made()...)
}

// Made are the columns that the functions make.
func (n *Window) Made() []ColID {
	out := make([]ColID, len(n.Funcs))
	for i := range n.Funcs {
		out[i] = n.Funcs[i].Col
	}
	return out
}

// eachCol calls f with every column that the operator reads, for it to change.
func (n *Window) eachCol(f func(*ColID)) {
	for i := range n.Specs {
		s := &n.Specs[i]
		for k := range s.Partition {
			f(&s.Partition[k])
		}
		for k := range s.Order {
			f(&s.Order[k].Col)
		}
	}
	for i := range n.Funcs {
		w := &n.Funcs[i]
		for k := range w.Args {
			f(&w.Args[k])
		}
		if w.Frame.Key != 0 {
			f(&w.Frame.Key)
		}
		if w.Fold == nil {
			continue
		}
		if w.Fold.Filter != 0 {
			f(&w.Fold.Filter)
		}
		for k := range w.Fold.Order {
			f(&w.Fold.Order[k].Col)
		}
	}
}

// Reads are the columns that the operator looks at.
func (n *Window) Reads() (s ColSet) {
	n.eachCol(func(id *ColID) { s.Add(*id) })
	return s
}

// Rename changes the names of the columns that the operator reads.
func (n *Window) Rename(names Renaming) {
	n.Specs, n.Funcs = cloneSpecs(n.Specs), cloneFuncs(n.Funcs) // may be shared with another node
	n.eachCol(func(id *ColID) { *id = names.Get(*id) })
}

// PartitionedBy are the columns by which all windows are partitioned: rows that differ in one of them never
// see each other.
func (n *Window) PartitionedBy() ColSet {
	if len(n.Specs) == 0 {
		return ColSet{}
	}
	s := MakeColSet(n.Specs[0].Partition...)
	for i := range n.Specs {
		s.Intersect(MakeColSet(n.Specs[i].Partition...))
	}
	return s
}

// DropSpecs removes windows that no function has.
func (n *Window) DropSpecs() {
	var specs []WindowSpec
	at := make([]int, len(n.Specs))
	for i := range n.Specs {
		at[i] = -1
	}
	n.Funcs = cloneFuncs(n.Funcs)
	for i := range n.Funcs {
		f := &n.Funcs[i]
		if at[f.Spec] < 0 {
			at[f.Spec] = len(specs)
			specs = append(specs, n.Specs[f.Spec])
		}
		f.Spec = at[f.Spec]
	}
	n.Specs = specs
}

func cloneSpecs(in []WindowSpec) []WindowSpec {
	out := slices.Clone(in)
	for i := range out {
		out[i].Partition, out[i].Order = slices.Clone(out[i].Partition), slices.Clone(out[i].Order)
	}
	return out
}

func cloneFuncs(in []WindowFunc) []WindowFunc {
	out := slices.Clone(in)
	for i := range out {
		out[i].Args = slices.Clone(out[i].Args)
		if f := out[i].Fold; f != nil {
			g := *f
			g.Order = slices.Clone(f.Order)
			out[i].Fold = &g
		}
	}
	return out
}
