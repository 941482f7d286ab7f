package gpu

import (
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/compile"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/emit/scanned"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Place is where pipelines run: a device of that name, with copies of tables in its memory, packed as a query with such options has them. s may be nil.
func (s *Store) Place(name string, opts *exec.Options) compile.Place {
	shared := blockShared
	if s != nil {
		shared = s.dev.Info().BlockShared
	}
	return placeOf(name, shared, s.forms(opts))
}

// blockShared is the shared memory that a block may have on an H200, if nothing else is known.
const blockShared = 227 << 10

func placeOf(name string, shared int, form func(snap *catalog.Snapshot, ord int) packing) compile.Place {
	return compile.Place{Target: ir.GPU, Device: name, Can: phys.Capabilities{FewFilters: true, FreeSlots: freeSlots, WideBitmaps: 256 << 20, Lists: true, Late: true, Handing: true, Unite: true, Samples: true, BlockShared: shared},
		Copies: func(scan *plan.Scan) []scanned.Shape { return shapes(scan, form) }}
}

// freeSlots are 4 MB, which take a microsecond to clear and stay in the cache.
const freeSlots = 1 << 20

// measured are the facts of a run: what sinks below a pipeline hold, and what was found out about it.
type measured struct {
	r    *run
	p    *pipe.Pipeline
	src  *source // of the pipeline
	idle bool    // it gets no rows
}

func (m measured) Scan(t *pipe.Table) compile.Scan {
	if t != m.p.Source {
		return compile.Scan{Rows: t.Scan.Snap.Rows}
	}
	return compile.Scan{Rows: m.src.rows, Arrays: m.src.arrays, Whole: m.src.arrays && !m.src.scan.streams() && m.r.split == nil}
}

// Shapes are known of the pipeline's own table alone.
func (m measured) Shapes(t *pipe.Table, _ []scanned.Filter) []scanned.Shape {
	if t != m.p.Source {
		return nil
	}
	out := []scanned.Shape{}
	for _, c := range m.src.scan.cols {
		out = append(out, onDevice(c.shape, c.bits))
	}
	return out
}

func (m measured) Rows(s pipe.Sink) (compile.Rows, bool) {
	if m.r.sinks[s] == nil {
		return compile.Rows{}, false
	}
	rows := m.r.sinks[s].rows()
	out := compile.Rows{Tuple: rows.tuple, Indirect: rows.indirect, N: rows.n}
	if c, ok := m.r.sinks[s].(*collectSink); ok {
		out.InParts = c.parts.even()
	}
	return out, true
}

// Keys of a pipeline that gets no rows have nothing to drop.
func (m measured) Keys(b *pipe.Build, key int) (compile.Keys, error) {
	if s := m.r.sinks[b].(*buildSink); s.n > 0 && !m.idle {
		return keys{s, key}, nil
	}
	return nil, nil
}

// keys are those of a build side. There may be duplicates.
type keys struct {
	s   *buildSink
	key int
}

func (k keys) Count() int64 { return k.s.n }

func (k keys) Filter() (scanned.Filter, bool, error) {
	set, err := k.s.set(k.key)
	if set == nil || err != nil {
		return scanned.Filter{}, false, err
	}
	return set.filter, true, nil
}

// sets are the addresses of the sets that filters look at.
func (r *run) sets(filters []scanned.Filter) (out []device.Addr, err error) {
	for _, f := range filters {
		set, err := r.sinks[f.Build].(*buildSink).set(f.Key)
		if err != nil {
			return nil, err
		}
		out = append(out, set.addr)
	}
	return out, nil
}
