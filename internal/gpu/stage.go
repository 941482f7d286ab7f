package gpu

import (
	"encoding/binary"
	"slices"

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
	rows, err := r.fetch(s.tupleSink.rows())
	if err != nil {
		return err
	}
	start, size := rows.Pieces[0].Addr, s.tuple.Size
	theirs := slices.Clone(mem.Bytes(start, int(s.n)*size)) // with addresses of the device
	if err := r.bringHome(&rows, s.s.Compute.Cols); err != nil {
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
	away, err := s.uploadTexts(fillers)
	if err != nil {
		return err
	}
	if err := r.takeOver(s.tuple, s.s.Compute.Cols, theirs, mem.Bytes(start, len(theirs)), away); err != nil {
		return err
	}
	if err := r.st.Upload(s.start, theirs); err != nil {
		return r.failed(err)
	}
	err = r.sync()
	r.mem.Free(start)
	return err
}

// uploadTexts copies what was computed to the device, and lists it by addresses of the host.
func (s *stageSink) uploadTexts(fillers []*compute.Filler) ([]homes, error) {
	var out []homes
	for _, f := range fillers {
		for _, p := range f.Texts() {
			a, err := s.r.upload(mem.Bytes(p.Addr, p.Size))
			if err != nil {
				return nil, err
			}
			out = append(out, homes{a, p.Size, p.Addr})
		}
	}
	s.r.texts = append(s.r.texts, out...)
	slices.SortFunc(out, func(a, b homes) int { return int(a.host) - int(b.host) })
	return out, nil
}

// takeOver copies computed fields from tuples of the host to those of the device.
func (r *run) takeOver(tuple *layout.Tuple, cols []plan.ColID, theirs, ours []byte, away []homes) error {
	zero, err := r.zeros()
	if err != nil {
		return err
	}
	for _, id := range cols {
		f := tuple.Find(int32(id))
		bytes := int(f.Width) + 8*(f.Desc.Form.Words()-1)
		for at := 0; at < len(theirs); at += tuple.Size {
			to := theirs[at+f.Off : at+f.Off+bytes]
			copy(to, ours[at+f.Off:])
			if f.Null >= 0 {
				theirs[at+f.Null] = ours[at+f.Null]
			}
			if f.Desc.Form != layout.Str {
				continue
			}
			a := zero
			if n := binary.LittleEndian.Uint64(to[8:]); n > 0 {
				if a, err = abroad(away, uintptr(binary.LittleEndian.Uint64(to))); err != nil {
					return err
				}
			}
			binary.LittleEndian.PutUint64(to, uint64(a))
		}
	}
	return nil
}

// abroad is where a text of the host is on the device.
func abroad(away []homes, host uintptr) (device.Addr, error) {
	i, found := slices.BinarySearchFunc(away, host, func(h homes, a uintptr) int { return int(h.host) - int(a) })
	if !found {
		i--
	}
	if i < 0 || host >= away[i].host+uintptr(away[i].n) {
		return 0, diag.Internalf("gpu", "a text at %#x of the host is nowhere on the device", host)
	}
	return away[i].at + device.Addr(host-away[i].host), nil
}
