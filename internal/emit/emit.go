package emit

import (
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/emit/scalar"
	"github.com/kelpiedb/kelpie/internal/emit/scanned"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/techniques"
)

// ArrayPad is how many rows of a column can be read beyond its end where it is one array: what lanes of a warp read at a time.
const ArrayPad = 256

// Request is a pipeline to compile and what is known about its surroundings.
type Request struct {
	Name     string
	Cols     *plan.Columns
	Pipeline *pipe.Pipeline
	Target   ir.Target
	Device   string          // its name in messages
	Done     <-chan struct{} // closed when the code is not wanted any more; may be nil

	// Table sources: the shape of each scanned column, in Scan.Cols order.
	Shapes []scanned.Shape
	// Arrays: each column is one array that begins at a multiple of 16 bytes, can be read ArrayPad rows beyond its end, and
	// whose codes count from the column's least value; rows begin at a multiple of 8.
	Arrays bool
	// Whole: one launch takes all rows of the table.
	Whole bool
	// Buffer and Constants sources: the tuples, and whether they come as an array of addresses.
	Tuple    *layout.Tuple
	Indirect bool
	// Parted: they lie side by side with those of the same part; nil: they do not.
	Parted *PartPlan
	// BlockShared is the shared memory that a block of a GPU may have, in bytes.
	BlockShared int
	// Rows bounds how many rows the source can deliver in all.
	Rows int64

	// Tables are the finished build sides of the joins that are probed, and of those
	// whose semi-join filters are used.
	Tables map[*pipe.Build]*layout.Table
	// Filters are the semi-join filters to apply at a table scan.
	Filters []scanned.Filter
	// Sink is the layout of the sink's tuples when an earlier compilation fixed it.
	Sink *layout.Tuple
	// United: several pipelines fill the sink; this is what is known of its columns in all of them.
	United []layout.Field
	// Generic: several pipelines fill the sink and not all are known, so its tuples are laid out by type alone.
	Generic bool
	// Group says how an Aggregate sink keeps its groups, when already decided.
	Group *GroupPlan
	// Merge: the source delivers the sink's own partial groups, to be combined.
	Merge bool
	// SIMD: what is for the CPU may use operations on masks of rows; Gather: also those that look each row's
	// value up in memory, which only the newest processors do well.
	SIMD, Gather bool
	// Late are columns of the result that are not written: the tuple has the number of the scan's row instead.
	Late plan.ColSet
	// TopN: only the first rows by the sink's sort keys are wanted: rows behind the bound are dropped.
	TopN bool
	// Count: keep a counter of rows after each operator, for EXPLAIN ANALYZE.
	Count bool
	// Lanes: keep a histogram of active lanes after each operator, for EXPLAIN (ANALYZE, LANES).
	Lanes bool
	// Check: addresses and lengths of texts are looked at, for tests.
	Check bool
	// Verbose: comments tell the operators' expressions, for EXPLAIN.
	Verbose bool
	// Map works functions of a dictionary's texts out; nil: rows compute them.
	Map scalar.TextMapper
	Off techniques.Off
	// Resolve is how lanes of a GPU come together.
	Resolve phys.Resolve
	// Home is where groups live on a GPU, if somebody wants it so.
	Home phys.Home
	// Writing is how rows find their places in the sink of a GPU. Counting: the code only counts those that each row of the source makes.
	Writing  phys.Writing
	Counting bool
	// Takes is the number of tuples for which warps of a GPU take room at a time; 0: that which pays.
	Takes int64
	// Expand tells by operator how warps of a GPU share the matches of a probe; what is beyond its end is done by each lane.
	Expand []phys.Expand
	// Queue says which rows with very many matches go to a queue, or come from there.
	Queue Queue
	// Refill is what becomes of lanes whose rows are dropped, if somebody wants it so.
	Refill phys.Refill
	// Stretch bounds how many candidates of a lane are shared at a time; 0: as many as can be numbered.
	Stretch int64
}

// Queue is a queue of rows with very many matches. Pieces: the code takes them from there, else it puts them in.
type Queue struct {
	phys.Queue
	Pieces bool
}

// Fragment is a compiled pipeline before translation.
type Fragment struct {
	Func    *ir.Func
	Words   []code.Word
	CtxSize int
	Pool    []byte // string literals; Word Pool points to a copy
	// Literals are the numbers that come from the context.
	Literals []int64
	// Params are the offsets of context words that a launch passes as parameters, in their order. Only the first CtxKept bytes of
	// the context are read or written by the code itself.
	Params  []int
	CtxKept int
	Sink    *layout.Tuple
	Void    []bool // by field of Sink, if it was laid out here: only NULLs are written to it
	Group   *GroupPlan
	Luts    []*Lut
	Errors  []*diag.Error // exit status k+1 means Errors[k]
	Counts  []Counter
	Lanes   []Counter // Off is that of the first of layout.WarpLanes words: how often one lane was active, two lanes …
	// Reads are the columns of a scanned table that are read, in that order.
	Reads   []Read
	Counted int   // how many of those a launch needs that only counts rows, see warp_parts.go
	MaxRows int64 // Stage sinks: no more rows than this reach the sink
	// WarpBytes is the shared memory that each warp of a launch needs beside what the code declares.
	WarpBytes int
	// BlockBytes is likewise what each block needs, behind that of its warps.
	BlockBytes int
	// Parts are those that rows are written in; nil: in none.
	Parts *PartPlan
	// How is what was decided while it was written.
	How phys.Decision
}

// Dynamic is the shared memory that a block of so many threads needs beside what the code declares.
func (f *Fragment) Dynamic(threads int) int {
	return threads/layout.WarpLanes*f.WarpBytes + f.BlockBytes
}

// PartPlan is how rows are in parts. Where Domains is not nil, part k has those of slots from k<<Shift on, of an array with a slot for each combination of keys.
type PartPlan struct {
	Count   int64
	Domains []phys.Domain
	Shift   int
}

// Read is a column of the scan, by its place there, and where rows have come that first need it: rows that left operator After;
// -1: those that the source lets pass, -2: all.
type Read struct{ Col, After int }

// Counter is a row counter of EXPLAIN ANALYZE: rows that left operator Op (-1: the source).
type Counter struct {
	Off int
	Op  int
}

// Pipeline compiles a pipeline.
func Pipeline(req Request) (frag *Fragment, err error) {
	defer recovered(req.Name, &err)
	f := pipeline(req)
	if req.Parted != nil && f.Group.Mode != phys.PartGroups { // whose loop it has
		req.Parted = nil
		f = pipeline(req)
	}
	return f, nil
}

func pipeline(req Request) *Fragment {
	e := newEmitter(req)
	e.live = e.liveness()
	e.source()
	return e.fragment()
}

// recovered makes an error of what ended a compilation.
func recovered(name string, err *error) {
	switch x := recover().(type) {
	case nil:
	case code.Unsupported:
		*err = x.Err
	case *diag.Error:
		*err = x
	default:
		bug := diag.Internalf("emit "+name, "%v", x)
		bug.Stack = debug.Stack() // for the log: a message to a user has none
		*err = bug
	}
}

// emitter is the state of one compilation.
type emitter struct {
	Request
	scalar.Evaluator
	frame
	f     *Fragment
	table *scanned.Table // table scans

	place   scanned.Place        // of the row at hand, where later ones can be looked at
	rings   map[*pipe.Build]ring // where the hashes for probes wait
	live    []plan.ColSet
	maxRows layout.Range             // bound on rows at the current place, for sums
	first   func(agg int) code.Value // the argument of an aggregate for the row that makes a group
	row     ir.Reg                   // a table's row at hand
	behind  int                      // the operator that rows have passed, as Read.After
	// readFirst: rows that come here mostly come to the end, so their columns are read at once, before any is waited for.
	readFirst bool
	// outlines: values are written as they are made; what they are like is asked before.
	outlines bool
	looks    ir.Reg // registers from this one on are opened after the row was looked up in a table; 0: none is
}

// newEmitter is an emitter before its first instruction.
func newEmitter(req Request) *emitter {
	e := &emitter{Request: req, behind: -2, f: &Fragment{Sink: req.Sink, Group: req.Group}}
	can := e.enterFrame()
	e.Evaluator = scalar.Evaluator{
		Emitter: code.Emitter{
			B:       ir.NewFunc(req.Name, req.Target),
			CtxSize: layout.CtxWords,
			Cols:    req.Cols,
			Rows:    req.Rows,
			Can:     can,
			Off:     e.Request.Off,
			Check:   req.Check && !can.Checked,
			Verbose: req.Verbose,
			Exit:    e.exit,
		},
		Patience: diag.Patience{Done: req.Done},
		Tabulate: e.lut,
		Scans:    e.scansText,
		Map:      req.Map,
	}
	e.Texts = e.frame.texts()
	if req.Pipeline != nil { // else a lookup table's function
		if t, ok := req.Pipeline.Source.(*pipe.Table); ok {
			e.table = &scanned.Table{Emitter: &e.Emitter, Scan: t.Scan, Shapes: req.Shapes}
		}
	}
	return e
}

// fragment is what was written.
func (e *emitter) fragment() *Fragment {
	f := e.f
	f.Func, f.CtxSize = e.B.F, e.CtxSize
	if f.CtxKept == 0 {
		f.CtxKept = f.CtxSize
	}
	f.Words, f.Pool, f.Literals, f.Errors = e.Words, e.Pool, e.Literals, e.Errors
	return f
}

// consume emits operator number i and all that follows it for the current row.
func (e *emitter) consume(i int) {
	e.behind = i - 1
	e.count(i - 1)
	e.activity(i - 1)
	e.refill(i, func() { e.operator(i) })
}

// operator emits operator number i, or the sink behind the last.
func (e *emitter) operator(i int) {
	if i == len(e.Pipeline.Ops) {
		e.sink()
		return
	}
	switch op := e.Pipeline.Ops[i].(type) {
	case *pipe.Filter:
		e.filterOp(op, i)
	case *pipe.Map:
		e.mapOp(op, i)
	case *pipe.Probe:
		e.probeOp(op, i)
	case *pipe.Repeat:
		e.Say("repeat", func(n plan.Names) string { return n.Expr(op.Count) })
		e.repeat(op, i)
	case *pipe.Rename:
		for k, from := range op.From {
			e.Alias(op.To[k], from)
		}
		e.consume(i + 1)
	case *pipe.Nulls:
		for _, id := range op.Cols {
			e.Bind(id, e.NullValue(e.Cols.Get(id).Type))
		}
		e.consume(i + 1)
	case *pipe.Compute: // pipelines that have one are compiled stage by stage
		code.Refuse(-1, "a pipeline that computes in Go")
	default:
		panic(fmt.Sprintf("operator %T", op))
	}
}

func (e *emitter) sink() {
	switch s := e.Pipeline.Sink.(type) {
	case *pipe.Build:
		e.buildSink(s)
	case *pipe.Aggregate:
		e.groupSink(s)
	case *pipe.Collect:
		e.collectSink(s)
	case *pipe.Fold:
		e.collectSink(&s.Collect)
	case *pipe.Rounds:
		e.collectSink(&s.Collect)
	case *pipe.Stage:
		e.stageSink(s)
	case *pipe.Discard:
	default:
		panic(fmt.Sprintf("sink %T", s))
	}
}

// reads takes note that column k of the scan is read here.
func (e *emitter) reads(k int) {
	if !slices.ContainsFunc(e.f.Reads, func(r Read) bool { return r.Col == k }) {
		e.f.Reads = append(e.f.Reads, Read{k, e.behind})
	}
}

// count adds one to operator op's row counter.
func (e *emitter) count(op int) {
	if !e.Count || !e.counted(op) {
		return
	}
	if e.Verbose {
		e.B.Comment("count rows")
	}
	off := e.Word(code.Word{Kind: code.WordCount, Index: op})
	e.tally(off)
	for _, c := range e.f.Counts {
		if c.Op == op {
			return
		}
	}
	e.f.Counts = append(e.f.Counts, Counter{off, op})
}
