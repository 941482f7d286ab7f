package emit

import (
	"fmt"
	"runtime/debug"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Request is a pipeline to compile and what is known about its surroundings.
type Request struct {
	Name     string
	Cols     *plan.Columns
	Pipeline *pipe.Pipeline
	Target   ir.Target
	Device   string          // its name in messages
	Done     <-chan struct{} // closed when the code is not wanted any more; may be nil
	// LutTarget is where lookup tables are made; 0: where the pipeline runs.
	LutTarget ir.Target

	// Table sources: the shape of each scanned column, in Scan.Cols order.
	Shapes []Shape
	// Buffer and Constants sources: the tuples, and whether they come as an array of addresses.
	Tuple    *layout.Tuple
	Indirect bool
	// Rows bounds how many rows the source can deliver in all.
	Rows int64

	// Tables are the finished build sides of the joins that are probed, and of those
	// whose semi-join filters are used.
	Tables map[*pipe.Build]*layout.Table
	// Filters are the semi-join filters to apply at a table scan.
	Filters []ScanFilter
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
	// Check: addresses and lengths of texts are looked at, for tests.
	Check bool
	// Verbose: comments tell the operators' expressions, for EXPLAIN.
	Verbose bool
	// Map works functions of a dictionary's texts out; nil: rows compute them.
	Map TextMapper
	Off Off
}

// Shape is a chunk's shape, and whether its codes are offset by a base.
type Shape struct {
	column.Shape
	Based bool
}

// ScanFilter is a semi-join filter at a scan: Col must lie in Range and, if Bits is set, its
// bit in the bitmap (by value - Range.Lo) or Bloom filter (by hash) must be set.
type ScanFilter struct {
	Col   plan.ColID
	Range layout.Range
	Kind  layout.FilterKind
	Bits  uint8   // Bloom: log2 of the number of 64-bit words
	Share float64 // of the column's values that pass, as far as known
	Index int     // of its Word
	Build *pipe.Build
	Key   int // of Build, whose values make the set
}

// Fragment is a compiled pipeline before translation.
type Fragment struct {
	Func    *ir.Func
	Words   []Word
	CtxSize int
	Pool    []byte // string literals; Word Pool points to a copy
	// Literals are the numbers that come from the context.
	Literals []int64
	Sink     *layout.Tuple
	Void     []bool // by field of Sink, if it was laid out here: only NULLs are written to it
	Group    *GroupPlan
	Luts     []*Lut
	Errors   []*diag.Error // exit status k+1 means Errors[k]
	Counts   []Counter
	MaxRows  int64 // Stage sinks: no more rows than this reach the sink
}

// Counter is a row counter of EXPLAIN ANALYZE: rows that left operator Op (-1: the source).
type Counter struct {
	Off int
	Op  int
}

// WordKind says what a context word holds.
type WordKind uint8

const (
	WordData    WordKind = iota // column Index: data
	WordBase                    // column Index: frame of reference
	WordNull                    // column Index: NULL bytes
	WordHeap                    // column Index: string heap
	WordDesc                    // Dict: descriptors
	WordDHeap                   // Dict: heap
	WordPool                    // literal pool
	WordSlots                   // Build: slots
	WordTuples                  // Build: tuple array
	WordZero                    // a block of zero bytes: the tuple of an outer row without match
	WordLut                     // Luts[Index]
	WordFilter                  // bits of semi-join filter Index
	WordCount                   // a counter, starts at 0
	WordLiteral                 // Literals[Index]
	WordTexts                   // the worker's space for texts: see maketext.go
	WordRanks                   // Dict: the rank of each code, 4 bytes
	WordRow                     // the number of the segment, shifted to the upper half: row numbers are added to it
)

// Word is a context word that the executor fills before the first row.
type Word struct {
	Off   int
	Kind  WordKind
	Index int
	Dict  *column.Dict
	Build *pipe.Build
}

// Pipeline compiles a pipeline.
func Pipeline(req Request) (frag *Fragment, err error) {
	e := &emitter{
		Request: req,
		b:       ir.NewFunc(req.Name, req.Target),
		f:       &Fragment{Sink: req.Sink, Group: req.Group},
		ctx:     layout.CtxWords,
	}
	e.patience.Done = req.Done
	defer func() {
		switch x := recover().(type) {
		case nil:
		case unsupported:
			err = x.err
		case *diag.Error:
			err = x
		default:
			bug := diag.Internalf("emit "+req.Name, "%v", x)
			bug.Stack = debug.Stack() // for the log: a message to a user has none
			err = bug
		}
	}()
	e.live = e.liveness()
	e.source()
	e.f.Func = e.b.F
	e.f.CtxSize = e.ctx
	return e.f, nil
}

// emitter is the state of one compilation.
type emitter struct {
	Request
	b     *ir.Builder
	f     *Fragment
	ctx   int          // next free context offset
	words map[Word]int // places in f.Words, if there are many

	env
	fuel    ir.Reg               // matches until the next layout.YieldTick; NoReg where rows have few
	place   rowPlace             // table scans on the CPU
	rings   map[*pipe.Build]ring // where the hashes for probes wait
	skipTo  int32                // the loop whose Next a dropped row goes to
	live    []plan.ColSet
	maxRows layout.Range        // bound on rows at the current place, for sums
	first   func(agg int) value // the argument of an aggregate for the row that makes a group
	row     ir.Reg              // a table's row at hand
	noLut   bool                // inside the making of a lookup table
	gpu     *gpuFrame           // Target GPU: what surrounds the row

	calendars []*calendar
	textMaps  []placedMap

	patience diag.Patience
}

type unsupported struct{ err *diag.Error }

// refuse ends the compilation: the query needs something that is not there.
func refuse(pos int, format string, args ...any) {
	panic(unsupported{diag.Errorf(diag.FeatureNotSupported, pos, format, args...)})
}

// word allots a context word for w and returns its offset.
func (e *emitter) word(w Word) int {
	if i := e.findWord(w); i >= 0 {
		return e.f.Words[i].Off
	}
	if e.words != nil {
		e.words[w] = len(e.f.Words)
	}
	w.Off = e.ctx
	e.ctx += 8
	e.f.Words = append(e.f.Words, w)
	return w.Off
}

// findWord is the place of a word among those that were allotted, -1 if it was not. Few are looked through.
func (e *emitter) findWord(w Word) int {
	const few = 24
	if len(e.f.Words) < few {
		for i, o := range e.f.Words {
			if o.Off = 0; o == w {
				return i
			}
		}
		return -1
	}
	if e.words == nil {
		e.words = make(map[Word]int, 2*few)
		for i, o := range e.f.Words {
			o.Off = 0
			e.words[o] = i
		}
	}
	if i, ok := e.words[w]; ok {
		return i
	}
	return -1
}

// loadWord opens a register with a context word.
func (e *emitter) loadWord(name string, w Word) ir.Reg {
	r := e.b.Vreg(name, ir.I64)
	e.b.Load8(r, ir.At(ir.Ctx, e.word(w)))
	return r
}

// fail is the exit status for an error.
func (e *emitter) fail(err *diag.Error) int32 {
	for i, x := range e.f.Errors {
		if *x == *err {
			return int32(i + 1)
		}
	}
	e.f.Errors = append(e.f.Errors, err)
	return int32(len(e.f.Errors))
}

// say leaves a comment for the reader of a listing; what is only asked in Verbose
// mode, since it costs more than the line that it explains.
func (e *emitter) say(text string, what func(plan.Names) string) {
	if e.Verbose {
		if s := what(e.Cols.Short()); s != "" {
			text += " " + s
		}
	}
	e.b.Comment(text)
}

// detail is a comment that only Verbose mode has.
func (e *emitter) detail(text string, what func(plan.Names) string) {
	if e.Verbose {
		e.say(text, what)
	}
}

// partName names a register after a part of a column, as far as people will read it.
func (e *emitter) partName(name, part string) string {
	if e.Verbose {
		return name + part
	}
	return name
}

// called names the registers that a value owns after its column, in Verbose mode.
func (e *emitter) called(v value, name string) value {
	if !e.Verbose {
		return v
	}
	if v.ownA {
		e.b.F.Regs[v.a.R].Name = name
	}
	if v.ownB {
		e.b.F.Regs[v.b.R].Name = name + "." + [...]string{layout.I128: "hi", layout.Str: "len", layout.Ivl: "us"}[v.d.Form]
	}
	if v.ownNull {
		e.b.F.Regs[v.null.R].Name = name + ".null"
	}
	return v
}

// consume emits operator number i and all that follows it for the current row.
func (e *emitter) consume(i int) {
	e.count(i - 1)
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
	case *pipe.Rename:
		for k, from := range op.From {
			e.alias(op.To[k], from)
		}
		e.consume(i + 1)
	case *pipe.Nulls:
		for _, id := range op.Cols {
			e.bind(id, e.nullValue(e.Cols.Get(id).Type))
		}
		e.consume(i + 1)
	case *pipe.Compute: // pipelines that have one are compiled stage by stage
		refuse(-1, "a pipeline that computes in Go")
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
	case *pipe.Stage:
		e.stageSink(s)
	case *pipe.Discard:
	default:
		panic(fmt.Sprintf("sink %T", s))
	}
}

// count adds one to operator op's row counter.
func (e *emitter) count(op int) {
	if !e.Count {
		return
	}
	if e.Verbose {
		e.b.Comment("count rows")
	}
	off := e.word(Word{Kind: WordCount, Index: op})
	n := e.b.Vreg("rows", ir.I64)
	if e.gpu != nil {
		e.b.Atom(ir.AtomAdd, n, ir.At(ir.Ctx, off), ir.K(1), ir.Val{})
	} else {
		e.b.Load8(n, ir.At(ir.Ctx, off))
		e.b.Op2(ir.Add, n, n.V(), ir.K(1))
		e.b.Store(ir.At(ir.Ctx, off), n.V(), 8)
	}
	e.b.Clear(n)
	for _, c := range e.f.Counts {
		if c.Op == op {
			return
		}
	}
	e.f.Counts = append(e.f.Counts, Counter{off, op})
}
