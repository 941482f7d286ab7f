package exec

import (
	"time"

	"github.com/kelpiedb/kelpie/internal/compile"
	"github.com/kelpiedb/kelpie/internal/emit/scanned"
	"github.com/kelpiedb/kelpie/internal/exec/load"
	"github.com/kelpiedb/kelpie/internal/exec/tables"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// measured are the facts of a run: what sinks below a pipeline hold, and what was found out about it.
type measured struct{ r *run }

func (m measured) Scan(t *pipe.Table) compile.Scan { return compile.Scan{Rows: t.Scan.Snap.Rows} }

func (m measured) Shapes(t *pipe.Table, filters []scanned.Filter) []scanned.Shape {
	return load.FirstShapes(t.Scan, filters)
}

func (m measured) Rows(s pipe.Sink) (compile.Rows, bool) {
	if before, ok := m.r.sinks[s].(*stageSink); ok {
		return compile.Rows{Tuple: before.tuple, N: before.maxRows}, true
	}
	if !m.r.finished[s] {
		return compile.Rows{}, false
	}
	rows := m.r.rowsOf(s)
	return compile.Rows{Tuple: rows.Tuple, Indirect: rows.Indirect, N: rows.Len()}, true
}

func (m measured) Keys(b *pipe.Build, key int) (compile.Keys, error) {
	defer m.r.filters(time.Now())
	set, err := m.r.sinks[b].(*buildSink).built.Set(key)
	return keys{m.r, set}, err
}

// filters takes the time that was spent on semi-join filters since start.
func (r *run) filters(start time.Time) { r.filtering += time.Since(start) }

// keys are those of a table.
type keys struct {
	r   *run
	set *tables.Set
}

func (k keys) Count() int64 { return k.set.Count }

func (k keys) Filter() (scanned.Filter, bool, error) {
	defer k.r.filters(time.Now())
	err := k.set.Fill()
	return scanned.Filter{Range: k.set.Range, Kind: k.set.Kind, Bits: k.set.Bits}, true, err
}

// sets are the addresses of the sets that filters look at.
func (r *run) sets(filters []scanned.Filter) (out []uintptr, err error) {
	for _, f := range filters {
		set, err := r.sinks[f.Build].(*buildSink).built.Set(f.Key)
		if err != nil {
			return nil, err
		}
		out = append(out, set.Addr)
	}
	return out, nil
}
