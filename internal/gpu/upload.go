package gpu

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit"
)

// upload copies one thing to the device, in a stream of its own.
type upload struct {
	s     *Store
	st    device.Stream
	addrs []device.Addr
	bytes int64 // that it takes
	sent  int64 // over the bus
	copy  *item // the host's copy of the column; nil: there is none
	far   bool  // the copy is in memory of the host that the device reaches
	// behind: nobody waits for it, unless the store says so.
	behind bool
	hosts  []*device.Host
}

// carried is what was copied for a query, and how long it waited for that.
type carried struct {
	bytes int64
	took  time.Duration
}

// bring makes sure that a thing is on the device. The first who wants it copies it, without the store's lock; others wait for
// that. An error is that of all who wait; the next query tries again.
func (s *Store) bring(it *item, behind bool, copy func(*upload) error) (c carried, err error) {
	start := time.Now()
	s.mu.Lock()
	first := it.ready == nil
	if first {
		it.ready = make(chan struct{})
	}
	s.mu.Unlock()
	if !first {
		s.awaited.Store(true)
		<-it.ready
		return carried{took: time.Since(start)}, it.err
	}
	u := &upload{s: s, far: it.key.far, behind: behind}
	err = diag.Internalf("gpu", "a copy to the device did not end") // unless it does
	defer func() {
		if u.st != nil {
			_ = u.st.Close()
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		it.addrs, it.hosts, it.err = u.addrs, u.hosts, err
		s.resize(it, u.bytes)
		if err != nil {
			s.drop(it)
		} else {
			delete(s.missed, it.key)
		}
		close(it.ready)
	}()
	if u.st, err = s.dev.Stream(context.Background()); err == nil {
		err = copy(u)
	}
	return carried{u.sent, time.Since(start)}, err
}

// alloc takes memory of the device. Where there is too little, what nobody uses goes.
func (u *upload) alloc(n int) (device.Addr, error) {
	a, err := u.st.Alloc(n)
	if device.KindOf(err) == device.OutOfMemory && u.s.shrink(int64(n)) {
		a, err = u.st.Alloc(n)
	}
	if err == nil {
		u.addrs = append(u.addrs, a)
		u.bytes += int64(n)
	}
	return a, err
}

// threads is how many fill what is copied.
func (u *upload) threads() int {
	if u.behind && !u.s.awaited.Load() {
		return 1
	}
	return allProcessors()
}

// put copies host bytes to new memory of the device.
func (u *upload) put(b []byte) (device.Addr, error) {
	return u.putPieces(copies(b), 0)
}

// putPieces copies pieces to new memory of the device, and so many zeros behind them.
func (u *upload) putPieces(pieces []piece, zeros int) (device.Addr, error) {
	n, largest := 0, 0
	for _, p := range pieces {
		n, largest = n+p.n, max(largest, p.n)
	}
	if u.far { // it stays there, and the device reads it over the bus
		h, err := u.s.dev.Pinned(max(n+zeros, 16))
		if err != nil {
			return 0, err
		}
		u.hosts = append(u.hosts, h)
		fillAll(h.Bytes, pieces, u.threads())
		clear(h.Bytes[n:])
		return h.Addr, nil
	}
	a, err := u.alloc(max(n+zeros, 16))
	if err != nil {
		return 0, err
	}
	if zeros > 0 {
		if err := u.st.Fill(a+device.Addr(n), 0, zeros); err != nil {
			return 0, err
		}
	}
	u.sent += int64(n)
	s := &u.s.staging
	block := u.s.Block
	if block == 0 {
		block = stagingBytes
	}
	if n > block && largest <= block {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open(u.s.dev, block) == nil { // else the machine has too little of such memory
			if err := s.send(u.st, a, pieces, u.threads); err != nil {
				return 0, err
			}
			return a, u.st.Sync()
		}
	}
	b := make([]byte, n)
	fillAll(b, pieces, u.threads())
	if err := u.st.Upload(a, b); err != nil {
		return 0, err
	}
	return a, u.st.Sync()
}

// perRow are pieces of some bytes for each row, a piece for each segment.
func perRow(snap *catalog.Snapshot, width int, fill func(dst []byte, seg *catalog.Segment)) []piece {
	var pieces []piece
	for _, seg := range snap.Segments {
		pieces = append(pieces, piece{seg.Rows * width, func(dst []byte) { fill(dst, seg) }})
	}
	return pieces
}

// column copies a column, packed in such a way.
func (u *upload) column(snap *catalog.Snapshot, ord int, form packing) (c *deviceColumn, err error) {
	c = &deviceColumn{}
	c.shape, c.base = shapeOf(snap, ord)
	c.dict, c.wish = snap.Stats[ord].Dict, form.bits
	if u.copy != nil {
		if done, err := u.whole(u.copy, c, snap, ord); done || err != nil {
			return c, err
		}
	}
	if c.shape.Enc == column.EncStr {
		if err := u.texts(c, snap, ord, form.bits > 0); err != nil {
			return nil, err
		}
	} else if form.bits > 0 {
		c.bits = form.bits
		if c.data, err = u.putPieces(packedPieces(c, snap, ord, form), form.bytesOf(emit.ArrayPad, 0)); err != nil {
			return nil, err
		}
	} else {
		w := int(c.shape.Width)
		c.data, err = u.putPieces(perRow(snap, w, func(dst []byte, seg *catalog.Segment) {
			encode(dst, seg.Chunks[ord], c.shape, c.base)
		}), emit.ArrayPad*w)
		if err != nil {
			return nil, err
		}
	}
	if c.shape.Nulls {
		c.nulls, err = u.putPieces(perRow(snap, 1, func(dst []byte, seg *catalog.Segment) {
			if ch := seg.Chunks[ord]; ch.Null != 0 {
				copy(dst, hostBytes(ch.Null, ch.Rows))
			} else {
				clear(dst)
			}
		}), emit.ArrayPad)
		if err != nil {
			return nil, err
		}
	}
	c.bytes = u.sent
	return c, nil
}

// packedPieces are pieces of a column's packed rows.
func packedPieces(c *deviceColumn, snap *catalog.Snapshot, ord int, form packing) (pieces []piece) {
	const rows = 8 * packStep
	scan := &tableScan{snap: snap, ords: []int{ord}, cols: []*deviceColumn{c}}
	scan.number()
	w := int(c.shape.Width)
	for lo := int64(0); lo < snap.Rows; lo += rows {
		hi := min(lo+rows, snap.Rows)
		pieces = append(pieces, piece{(int(hi-lo)*form.bits + 31) / 32 * 4, func(dst []byte) {
			codes := make([]byte, packStep*w)
			for at := lo; at < hi; at += packStep {
				some := codes[:int(min(at+packStep, hi)-at)*w]
				scan.encodeRows(ord, c, some, nil, at, at+int64(len(some)/w))
				form.pack(dst, some, int(at-lo), w)
			}
		}})
	}
	return pieces
}

// dict copies a dictionary.
func (u *upload) dict(view column.DictView) (r *residentDict, err error) {
	r = &residentDict{view: view}
	n := max(view.Len, 1) // entry 0 can always be read
	if r.desc, err = u.put(append(append([]byte(nil), hostBytes(view.Desc, 16*n)...), make([]byte, column.TextPad)...)); err != nil {
		return nil, err
	}
	size := heapEnd(descriptors(view.Desc, n))
	heap := make([]byte, size+column.TextPad)
	if size > 0 {
		copy(heap, hostBytes(view.Heap, size))
	}
	if r.heap, err = u.put(heap); err != nil {
		return nil, err
	}
	r.texts = []homes{{r.desc, 16 * n, view.Desc}}
	if size > 0 {
		r.texts = append(r.texts, homes{r.heap, size, view.Heap})
	}
	return r, nil
}

// ranks copies the ranks of a dictionary's codes among its texts, 4 bytes each.
func (u *upload) ranks(d *column.Dict) (device.Addr, error) {
	ranks := d.Ranks()
	b := make([]byte, 4*len(ranks)+4)
	for i, k := range ranks {
		binary.LittleEndian.PutUint32(b[4*i:], k)
	}
	return u.put(b)
}
