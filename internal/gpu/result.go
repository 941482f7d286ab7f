package gpu

import (
	"cmp"
	"encoding/binary"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/exec/result"
	"github.com/kelpiedb/kelpie/internal/exec/sorting"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// result copies the rows of the result to the host.
func (r *run) result() (*result.Result, error) {
	s := r.sinks[r.prog.Result].(*collectSink)
	out, err := r.settled(s.out)
	if err != nil {
		return nil, err
	}
	if len(r.prog.Result.Keys) > 0 && s.arranged {
		if err := r.bringSorted(out); err != nil {
			return nil, err
		}
	}
	var rows tuples.Rows
	if r.late.numbersOnly(out.tuple) && 8*out.n >= cmp.Or(int64(r.store.Block), manyNumbers) {
		rows, err = r.fetchNumbers(out)
	} else {
		rows, err = r.fetch(out, r.homing(out.tuple, nil), r.late.placing(out.tuple))
	}
	if err != nil {
		return nil, err
	}
	if !s.arranged {
		if err := r.arrange(&rows, r.prog.Result, false); err != nil {
			return nil, err
		}
	}
	r.stats.PeakMemory = r.mem.Account().Peak()
	own := result.Owned{Cols: r.prog.Result.Cols, Threads: max(r.Threads, 1), Mem: r.mem, Keep: append(r.keep, r.prog)}
	for _, d := range r.dicts {
		own.Keep = append(own.Keep, d.view)
	}
	return result.OfTuples(own, rows, result.Columns(own.Cols, rows.Tuple, r.late.ordinal), r.late.segs), nil
}

// arrange sorts and cuts rows on the host as a sink wants them; inPlace keeps each tuple where it is.
func (r *run) arrange(rows *tuples.Rows, s *pipe.Collect, inPlace bool) error {
	if len(s.Keys) > 0 {
		view := func(d *column.Dict) column.DictView { return d.View() }
		by := sorting.New(rows.Tuple, s.Keys, sorting.Options{Team: r.team, Mem: r.mem, View: view, NoRadix: r.Off.RadixSort, NoBare: inPlace || r.Off.BareSort})
		if err := by.Sort(rows, phys.Wanted(s, rows.Len())); err != nil {
			return err
		}
	}
	rows.Cut(s.Offset, s.Limit)
	return nil
}

// sorted are the rows of a sink in their order, of which only the wanted ones are listed.
func (r *run) sorted(d deviceRows, s *pipe.Collect) (deviceRows, error) {
	host, err := r.download(d)
	if err != nil || d.n == 0 {
		return d, err
	}
	first := host.Pieces[0].Addr
	if err := r.arrange(&host, s, true); err != nil {
		return d, err
	}
	out := deviceRows{tuple: d.tuple, n: host.Len(), indirect: true}
	list := make([]byte, 0, 8*out.n)
	base := d.addr
	if d.indirect {
		return d, r.lacks("sorting of rows that are listed")
	}
	host.Each(func(a uintptr) bool {
		list = binary.LittleEndian.AppendUint64(list, uint64(base)+uint64(a-first))
		return true
	})
	out.addr, err = r.upload(list)
	if err == nil {
		err = r.sync()
	}
	return out, err
}
