package exec

import (
	"sync/atomic"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/compile"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/emit/scanned"
	"github.com/kelpiedb/kelpie/internal/exec/load"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// job is a pipeline ready to run.
type job struct {
	r        *run
	p        *pipe.Pipeline
	st       *PipelineStats
	step     *compile.Step
	sink     sink
	variants []*variant
	ranges   []span // the source, in order
	total    int64  // rows of all ranges
	seq      int64  // order of this pipeline's morsels among all
	luts     []uintptr
	filters  []uintptr           // sets of semi-join filters
	limit    int64               // rows wanted in all, for LIMIT without ORDER BY; < 0: all
	feed     *feed               // shared by the stages of a pipeline
	late     bool                // the result has numbers of rows instead of columns
	behind   func(sp *span) bool // top-N: no row of a range is wanted any more; nil: not known
	busy     atomic.Int64        // time of all workers, in nanoseconds
	others   func()              // starts the other threads; nil: they run, or there are none
	escapes  plan.ColSet         // files: columns whose texts must stay
	loader   *load.Loader        // files: what loads the ranges
	sift     *sift               // files: what finds the rows whose columns are needed
	stream   catalog.Stream      // where the rows come from instead of ranges
	split    *Split              // shared: which rows are whose
	delivery *delivery           // where the rows go while the pipeline runs; nil: nowhere
}

// variant is the pipeline compiled for one shape of its source.
type variant struct {
	frag   *emit.Fragment
	code   device.Kernel
	shapes []scanned.Shape // of a table's columns
}

// span is a stretch of source rows read by one variant.
type span struct {
	v    *variant
	seg  *catalog.Segment // table sources
	addr uintptr          // buffer sources
	rows int

	first int64         // rows of all ranges before
	lazy  *load.Segment // if the segment's data must be loaded
	given int           // rows handed out
	row   int64         // shared: of the table, the first
	num   int           // among the ranges as they lie in the source
}

// chunk is a column of a table source.
func (sp *span) chunk(ord int) *column.Chunk {
	if sp.lazy != nil {
		return sp.lazy.Chunk(ord)
	}
	return sp.seg.Chunks[ord]
}

func (r *run) newJob(p *pipe.Pipeline, st *PipelineStats) (*job, error) {
	if len(p.Stages) > 0 {
		return r.staged(p, st)
	}
	j := &job{r: r, p: p, st: st, seq: int64(p.ID) << 40, limit: -1}
	step, err := r.walk.Step(p, measured{r})
	if err != nil {
		return nil, err
	}
	if j.step = step; len(step.Late.Ordinal) > 0 {
		r.late.Late, j.late = step.Late, true
	}
	switch src := p.Source.(type) {
	case *pipe.Table:
		err = j.fromTable(src)
	case *pipe.Buffer:
		if src.Work {
			err = j.fromRows(r.sinks[src.Of].(*roundsSink).last)
		} else {
			err = j.fromRows(r.rowsOf(src.Of))
		}
	case *pipe.Constants:
		var rows tuples.Rows
		if rows, err = Constants(r.mem, r.prog.Query.Cols, src); err == nil {
			err = j.fromRows(rows)
		}
	case *pipe.Series:
		err = j.fromSeries(src.Node.N)
	case *pipe.Stage:
		_, err = j.addVariant()
	}
	if err != nil {
		return nil, err
	}
	st.Variants = len(j.variants)
	if c, ok := p.Sink.(*pipe.Collect); ok && len(c.Keys) == 0 && c.Limit >= 0 {
		j.limit = c.Limit + c.Offset
	}
	if r.sinks[p.Sink] == nil {
		r.sinks[p.Sink] = r.newSink(p.Sink, j.variants[0].frag)
	}
	j.sink = r.sinks[p.Sink]
	j.feed = &feed{j: j}
	if c, ok := j.sink.(*collectSink); ok {
		if j.delivery = c.delivery; c.top != nil {
			j.bestFirst(c)
		}
	}
	return j, j.prepare()
}

// addVariant compiles the step as it is.
func (j *job) addVariant() (*variant, error) {
	f, err := j.step.Emit()
	if err != nil {
		return nil, err
	}
	k, err := j.r.translate(f)
	if err != nil {
		return nil, err
	}
	v := &variant{f, k, j.step.Shapes}
	if j.r.Listing {
		j.st.Fragments = append(j.st.Fragments, f)
	}
	if j.r.Count && len(j.variants) == 0 {
		j.st.How = append(j.st.How, j.step.Decision(f))
	}
	j.variants = append(j.variants, v)
	return v, nil
}

// fromTable lists a table's segments, leaves out those that zone maps exclude, and compiles
// one variant for each shape among them. Where some segments have a base, those without are
// read as if theirs were 0: an addition costs less than a variant, and the first segment of a sorted
// column often differs by nothing else.
func (j *job) fromTable(t *pipe.Table) (err error) {
	scan := t.Scan
	if j.filters, err = j.r.sets(j.step.Filters); err != nil {
		return err
	}
	if load.IsStream(scan) {
		return j.fromStream(t)
	}
	based := make([]bool, len(scan.Cols))
	segs, skipped := load.Wanted(scan, j.step.Filters)
	j.st.SkippedRows += skipped
	for _, seg := range segs {
		for k, ord := range scan.Ordinal {
			based[k] = based[k] || seg.Chunks[ord].Base != 0
		}
		sp := span{seg: seg, rows: seg.Rows, first: j.total, num: len(j.ranges)}
		if seg.Loader != nil {
			sp.lazy = load.NewSegment(seg, scan.Ordinal)
			j.escapes = pipe.Escapes(j.p)
		}
		if j.late {
			j.r.late.segs = append(j.r.late.segs, seg)
		}
		j.ranges = append(j.ranges, sp)
		j.total += int64(seg.Rows)
	}
	byShape := map[string]*variant{}
	var key []byte
	for i := range j.ranges {
		seg := j.ranges[i].seg
		key = key[:0]
		for _, ord := range scan.Ordinal {
			c := seg.Chunks[ord]
			key = append(key, byte(c.Enc)<<1|bit(c.Nulls), c.Width)
		}
		v := byShape[string(key)]
		if v == nil {
			shapes := make([]scanned.Shape, len(scan.Cols))
			for k, ord := range scan.Ordinal {
				shapes[k] = scanned.Shape{Shape: seg.Chunks[ord].Shape, Based: based[k]}
			}
			j.step.Shapes = shapes
			if v, err = j.addVariant(); err != nil {
				return err
			}
			byShape[string(key)] = v
		}
		j.ranges[i].v = v
	}
	if j.sift, err = j.newSift(t); err != nil {
		return err
	}
	j.loader = &load.Loader{Ctx: j.r.ctx, Team: j.r.team, Mem: j.r.mem, Keep: j.r.keepAlive, Stay: j.escaping}
	if j.sift != nil {
		j.loader.Sieve = j.sift.sieve
	}
	if len(j.variants) == 0 { // an empty table still decides the sink's layout
		j.step.Shapes = make([]scanned.Shape, len(scan.Cols))
		for k := range j.step.Shapes {
			j.step.Shapes[k] = load.EmptyShape(scan, k)
		}
		_, err := j.addVariant()
		return err
	}
	return nil
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func (j *job) scan() *plan.Scan { return j.p.Source.(*pipe.Table).Scan }

// fromRows lists the pieces of materialized rows.
func (j *job) fromRows(rows tuples.Rows) error {
	v, err := j.addVariant()
	if err != nil {
		return err
	}
	for _, p := range rows.Pieces {
		j.ranges = append(j.ranges, span{v: v, addr: p.Addr, rows: p.N, first: j.total})
		j.total += int64(p.N)
	}
	return nil
}

// fromSeries makes one range of what is counted.
func (j *job) fromSeries(n int64) error {
	v, err := j.addVariant()
	j.ranges, j.total = []span{{v: v, rows: int(n)}}, n
	return err
}

// mergePipeline is the pipeline by which partial groups are combined.
func mergePipeline(s *pipe.Aggregate) *pipe.Pipeline {
	return &pipe.Pipeline{Source: &pipe.Buffer{Of: s}, Sink: s}
}

// prepare fills what all workers share: lookup tables and the zero tuple.
func (j *job) prepare() error {
	r := j.r
	if r.zero == 0 {
		a, err := r.mem.Alloc(4096)
		if err != nil {
			return err
		}
		r.zero = a
	}
	for _, v := range j.variants {
		for _, l := range v.frag.Luts {
			a, err := r.fillLut(l)
			if err != nil {
				return err
			}
			j.luts = append(j.luts, a)
		}
	}
	return nil
}

// fillLut runs a lookup table's function over its dictionary.
func (r *run) fillLut(l *emit.Lut) (uintptr, error) {
	k, err := r.translate(l.Frag)
	if err != nil {
		return 0, err
	}
	out, err := r.mem.Alloc(max(l.Len, 64) + 8) // vector code reads whole words
	if err != nil {
		return 0, err
	}
	j := &job{r: r, sink: discardSink{}, st: &PipelineStats{}}
	w := &worker{r: r, j: j}
	defer w.close()
	if err := w.enterVariant(j, &variant{frag: l.Frag, code: k}); err != nil {
		return 0, err
	}
	mem.Store64(w.ctx+layout.CtxCur, uint64(out))
	return out, w.run(0, l.Len)
}

// escaping reports that texts of a scanned column may be pointed to by what the pipeline writes.
func (j *job) escaping(col int) bool {
	if j.delivery != nil { // rows are packed before their segment goes
		return false
	}
	scan := j.scan()
	for k, ord := range scan.Ordinal {
		if ord == col && j.escapes.Has(scan.Cols[k]) {
			return true
		}
	}
	return false
}
