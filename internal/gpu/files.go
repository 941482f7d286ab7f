package gpu

import (
	"cmp"
	"math"
	"slices"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/exec/load"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// A file is read as a whole for the query that scans it: its columns are loaded as the CPU loads them, and copied. They go when the
// query ends, because nobody knows whether the file will be the same for the next.

// fileScan reads the columns of a scan over files into a source.
func (r *run) fileScan(scan *plan.Scan, s *source) error {
	if scan.Snap.External != nil {
		return r.lacks("a scan of a file that is not open")
	}
	snap := &catalog.Snapshot{Table: scan.Snap.Table, Stats: make([]catalog.ColumnStats, len(scan.Snap.Stats))}
	done := func() {}
	var err error
	if scan.Snap.Stream != nil {
		err = r.readStream(scan, snap)
	} else {
		done, err = r.loadSegments(scan, snap)
	}
	if err != nil {
		return err
	}
	for _, seg := range snap.Segments {
		snap.Rows += int64(seg.Rows)
	}
	s.rows, s.scan = snap.Rows, &tableScan{snap: snap, ords: scan.Ordinal}
	for _, ord := range scan.Ordinal {
		snap.Stats[ord] = statsOf(snap.Segments, ord)
		if d := scan.Snap.Stats[ord].Dict; d != nil { // all chunks are of its codes
			snap.Stats[ord].Dict, snap.Stats[ord].DictLen = d, d.Len()
		}
		u := &upload{s: r.store, st: r.st}
		c, err := u.column(snap, ord, packing{})
		for _, a := range u.addrs {
			r.owned[a] = 0 // a column
		}
		if err != nil {
			return r.failed(err)
		}
		s.bytes += c.bytes
		s.carried.bytes += u.bytes
		r.texts = append(r.texts, c.texts...)
		s.scan.cols = append(s.scan.cols, c)
	}
	done()
	return nil
}

// loadSegments loads the segments in which a row may pass the scan's filters. done gives back what is not needed once it
// was copied: texts are, for results point to them.
func (r *run) loadSegments(scan *plan.Scan, snap *catalog.Snapshot) (done func(), err error) {
	segs, _ := load.Wanted(scan, nil)
	loader := &load.Loader{Ctx: r.ctx, Team: r.team, Mem: r.mem, Keep: r.keepAlive, Stay: func(int) bool { return true }}
	snap.Segments = make([]*catalog.Segment, len(segs))
	lazy := make([]*load.Segment, len(segs))
	err = r.team.Parallel(len(segs), func(i int) error {
		if snap.Segments[i] = segs[i]; segs[i].Loader == nil {
			return nil
		}
		lazy[i] = load.NewSegment(segs[i], scan.Ordinal)
		if err := lazy[i].Load(loader, i, nil); err != nil {
			return err
		}
		seg := &catalog.Segment{Rows: segs[i].Rows, Chunks: make([]*column.Chunk, len(segs[i].Chunks))}
		for _, ord := range scan.Ordinal {
			seg.Chunks[ord] = lazy[i].Chunk(ord)
		}
		snap.Segments[i] = seg
		return nil
	})
	return func() {
		for i, l := range lazy {
			if l != nil {
				l.Done(loader, segs[i].Rows)
			}
		}
	}, err
}

// readStream reads a stream to its end. That can be done once, so nobody else could run the query after it.
func (r *run) readStream(scan *plan.Scan, snap *catalog.Snapshot) error {
	if !r.Last {
		return r.lacks("a scan of a text file")
	}
	stream := scan.Snap.Stream
	defer stream.Close()
	load.LeaveParts(scan, nil)
	type part struct {
		seg *catalog.Segment
		num int
	}
	var parts []part
	for {
		if err := r.team.Canceled(); err != nil {
			return err
		}
		seg, num, err := stream.Next(r.ctx, r.mem)
		if err != nil {
			return r.failed(err)
		}
		if seg == nil {
			break
		}
		parts = append(parts, part{seg, num})
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.num, b.num) })
	for _, p := range parts {
		snap.Segments = append(snap.Segments, p.seg)
	}
	return nil
}

// keepAlive keeps something from being collected while the query or its result needs it.
func (r *run) keepAlive(x any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep = append(r.keep, x)
}

// statsOf is what the encodings of segments say of a column, as far as its shape on the device depends on it.
func statsOf(segs []*catalog.Segment, ord int) catalog.ColumnStats {
	st := catalog.ColumnStats{}
	lo, hi := types.FromInt64(math.MaxInt64), types.FromInt64(math.MinInt64)
	for _, seg := range segs {
		c := seg.Chunks[ord]
		if c.Nulls {
			st.NullCount++
		}
		from, to := c.Base, int64(math.MaxInt64)
		switch {
		case c.Enc == column.EncI128:
			lo, hi, st.HasRange = types.Int128{Hi: math.MinInt64}, types.Int128{Hi: math.MaxInt64}, true
			continue
		case c.Enc != column.EncInt:
			continue
		case c.Width == 8:
			from = math.MinInt64
		case c.Base <= math.MaxInt64-(1<<(8*c.Width)-1):
			to = c.Base + 1<<(8*c.Width) - 1
		}
		if x := types.FromInt64(from); x.Cmp(lo) < 0 {
			lo = x
		}
		if x := types.FromInt64(to); x.Cmp(hi) > 0 {
			hi = x
		}
		st.HasRange = true
	}
	wide := types.TDecimal(types.MaxPrecision, 0)
	st.Min, st.Max = types.DecimalValue(wide, lo), types.DecimalValue(wide, hi)
	return st
}
