package compile

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/emit/scanned"
	"github.com/kelpiedb/kelpie/internal/exec/load"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/techniques"
)

// Place is where pipelines run, as far as their code depends on it.
type Place struct {
	Target ir.Target
	Device string // its name in messages
	Can    phys.Capabilities
	// Copies are the shapes that a table's columns have in a device's memory; nil: they are read as they are stored.
	Copies func(*plan.Scan) []scanned.Shape
}

// Options are what does not depend on the pipeline.
type Options struct {
	Off     techniques.Off
	Count   bool            // rows per operator
	Lanes   bool            // and active lanes
	Check   bool            // addresses and lengths of texts are looked at
	Verbose bool            // comments tell expressions
	Done    <-chan struct{} // closed when nobody wants the code any more; may be nil
	Takes   int64           // see emit.Request
	Stretch int64           // likewise
	Expand  phys.Expand     // GPU: how lanes share matches, if somebody wants it so
	Refill  phys.Refill     // GPU: what becomes of lanes whose rows are dropped, likewise
	Queue   *phys.Queue     // GPU: how rows with very many matches go to a queue, likewise
	Resolve phys.Resolve    // GPU: how lanes come together
	Home    phys.Home       // GPU: where groups live, if somebody wants it so
	Fuse    phys.Fuse       // GPU: how much one kernel does
	// Partition: GPU: whether rows are partitioned before they are grouped. Who cuts pipelines looks at it.
	Partition phys.Partition
	Sample    int64 // GPU: how many rows bound the first ones of an order, if somebody wants it so
}

// Facts tell what lies below a pipeline.
type Facts interface {
	// Scan is what is known of a table's rows.
	Scan(t *pipe.Table) Scan
	// Shapes are those of the table's columns where they are first read, with such filters; nil: nothing is known of them.
	Shapes(t *pipe.Table, filters []scanned.Filter) []scanned.Shape
	// Rows are those in a finished sink, or in the stage before; false: it is not known what they look like.
	Rows(s pipe.Sink) (Rows, bool)
	// Keys are the values of a key of a finished build side; nil: no scan needs to look at them.
	Keys(b *pipe.Build, key int) (Keys, error)
}

// Scan is a table's rows.
type Scan struct {
	Rows   int64 // at most
	Arrays bool  // each column is one array, see emit.Request
	Whole  bool  // one launch takes all rows
}

// Rows are tuples, or a list of their addresses.
type Rows struct {
	Tuple    *layout.Tuple
	Indirect bool
	N        int64
	InParts  bool // they lie in the parts that they were written in, of which none is too large for a block of a GPU
}

// Keys are the values of a key of a build side, for scans to drop rows by.
type Keys interface {
	// Count is how many there are, as far as known: the same value may count more than once.
	Count() int64
	// Filter makes a set of them, without the column that is tested; after that, Count may know better. false: there is
	// nothing that it could drop.
	Filter() (scanned.Filter, bool, error)
}

// Walk is a program being compiled, one pipeline after the other.
type Walk struct {
	Place
	Options
	prog *pipe.Program
	// Tables are the build sides that are finished: whoever finishes one enters it.
	Tables map[*pipe.Build]*layout.Table

	makers map[pipe.Sink]int // how many pipelines end there
	sinks  map[pipe.Sink]*Layout
	unions map[pipe.Sink][]layout.Field // what is known of sinks that several pipelines fill
	texts  textMaps
}

// Layout is what the first fragment into a sink has fixed for all.
type Layout struct {
	Tuple   *layout.Tuple
	Group   *emit.GroupPlan
	MaxRows int64 // of stages: no more rows get there
	Parts   *emit.PartPlan
}

// New begins a walk.
func New(prog *pipe.Program, place Place, opts Options) *Walk {
	w := &Walk{Place: place, Options: opts, prog: prog, Tables: map[*pipe.Build]*layout.Table{},
		makers: map[pipe.Sink]int{}, sinks: map[pipe.Sink]*Layout{}, unions: map[pipe.Sink][]layout.Field{}}
	for _, p := range prog.Pipelines {
		w.makers[p.Sink]++
	}
	return w
}

// Makers is how many pipelines end in each sink.
func (w *Walk) Makers() map[pipe.Sink]int { return w.makers }

// Layout is that of a sink; nil: no pipeline into it was compiled yet.
func (w *Walk) Layout(s pipe.Sink) *Layout { return w.sinks[s] }

// Step is a pipeline, or a stage of one, whose turn has come, with what was decided for it.
type Step struct {
	emit.Request
	Late   phys.Late
	Sample phys.Sample
	w      *Walk
	facts  Facts
}

// Step decides how a pipeline runs.
func (w *Walk) Step(p *pipe.Pipeline, facts Facts) (*Step, error) {
	s := &Step{w: w, facts: facts}
	s.Request = emit.Request{Name: p.Name(), Pipeline: p, Count: w.Count, Lanes: w.Lanes, Verbose: w.Verbose}
	if _, ok := p.Sink.(*pipe.Rounds); ok {
		s.Generic = true
	} else if w.makers[p.Sink] > 1 {
		s.United = w.united(p.Sink, facts)
		s.Generic = s.United == nil
	}
	if w.Can.Top {
		s.TopN = w.Top(p.Sink, phys.LeastTuple).Room > 0
	}
	if w.Can.Late && (!w.Can.Handing || phys.Alone(p)) {
		s.Late = w.late(p)
		s.Request.Late = s.Late.Cols()
	}
	if err := w.source(&s.Request, facts); err != nil {
		return nil, err
	}
	if w.Can.Samples && s.Whole && !w.Off.TopN && w.makers[p.Sink] == 1 && !w.Fuse.At(p).InPasses() {
		s.Sample = phys.ChooseSample(p, s.Rows, w.Options.Sample)
	}
	if t, ok := p.Source.(*pipe.Table); ok {
		var err error
		if s.Filters, err = w.filters(t, facts); err != nil {
			return nil, err
		}
	}
	if w.Target == ir.GPU {
		switch s.Writing = phys.ChooseWriting(w.Fuse.At(p), p); s.Writing { // if rows are counted, a row's lane must know what came of it
		case phys.WriteClaimed:
			s.Expand, s.Queue.Queue = w.expansions(p, s.Filters)
		case phys.WriteParted: // a block must have the same rows each time
			s.Expand, _ = w.expansions(p, s.Filters)
		}
	}
	return s, nil
}

// expansions decides for each operator how lanes share what a row finds there, and for one of them whether there is a queue for rows that
// find very many.
func (w *Walk) expansions(p *pipe.Pipeline, filters []scanned.Filter) (out []phys.Expand, q phys.Queue) {
	out = make([]phys.Expand, len(p.Ops))
	alone := !w.Off.MatchQueue
	for i, op := range p.Ops {
		switch op := op.(type) {
		case *pipe.Filter:
			out[i] = w.Expand.ForTexts(op)
		case *pipe.Repeat:
			alone = false
		case *pipe.Probe:
			t := w.Tables[op.Build]
			sifted := slices.ContainsFunc(filters, func(f scanned.Filter) bool { return f.Build == op.Build && f.Kind == layout.Bitmap })
			out[i] = phys.ChooseExpand(phys.ExpectedMatches(op, t, sifted, w.Expand.At(op.Join)))
			if next := phys.ChooseQueue(i, op.Kind, t, out[i], alone, w.Queue); next.Op > 0 {
				q = next
			}
			alone = alone && (t.Kind.Unique() || op.Kind != pipe.ProbeInner && op.Kind != pipe.ProbeOuter)
		}
	}
	return out, q
}

// Pieces makes the code that takes rows from the pipeline's queue, after Emit.
func (s *Step) Pieces() (*emit.Fragment, error) {
	req, l := s.Request, s.w.sinks[s.Pipeline.Sink]
	req.Name, req.Sink, req.Group, req.Queue.Pieces = req.Name+"_queue", l.Tuple, l.Group, true
	return s.w.Emit(req)
}

// Bounded is the same pipeline over the rows that are not in the sample, after Emit: those behind a bound are dropped.
func (s *Step) Bounded(last int64) *Step {
	p, t, out := *s.Pipeline, *s.Pipeline.Source.(*pipe.Table), *s
	t.Filter = append(slices.Clip(t.Filter), s.Sample.Bound(last))
	p.Source = &t
	out.Pipeline, out.Name = &p, s.Name+"_bound"
	return &out
}

// Counting makes the code that counts the rows of the pipeline before they are written, after Emit; nil: nothing does.
func (s *Step) Counting() (*emit.Fragment, error) {
	if s.Writing != phys.WriteCounted {
		return nil, nil
	}
	req, l := s.Request, s.w.sinks[s.Pipeline.Sink]
	req.Name, req.Sink, req.Group, req.Counting = req.Name+"_count", l.Tuple, l.Group, true
	return s.w.Emit(req)
}

// Emit makes the pipeline's code, for the shapes that its table's columns have in the request, or else where they are first read.
func (s *Step) Emit() (*emit.Fragment, error) {
	sink := s.Pipeline.Sink
	if l := s.w.sinks[sink]; l != nil {
		s.Sink, s.Group = l.Tuple, l.Group
	}
	if t, ok := s.Pipeline.Source.(*pipe.Table); ok && s.Shapes == nil {
		s.Shapes = s.facts.Shapes(t, s.Filters)
	}
	f, err := s.w.Emit(s.Request)
	if err == nil && s.w.sinks[sink] == nil {
		s.w.sinks[sink] = &Layout{f.Sink, f.Group, f.MaxRows, f.Parts}
	}
	return f, err
}

// Decision is all that was decided for the pipeline, of which f is the code.
func (s *Step) Decision(f *emit.Fragment) phys.Decision {
	d := f.How
	d.Late, d.Sample, d.Resolve, d.Fuse, d.Writing, d.Cut = s.Late, s.Sample, s.w.Resolve.At(s.Pipeline), s.w.Fuse.At(s.Pipeline), s.Writing, s.Pipeline.Cut
	if p, ok := d.Cut.(phys.Parted); ok && f.Parts != nil {
		d.Cut = p.In(int(f.Parts.Count))
	}
	if g, ok := s.Pipeline.Sink.(*pipe.Aggregate); ok {
		d.Unparted = g.Unparted
	}
	for _, x := range s.Shapes {
		if x.Bits > 0 {
			d.Packed++
		}
	}
	if t, ok := s.Pipeline.Source.(*pipe.Table); ok && t.Before != nil {
		d.Packed-- // the bits
		d.Prefilter = phys.Prefiltered{Filters: len(t.Before.Filter), Columns: len(t.Before.Scan.Cols) + 1 - len(t.Scan.Cols)}
	}
	if t, ok := s.Pipeline.Source.(*pipe.Table); ok && t.Search != nil {
		d.Packed-- // the bits
		d.Searched = phys.Searched{Column: s.w.prog.Query.Cols.Get(t.Search.Col).Name, Pattern: t.Search.Pattern}
	}
	for _, x := range s.Filters {
		d.Sets = append(d.Sets, phys.KeySet{Kind: x.Kind, Bits: x.Bits})
	}
	for i, op := range s.Pipeline.Ops {
		if _, ok := op.(*pipe.Filter); ok && s.Expand != nil {
			d.Texts = d.Texts || s.Expand[i] == phys.ExpandWarp
		}
		if p, ok := op.(*pipe.Probe); ok {
			d.Probes = append(d.Probes, phys.Probe{Kind: s.w.Tables[p.Build].Kind})
			if s.Expand != nil {
				d.Probes[len(d.Probes)-1].Expand = s.Expand[i]
			}
			if s.Queue.Op == i+1 {
				d.Probes[len(d.Probes)-1].Queue = s.Queue.Heavy
			}
		}
	}
	if s.TopN {
		d.Top = s.w.Top(s.Pipeline.Sink, f.Sink.Size)
	}
	return d
}

// Emit makes the code of a request that is no pipeline of the program's.
func (w *Walk) Emit(req emit.Request) (*emit.Fragment, error) {
	req.Cols, req.Off, req.Check, req.Done, req.Takes, req.Stretch, req.Refill = w.prog.Query.Cols, w.Off, w.Check, w.Done, w.Takes, w.Stretch, w.Refill.At(req.Pipeline)
	req.Tables, req.Resolve, req.Home = w.Tables, w.Resolve.At(req.Pipeline), w.Home.At(req.Pipeline)
	if req.Target == 0 {
		req.Target = w.Target
	}
	req.BlockShared = w.Can.BlockShared
	req.Device, req.SIMD, req.Gather = w.Device, w.Can.Masks, w.Can.Gather
	if w.Can.TextMaps {
		req.Map = w.texts.of
	}
	return emit.Pipeline(req)
}

// Top decides whether only the first rows of a sink are kept, with tuples of so many bytes.
func (w *Walk) Top(s pipe.Sink, size int) (top phys.Top) {
	if c, ok := s.(*pipe.Collect); ok && !w.Off.TopN {
		top = phys.ChooseTop(c, size)
	}
	return top
}

// late finds the result's columns that p need not write.
func (w *Walk) late(p *pipe.Pipeline) phys.Late {
	if w.Off.LateColumns || w.Off.PostProjection || w.Off.TopN && len(w.prog.Result.Keys) > 0 {
		return phys.Late{}
	}
	return phys.ChooseLate(w.prog, p, func(s *plan.Scan) bool { return !load.InFiles(s) })
}

// source says what a pipeline reads. The error says that something which it builds on is not known.
func (w *Walk) source(req *emit.Request, facts Facts) error {
	for _, op := range req.Pipeline.Ops {
		if pr, ok := op.(*pipe.Probe); ok && w.Tables[pr.Build] == nil {
			return w.missing(pr.Build)
		}
	}
	of := pipe.Sink(nil)
	switch src := req.Pipeline.Source.(type) {
	case *pipe.Table:
		s := facts.Scan(src)
		req.Rows, req.Arrays, req.Whole = s.Rows, s.Arrays, s.Whole
		return nil
	case *pipe.Series:
		req.Rows = src.Node.N
		return nil
	case *pipe.Constants:
		req.Tuple, req.Rows = ConstantsTuple(w.prog.Query.Cols, src), int64(len(src.Rows))
		return nil
	case *pipe.Stage:
		of = src
	case *pipe.Buffer:
		of = src.Of
		if l := w.sinks[of]; src.Work && l != nil {
			req.Tuple, req.Rows = l.Tuple, maxRound
			return nil
		}
	}
	rows, ok := facts.Rows(of)
	if !ok {
		return w.missing(of)
	}
	req.Tuple, req.Indirect, req.Rows = rows.Tuple, rows.Indirect, rows.N
	if _, groups := req.Pipeline.Sink.(*pipe.Aggregate); groups && rows.InParts && w.makers[req.Pipeline.Sink] == 1 {
		req.Parted = w.sinks[of].Parts
	}
	return nil
}

func (w *Walk) missing(s pipe.Sink) error {
	return diag.Errorf(diag.FeatureNotSupported, -1, "it reads %s, which is not compiled", w.prog.SinkName(s))
}

// maxRound is more rows than a round has: its code runs again in the next one.
const maxRound = 1 << 40

// Forget lets a sink be laid out anew.
func (w *Walk) Forget(s pipe.Sink) {
	delete(w.sinks, s)
	delete(w.unions, s)
	if b, ok := s.(*pipe.Build); ok {
		delete(w.Tables, b)
	}
}

// clearlyLess is how much of the rows that pass a filter may pass another that takes its place: literals that differ should not
// let filters of the same kind change places.
const clearlyLess = 0.5

// filters finds the semi-join filters of a scan that are ready and promise to drop rows.
func (w *Walk) filters(t *pipe.Table, facts Facts) (out []scanned.Filter, err error) {
	if w.Off.SemiJoins || !phys.MayReduce(t, w.Can) {
		return nil, nil
	}
	type candidate struct {
		pipe.Reduce
		keys  Keys
		share float64
	}
	var all []candidate
	for _, rd := range t.Reduce {
		table := w.Tables[rd.Build]
		if table == nil || !phys.CanReduce(t, rd, table.Tuple) {
			continue
		}
		keys, err := facts.Keys(rd.Build, rd.Key)
		if err != nil {
			return nil, err
		}
		if keys == nil {
			continue
		}
		if share, worth := phys.WorthReducing(keys.Count(), t.Scan, rd.Col); worth {
			all = append(all, candidate{rd, keys, share})
		}
	}
	if w.Can.FewFilters { // sets cost something to make: the best is made first
		best := 0
		for i := range all {
			if all[i].share < clearlyLess*all[best].share {
				best = i
			}
		}
		all = slices.Concat(all[min(best, len(all)):], all[:best])
	}
	left := t.Scan.Props().Rows
	for _, c := range all {
		f, ok, err := c.keys.Filter()
		if err != nil {
			return nil, err
		}
		// Only what was counted is known exactly.
		worth := false
		if f.Share, worth = phys.WorthReducing(c.keys.Count(), t.Scan, c.Col); !ok || !worth {
			continue
		}
		f.Col, f.Build, f.Key, f.Index = c.Col, c.Build, c.Key, len(out)
		out = append(out, f)
		if left *= f.Share; !phys.WorthAnother(left, w.Can) {
			break
		}
	}
	return out, nil
}

// FoldTuple lays out what Go makes of a group.
func FoldTuple(cols *plan.Columns, g *plan.Group) *layout.Tuple {
	var fs []layout.Field
	for _, id := range g.Produces(nil) {
		c := cols.Get(id)
		d := layout.Desc{Type: c.Type, Nullable: true, Range: layout.TypeRange(c.Type)}
		d.Form = layout.FormOf(c.Type, d.Range)
		fs = append(fs, layout.Field{ID: int32(id), Name: c.Name, Desc: d})
	}
	return layout.NewTuple(false, false, fs)
}

// ConstantsTuple lays literal rows out.
func ConstantsTuple(cols *plan.Columns, src *pipe.Constants) *layout.Tuple {
	fs := make([]layout.Field, len(src.Cols))
	for i, id := range src.Cols {
		c := cols.Get(id)
		d := layout.Desc{Type: c.Type, Range: layout.TypeRange(c.Type)}
		d.Form = layout.FormOf(c.Type, d.Range)
		for _, row := range src.Rows {
			d.Nullable = d.Nullable || row[i].(*plan.Const).V.Null
		}
		fs[i] = layout.Field{ID: int32(id), Name: c.Name, Desc: d}
	}
	return layout.NewTuple(false, false, fs)
}
