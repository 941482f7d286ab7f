package gpu

import (
	"sync"
	"sync/atomic"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/emit"
)

// A table's own memory is no good source for copies over the bus: a column lies there in chunks of some ten kilobytes, of various widths and
// bases, between others. So a column that streams is copied once within the host, into the form that it has on the device, in pieces
// that the device reaches. From there on it crosses the bus at full speed, without the host's processors, or is read by kernels
// where it is. Copies stay for later queries as long as the rows live and the host has room for them.

// hostCopy is a column in memory of the host that the device reaches. Pieces come to be when they are first wanted.
type hostCopy struct {
	dev    device.Device
	total  int64 // rows
	rows   int64 // of a piece
	nulls  bool
	width  int
	pieces []hostPiece
	bytes  int64 // of all pieces
}

// hostPiece is some rows of it, and behind them their NULL bytes.
type hostPiece struct {
	mu   sync.Mutex
	mem  *column.Mem
	host atomic.Pointer[device.Host] // nil: it is not there yet
	bad  bool                        // there was no memory, or the device refused it
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

func newHostCopy(s *Store, snap *catalog.Snapshot, ord int) *hostCopy {
	sh, _ := shapeOf(snap, ord)
	h := &hostCopy{dev: s.dev, total: snap.Rows, rows: s.pieceRows(), nulls: sh.Nulls, width: int(sh.Width)}
	h.pieces = make([]hostPiece, (snap.Rows+h.rows-1)/h.rows)
	for i := range h.pieces {
		_, n := h.size(i)
		h.bytes += int64(n)
	}
	return h
}

// size is where the NULL bytes of a piece begin, and how many bytes it has. Code may look past the last row, as in all arrays.
func (h *hostCopy) size(i int) (nulls, all int) {
	n := int(min(h.rows, h.total-int64(i)*h.rows)) + emit.ArrayPad
	nulls = (n*h.width + column.Align - 1) &^ (column.Align - 1)
	if h.nulls {
		return nulls, nulls + n
	}
	return nulls, nulls
}

// ready reports that a piece is there.
func (h *hostCopy) ready(i int) bool { return h.pieces[i].host.Load() != nil }

// piece is a piece; nil if there is no memory for it. The first who wants it has write fill it; others wait for that.
func (h *hostCopy) piece(i int, write func(data, nulls []byte, lo, hi int64)) *device.Host {
	p := &h.pieces[i]
	if host := p.host.Load(); host != nil {
		return host
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bad || h.ready(i) {
		return p.host.Load()
	}
	p.bad = true // unless all goes well
	at, n := h.size(i)
	mem, err := column.Alloc(n)
	if err != nil {
		return nil
	}
	b := mem.Bytes()
	var nulls []byte
	if h.nulls {
		nulls = b[at:]
	}
	lo := int64(i) * h.rows
	write(b[:at], nulls, lo, min(lo+h.rows, h.total))
	host, err := h.dev.Register(b)
	if err != nil {
		mem.Free()
		return nil
	}
	p.mem, p.bad = mem, false
	p.host.Store(host)
	return host
}

// rowsAt is where rows of a piece lie in it, and their NULL bytes, if there are any.
func (h *hostCopy) rowsAt(host *device.Host, lo, n int64) (data, nulls []byte) {
	i := lo / h.rows
	at := lo - i*h.rows
	data = host.Bytes[int(at)*h.width : int(at+n)*h.width]
	if h.nulls {
		first, _ := h.size(int(i))
		nulls = host.Bytes[first+int(at) : first+int(at+n)]
	}
	return data, nulls
}

// addressOf is where the device finds row lo of a piece, and its NULL byte.
func (h *hostCopy) addressOf(host *device.Host, lo int64) (data, nulls device.Addr) {
	i := lo / h.rows
	at := lo - i*h.rows
	first, _ := h.size(int(i))
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
func (s *Store) copyOf(snap *catalog.Snapshot, ord int, limit int64) *item {
	key := keyOf(snap, ord)
	key.far = true
	if it := s.held[key]; it != nil {
		return it
	}
	h := newHostCopy(s, snap, ord)
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
		}
	}
}

// Copied is what copies of columns take of the host's memory, as if all of their pieces were there.
func (s *Store) Copied() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.copied
}
