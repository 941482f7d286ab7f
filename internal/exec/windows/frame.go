package windows

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// framed are the frames of all rows: from lo, to before hi, which may not be less than lo. Neither ever goes back from row to row
// of a partition, since distances are the same for all: whatever slides over frames is linear.
type framed struct {
	frame  plan.Frame
	lo, hi []int32
}

// checkFrame refuses distances that are NULL or negative, the latter of keys only if there are any.
func checkFrame(f *plan.WindowFunc, rows int64) error {
	for i, b := range []*plan.FrameBound{&f.Frame.Start, &f.Frame.End} {
		if b.Kind != plan.Preceding && b.Kind != plan.Following {
			continue
		}
		which := [...]string{"starting", "ending"}[i]
		if b.Offset.Null {
			return diag.Errorf(diag.NullNotAllowed, -1, "frame %s offset must not be null", which)
		}
		if !negative(b.Offset) {
			continue
		}
		if f.Frame.Unit == plan.RangeFrame {
			if rows == 0 {
				continue
			}
			return diag.Errorf(diag.InvalidFrameSize, -1, "invalid preceding or following size in window function")
		}
		return diag.Errorf(diag.InvalidFrameSize, -1, "frame %s offset must not be negative", which)
	}
	return nil
}

func negative(v types.Value) bool {
	switch {
	case v.Type.IsFloat():
		return v.F < 0 || v.F != v.F
	case v.Type.Kind == types.Interval:
		return types.IntervalKey(v.IntervalParts()).Sign() < 0
	}
	return v.Int128().Sign() < 0
}

// frame finds the frames of all rows.
func (b *block) frame(f *plan.Frame) *framed {
	for i := range b.frames {
		if b.frames[i].frame == *f {
			return &b.frames[i]
		}
	}
	x := framed{frame: *f, lo: take[int32](b.room, b.n), hi: take[int32](b.room, b.n)}
	b.bound(f, &f.Start, x.lo, false)
	b.bound(f, &f.End, x.hi, true)
	b.each(func(lo, hi int) {
		for i := lo; i < hi; i++ {
			x.hi[i] = max(x.hi[i], x.lo[i])
		}
	})
	b.frames = append(b.frames, x)
	return &b.frames[len(b.frames)-1]
}

// bound finds where frames begin, or behind which row they end.
func (b *block) bound(f *plan.Frame, at *plan.FrameBound, out []int32, end bool) {
	switch at.Kind {
	case plan.UnboundedPreceding:
		b.partitions(func(lo, hi int) { fill(out[lo:hi], int32(lo)) })
		return
	case plan.UnboundedFollowing:
		b.partitions(func(lo, hi int) { fill(out[lo:hi], int32(hi)) })
		return
	}
	switch {
	case f.Unit == plan.RowsFrame:
		b.rowsBound(at, out, end)
	case at.Kind == plan.CurrentRow:
		lows, highs := b.peerBounds()
		if end {
			copy(out, highs)
		} else {
			copy(out, lows)
		}
	case f.Unit == plan.GroupsFrame:
		b.groupsBound(at, out, end)
	default:
		b.rangeBound(f, at, out, end)
	}
}

func fill[T any](out []T, x T) {
	for i := range out {
		out[i] = x
	}
}

// rowsBound counts rows.
func (b *block) rowsBound(at *plan.FrameBound, out []int32, end bool) {
	b.partitions(func(lo, hi int) {
		d := 0
		switch n := min(at.Offset.I, int64(hi-lo)); at.Kind { // more than all rows is all rows
		case plan.Preceding:
			d = -int(n)
		case plan.Following:
			d = int(n)
		}
		if end {
			d++
		}
		for i := lo; i < hi; i++ {
			out[i] = int32(min(max(i+d, lo), hi))
		}
	})
}

// groupsBound counts groups of peers.
func (b *block) groupsBound(at *plan.FrameBound, out []int32, end bool) {
	peer := b.peers()
	b.partitions(func(lo, hi int) {
		d := int(min(at.Offset.I, int64(hi-lo)))
		// far is where the group begins that is d groups away.
		next := func(i int) int {
			for i++; i < hi && !peer[i]; i++ {
			}
			return i
		}
		if at.Kind == plan.Preceding {
			far, behind := lo, 0 // the group that the bound is in, and how far behind the row's it is
			for i := lo; i < hi; {
				stop := next(i)
				x := far
				switch {
				case behind < d && end: // there is no such group
					x = lo
				case end:
					x = next(far)
				}
				fill(out[i:stop], int32(x))
				if i = stop; behind < d {
					behind++
				} else {
					far = next(far)
				}
			}
			return
		}
		far := lo
		for k := 0; k < d && far < hi; k++ {
			far = next(far)
		}
		for i := lo; i < hi; {
			stop := next(i)
			x := far
			if end && far < hi {
				x = next(far)
			}
			fill(out[i:stop], int32(x))
			i = stop
			if far < hi {
				far = next(far)
			}
		}
	})
}

// part is some rows of a frame.
type part struct{ lo, hi int32 }

// parts are the rows of row i's frame that are not excluded: those before, and those after what is left out. self: between
// them the row itself is part of the frame.
func (b *block) parts(x *framed, i int) (before, after part, self bool) {
	lo, hi := x.lo[i], x.hi[i]
	out, end := int32(i), int32(i)+1
	switch x.frame.Exclude {
	case plan.ExcludeNone:
		return part{lo, hi}, part{hi, hi}, false
	case plan.ExcludeGroup, plan.ExcludeTies:
		lows, highs := b.peerBounds()
		out, end = lows[i], highs[i]
		self = x.frame.Exclude == plan.ExcludeTies && lo <= int32(i) && int32(i) < hi
	}
	before = part{lo, max(min(hi, out), lo)}
	after.lo = max(lo, end)
	after.hi = max(hi, after.lo)
	return before, after, self
}
