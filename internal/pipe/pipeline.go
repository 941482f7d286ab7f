package pipe

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/plan"
)

// Program is a query as pipelines.
type Program struct {
	Query     *plan.Query
	Pipelines []*Pipeline // each after those it depends on
	Result    *Collect    // what the client gets
	Shape     uint64      // names programs that differ in literals only; 0: nobody has said
}

// Pipeline moves rows from a source through operators into a sink in one pass.
type Pipeline struct {
	ID     int
	Source Source
	Ops    []Op
	Sink   Sink
	// Gates are builds without which nothing of this pipeline is wanted: it must not run if one is
	// empty.
	Gates []*Build

	// Stages are the parts between which Go computes columns, each compiled by itself; nil: there
	// is nothing to compute and the pipeline is one part.
	Stages []*Pipeline
	First  int // of a stage: the number of its first operator in the whole pipeline

	// Cut is why the pipeline ends where another operator could follow; nil: it has to.
	Cut fmt.Stringer

	// Loop: it runs again in every round of a recursion. Pipelines of one loop follow each other.
	Loop *Rounds

	needs  []*Pipeline // must have run before
	placed bool
	scan   *plan.Scan // of a part: what the whole begins with
}

// Begins is the scan of a table that a pipeline begins with, also one of which this is a part; nil: it begins with something else.
func (p *Pipeline) Begins() *plan.Scan {
	if t, ok := p.Source.(*Table); ok {
		return t.Scan
	}
	return p.scan
}

// Source is where a pipeline's rows come from: *Table, *Buffer, *Series or *Constants; in a stage also *Stage.
type Source interface{ source() }

// Table scans a stored table.
type Table struct {
	Scan   *plan.Scan
	Filter []plan.Expr // of Scan.Filter, what generated code tests here
	Reduce []Reduce    // semi-join filters
	// Before: the same scan, whose filters somebody else has tested, see Prefilter; nil: nobody has.
	Before *Table
	// Search is what finds out before whether a row passes one of the filters; nil: nothing does.
	Search *Search
}

// Reduce is a semi-join filter: Col must be among the values of key number Key of Build.
type Reduce struct {
	Build *Build
	Key   int
	Col   plan.ColID
}

// Buffer scans what an earlier pipeline's sink holds.
type Buffer struct {
	Of Sink
	// Work: of Rounds, what the last round has added.
	Work bool
	// Flag selects tuples of a Build by their match flag.
	Flag FlagTest
	// Rename: tuple column From[i] is seen as To[i].
	From, To []plan.ColID
	Node     plan.Node // for EXPLAIN
}

// FlagTest is which tuples of a build side a scan wants.
type FlagTest uint8

const (
	AllTuples FlagTest = iota
	Matched
	Unmatched
)

// Constants is a relation of literals.
type Constants struct {
	Cols []plan.ColID
	Rows [][]plan.Expr // each a *plan.Const
	Node plan.Node     // nil: a map makes the row
}

// Series counts.
type Series struct{ Node *plan.Series }

func (*Series) source()    {}
func (*Table) source()     {}
func (*Buffer) source()    {}
func (*Constants) source() {}

// Op is an operator inside a pipeline: *Filter, *Map, *Probe, *Repeat, *Rename, *Nulls or *Compute.
type Op interface{ op() }

// Filter drops rows.
type Filter struct {
	Preds []plan.Expr
	Node  plan.Node
}

// Map computes columns.
type Map struct {
	Exprs []plan.Expr
	Cols  []plan.ColID
	Node  plan.Node
}

// ProbeKind is what a probe does with the matches that it finds.
type ProbeKind uint8

const (
	ProbeInner  ProbeKind = iota // a row per match
	ProbeOuter                   // likewise, or one row of NULLs
	ProbeSingle                  // ProbeOuter, and a second match is an error
	ProbeSemi                    // the row, if there is a match
	ProbeAnti                    // the row, if there is none
	ProbeMark                    // the row, with a column that says which
)

func (k ProbeKind) String() string {
	return [...]string{"inner", "outer", "single", "semi", "anti", "mark"}[k]
}

// Probe looks rows up in a hash table.
type Probe struct {
	Build    *Build
	Kind     ProbeKind
	Keys     []plan.Expr
	NullSafe []bool
	On       []plan.Expr // must hold too for a match
	SetFlag  bool        // remember in the build tuple that it had a match
	Mark     plan.ColID
	Join     *plan.Join
}

// Rename makes column From[i] visible as To[i].
type Rename struct {
	From, To []plan.ColID
	Node     plan.Node // the set operation
}

// Nulls makes columns that are NULL: the other side of an outer join.
type Nulls struct{ Cols []plan.ColID }

// Repeat goes on with a row as often as Count says; Col numbers the copies.
type Repeat struct {
	Count plan.Expr
	Col   plan.ColID
	Node  plan.Node
}

func (*Filter) op() {}
func (*Map) op()    {}
func (*Probe) op()  {}
func (*Repeat) op() {}
func (*Rename) op() {}
func (*Nulls) op()  {}

// Compute computes columns in Go: expressions for which no code is generated. It cuts the
// pipeline: rows before it are buffered, a thousand or so at a time.
type Compute struct {
	Exprs []plan.Expr
	Cols  []plan.ColID
	Node  plan.Node // the operator that wants them
}

func (*Compute) op() {}

// Stage is the seam between two stages of a pipeline: the sink of one and the source of the next.
// Its tuples have the columns Cols, and room for those that Compute adds.
type Stage struct {
	Cols    []plan.ColID
	Compute *Compute
}

func (*Stage) source()     {}
func (*Stage) Number() int { return 0 }

// Sink is where a pipeline ends: *Build, *Aggregate, *Collect, *Fold, *Rounds or *Discard; in a stage also *Stage.
// Several pipelines may share one (UNION ALL, outer joins).
type Sink interface{ Number() int }

// Build hashes rows for a join.
type Build struct {
	ID       int
	Join     *plan.Join
	Keys     []plan.Expr
	KeyCols  []plan.ColID // the column of the tuple that holds each key: the key's own if it is a plain column
	NullSafe []bool
	Payload  []plan.ColID // further columns needed above
	Flag     bool         // tuples carry a match flag
	KeepNull bool         // rows with a NULL key are kept: they never match but are wanted later
	WantNull bool         // whether some key was NULL must be known (mark joins)
	makers   []*Pipeline
}

// Side is the operator whose rows are hashed.
func (s *Build) Side() plan.Node {
	if s.Join.BuildLeft {
		return s.Join.Left
	}
	return s.Join.Right
}

// Aggregate groups rows.
type Aggregate struct {
	ID    int
	Group *plan.Group
	// Unparted is why its rows are not partitioned before, see Part; "": nobody asked.
	Unparted string
	makers   []*Pipeline
}

// Collect materializes rows: the result, a sort, a shared subplan.
type Collect struct {
	ID     int
	Cols   []plan.ColID
	Keys   []plan.SortKey
	Limit  int64 // < 0: none
	Offset int64
	// Window is what Go computes over the rows once all are there: tuples have room for its columns. nil: nothing.
	Window *plan.Window
	Node   plan.Node
	// Parts: rows come in parts by a group of theirs, on GPUs; nil: as they come.
	Parts  *Parts
	makers []*Pipeline
}

// Fold materializes rows like Collect, and has Go make groups of them: plan.Fold says what of. All that it reads are columns.
type Fold struct {
	Collect
	Group *plan.Group
}

// Rounds materializes the rows of a recursion. Its columns are laid out by their types alone, since nobody knows what a later
// round brings.
type Rounds struct {
	Collect
	Distinct bool
	Wanted   int64 // rows that are enough; < 0: all
	body     []*Pipeline
}

// Discard drops rows; the pipeline was run for the match flags that it set.
type Discard struct{ ID int }

func (s *Build) Number() int     { return s.ID }
func (s *Aggregate) Number() int { return s.ID }
func (s *Collect) Number() int   { return s.ID }
func (s *Discard) Number() int   { return s.ID }
