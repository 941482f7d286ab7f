package gpu

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/exec/compute"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// stageSink is a cut of a pipeline: its tuples come to the host, Go computes what they lack, and they go back with that.
type stageSink struct {
	tupleSink
	s *pipe.Stage
}

// stageRows is how many tuples are worth a thread of their own.
const stageRows = 1 << 10

// finish computes.
func (s *stageSink) finish() error {
	if s.n == 0 {
		return nil
	}
	r := s.r
	size := s.tuple.Size
	theirs, start, err := r.fetchBoth(s.tupleSink.rows(), s.s.Compute.Cols)
	if err != nil {
		return err
	}
	parts := int(min(int64(r.team.Threads), (s.n+stageRows-1)/stageRows))
	fillers := make([]*compute.Filler, parts)
	err = r.team.Parallel(parts, func(i int) error {
		view := func(d *column.Dict) column.DictView { return d.View() }
		f := compute.New(s.tuple, s.s.Compute, compute.Options{Mem: r.mem, View: view, Copy: true})
		fillers[i] = f
		for k := s.n * int64(i) / int64(parts); k < s.n*int64(i+1)/int64(parts); k++ {
			if k%stageRows == 0 {
				if err := r.team.Canceled(); err != nil {
					return err
				}
			}
			if err := f.Tuple(start + uintptr(int(k)*size)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	var texts []mem.Piece
	for _, f := range fillers {
		texts = append(texts, f.Texts()...)
	}
	away, err := r.uploadTexts(texts)
	if err != nil {
		return err
	}
	return r.takeOver(s.tupleSink.rows(), s.s.Compute.Cols, theirs, start, away)
}

// fetchBoth copies tuples to the host twice: as they are, and with texts of the host, but for those of some columns, which are not there yet.
func (r *run) fetchBoth(d deviceRows, lacking []plan.ColID) (theirs, ours uintptr, err error) {
	if err := r.bringTexts(d, lacking); err != nil {
		return 0, 0, err
	}
	n, size := int(d.n), d.tuple.Size
	if theirs, err = r.mem.Take(n * size); err != nil {
		return 0, 0, err
	}
	if ours, err = r.mem.Take(n * size); err != nil {
		return 0, 0, err
	}
	visit := []visitor{func(first uintptr, n int) error {
		copy(mem.Bytes(theirs+(first-ours), n*size), mem.Bytes(first, n*size))
		return nil
	}}
	if home := r.homing(d.tuple, lacking); home != nil {
		visit = append(visit, home)
	}
	return theirs, ours, r.fetchTo(ours, d.addr, n, size, visit)
}

// uploadTexts copies what was computed to the device, and lists it by addresses of the host.
func (r *run) uploadTexts(texts []mem.Piece) ([]homes, error) {
	var out []homes
	var pieces []piece
	n := 0
	for _, p := range texts {
		out = append(out, homes{device.Addr(n), p.Size, p.Addr})
		pieces = append(pieces, copies(mem.Bytes(p.Addr, p.Size))...)
		n += p.Size
	}
	if n == 0 {
		return nil, nil
	}
	a, err := r.alloc(int64(n))
	if err != nil {
		return nil, err
	}
	if err := r.send(a, pieces); err != nil {
		return nil, err
	}
	for i := range out {
		out[i].at += a
	}
	r.texts = append(r.texts, out...)
	slices.SortFunc(out, func(a, b homes) int { return cmp.Compare(a.host, b.host) })
	return out, nil
}

// takeOver writes tuples of the device again, with fields that the host has computed in its own. Of texts among them the device has those that
// are listed, by addresses of the host. Both copies of the tuples are given back.
func (r *run) takeOver(d deviceRows, cols []plan.ColID, theirs, ours uintptr, away []homes) error {
	zero, err := r.zeros()
	if err != nil {
		return err
	}
	made := make([]*layout.Field, len(cols))
	for i, id := range cols {
		made[i] = d.tuple.Find(int32(id))
	}
	var mu sync.Mutex
	var failed error
	size := d.tuple.Size
	step := int64(max(visitBytes/size, 1))
	var pieces []piece
	for lo := int64(0); lo < d.n; lo += step {
		n := int(min(step, d.n-lo))
		at := uintptr(lo) * uintptr(size)
		pieces = append(pieces, piece{n * size, func(dst []byte) {
			copy(dst, mem.Bytes(theirs+at, n*size))
			for _, f := range made {
				if err := putField(dst, ours+at, size, f, zero, away); err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
				}
			}
		}})
	}
	if err := cmp.Or(r.send(d.addr, pieces), failed); err != nil {
		return err
	}
	r.mem.Free(theirs)
	r.mem.Free(ours)
	return nil
}

// putField copies a field from tuples of the host to those that go to the device.
func putField(dst []byte, from uintptr, size int, f *layout.Field, zero device.Addr, away []homes) error {
	last := homes{} // neighbours are often in the same place
	bytes := int(f.Width) + 8*(f.Desc.Form.Words()-1)
	for ; len(dst) > 0; dst, from = dst[size:], from+uintptr(size) {
		to := dst[f.Off : f.Off+bytes]
		copy(to, mem.Bytes(from+uintptr(f.Off), bytes))
		if f.Null >= 0 {
			dst[f.Null] = mem.Load8(from + uintptr(f.Null))
		}
		if f.Desc.Form != layout.Str {
			continue
		}
		a := zero
		if n := binary.LittleEndian.Uint64(to[8:]); n > 0 {
			host := uintptr(binary.LittleEndian.Uint64(to))
			if !last.hasHost(host) {
				var err error
				if last, err = abroad(away, host); err != nil {
					return err
				}
			}
			a = last.at + device.Addr(host-last.host)
		}
		binary.LittleEndian.PutUint64(to, uint64(a))
	}
	return nil
}

func (h *homes) hasHost(a uintptr) bool { return a >= h.host && a < h.host+uintptr(h.n) }

// abroad is where a text of the host is on the device.
func abroad(away []homes, host uintptr) (homes, error) {
	i, found := slices.BinarySearchFunc(away, host, func(h homes, a uintptr) int { return cmp.Compare(h.host, a) })
	if !found {
		i--
	}
	if i < 0 || !away[i].hasHost(host) {
		return homes{}, diag.Internalf("gpu", "a text at %#x of the host is nowhere on the device", host)
	}
	return away[i], nil
}
