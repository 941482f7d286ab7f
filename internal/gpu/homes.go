package gpu

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// homing replaces addresses of texts by those of the same texts on the host; those of some columns are not there yet. nil: there are none.
func (r *run) homing(t *layout.Tuple, lacking []plan.ColID) visitor {
	fields := textFields(t, lacking)
	if len(fields) == 0 {
		return nil
	}
	index := newHomeIndex(r.texts)
	return func(first uintptr, n int) error {
		for _, f := range fields {
			last, at := &homes{}, &region{} // neighbours are often from the same place
			for a := first; a < first+uintptr(n*t.Size); a += uintptr(t.Size) {
				word := a + uintptr(f.Off)
				n := mem.Load64(word + 8)
				if f.Null >= 0 && mem.Load8(a+uintptr(f.Null)) != 0 || n == 0 {
					mem.Store64(word, 0)
					continue
				}
				text := device.Addr(mem.Load64(word))
				if !last.has(text, int(n)) {
					if !at.has(text) {
						at = index.region(text)
					}
					if last = at.home(text); !last.has(text, int(n)) {
						return diag.Internalf("gpu", "a text of %d bytes at %#x of the device is nowhere on the host", n, text)
					}
				}
				mem.Store64(word, uint64(last.host)+uint64(text-last.at))
			}
		}
		return nil
	}
}

// textFields are the texts of a tuple, but for some columns.
func textFields(t *layout.Tuple, lacking []plan.ColID) (out []*layout.Field) {
	for i := range t.Fields {
		if f := &t.Fields[i]; f.Desc.Form == layout.Str && !slices.Contains(lacking, plan.ColID(f.ID)) {
			out = append(out, f)
		}
	}
	return out
}

// has reports that a text of the device lies there; its end may be in what is behind all texts.
func (h *homes) has(a device.Addr, n int) bool {
	return a >= h.at && a < h.at+device.Addr(h.n) && int(a-h.at)+n <= h.n+column.TextPad
}

// homeIndex finds the homes of texts in a few steps, however many there are: rows that were sorted jump between them.
type homeIndex []region

// region is homes that lie side by side. Where its memory is cut into pieces of 1<<shift bytes, first tells with which home each begins.
type region struct {
	start, end device.Addr
	homes      []homes
	shift      int
	first      []int32
}

// newHomeIndex puts homes in order.
func newHomeIndex(all []homes) (out homeIndex) {
	const gap = 4096 // what is farther from others is a region of its own
	slices.SortFunc(all, func(a, b homes) int { return cmp.Compare(a.at, b.at) })
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].at <= all[n-1].at+device.Addr(all[n-1].n+gap) {
			n++
		}
		x := region{start: all[0].at, end: all[n-1].at + device.Addr(all[n-1].n+column.TextPad), homes: all[:n]}
		x.shift = max(bits.Len64(uint64(x.end-x.start)/uint64(2*n)), 4)
		i := int32(0)
		for at := x.start; at < x.end; at += 1 << x.shift {
			for int(i)+1 < n && x.homes[i+1].at <= at {
				i++
			}
			x.first = append(x.first, i)
		}
		out, all = append(out, x), all[n:]
	}
	return out
}

// region is where an address lies; an empty one if nowhere.
func (x homeIndex) region(a device.Addr) *region {
	i, found := slices.BinarySearchFunc(x, a, func(r region, a device.Addr) int { return cmp.Compare(r.start, a) })
	if !found {
		i--
	}
	if i < 0 || !x[i].has(a) {
		return &region{homes: make([]homes, 1)}
	}
	return &x[i]
}

func (x *region) has(a device.Addr) bool { return a >= x.start && a < x.end }

// home is the last that begins no later than an address of the region.
func (x *region) home(a device.Addr) *homes {
	if len(x.first) == 0 {
		return &x.homes[0]
	}
	i := int(x.first[(a-x.start)>>x.shift])
	for i+1 < len(x.homes) && x.homes[i+1].at <= a {
		i++
	}
	return &x.homes[i]
}
