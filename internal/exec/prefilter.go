package exec

import (
	"context"
	"sort"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/compile"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/exec/work"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Prefilter is the filters of a scan by themselves, for a device that reads the other columns: code that lists the rows which pass, and nothing else.
type Prefilter struct {
	j   *job
	ids chan int // of workers that nobody uses
}

// NewPrefilter compiles the filters of a table's scan.
func NewPrefilter(ctx context.Context, prog *pipe.Program, t *pipe.Table, team *work.Team, opts Options) (*Prefilter, error) {
	opts.Count, opts.Listing, opts.Tally = false, false, false
	p := &pipe.Pipeline{Source: &pipe.Table{Scan: t.Scan, Filter: t.Filter}, Sink: &pipe.Collect{Cols: t.Scan.Cols[:1], Limit: -1}}
	r := &run{Options: opts, ctx: ctx, prog: prog, team: team, mem: mem.New(opts.Account, opts.Verify, opts.Off.MemoryPool),
		views: map[*column.Dict]column.DictView{}, pools: map[*emit.Fragment]uintptr{}, rankTables: map[*column.Dict]uintptr{}}
	r.cpu = &cpu{o: &r.Options}
	r.walk = compile.New(prog, opts.Place(), compile.Options{Off: opts.Off, Check: opts.Verify, Done: ctx.Done()})
	f := &Prefilter{j: &job{r: r, p: p, st: &PipelineStats{}, limit: -1}, ids: make(chan int, team.Threads)}
	for id := range team.Threads {
		f.ids <- id
	}
	f.j.sink = &siftSink{r: r, workers: make([]tuples.Buffer, team.Threads)}
	return f, f.compile()
}

func (f *Prefilter) compile() (err error) {
	j := f.j
	if j.step, err = j.r.walk.Step(j.p, measured{j.r}); err != nil {
		return err
	}
	j.step.Request.Late = plan.MakeColSet(j.scan().Cols[0])
	if err := j.fromTable(j.p.Source.(*pipe.Table)); err != nil {
		return err
	}
	j.number()
	return j.prepare()
}

// Test sets the bits of rows from lo up to hi of the table that pass, the first in the lowest bit of dst, which is 0. Threads of the team may do so at the same time, for rows
// whose bits are not in the same byte.
func (f *Prefilter) Test(dst []byte, lo, hi int64) (err error) {
	id := <-f.ids
	defer func() { f.ids <- id }()
	r, j := f.j.r, f.j
	w := &worker{r: r, j: j, id: id}
	defer w.close()
	buf := &j.sink.(*siftSink).workers[id]
	defer buf.Release()
	for i := sort.Search(len(j.ranges), func(i int) bool { return j.ranges[i].row+int64(j.ranges[i].rows) > lo }); i < len(j.ranges) && j.ranges[i].row < hi; i++ {
		sp := &j.ranges[i]
		if err := w.point(sp); err != nil {
			return err
		}
		from, to := int(max(lo-sp.row, 0)), int(min(hi-sp.row, int64(sp.rows)))
		for at := from; at < to; at += maxMorsel {
			*buf = tuples.NewBuffer(r.mem, sp.v.frag.Sink.Size)
			buf.ToContext(w.ctx)
			if err := w.run(at, min(at+maxMorsel, to)); err != nil {
				return err
			}
			buf.Cut(uintptr(mem.Load64(w.ctx + layout.CtxCur)))
			buf.Each(func(a uintptr) {
				row := sp.row + int64(uint32(mem.Load64(a))) - lo
				dst[row>>3] |= 1 << (row & 7)
			})
			buf.Release()
		}
	}
	return nil
}

// Close gives back what it took.
func (f *Prefilter) Close() {
	f.j.r.cpu.close()
	f.j.r.mem.Close()
}
