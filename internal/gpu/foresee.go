package gpu

import (
	"github.com/kelpiedb/kelpie/internal/compile"
	"github.com/kelpiedb/kelpie/internal/emit/scanned"
	"github.com/kelpiedb/kelpie/internal/exec/sorting"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// A driver takes 10 to 50 ms to compile a kernel, but compiles many at a time. So all kernels of a query are begun at once: those
// that EXPLAIN would show, and those that organize what they leave. When the turn of one comes, facts decide what its text
// is; if statistics have told the same, the device has it already, or is about to. Texts say nothing of numbers, so
// that is nearly always so.

// foresight is what was begun before its turn came, and what is believed of build sides meanwhile.
type foresight struct {
	r      *run
	tables map[*pipe.Build]phys.Table
	tuples map[*pipe.Build]*layout.Tuple
}

// foresee begins to compile the kernels that the query will probably need, unless it has done so.
func (r *run) foresee() {
	if r.foreseen != nil || r.Off.EarlyKernels {
		return
	}
	f := &foresight{r: r, tables: map[*pipe.Build]phys.Table{}, tuples: map[*pipe.Build]*layout.Tuple{}}
	r.foreseen = f
	for l := range compile.Foresee(r.prog, placeOf(r.Device, r.dev.Info().BlockShared, r.lease.form), r.options()) {
		if l.Err != nil {
			continue
		}
		for _, x := range l.Filters {
			f.keySet(x)
		}
		f.begin(l.Fragment.Func)
		if t, ok := l.Pipeline.Source.(*pipe.Table); ok && t.Search != nil {
			if x, err := r.searchCode(t, r.lease.form(t.Scan.Snap, t.Search.Ordinal).bits); err == nil {
				f.begin(x.Func)
			}
		}
		if l.Counting != nil {
			f.begin(l.Counting.Func)
		}
		if l.Bounded != nil {
			f.begin(l.Bounded.Func)
		}
		for _, lut := range l.Fragment.Luts {
			f.begin(lut.Frag.Func)
		}
		switch s := l.Pipeline.Sink.(type) {
		case *pipe.Build:
			f.table(s, l.Fragment.Sink)
		case *pipe.Aggregate:
			f.groups(&groupSink{r: r, s: s, plan: l.Fragment.Group})
		case *pipe.Collect:
			f.sorted(s, l.Fragment.Sink)
		}
	}
}

// unsure is how much more there may be than is expected for what depends on it to be begun: to wait for it later takes longer than to compile
// it in vain.
const unsure = 4

// options are those of the compilation.
func (r *run) options() compile.Options {
	return compile.Options{Off: r.Off, Count: r.Count, Lanes: r.Lanes, Check: r.Verify, Verbose: r.Listing, Done: r.ctx.Done(), Takes: r.store.Takes,
		Stretch: r.store.Stretch, Expand: r.Expand, Refill: r.Refill, Queue: r.store.Queue, Resolve: r.Resolve, Home: r.Home, Fuse: r.Fuse, Sample: r.store.Sample}
}

// begin lets the device compile functions, beside what is emitted after them.
func (f *foresight) begin(fns ...*ir.Func) {
	for _, fn := range fns {
		f.r.loader.begin(fn)
	}
}

// table begins what organizes a build side.
func (f *foresight) table(b *pipe.Build, t *layout.Tuple) {
	d, err := phys.ChooseTable(f.r.side(b, t, phys.Expected(b.Side())), foreseenKeys{phys.BelievedKeys(b, t), f, t})
	if err != nil {
		return
	}
	f.tables[b], f.tuples[b] = d, t
	switch d.Kind {
	case layout.DenseBuckets:
		f.begin(byKey(t).Kernel(), measureKeys())
	case layout.Buckets:
		f.begin(byBucket(t).Kernel(), measureBuckets(t))
	}
}

// foreseenKeys are believed; what would look at them is begun.
type foreseenKeys struct {
	phys.KeyFacts
	f *foresight
	t *layout.Tuple
}

func (k foreseenKeys) Range() (lo, hi int64, known bool, err error) {
	// A filter may leave keys that lie closer together than those of the whole table.
	k.f.begin(fillDirect(k.t))
	return k.KeyFacts.Range()
}

func (k foreseenKeys) Unique(t phys.Table) (bool, error) {
	if t.Kind != layout.Direct {
		k.f.begin(fillOpen(k.t))
	}
	return k.KeyFacts.Unique(t)
}

// keySet begins what makes the set of a filter.
func (f *foresight) keySet(x scanned.Filter) {
	t := f.tuples[x.Build]
	if t == nil {
		return
	}
	kind, key := f.tables[x.Build].Kind, &t.Fields[x.Key]
	if x.Key == 0 {
		f.begin(slotBits(kind == layout.DenseBuckets))
	}
	if x.Key > 0 { // the range of the first is known
		f.begin(keyRange(t.Size, key))
	}
	switch {
	case x.Key == 0 && (kind == layout.Direct || kind == layout.DenseBuckets):
	case x.Kind == layout.Bitmap:
		f.begin(keyBits(t.Size, key))
	default:
		f.begin(keyBloom(t.Size, key))
	}
}

// groups begins what fills a table of groups with neutral elements, lists them and looks at their sums.
func (f *foresight) groups(s *groupSink) {
	t := s.plan.Tuple
	switch s.plan.Mode {
	case phys.Ungrouped, phys.PartGroups:
	case phys.RunGroups:
		f.begin(closingGaps(t.Size).Kernel())
	case phys.ArrayGroups:
		f.begin(flaggedTuples(t))
		if unsure*s.plan.Slots*int64(t.Size) > carryNeutral && !isZero(s.neutralTuple()) {
			f.begin(repeatTuple(t.Size))
		}
	default:
		f.begin(enteredTuples())
	}
	if s.plan.Mode == phys.DenseGroups {
		if !isZero(s.neutralTuple()) { // a lane may take a tuple in vain, so that there are many
			f.begin(repeatTuple(t.Size))
		}
		if f.r.walk.Makers()[s.s] > 1 { // who comes second finds too little room
			f.begin(usedEntries(), moveEntries(t.Size))
		}
	}
	for i := range s.s.Group.Aggs {
		if s.mustCheck(i) {
			f.begin(checkField(&t.Fields[len(s.s.Group.Keys)+i]))
		}
	}
}

// sorted begins what sorts rows and brings them together.
func (f *foresight) sorted(s *pipe.Collect, t *layout.Tuple) {
	if len(t.Fields) == 1 && t.Fields[0].ID == layout.LateRow && 8*unsure*phys.Expected(s.Node) >= manyNumbers {
		f.begin(shortNumbers())
	}
	d := deviceRows{tuple: t, n: expectedRows(s)}
	how := f.r.chooseSort(d, s)
	if !how.Here || len(s.Keys) == 0 {
		return
	}
	words, ok := sorting.Words(t, s.Keys)
	if !ok {
		return
	}
	c := newSortCode(t, words, how.Few, s == f.r.prog.Result)
	f.begin(c.order.Kernel())
	if len(c.texts) > 0 {
		f.begin(longestTexts(t.Size, c.texts))
	}
	if how.Top {
		f.begin(c.choice(0).Kernel())
	}
}
