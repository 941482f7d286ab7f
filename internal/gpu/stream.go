package gpu

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/emit/scanned"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/exec/load"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// A table whose columns do not all find room on the device is fed to it in chunks of rows: while a kernel is at one chunk, another
// stream copies the next, from a pinned block that the host's processors fill, or from copies of columns that the device reaches,
// where there are such (hostcopy.go). Columns that few rows need are not copied but read over the bus. Columns that are resident are read
// where they are, from the chunk's first row on. Segments in which no row can pass the scan's filters, by what their zones say, are in no chunk.

// feed brings a pipeline its rows, in one chunk or in several.
type feed struct {
	r      *run
	src    *source
	chunk  int64         // rows, at the most
	spans  []rowSpan     // the rows of each chunk
	copies device.Stream // nil: there is nothing to copy
	blocks [streamBlocks]streamBlock
	at     []columnAt // places in a block of the streamed columns
	bytes  int        // of a block
	ready  int64      // chunks that were prepared
	copied int64      // bytes
	missed []copyUnit // pieces of the host's copies that were not there
	halves *halves    // the CPU takes some of the rows; nil: it does not
	// tested is what tests the scan's filters; nil: kernels do.
	tested *exec.Prefilter
}

// streamBlocks is how many chunks are under way at a time: one that is copied, one that is read and then filled again.
const streamBlocks = 2

// streamBlock is a chunk on the host and on the device.
type streamBlock struct {
	host   *device.Host // nil: nothing had to be put there
	dev    device.Addr
	copied device.Event
	// over is where the device finds columns of the chunk that are read over the bus, by their number in the scan.
	over map[int]columnOver
	// packed are columns of the chunk that have to be unpacked.
	packed []unpacking
}

// columnOver is where rows and NULL bytes of a chunk are in the host's memory, for the device.
type columnOver struct{ data, nulls device.Addr }

// rowSpan is rows, from one on.
type rowSpan struct{ lo, n int64 }

// columnAt is where a column's rows and NULL bytes lie in a block.
type columnAt struct{ data, nulls, packed int }

// tableScan is the columns of a scan.
type tableScan struct {
	scan   *plan.Scan
	snap   *catalog.Snapshot
	ords   []int
	cols   []*deviceColumn
	firsts []int64 // rows before each segment, if there are columns to stream
}

// number finds out how many rows are before each segment.
func (t *tableScan) number() {
	row := int64(0)
	for _, seg := range t.snap.Segments {
		t.firsts = append(t.firsts, row)
		row += int64(seg.Rows)
	}
}

// streams reports that there are columns to stream.
func (t *tableScan) streams() bool {
	return slices.ContainsFunc(t.cols, func(c *deviceColumn) bool { return c.streamed })
}

// blockBytes is what so many rows of the streamed columns take in a block.
func (t *tableScan) blockBytes(rows int64) int64 {
	n := 0
	for _, c := range t.cols {
		if c.streamed {
			_, n = c.place(n, rows)
		}
	}
	return int64(n)
}

const (
	streamRows  = exec.SplitRows // a chunk has a multiple of so many rows: it begins at a multiple of 256 bytes in resident columns, too
	streamBytes = 96 << 20       // a block has at most so many bytes, packed ones and what becomes of them: more copies no faster
)

// chunk is how many rows a chunk has if a block has so many bytes.
func (t *tableScan) chunk(block int64) int64 {
	fits := func(rows int64) bool { return t.blockBytes(rows) <= block }
	rows := int64(streamRows)
	for rows < t.snap.Rows && fits(2*rows) {
		rows *= 2
	}
	for step := rows / 2; step >= streamRows; step /= 2 {
		if rows < t.snap.Rows && fits(rows+step) {
			rows += step
		}
	}
	return rows
}

// evenly is the size of chunks, so many rows at the most, of which a piece of a copy has a whole number.
func evenly(chunk, piece int64) int64 {
	n := (piece + chunk - 1) / chunk
	return ((piece+n-1)/n + streamRows - 1) &^ (streamRows - 1)
}

// newFeed prepares the first chunk of a source, for code that reads it.
func (r *run) newFeed(src *source, frag *emit.Fragment) (f *feed, err error) {
	f = &feed{r: r, src: src, chunk: max(src.rows, 1), spans: []rowSpan{{src.first, src.rows}}}
	if src.scan == nil || !src.scan.streams() && r.split == nil {
		return f, nil
	}
	piece := r.store.pieceRows()
	if src.scan.streams() {
		f.chunk = evenly(src.scan.chunk(min(r.lease.blocks/streamBlocks, r.lease.block)), piece)
	} else {
		f.chunk = evenly(min(f.chunk, residentTake), piece)
	}
	f.spans = src.scan.spans(f.chunk, piece, src.sieve)
	if r.split != nil {
		f.share()
	}
	if !f.has(0) || !src.scan.streams() {
		return f, nil
	}
	for i, c := range src.scan.cols {
		at := columnAt{}
		if c.streamed {
			at, f.bytes = c.place(f.bytes, f.chunk)
			c.late = c.copy != nil && (c.form == nil || c.form.bits == 0) && !r.Off.BusReads && phys.ReadOverBus(lateShare(frag, i), int(c.shape.Width))
		}
		f.at = append(f.at, at)
	}
	if f.copies, err = r.dev.Stream(r.ctx); err != nil {
		return f, err
	}
	if err := f.tests(); err != nil {
		return f, err
	}
	src.scan.number()
	for i := range f.blocks {
		b := &f.blocks[i]
		b.over = map[int]columnOver{}
		if b.dev, err = f.copies.Alloc(f.bytes); err != nil {
			return f, err
		}
		if b.copied, err = r.dev.Event(); err != nil {
			return f, err
		}
	}
	return f, f.prepare(0)
}

// lateShare is the share of a scan's rows that need a column; 1: all of them.
func lateShare(frag *emit.Fragment, col int) float64 {
	for _, x := range frag.Reads {
		if x.Col == col && x.After >= -1 && frag.How.Front.Rows > 0 {
			return frag.How.Front.Share
		}
	}
	return 1
}

// place is where a column lies in a block that has so many bytes already, and how many it has then.
func (c *deviceColumn) place(bytes int, rows int64) (columnAt, int) {
	const line = 256
	at := columnAt{data: bytes}
	n := int(rows) + emit.ArrayPad
	if c.isTested() {
		return at, bytes + (testedBits.bytesOf(n, 1)+line-1)&^(line-1)
	}
	bytes += (n*int(c.shape.Width) + line - 1) &^ (line - 1)
	if c.shape.Nulls {
		at.nulls = bytes
		bytes += (n + line - 1) &^ (line - 1)
	}
	if c.form != nil && c.form.bits > 0 {
		at.packed = bytes
		bytes += (c.form.bytesOf(int(rows), int(c.shape.Width)) + line - 1) &^ (line - 1)
	}
	return at, bytes
}

// spans cuts the rows that may pass a scan's filters into chunks of so many rows at the most, each of which begins at a multiple of streamRows and
// lies in one piece.
func (t *tableScan) spans(chunk, piece int64, filters []scanned.Filter) (out []rowSpan) {
	wanted, _ := load.Wanted(t.scan, filters)
	row, end := int64(0), int64(0) // of the segment; of the last span
	for _, seg := range t.snap.Segments {
		if len(wanted) > 0 && wanted[0] == seg {
			wanted = wanted[1:]
			for lo := max(row&^(streamRows-1), end); lo < row+int64(seg.Rows); lo = end {
				if n := len(out); n > 0 && out[n-1].lo+out[n-1].n == lo && out[n-1].n < chunk && lo%piece != 0 { // it goes on
					lo, out = out[n-1].lo, out[:n-1]
				}
				end = min(lo+chunk, row+int64(seg.Rows), lo-lo%piece+piece)
				out = append(out, rowSpan{lo, end - lo})
			}
		}
		row += int64(seg.Rows)
	}
	return out
}

// has reports that there is a chunk k.
func (f *feed) has(k int64) bool { return k < int64(len(f.spans)) || f.halves != nil && f.another() }

// rows is how many chunk k has.
func (f *feed) rows(k int64) int64 { return f.spans[k].n }

// prepare begins to copy chunk k, if there is one, to its block. The kernel over the chunk that was there before has ended,
// and waited for its copy.
func (f *feed) prepare(k int64) error {
	if f.copies == nil || k < f.ready || !f.has(k) {
		return nil
	}
	f.ready = k + 1
	b := &f.blocks[k%streamBlocks]
	clear(b.over)
	b.packed = b.packed[:0]
	lo, n := f.spans[k].lo, f.spans[k].n
	var staged []int
	for i, c := range f.src.scan.cols {
		if !c.streamed {
			continue
		}
		var host *device.Host
		if c.copy != nil {
			p := int(lo / c.copy.rows)
			if c.form != nil {
				host = c.copy.piece(p)
			}
			if host == nil {
				f.missed = append(f.missed, copyUnit{f.r.lease.copies[keyOf(f.src.scan.snap, f.src.scan.ords[i])], f.src.scan, i, p, c.late})
			}
		}
		switch {
		case host == nil:
			staged = append(staged, i)
		case c.late:
			at := columnOver{}
			at.data, at.nulls = c.copy.addressOf(host, lo)
			b.over[i] = at
		default:
			data, nulls := c.copy.rowsAt(host, lo, n)
			at := f.at[i]
			if c.form.bits > 0 {
				b.packed = append(b.packed, unpacking{b.dev + device.Addr(at.packed), b.dev + device.Addr(at.data), c.form.bits, int(c.shape.Width)})
				at.data = at.packed
			}
			if err := f.send(b, at, data, nulls); err != nil {
				return err
			}
		}
	}
	if err := f.stage(b, staged, lo, n); err != nil {
		return err
	}
	return f.r.failed(f.copies.Record(b.copied))
}

// send copies rows of a column, and their NULL bytes, to their places in a block.
func (f *feed) send(b *streamBlock, at columnAt, data, nulls []byte) error {
	f.copied += int64(len(data) + len(nulls))
	err := f.copies.Upload(b.dev+device.Addr(at.data), data)
	if err == nil && nulls != nil {
		err = f.copies.Upload(b.dev+device.Addr(at.nulls), nulls)
	}
	return f.r.failed(err)
}

// stage writes rows of columns of which the host has no copies to a pinned block, and copies them from there.
func (f *feed) stage(b *streamBlock, cols []int, lo, n int64) (err error) {
	if len(cols) == 0 {
		return nil
	}
	if b.host == nil {
		if b.host, err = f.r.store.takePinned(f.bytes); err != nil {
			return err
		}
	}
	const step = 1 << 17 // rows that a thread takes at a time
	var tasks []func() error
	places := func(i int, from, to int64) (data, nulls []byte) {
		c, at := f.src.scan.cols[i], f.at[i]
		if c.isTested() {
			return b.host.Bytes[at.data : at.data+int(testedBytes(to))], nil
		}
		w := int(c.shape.Width)
		if c.shape.Nulls {
			nulls = b.host.Bytes[at.nulls+int(from) : at.nulls+int(to)]
		}
		return b.host.Bytes[at.data+int(from)*w : at.data+int(to)*w], nulls
	}
	for _, i := range cols {
		if f.src.scan.cols[i].isTested() {
			bits, _ := places(i, 0, n)
			tasks = f.test(tasks, bits, lo, n, step)
			continue
		}
		for from := int64(0); from < n; from += step {
			to := min(from+step, n)
			tasks = append(tasks, func() error {
				data, nulls := places(i, from, to)
				f.src.scan.encodeRows(f.src.scan.ords[i], f.src.scan.cols[i], data, nulls, lo+from, lo+to)
				return nil
			})
		}
	}
	if f.halves != nil {
		f.r.split.Want(f.r.team.Threads)
	}
	if err := f.r.team.Parallel(len(tasks), func(i int) error { return tasks[i]() }); err != nil {
		return err
	}
	for _, i := range cols {
		data, nulls := places(i, 0, n)
		if err := f.send(b, f.at[i], data, nulls); err != nil {
			return err
		}
	}
	return nil
}

// how tells of the feed.
func (f *feed) how() phys.Stream {
	if f.copies == nil {
		return phys.Stream{}
	}
	s := phys.Stream{Chunks: len(f.spans), Rows: f.chunk, Overlap: f.r.Feed != phys.FeedKernelAtATime}
	for _, c := range f.src.scan.cols {
		switch {
		case c.late:
			s.Over++
		case c.form != nil && c.form.bits > 0:
			s.Packed++
		}
	}
	return s
}

// toContext lets a kernel read chunk k, and wait for it: behind the copy of its context, which else would have to wait for the next chunk's.
func (f *feed) toContext(c *block, frag *emit.Fragment, k int64) error {
	if f.src.scan == nil {
		return nil
	}
	b := &f.blocks[k%streamBlocks]
	for _, w := range frag.Words {
		if w.Kind == code.WordRow {
			c.set(w.Off, uint64(f.spans[k].lo))
		}
		if w.Kind != code.WordData && w.Kind != code.WordNull {
			continue
		}
		col := f.src.scan.cols[w.Index]
		var at columnOver
		over, late := b.over[w.Index]
		switch first := device.Addr(f.spans[k].lo); {
		case late:
			at = over
		case col.streamed:
			at = columnOver{b.dev + device.Addr(f.at[w.Index].data), b.dev + device.Addr(f.at[w.Index].nulls)}
		default:
			at = columnOver{col.data + first*device.Addr(col.shape.Width), col.nulls + first}
			if col.bits > 0 { // first is a multiple of streamRows
				at.data = col.data + first*device.Addr(col.bits)/8
			}
		}
		x := at.data
		if w.Kind == code.WordNull {
			x = at.nulls
		}
		c.set(w.Off, uint64(x))
	}
	if f.copies != nil {
		c.await = func() error { return f.await(b, f.spans[k].n) }
	}
	return nil
}

// await lets what follows wait for a block with so many rows, and makes bytes of what is packed there.
func (f *feed) await(b *streamBlock, rows int64) error {
	if err := f.r.st.Wait(b.copied); err != nil {
		return err
	}
	for _, u := range b.packed {
		if err := f.r.unpack(u, rows); err != nil {
			return err
		}
	}
	b.packed = b.packed[:0] // once is enough
	return nil
}

// close gives back what was lent. Kernels that read it have been waited for, or nobody wants their results: then this waits.
func (f *feed) close() {
	if f.copies == nil {
		return
	}
	if f.tested != nil {
		f.tested.Close()
	}
	f.r.store.copyLater(f.missed)
	_ = f.r.st.Sync()
	_ = f.copies.Sync()
	for i := range f.blocks {
		b := &f.blocks[i]
		if b.dev != 0 {
			_ = f.copies.Free(b.dev)
		}
		if b.host != nil {
			f.r.store.givePinned(b.host)
		}
		if b.copied != nil {
			_ = b.copied.Close()
		}
	}
	_ = f.copies.Sync()
	_ = f.copies.Close()
}

// encodeRows writes rows of a column in the form that it has on the device.
func (t *tableScan) encodeRows(ord int, c *deviceColumn, data, nulls []byte, lo, hi int64) {
	at, found := slices.BinarySearch(t.firsts, lo)
	if !found {
		at--
	}
	for ; at < len(t.firsts) && t.firsts[at] < hi; at++ {
		first, seg := t.firsts[at], t.snap.Segments[at]
		from, to := max(lo, first), min(hi, first+int64(seg.Rows))
		if from < to {
			piece := *seg.Chunks[ord]
			skip := uintptr(from - first)
			piece.Rows = int(to - from)
			piece.Data += skip * uintptr(piece.Width)
			encode(data[(from-lo)*int64(c.shape.Width):], &piece, c.shape, c.base)
			if nulls != nil {
				dst := nulls[from-lo : to-lo]
				if piece.Null == 0 {
					clear(dst)
				} else {
					copy(dst, hostBytes(piece.Null+skip, len(dst)))
				}
			}
		}
	}
}
