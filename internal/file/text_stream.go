package file

import (
	"context"
	"io"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Text files are read while a query runs: whoever needs rows cuts the next block of text off the file,
// which is quick, and then parses the columns that the query wants, while others do the same with the
// blocks behind it. So memory is that of a block per thread, and a query that has enough stops reading.
// Nothing is known of the rows but what their types say: neither how many there are, nor their
// ranges, nor whether some are NULL. What the sample says of them serves the optimizer's
// estimates and nothing else.

const (
	// Blocks of a stream begin small, so that the first rows come soon, and double up to the size that
	// fits into a core's cache.
	firstStreamBlock = 64 << 10
	streamBlock      = 1 << 20

	// streamRows bounds the rows of a stream, for code that adds them up.
	streamRows = 1 << 40
)

// textTable is text files as a table.
type textTable struct{ s *Source }

// Keys are not known.
func (t *textTable) Keys() [][]int { return nil }

// Begin starts a query.
func (t *textTable) Begin(opts catalog.ScanOptions) catalog.Opener {
	return &textQuery{t.s, opts.Block}
}

// textQuery is a query's use of the files.
type textQuery struct {
	s     *Source
	block int // bytes of a block; 0: by themselves
}

// Open makes a stream of the columns.
func (q *textQuery) Open(ctx context.Context, cols, tested []int) (*catalog.Snapshot, error) {
	s := q.s
	shapes := &catalog.Segment{Chunks: make([]*column.Chunk, len(s.cols))}
	for _, c := range cols {
		shapes.Chunks[c] = &column.Chunk{Shape: column.PlainShape(s.cols[c].Type), Type: s.cols[c].Type}
	}
	return &catalog.Snapshot{Rows: streamRows, Segments: []*catalog.Segment{shapes}, Stats: s.guessedStats(),
		Stream: &textStream{s: s, files: s.files, fixed: q.block, cols: slices.Compact(slices.Sorted(slices.Values(cols)))}}, nil
}

// guessedStats is what the sample tells. That there may be NULLs is always said.
func (s *Source) guessedStats() []catalog.ColumnStats {
	out := make([]catalog.ColumnStats, len(s.cols))
	for c := range out {
		out[c].NullCount = 1
		if c < len(s.hunches) {
			out[c].Distinct, out[c].AvgLen = s.hunches[c].distinct, s.hunches[c].length
		}
	}
	return out
}

// textStream is a query's scan of text files.
type textStream struct {
	s     *Source
	files []*input // those that may have rows that are wanted
	cols  []int    // wanted, in order
	fixed int      // bytes of a block; 0: they grow

	into *catalog.Table  // not nil: segments are sealed for this table …
	to   []int           // … whose column each of the file's is, or -1 …
	acct *budget.Account // … and counted here

	mu     sync.Mutex
	cut    cutter         // nil before the first block
	ended  error          // io.EOF, or what went wrong with cutting blocks off
	texts  [][]byte       // of blocks that have been parsed
	idle   []*blockReader //
	table  *catalog.Table
	repeat int // blocks that are left of the present size

	// The error that counts is that of the first block in order, so that a file with two mistakes has
	// one error message: blocks before one that failed are waited for.
	parsing map[int]bool
	parsed  sync.Cond
	failed  error
	at      int // the block of failed
}

// Next parses the block that comes next.
func (st *textStream) Next(ctx context.Context, room catalog.Room) (*catalog.Segment, int, error) {
	for {
		b, r, err := st.block(ctx, room)
		if err == io.EOF {
			return nil, 0, nil
		}
		if err != nil {
			return nil, 0, err
		}
		var seg *catalog.Segment
		if st.into != nil {
			seg, err = r.segment(ctx, b)
		} else {
			seg, err = r.plain(ctx, b, st.cols, room)
		}
		if err = st.done(b, r, err); err != nil || seg != nil {
			return seg, b.seq, err
		}
	}
}

// done takes back what parsing needed. If it failed, that is the stream's error unless an
// earlier block has another.
func (st *textStream) done(b *block, r *blockReader, err error) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.texts = append(st.texts, b.buf)
	st.idle = append(st.idle, r)
	delete(st.parsing, b.seq)
	if err != nil && (st.failed == nil || b.seq < st.at) {
		st.failed, st.at = err, b.seq
	}
	st.parsed.Broadcast()
	if err == nil {
		return nil
	}
	return st.failure()
}

// failure is the error of the first block that has one.
func (st *textStream) failure() error {
	for {
		before := false
		for seq := range st.parsing {
			before = before || seq < st.at
		}
		if !before {
			return st.failed
		}
		st.parsed.Wait()
	}
}

// block cuts a block off, and finds somebody to parse it.
func (st *textStream) block(ctx context.Context, room catalog.Room) (b *block, r *blockReader, err error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.ended == nil && st.cut == nil {
		st.ended = st.open(ctx, room)
	}
	if st.ended == nil && ctx.Err() != nil {
		st.ended = diag.Canceled(ctx)
	}
	if st.failed != nil {
		return nil, nil, st.failure()
	}
	if st.ended != nil {
		return nil, nil, st.ended
	}
	var buf []byte
	if n := len(st.texts); n > 0 {
		buf, st.texts = st.texts[n-1], st.texts[:n-1]
	}
	if b, err = nextBlock(st.cut, buf); err != nil {
		if st.ended = err; err != io.EOF {
			st.failed, st.at = err, st.cut.common().seq
			err = st.failure()
		}
		return nil, nil, err
	}
	st.parsing[b.seq] = true
	if st.repeat--; st.repeat < 0 {
		st.grow()
	}
	if n := len(st.idle); n > 0 {
		r, st.idle = st.idle[n-1], st.idle[:n-1]
		return b, r, nil
	}
	if st.into != nil {
		return b, st.s.newBlockReader(st.into, LoadOptions{Columns: st.to, Account: st.acct}), nil
	}
	wanted := make([]int, len(st.s.cols))
	for i := range wanted {
		wanted[i] = -1
	}
	for _, c := range st.cols {
		wanted[c] = c
	}
	return b, st.s.newBlockReader(st.table, LoadOptions{Columns: wanted}), nil
}

// open starts reading.
func (st *textStream) open(ctx context.Context, room catalog.Room) error {
	for _, f := range st.files {
		if err := f.once(); err != nil {
			return err
		}
	}
	st.parsing, st.parsed.L = map[int]bool{}, &st.mu
	st.table = catalog.NewExternal("", st.s.cols, 0, nil, nil)
	st.cut = st.s.newCutter(ctx, st.files)
	base := st.cut.common()
	base.room = queryRoom{room}
	base.size, base.chunk = firstStreamBlock, firstStreamBlock
	st.repeat = runtime.GOMAXPROCS(0)
	switch {
	case st.s.tune != nil:
		st.s.tune(base)
	case st.fixed > 0:
		base.size, base.chunk = st.fixed, st.fixed
	}
	return nil
}

// grow makes the next blocks larger.
func (st *textStream) grow() {
	base := st.cut.common()
	if st.s.tune != nil || st.fixed > 0 || base.size >= streamBlock {
		return
	}
	base.size *= 2
	base.chunk = min(base.size, readBytes)
	st.repeat = runtime.GOMAXPROCS(0)
}

// Close ends reading.
func (st *textStream) Close() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.cut != nil {
		st.cut.close()
		for _, f := range st.s.files { // also those that were not read: somebody may be writing to a pipe
			f.close()
		}
	}
	if st.ended == nil {
		st.ended = io.EOF
	}
	for _, r := range st.idle {
		r.sb.Close()
	}
	st.texts, st.idle = nil, nil
}

// SealFor has Next seal segments for a table whose columns are those of the file.
func (st *textStream) SealFor(table *catalog.Table, from []int, acct *budget.Account) bool {
	to := make([]int, len(st.s.cols))
	for i := range to {
		to[i] = -1
	}
	for i, c := range from {
		if to[c] >= 0 || table.Columns[i].Type != st.s.cols[c].Type {
			return false
		}
		to[c] = i
	}
	if len(from) != len(table.Columns) {
		return false
	}
	st.into, st.to, st.acct = table, to, acct
	return true
}

// plain makes a segment of a block in the form that streams have; nil if it has no rows.
func (r *blockReader) plain(ctx context.Context, b *block, cols []int, room catalog.Room) (seg *catalog.Segment, err error) {
	defer diag.Recover("read text", &err)
	rows, err := r.rows(ctx, b)
	if err != nil || rows == 0 {
		return nil, err
	}
	seg = &catalog.Segment{Rows: rows, Chunks: make([]*column.Chunk, len(r.sb.Cols))}
	for _, c := range cols {
		ch, err := r.sb.Cols[c].Plain(room.Take)
		if err != nil {
			return nil, err
		}
		// Only their types bound the values.
		if t := ch.Type.Phys(); t == types.PhysI64 || t == types.PhysI128 {
			lo, hi := typeBounds(ch.Type)
			ch.Zone.Min, ch.Zone.Max = numberOf(ch.Type, lo), numberOf(ch.Type, hi)
		}
		seg.Chunks[c] = ch
	}
	return seg, nil
}

// queryRoom is memory that counts as the query's.
type queryRoom struct{ of catalog.Room }

func (q queryRoom) grow(text []byte, more int) ([]byte, error) {
	n := len(text) + more
	if n <= cap(text) {
		return text, nil
	}
	if cap(text) > 0 {
		n = max(n, cap(text)*3/2)
	}
	addr, err := q.of.Take(n)
	if err != nil {
		return nil, err
	}
	out := column.SliceAt[byte](addr, n)[:len(text)]
	copy(out, text)
	if cap(text) > 0 {
		q.of.Free(uintptr(unsafe.Pointer(unsafe.SliceData(text))))
	}
	return out, nil
}
