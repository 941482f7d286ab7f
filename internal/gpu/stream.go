package gpu

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/emit/scanned"
	"github.com/kelpiedb/kelpie/internal/exec/load"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// A table whose columns do not all find room on the device is fed to it in chunks of rows: while a kernel is at one chunk, the
// host writes the next into a pinned block, and another stream copies that. Columns that are resident are read
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
	bytes  int
	ready  int64 // chunks that were prepared
	copied int64 // bytes
}

// streamBlocks is how many chunks are under way at a time: one that is copied, one that is read and then filled again.
const streamBlocks = 2

// streamBlock is a chunk on the host and on the device.
type streamBlock struct {
	host   *device.Host
	dev    device.Addr
	copied device.Event
}

// rowSpan is rows, from one on.
type rowSpan struct{ lo, n int64 }

// columnAt is where a column's rows and NULL bytes lie in a block.
type columnAt struct{ data, nulls int }

// tableScan is the columns of a scan.
type tableScan struct {
	scan   *plan.Scan
	snap   *catalog.Snapshot
	ords   []int
	cols   []*deviceColumn
	firsts []int64 // rows before each segment, if there are columns to stream
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
	streamRows  = 1 << 8   // a chunk has a multiple of so many rows: it begins at a multiple of 256 bytes in resident columns, too
	streamBytes = 32 << 20 // a block has at most so many bytes: more copies no faster, and the host fills those that stay in its cache faster
)

// chunk is how many rows a chunk has if all blocks together have so many bytes.
func (t *tableScan) chunk(bytes int64) int64 {
	fits := func(rows int64) bool {
		return t.blockBytes(rows) <= min(bytes/streamBlocks, streamBytes)
	}
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

// newFeed prepares the first chunk of a source.
func (r *run) newFeed(src *source) (f *feed, err error) {
	f = &feed{r: r, src: src, chunk: max(src.rows, 1), spans: []rowSpan{{0, src.rows}}}
	if src.scan == nil || !src.scan.streams() {
		return f, nil
	}
	f.chunk = src.scan.chunk(r.lease.blocks)
	if f.spans = src.scan.spans(f.chunk, src.sieve); len(f.spans) == 0 {
		return f, nil
	}
	for _, c := range src.scan.cols {
		at := columnAt{}
		if c.streamed {
			at, f.bytes = c.place(f.bytes, f.chunk)
		}
		f.at = append(f.at, at)
	}
	if f.copies, err = r.dev.Stream(r.ctx); err != nil {
		return f, err
	}
	row := int64(0)
	for _, seg := range src.scan.snap.Segments {
		src.scan.firsts = append(src.scan.firsts, row)
		row += int64(seg.Rows)
	}
	for i := range f.blocks {
		b := &f.blocks[i]
		if b.host, err = r.store.takePinned(f.bytes); err != nil {
			return f, err
		}
		if b.dev, err = f.copies.Alloc(f.bytes); err != nil {
			return f, err
		}
		if b.copied, err = r.dev.Event(); err != nil {
			return f, err
		}
	}
	return f, f.prepare(0)
}

// place is where a column lies in a block that has so many bytes already, and how many it has then.
func (c *deviceColumn) place(bytes int, rows int64) (columnAt, int) {
	const line = 256
	at := columnAt{data: bytes}
	n := int(rows) + emit.ArrayPad
	bytes += (n*int(c.shape.Width) + line - 1) &^ (line - 1)
	if c.shape.Nulls {
		at.nulls = bytes
		bytes += (n + line - 1) &^ (line - 1)
	}
	return at, bytes
}

// spans cuts the rows that may pass a scan's filters into chunks of so many rows at the most, each of which begins at a multiple of streamRows.
func (t *tableScan) spans(chunk int64, filters []scanned.Filter) (out []rowSpan) {
	wanted, _ := load.Wanted(t.scan, filters)
	row, end := int64(0), int64(0) // of the segment; of the last span
	for _, seg := range t.snap.Segments {
		if len(wanted) > 0 && wanted[0] == seg {
			wanted = wanted[1:]
			for lo := max(row&^(streamRows-1), end); lo < row+int64(seg.Rows); lo = end {
				if n := len(out); n > 0 && out[n-1].lo+out[n-1].n == lo && out[n-1].n < chunk { // it goes on
					lo, out = out[n-1].lo, out[:n-1]
				}
				end = min(lo+chunk, row+int64(seg.Rows))
				out = append(out, rowSpan{lo, end - lo})
			}
		}
		row += int64(seg.Rows)
	}
	return out
}

// chunks is how many there are.
func (f *feed) chunks() int64 { return int64(len(f.spans)) }

// rows is how many chunk k has.
func (f *feed) rows(k int64) int64 { return f.spans[k].n }

// prepare writes chunk k, if there is one, to its block and begins to copy it. The kernel over the chunk that was there before has ended,
// and waited for its copy.
func (f *feed) prepare(k int64) error {
	if f.copies == nil || k >= f.chunks() || k < f.ready {
		return nil
	}
	f.ready = k + 1
	b := &f.blocks[k%streamBlocks]
	lo, n := f.spans[k].lo, f.spans[k].n
	const step = 1 << 17 // rows that a thread takes at a time
	var tasks []func()
	for i, c := range f.src.scan.cols {
		if !c.streamed {
			continue
		}
		at, w, ord := f.at[i], int(c.shape.Width), f.src.scan.ords[i]
		for from := int64(0); from < n; from += step {
			to := min(from+step, n)
			tasks = append(tasks, func() {
				data := b.host.Bytes[at.data+int(from)*w : at.data+int(to)*w]
				var nulls []byte
				if c.shape.Nulls {
					nulls = b.host.Bytes[at.nulls+int(from) : at.nulls+int(to)]
				}
				f.src.scan.encodeRows(ord, c, data, nulls, lo+from, lo+to)
			})
		}
	}
	if err := f.r.team.Parallel(len(tasks), func(i int) error { tasks[i](); return nil }); err != nil {
		return err
	}
	if err := f.copies.Upload(b.dev, b.host.Bytes[:f.bytes]); err != nil {
		return f.r.failed(err)
	}
	f.copied += int64(f.bytes)
	return f.r.failed(f.copies.Record(b.copied))
}

// toContext lets a kernel read chunk k, and wait for it.
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
		var x device.Addr
		switch first := device.Addr(f.spans[k].lo); {
		case w.Kind == code.WordData && col.streamed:
			x = b.dev + device.Addr(f.at[w.Index].data)
		case w.Kind == code.WordData:
			x = col.data + first*device.Addr(col.shape.Width)
		case col.streamed:
			x = b.dev + device.Addr(f.at[w.Index].nulls)
		default:
			x = col.nulls + first
		}
		c.set(w.Off, uint64(x))
	}
	if f.copies == nil {
		return nil
	}
	return f.r.failed(f.r.st.Wait(b.copied))
}

// close gives back what was lent. Kernels that read it have been waited for, or nobody wants their results: then this waits.
func (f *feed) close() {
	if f.copies == nil {
		return
	}
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
