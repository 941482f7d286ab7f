package gpu

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/result"
	"github.com/kelpiedb/kelpie/internal/exec/sorting"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// result copies the rows of the result to the host.
func (r *run) result() (*result.Result, error) {
	s := r.sinks[r.prog.Result].(*collectSink)
	rows, err := r.download(s.out)
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
	columns := make([]result.Column, len(own.Cols))
	for i, id := range own.Cols {
		columns[i].Field = rows.Tuple.Find(int32(id))
	}
	return result.OfTuples(own, rows, columns, nil), nil
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

// download copies tuples to the host, where their texts are those of the tables.
func (r *run) download(d deviceRows) (tuples.Rows, error) {
	out, err := r.fetch(d)
	if err != nil || d.n == 0 {
		return out, err
	}
	return out, r.bringHome(&out, nil)
}

// fetch copies tuples to the host as they are: addresses are the device's.
func (r *run) fetch(d deviceRows) (tuples.Rows, error) {
	out := tuples.Rows{Tuple: d.tuple}
	if d.n == 0 {
		return out, nil
	}
	size := d.tuple.Size
	if d.indirect {
		a, err := r.alloc(d.n * int64(size))
		if err != nil {
			return out, err
		}
		if err := r.do(func() *ir.Func { return gatherTuples(size) }, d.n, uint64(d.addr), uint64(a)); err != nil {
			return out, err
		}
		d.addr = a
	}
	host, err := r.mem.Take(int(d.n) * size)
	if err != nil {
		return out, err
	}
	if err := r.st.Download(mem.Bytes(host, int(d.n)*size), d.addr); err != nil {
		return out, err
	}
	if err := r.sync(); err != nil {
		return out, err
	}
	out.Pieces = []tuples.Piece{{Addr: host, N: int(d.n)}}
	return out, nil
}

// bringHome replaces addresses of texts by those of the same texts on the host; those of some columns are not there yet.
func (r *run) bringHome(rows *tuples.Rows, lacking []plan.ColID) error {
	var fields []*layout.Field
	for i := range rows.Tuple.Fields {
		if f := &rows.Tuple.Fields[i]; f.Desc.Form == layout.Str && !slices.Contains(lacking, plan.ColID(f.ID)) {
			fields = append(fields, f)
		}
	}
	if len(fields) == 0 {
		return nil
	}
	slices.SortFunc(r.texts, func(a, b homes) int { return cmp.Compare(a.at, b.at) })
	var err error
	poll := rows.Poll(r.team, func(a uintptr) bool {
		for _, f := range fields {
			at := a + uintptr(f.Off)
			n := mem.Load64(at + 8)
			if f.Null >= 0 && mem.Load8(a+uintptr(f.Null)) != 0 || n == 0 {
				mem.Store64(at, 0)
				continue
			}
			host, ok := r.home(device.Addr(mem.Load64(at)), int(n))
			if !ok {
				err = diag.Internalf("gpu", "a text of %d bytes at %#x of the device is nowhere on the host", n, mem.Load64(at))
				return false
			}
			mem.Store64(at, uint64(host))
		}
		return true
	})
	return cmp.Or(err, poll)
}

// home is where a text of the device is on the host.
func (r *run) home(a device.Addr, n int) (uintptr, bool) {
	i, found := slices.BinarySearchFunc(r.texts, a, func(h homes, a device.Addr) int { return cmp.Compare(h.at, a) })
	if !found {
		i--
	}
	if i < 0 {
		return 0, false
	}
	h := &r.texts[i]
	off := int(a - h.at)
	return h.host + uintptr(off), off+n <= h.n+column.TextPad && off < h.n
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

// uploadTuples copies tuples of the host, with their texts, to the device.
func (r *run) uploadTuples(rows tuples.Rows) (device.Addr, error) {
	n, size := int(rows.Len()), rows.Tuple.Size
	b := make([]byte, 0, n*size)
	var err error
	rows.Each(func(a uintptr) bool {
		at := len(b)
		b = append(b, mem.Bytes(a, size)...)
		for i := range rows.Tuple.Fields {
			f := &rows.Tuple.Fields[i]
			if f.Desc.Form != layout.Str || f.Null >= 0 && b[at+f.Null] != 0 {
				continue
			}
			host, n := uintptr(binary.LittleEndian.Uint64(b[at+f.Off:])), int(binary.LittleEndian.Uint64(b[at+f.Off+8:]))
			var text device.Addr
			if text, err = r.upload(mem.Bytes(host, n+column.TextPad)); err != nil {
				return false
			}
			r.texts = append(r.texts, homes{text, n, host})
			binary.LittleEndian.PutUint64(b[at+f.Off:], uint64(text))
		}
		return true
	})
	if err != nil {
		return 0, err
	}
	return r.upload(b)
}
