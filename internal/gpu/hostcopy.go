package gpu

import (
	"runtime"
	"sync/atomic"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/exec/work"
)

// A table's own memory is no good source for copies over the bus: a column lies there in chunks of some ten kilobytes, of various widths and
// bases, between others. So columns that stream go through pinned blocks, which the host's processors fill. Those that stream again are copied
// once within the host, behind the queries, into the codes that they have on the device, packed (packed.go), in pieces that it reaches. From there on they
// cross the bus without the host's processors, or kernels read them where they are. Copies stay for later queries as long as the rows live and the host
// has room for them.

// hostCopy is a column in memory of the host that the device reaches. Pieces come to be one by one.
type hostCopy struct {
	dev    device.Device
	total  int64 // rows
	rows   int64 // of a piece
	nulls  bool
	width  int
	form   atomic.Pointer[packing] // nil: nobody has decided that yet
	wish   bool                    // packing was allowed
	pieces []hostPiece
	bytes  int64 // of all pieces, if they are not packed
	asked  int   // how many queries wanted it; the store's mu guards it
}

// hostPiece is some rows of it, and behind them their NULL bytes.
type hostPiece struct {
	mem  *column.Mem
	host atomic.Pointer[device.Host] // nil: it is not there yet
	sent bool                        // somebody was told to make it; the store's mu guards it
}

// pieceRows is how many rows a piece has: to register memory takes long enough for calls not to count, and copies from it are as fast as
// they get.
const pieceRows = 4 << 20

// pieceRows is how many rows a piece has, a multiple of streamRows.
func (s *Store) pieceRows() int64 {
	if s.Piece > 0 {
		return s.Piece
	}
	return pieceRows
}

func newHostCopy(s *Store, snap *catalog.Snapshot, ord int, pack bool) *hostCopy {
	sh, _ := shapeOf(snap, ord)
	h := &hostCopy{dev: s.dev, asked: 1, total: snap.Rows, rows: s.pieceRows(), nulls: sh.Nulls, width: int(sh.Width), wish: pack}
	h.pieces = make([]hostPiece, (snap.Rows+h.rows-1)/h.rows)
	for i := range h.pieces {
		_, n := h.size(i, packing{})
		h.bytes += int64(n)
	}
	return h
}

// size is where the NULL bytes of a piece begin, and how many bytes it has. Code may look past the last row, as in all arrays.
func (h *hostCopy) size(i int, p packing) (nulls, all int) {
	n := int(min(h.rows, h.total-int64(i)*h.rows)) + emit.ArrayPad
	nulls = (p.bytesOf(n, h.width) + column.Align - 1) &^ (column.Align - 1)
	if h.nulls {
		return nulls, nulls + n
	}
	return nulls, nulls
}

// piece is a piece; nil: it is not there yet.
func (h *hostCopy) piece(i int) *device.Host { return h.pieces[i].host.Load() }

// make makes a piece, which write fills. Where there is no memory for it, or the device refuses that, there will be none.
func (h *hostCopy) make(i int, write func(data, nulls []byte, lo, hi int64)) {
	form := *h.form.Load()
	at, n := h.size(i, form)
	mem, err := column.Alloc(n)
	if err != nil {
		return
	}
	b := mem.Bytes()
	var nulls []byte
	if h.nulls {
		nulls = b[at:]
	}
	lo := int64(i) * h.rows
	hi := min(lo+h.rows, h.total)
	codes := make([]byte, packStep*h.width)
	for row := lo; row < hi; row += packStep {
		end := min(row+packStep, hi)
		some := codes[:int(end-row)*h.width]
		if form.bits == 0 {
			some = b[int(row-lo)*h.width : int(end-lo)*h.width]
		}
		part := nulls
		if nulls != nil {
			part = nulls[row-lo : end-lo]
		}
		write(some, part, row, end)
		if form.bits > 0 {
			form.pack(b, some, int(row-lo), h.width)
		}
		runtime.Gosched() // queries go first: a step takes some ten microseconds
	}
	host, err := h.dev.Register(b)
	if err != nil {
		mem.Free()
		return
	}
	h.pieces[i].mem = mem
	h.pieces[i].host.Store(host)
}

// rowsAt is where rows of a piece lie in it, and their NULL bytes, if there are any.
func (h *hostCopy) rowsAt(host *device.Host, lo, n int64) (data, nulls []byte) {
	i := lo / h.rows
	at := lo - i*h.rows
	form := *h.form.Load()
	if form.bits > 0 { // at is a multiple of streamRows
		first := int(at) * form.bits / 8
		data = host.Bytes[first : first+form.bytesOf(int(n), h.width)]
	} else {
		data = host.Bytes[int(at)*h.width : int(at+n)*h.width]
	}
	if h.nulls {
		first, _ := h.size(int(i), form)
		nulls = host.Bytes[first+int(at) : first+int(at+n)]
	}
	return data, nulls
}

// addressOf is where the device finds row lo of a piece that is not packed, and its NULL byte.
func (h *hostCopy) addressOf(host *device.Host, lo int64) (data, nulls device.Addr) {
	i := lo / h.rows
	at := lo - i*h.rows
	first, _ := h.size(int(i), packing{})
	return host.Addr + device.Addr(at)*device.Addr(h.width), host.Addr + device.Addr(int64(first)+at)
}

// close gives all memory back. Nobody uses it any more.
func (h *hostCopy) close() {
	for i := range h.pieces {
		if host := h.pieces[i].host.Swap(nil); host != nil {
			_ = host.Free()
			h.pieces[i].mem.Free()
		}
	}
}

// copyUnit is a piece that is to be made.
type copyUnit struct {
	it    *item
	scan  *tableScan
	col   int // of the scan
	piece int
	late  bool // kernels shall read it over the bus, so that it cannot be packed
}

// copyThreads make pieces: more of them wait for each other where memory is registered, and queries need processors, too.
const copyThreads = 2

// copyLater has pieces made of columns that more than one query wanted. Nobody waits for that.
func (s *Store) copyLater(units []copyUnit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range units {
		h := u.it.copy
		if p := &h.pieces[u.piece]; h.asked > 1 && !p.sent && !s.done {
			p.sent = true
			if h.form.Load() == nil { // as the first who has it made wants it
				h.form.Store(u.form())
			}
			s.pin(u.it)
			s.units = append(s.units, u)
		}
	}
	for s.copiers < min(copyThreads, len(s.units)) {
		s.copiers++
		s.copying.Go(s.makeCopies)
	}
}

// makeCopies makes pieces until there are none to be made.
func (s *Store) makeCopies() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.units) > 0 {
		u := s.units[0]
		s.units = s.units[1:]
		if !s.done {
			s.mu.Unlock()
			_ = u.make(s) // without it all goes on
			s.mu.Lock()
		}
		s.unpin(u.it)
	}
	s.units = nil
	s.copiers--
}

// form is how the piece shall be packed.
func (u *copyUnit) form() *packing {
	p := packing{}
	if u.it.copy.wish && !u.late {
		p = packingOf(u.scan.snap, u.scan.ords[u.col])
	}
	return &p
}

// make makes the piece.
func (u *copyUnit) make(s *Store) (err error) {
	defer diag.Recover("gpu", &err)
	defer work.PanicOnFault()()
	if h := u.it.copy; h.form.Load().bits > 0 {
		if err := s.prepare(unpackCodes(h.width)); err != nil {
			return err
		}
	}
	u.it.copy.make(u.piece, func(data, nulls []byte, lo, hi int64) {
		u.scan.encodeRows(u.scan.ords[u.col], u.scan.cols[u.col], data, nulls, lo, hi)
	})
	return nil
}

// whole sends all rows of a column from its copy to new memory of the device; false: not all of it is there, and it shall be made.
func (u *upload) whole(it *item, c *deviceColumn, snap *catalog.Snapshot, ord int) (done bool, err error) {
	h := it.copy
	scan := &tableScan{snap: snap, ords: []int{ord}, cols: []*deviceColumn{c}}
	scan.number()
	var missed []copyUnit
	for i := range h.pieces {
		if h.piece(i) == nil {
			missed = append(missed, copyUnit{it, scan, 0, i, true})
		}
	}
	if len(missed) > 0 {
		u.s.copyLater(missed)
		return false, nil
	}
	send := func(width int, part func(data, nulls []byte) []byte) (device.Addr, error) {
		a, err := u.alloc(max(int(h.total+emit.ArrayPad)*width, 16))
		if err == nil {
			err = u.st.Fill(a+device.Addr(h.total)*device.Addr(width), 0, emit.ArrayPad*width)
		}
		for i := 0; i < len(h.pieces) && err == nil; i++ {
			lo := int64(i) * h.rows
			b := part(h.rowsAt(h.piece(i), lo, min(h.rows, h.total-lo)))
			err = u.st.Upload(a+device.Addr(lo)*device.Addr(width), b)
			u.sent += int64(len(b))
		}
		return a, err
	}
	if c.data, err = send(h.width, func(data, _ []byte) []byte { return data }); err == nil && h.nulls {
		c.nulls, err = send(1, func(_, nulls []byte) []byte { return nulls })
	}
	c.bytes = u.sent
	if err == nil {
		err = u.st.Sync()
	}
	return true, err
}

// Settle waits until all pieces are made that queries wanted so far.
func (s *Store) Settle() { s.copying.Wait() }

// hostShare is the part of what the process may take that copies of columns may have if nobody says how much.
const hostShare = 4

// hostLimit is how many bytes of the host copies may take for queries that have a limit of their own.
func (s *Store) hostLimit(own int64) int64 {
	if own > 0 {
		return own
	}
	return budget.Process.Limit() / hostShare
}

// copyOf finds the host's copy of a column, or begins one where there is room for it under a limit; nil: there is not. mu is held.
func (s *Store) copyOf(snap *catalog.Snapshot, ord int, limit int64, pack bool) *item {
	key := keyOf(snap, ord)
	key.far = true
	if it := s.held[key]; it != nil && it.copy.wish != pack { // of another form
		if it.users > 0 {
			return nil
		}
		s.drop(it)
	}
	if it := s.held[key]; it != nil {
		it.copy.asked++
		return it
	}
	h := newHostCopy(s, snap, ord, pack)
	if h.bytes > limit {
		return nil
	}
	if s.evictCopies(limit - h.bytes); s.copied > limit-h.bytes {
		return nil
	}
	it := &item{key: key, copy: h, ready: make(chan struct{})}
	close(it.ready)
	s.held[key] = it
	s.copied += h.bytes
	s.watchSnapshot(snap)
	return it
}

// evictCopies lets copies go that nobody uses, the oldest first, until all take most bytes at the most. mu is held.
func (s *Store) evictCopies(most int64) {
	for s.copied > most {
		var oldest *item
		for _, it := range s.held {
			if it.copy != nil && it.users == 0 && (oldest == nil || it.used < oldest.used) {
				oldest = it
			}
		}
		if oldest == nil {
			return
		}
		s.drop(oldest)
	}
}

// spareCopies lets all copies go that nobody uses: the process is short of memory.
func (s *Store) spareCopies() {
	if s.mu.TryLock() { // else it is one who holds it that asks for memory
		defer s.mu.Unlock()
		if !s.done {
			s.evictCopies(0)
			s.dropLandings()
		}
	}
}

// Copied is what copies of columns take of the host's memory, as if all of their pieces were there.
func (s *Store) Copied() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.copied
}
