package gpu

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"
	"weak"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/kernels"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// Store keeps columns and dictionaries in a device's memory, from one query to the next. When they take more than a limit,
// those that were not used for the longest time go first; those of queries that run stay (lease.go).
type Store struct {
	dev   device.Device
	codes codes
	limit int64 // bytes; 0: what the device has

	mu       sync.Mutex
	st       device.Stream // for giving memory back
	held     map[itemKey]*item
	watched  map[any]bool   // weak pointers whose ends are waited for
	bytes    int64          // of all items
	peak     int64          // of bytes
	blocks   []*device.Host // of streams that nobody uses now
	pins     []*device.Host // of kernels' words, likewise
	pinned   int64          // of those that have users
	running  int            // leases
	most     int            // of running
	queue    []chan struct{}
	tick     int64
	copied   int64          // bytes of the host that copies of columns may take (hostcopy.go)
	units    []copyUnit     // of such copies, to be made
	copiers  int            // who make them
	copying  sync.WaitGroup // until they have ended
	staging  staging        // through which columns come
	back     staging        // through which tuples go back
	landings landings
	done     bool // Close was called

	// missed is what queries could have saved if columns had been here; pasts is what is known of programs by their shape.
	missed map[itemKey]time.Duration
	pasts  map[uint64]past
	warmer

	// Room is for how many tuples sinks make room at first; 0: as many as are expected. Tests make it small.
	Room  int64
	Takes int64 // tuples for which warps take room at a time; 0: that which pays
	// Stretch is how many candidates of a lane its warp shares at a time; 0: as many as it can.
	Stretch int64
	// Queue is how rows with very many matches go to a queue; nil: as it pays.
	Queue *phys.Queue
	// SortLeast is from how many rows on the device sorts; 0: from where that is faster. Tests make it small.
	SortLeast int64
	// Sample is how many rows bound the first ones of an order; 0: as many as pay. Tests make it small.
	Sample int64
	// Block is how many bytes of a large copy are filled at a time; 0: 16 MiB. Tests make it small.
	Block int
	// Piece is how many rows of a column the host copies at a time for streams; 0: as many as pay. Tests make it small.
	Piece int64

	// PackLeast is how many rows columns must have to be packed; 0: as many as pay. Tests make it small.
	PackLeast int64

	library *kernels.Library
}

// itemKey names what is copied: a column of a snapshot, or of a dictionary the texts or the ranks. It keeps neither alive: when
// nobody can read the rows any more, because they were changed or their table was dropped, the copy goes.
type itemKey struct {
	snap weak.Pointer[catalog.Snapshot]
	dict weak.Pointer[column.Dict]
	ord  int    // of the column
	len  int    // of the dictionary: one that grew is another
	far  bool   // in memory of the host that the device reaches
	by   *lease // not nil: room that a query streams through
}

const (
	dictTexts = -1 - iota // as ord
	dictRanks
)

func keyOf(snap *catalog.Snapshot, ord int) itemKey { return itemKey{snap: weak.Make(snap), ord: ord} }

func dictKey(d *column.Dict, part, n int) itemKey {
	return itemKey{dict: weak.Make(d), ord: part, len: n}
}

// item is a thing on the device, or room that is kept for it.
type item struct {
	key   itemKey
	bytes int64 // as many as are expected, until it is there
	users int   // leases
	used  int64 // when
	dead  bool  // not in held any more

	ready chan struct{} // closed when what follows is there; nil: nobody has begun to copy it
	err   error
	addrs []device.Addr
	hosts []*device.Host
	col   *deviceColumn
	dict  *residentDict
	ranks device.Addr
	copy  *hostCopy // far: of a column that streams
}

// isReady reports that it was copied.
func (it *item) isReady() bool {
	if it == nil || it.ready == nil {
		return false
	}
	select {
	case <-it.ready:
		return it.err == nil
	default:
		return false
	}
}

// residentDict is a dictionary on the device, as long as it was when it was copied.
type residentDict struct {
	desc  device.Addr
	heap  device.Addr
	texts []homes
	view  column.DictView
}

// NewStore is an empty store of at most limit bytes; 0: as many as the device has.
func NewStore(dev device.Device, limit int64) *Store {
	s := &Store{dev: dev, limit: limit, held: map[itemKey]*item{}, landings: landings{lent: map[*landing]bool{}}, watched: map[any]bool{}, missed: map[itemKey]time.Duration{}, pasts: map[uint64]past{}, warmer: warmer{warming: map[uint64]bool{}},
		library: kernels.Load(dev)}
	budget.Spare(s, (*Store).spareCopies)
	return s
}

// Close gives all memory back, and the device. Nobody uses it any more.
func (s *Store) Close() error {
	s.mu.Lock()
	s.done = true
	s.rest()
	s.mu.Unlock()
	s.copying.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, it := range s.held {
		if it.copy != nil { // before the memory can go
			it.copy.close()
		}
	}
	clear(s.held)
	if err := errors.Join(s.staging.close(), s.back.close(), s.closeLandings()); err != nil {
		return err
	}
	if s.st != nil {
		if err := s.st.Close(); err != nil {
			return err
		}
	}
	return s.dev.Close()
}

// item finds a thing, or makes room for it of so many bytes. mu is held.
func (s *Store) item(key itemKey, bytes int64) *item {
	it := s.held[key]
	if it == nil {
		it = &item{key: key, bytes: bytes}
		s.held[key] = it
		s.bytes += bytes
	}
	return it
}

// pin says that a lease uses a thing. mu is held.
func (s *Store) pin(it *item) {
	if it.users++; it.users == 1 {
		s.pinned += it.bytes
	}
	s.tick++
	it.used = s.tick
}

// unpin is the end of that. mu is held.
func (s *Store) unpin(it *item) {
	if it.users--; it.users > 0 {
		return
	}
	s.pinned -= it.bytes
	switch {
	case it.dead:
		s.free(it)
	case it.ready == nil: // it was not needed after all
		s.drop(it)
	}
}

// resize corrects what a thing takes. mu is held.
func (s *Store) resize(it *item, bytes int64) {
	more := bytes - it.bytes
	it.bytes = bytes
	s.bytes += more
	s.peak = max(s.peak, s.bytes)
	if it.users > 0 {
		s.pinned += more
	}
}

// drop forgets a thing; its memory goes when nobody uses it any more. mu is held.
func (s *Store) drop(it *item) {
	if it.dead {
		return
	}
	it.dead = true
	delete(s.held, it.key)
	if it.users == 0 {
		s.free(it)
	}
}

// free gives the memory of a dead item back. mu is held.
func (s *Store) free(it *item) {
	s.bytes -= it.bytes
	if s.done {
		return
	}
	for _, h := range it.hosts {
		_ = h.Free()
	}
	if it.copy != nil {
		s.copied -= it.copy.bytes
		it.copy.close()
	}
	if len(it.addrs) == 0 {
		return
	}
	if s.st == nil {
		st, err := s.dev.Stream(context.Background())
		if err != nil {
			return // the device is lost, and its memory with it
		}
		s.st = st
	}
	for _, a := range it.addrs {
		_ = s.st.Free(a)
	}
}

// evict lets things go that nobody uses, the oldest first, until all take most bytes at the most. mu is held.
func (s *Store) evict(most int64) {
	for s.bytes > most {
		var oldest *item
		for _, it := range s.held {
			if it.users == 0 && it.bytes > 0 && (oldest == nil || it.used < oldest.used) {
				oldest = it
			}
		}
		if oldest == nil {
			return
		}
		s.drop(oldest)
	}
}

// shrink makes room of so many bytes on the device by letting go what nobody uses; false: there is nothing of that kind.
func (s *Store) shrink(bytes int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.bytes
	s.evict(max(s.bytes-bytes, 0))
	return s.bytes < before && s.st != nil && s.st.Sync() == nil
}

// watchSnapshot lets a snapshot's columns go when nobody can read its rows any more. mu is held.
func (s *Store) watchSnapshot(snap *catalog.Snapshot) {
	w := weak.Make(snap)
	if !s.watched[w] {
		s.watched[w] = true
		runtime.AddCleanup(snap, func(w weak.Pointer[catalog.Snapshot]) {
			s.forget(w, func(k itemKey) bool { return k.snap == w })
		}, w)
	}
}

// watchDict does the same for a dictionary. mu is held.
func (s *Store) watchDict(d *column.Dict) {
	w := weak.Make(d)
	if !s.watched[w] {
		s.watched[w] = true
		runtime.AddCleanup(d, func(w weak.Pointer[column.Dict]) {
			s.forget(w, func(k itemKey) bool { return k.dict == w })
		}, w)
	}
}

// forget drops what is gone.
func (s *Store) forget(gone any, is func(itemKey) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watched, gone)
	for k := range s.missed {
		if is(k) {
			delete(s.missed, k)
		}
	}
	for k, it := range s.held {
		if is(k) {
			s.drop(it)
		}
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

// Limit is how many bytes the store may hold for queries that have a limit of their own; 0: they have none. A quarter of the device
// is left to tables and results.
func (s *Store) Limit(own int64) int64 {
	most := int64(s.dev.Info().Memory / 4 * 3)
	for _, l := range []int64{s.limit, own} {
		if l > 0 {
			most = min(most, l)
		}
	}
	return most
}

// Peak is the most that they took at a time, with what queries stream through.
func (s *Store) Peak() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peak
}

// AtOnce is the most queries that had their columns at a time.
func (s *Store) AtOnce() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most
}

// ColumnUse is what a column takes in a device's memory.
type ColumnUse struct {
	Table, Column string
	Bytes         int64
	Bits          int // of a code that is packed; 0: it has whole bytes
}

// Columns lists the columns on the device, the largest first.
func (s *Store) Columns() (out []ColumnUse) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, it := range s.held {
		if snap := k.snap.Value(); snap != nil && !k.far && it.isReady() && it.col != nil {
			out = append(out, ColumnUse{snap.Table.Name, snap.Table.Columns[k.ord].Name, it.bytes, it.col.bits})
		}
	}
	slices.SortFunc(out, func(a, b ColumnUse) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Table, b.Table), cmp.Compare(a.Column, b.Column))
	})
	return out
}

// Bytes is what columns and dictionaries take.
func (s *Store) Bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}
