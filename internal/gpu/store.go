package gpu

import (
	"context"
	"encoding/binary"
	"runtime"
	"sync"
	"time"
	"unsafe"
	"weak"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/kernels"
)

// Store keeps columns in a device's memory, from one query to the next. When they take more than a limit,
// those that were not used for the longest time go first; those of a query that runs stay.
type Store struct {
	dev   device.Device
	codes codes
	limit int64 // bytes; 0: what the device has

	mu    sync.Mutex
	st    device.Stream
	held  map[columnKey]*resident
	dicts map[*column.Dict]*residentDict
	// missed is what queries could have saved if columns had been here; pasts is what is known of programs by their shape.
	missed map[columnKey]time.Duration
	pasts  map[uint64]past
	bytes  int64
	tick   int64
	done   bool // Close was called

	// Room is for how many tuples sinks make room at first; 0: as many as are expected. Tests make it small.
	Room int64

	library func() (*kernels.Library, error) // made when it is first needed
}

// columnKey names a column of a snapshot, and does not keep that alive: when nobody can read the rows any
// more, because they were changed or their table was dropped, the copy goes.
type columnKey struct {
	snap weak.Pointer[catalog.Snapshot]
	ord  int
}

func keyOf(snap *catalog.Snapshot, ord int) columnKey { return columnKey{weak.Make(snap), ord} }

type resident struct {
	col   *deviceColumn
	users int
	used  int64 // when
	dead  bool  // not in held any more
}

// residentDict is a dictionary on the device, as long as it was when it was copied.
type residentDict struct {
	len   int
	desc  device.Addr
	heap  device.Addr
	ranks device.Addr // of its codes, 4 bytes each; 0: nobody has asked
	texts []homes
	view  column.DictView
}

// NewStore is an empty store of at most limit bytes; 0: as many as the device has.
func NewStore(dev device.Device, limit int64) *Store {
	return &Store{dev: dev, limit: limit, held: map[columnKey]*resident{}, dicts: map[*column.Dict]*residentDict{},
		missed: map[columnKey]time.Duration{}, pasts: map[uint64]past{},
		library: sync.OnceValues(func() (*kernels.Library, error) { return kernels.Load(dev) })}
}

// stream is the one for copies; mu is held.
func (s *Store) stream() (device.Stream, error) {
	if s.st == nil {
		st, err := s.dev.Stream(context.Background())
		if err != nil {
			return nil, err
		}
		s.st = st
	}
	return s.st, nil
}

// column is a column of a snapshot, copied if it is not there. release ends its use.
func (s *Store) column(snap *catalog.Snapshot, ord int) (c *deviceColumn, release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := keyOf(snap, ord)
	r := s.held[key]
	if r == nil {
		col, err := s.upload(snap, ord)
		if err != nil {
			return nil, nil, err
		}
		r = &resident{col: col}
		s.held[key] = r
		s.bytes += col.bytes
		runtime.AddCleanup(snap, s.forget, key)
	}
	r.users++
	s.tick++
	r.used = s.tick
	s.evict()
	return r.col, func() { s.release(r) }, nil
}

func (s *Store) release(r *resident) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.users--
	if r.users == 0 && r.dead {
		s.free(r.col)
	}
	s.evict()
}

// Close gives all memory back, and the device. Nobody uses it any more.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
	clear(s.held)
	if s.st != nil {
		if err := s.st.Close(); err != nil {
			return err
		}
	}
	return s.dev.Close()
}

// forget drops a column whose snapshot is gone.
func (s *Store) forget(key columnKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[key] != nil && !s.done {
		s.drop(key)
	}
}

// drop forgets a column; its memory goes when nobody uses it any more. mu is held.
func (s *Store) drop(key columnKey) {
	r := s.held[key]
	delete(s.held, key)
	r.dead = true
	if r.users == 0 {
		s.free(r.col)
	}
}

func (s *Store) free(c *deviceColumn) {
	s.bytes -= c.bytes
	for _, a := range []device.Addr{c.data, c.nulls, c.heap} {
		if a != 0 {
			_ = s.st.Free(a)
		}
	}
}

// evict lets columns go until the limit is kept, if it can be. mu is held.
func (s *Store) evict() {
	for s.limit > 0 && s.bytes > s.limit {
		var oldest *resident
		var key columnKey
		for k, r := range s.held {
			if r.users == 0 && (oldest == nil || r.used < oldest.used) {
				oldest, key = r, k
			}
		}
		if oldest == nil {
			return
		}
		s.drop(key)
	}
}

// roomFor is how many tuples room is made for when so many are expected.
func (s *Store) roomFor(expect int64) int64 {
	if s.Room > 0 {
		return s.Room
	}
	return max(expect+expect/4, 4096)
}

// Info is what is known of the store's device.
func (s *Store) Info() device.Info { return s.dev.Info() }

// Limit is how many bytes the columns may take.
func (s *Store) Limit() int64 {
	most := int64(s.dev.Info().Memory)
	if s.limit > 0 {
		most = min(most, s.limit)
	}
	return most
}

// Bytes is what the columns take.
func (s *Store) Bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

// put copies host bytes to new memory of the device. mu is held.
func (s *Store) put(b []byte) (device.Addr, error) {
	st, err := s.stream()
	if err != nil {
		return 0, err
	}
	a, err := st.Alloc(max(len(b), 16))
	if err != nil {
		return 0, err
	}
	if err := st.Upload(a, b); err != nil {
		return 0, err
	}
	return a, st.Sync()
}

// upload copies a column. mu is held.
func (s *Store) upload(snap *catalog.Snapshot, ord int) (c *deviceColumn, err error) {
	c = &deviceColumn{}
	c.shape, c.base = shapeOf(snap, ord)
	c.dict = snap.Stats[ord].Dict
	defer func() {
		if err != nil && s.st != nil {
			s.bytes += c.bytes
			s.free(c)
		}
	}()
	rows := int(snap.Rows)
	if c.shape.Enc == column.EncStr {
		if err := s.uploadTexts(c, snap, ord); err != nil {
			return c, err
		}
	} else {
		w := int(c.shape.Width)
		data := make([]byte, (rows+column.PadRows)*w)
		at := 0
		for _, seg := range snap.Segments {
			encode(data[at*w:], seg.Chunks[ord], c.shape, c.base)
			at += seg.Rows
		}
		if c.data, err = s.put(data); err != nil {
			return c, err
		}
		c.bytes += int64(len(data))
	}
	if c.shape.Nulls {
		nulls := make([]byte, rows+column.PadRows)
		at := 0
		for _, seg := range snap.Segments {
			if ch := seg.Chunks[ord]; ch.Null != 0 {
				copy(nulls[at:], hostBytes(ch.Null, ch.Rows))
			}
			at += seg.Rows
		}
		if c.nulls, err = s.put(nulls); err != nil {
			return c, err
		}
		c.bytes += int64(len(nulls))
	}
	return c, nil
}

// uploadTexts copies descriptors, and the heaps of all segments as one. A segment of codes becomes
// descriptors of its dictionary's texts.
func (s *Store) uploadTexts(c *deviceColumn, snap *catalog.Snapshot, ord int) error {
	var descs []column.StrDesc
	var heap []byte
	var own []homes // offsets instead of addresses until those are known
	var long []homes
	dictAt := map[*column.Dict]int{}
	for _, seg := range snap.Segments {
		ch := seg.Chunks[ord]
		first := len(descs)
		if ch.Enc == column.EncStr {
			src := descriptors(ch.Data, ch.Rows)
			descs = append(descs, src...)
			own = append(own, homes{device.Addr(16 * first), 16 * ch.Rows, ch.Data})
			at, n := len(heap), heapEnd(src)
			rebase(descs[first:], at)
			if n > 0 {
				heap = append(heap, hostBytes(ch.Heap, n)...)
				long = append(long, homes{device.Addr(at), n, ch.Heap})
			}
			continue
		}
		view := ch.Dict.View()
		at, known := dictAt[ch.Dict]
		if !known {
			at = len(heap)
			dictAt[ch.Dict] = at
			if n := heapEnd(descriptors(view.Desc, view.Len)); n > 0 {
				heap = append(heap, hostBytes(view.Heap, n)...)
				long = append(long, homes{device.Addr(at), n, view.Heap})
			}
		}
		for i := range ch.Rows {
			code := int(load(ch.Data+uintptr(i)*uintptr(ch.Width), ch.Width))
			descs = append(descs, *view.At(code))
			own = append(own, homes{device.Addr(16 * (first + i)), 16, view.Desc + uintptr(16*code)})
		}
		rebase(descs[first:], at)
	}
	data := make([]byte, 16*(len(descs)+column.PadRows))
	if len(descs) > 0 {
		copy(data, unsafe.Slice((*byte)(unsafe.Pointer(&descs[0])), 16*len(descs)))
	}
	var err error
	if c.data, err = s.put(data); err != nil {
		return err
	}
	c.bytes += int64(len(data))
	heap = append(heap, make([]byte, column.TextPad)...)
	if c.heap, err = s.put(heap); err != nil {
		return err
	}
	c.bytes += int64(len(heap))
	for _, h := range own {
		c.texts = append(c.texts, homes{c.data + h.at, h.n, h.host})
	}
	for _, h := range long {
		c.texts = append(c.texts, homes{c.heap + h.at, h.n, h.host})
	}
	return nil
}

// rebase lets descriptors point into a heap that begins by bytes further on.
func rebase(descs []column.StrDesc, by int) {
	for i := range descs {
		if d := &descs[i]; d.Len > column.StrInline {
			binary.LittleEndian.PutUint64(d.Rest[:], binary.LittleEndian.Uint64(d.Rest[:])+uint64(by))
		}
	}
}

// dict is a dictionary on the device, with n entries at least.
func (s *Store) dict(d *column.Dict) (*residentDict, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	view := d.View()
	if r := s.dicts[d]; r != nil && r.len >= view.Len {
		return r, nil
	}
	r := &residentDict{len: view.Len, view: view}
	n := max(view.Len, 1) // entry 0 can always be read
	descs := descriptors(view.Desc, n)
	var err error
	if r.desc, err = s.put(append(append([]byte(nil), hostBytes(view.Desc, 16*n)...), make([]byte, column.TextPad)...)); err != nil {
		return nil, err
	}
	size := heapEnd(descs)
	heap := make([]byte, size+column.TextPad)
	if size > 0 {
		copy(heap, hostBytes(view.Heap, size))
	}
	if r.heap, err = s.put(heap); err != nil {
		return nil, err
	}
	r.texts = []homes{{r.desc, 16 * n, view.Desc}}
	if size > 0 {
		r.texts = append(r.texts, homes{r.heap, size, view.Heap})
	}
	// A shorter copy stays: queries that run may use it. It is small, and dictionaries seldom grow.
	s.dicts[d] = r
	return r, nil
}

// ranks are those of a dictionary's codes among its texts, on the device.
func (s *Store) ranks(r *residentDict, d *column.Dict) (device.Addr, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.ranks != 0 {
		return r.ranks, nil
	}
	ranks := d.Ranks()
	b := make([]byte, 4*len(ranks)+4)
	for i, k := range ranks {
		binary.LittleEndian.PutUint32(b[4*i:], k)
	}
	var err error
	r.ranks, err = s.put(b)
	return r.ranks, err
}
