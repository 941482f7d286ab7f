package gpu

import (
	"errors"
	"math/bits"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
)

// Large results land in memory of the host that the device reaches, so that no processor has to copy them once more. To make such memory takes longer than
// that copy: it is made behind the first result of a size, for the next, and kept when a result is closed.

// landing is memory for a result. It stays the host's when the device is closed: results outlive it.
type landing struct {
	mem  *column.Mem
	host *device.Host // nil: the device does not reach it any more
}

// landings are those of a store, whose lock guards them.
type landings struct {
	free   []*landing // that no result has
	lent   map[*landing]bool
	bytes  int64 // of all
	making bool  // one is being made
	none   bool  // the machine has too little of such memory
}

// land is memory for n bytes; nil: there is none yet. Up to most bytes are kept.
func (s *Store) land(n int, most int64) *landing {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &s.landings
	best := -1
	for i, x := range l.free { // one that is much too large is for others
		if size := x.mem.Size(); size >= n && size <= 4*n && (best < 0 || size < l.free[best].mem.Size()) {
			best = i
		}
	}
	if best >= 0 {
		x := l.free[best]
		l.free = append(l.free[:best], l.free[best+1:]...)
		l.lent[x] = true
		return x
	}
	size := 1 << bits.Len(uint(n-1))
	if s.done || l.none || l.making || int64(size) > most {
		return nil
	}
	for l.bytes+int64(size) > most && len(l.free) > 0 {
		s.dropLanding(l.free[0])
		l.free = l.free[1:]
	}
	if l.bytes+int64(size) > most {
		return nil
	}
	l.making = true
	l.bytes += int64(size)
	s.copying.Go(func() { s.makeLanding(size) })
	return nil
}

// makeLanding makes memory of a size that was counted already.
func (s *Store) makeLanding(size int) {
	m, err := column.Alloc(size)
	x := &landing{mem: m}
	if err == nil {
		if x.host, err = s.dev.Register(m.Bytes()); err != nil {
			m.Free()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.landings.making = false
	if err != nil {
		s.landings.bytes -= int64(size)
		s.landings.none = true
		return
	}
	s.landings.free = append(s.landings.free, x)
}

// Landings is how many pieces of memory wait for a result, and how many have one.
func (s *Store) Landings() (free, lent int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.landings.free), len(s.landings.lent)
}

// leave takes the memory of a result back.
func (s *Store) leave(x *landing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.landings.lent, x)
	if x.host == nil { // the store is closed
		x.mem.Free()
		return
	}
	s.landings.free = append(s.landings.free, x)
}

// dropLanding gives memory that no result has to the system. mu is held.
func (s *Store) dropLanding(x *landing) {
	_ = x.host.Free()
	s.landings.bytes -= int64(x.mem.Size())
	x.mem.Free()
}

// dropLandings gives back all that no result has. mu is held.
func (s *Store) dropLandings() {
	for _, x := range s.landings.free {
		s.dropLanding(x)
	}
	s.landings.free = nil
}

// closeLandings lets the device forget all of them. mu is held.
func (s *Store) closeLandings() (err error) {
	s.dropLandings()
	for x := range s.landings.lent {
		err = errors.Join(err, x.host.Free())
		x.host = nil
	}
	return err
}

// landed copies n tuples of a size to such memory and lets visitors see them. 0: there is none for them.
func (r *run) landed(from device.Addr, n, size int, visit []visitor) (uintptr, error) {
	least := fetchLeast
	if r.store.Block > 0 {
		least = r.store.Block
	}
	if n*size < least || r.Off.HostCopies {
		return 0, nil
	}
	x := r.store.land(n*size, r.store.hostLimit(r.HostMemory)/2)
	if x == nil {
		return 0, nil
	}
	host := x.mem.Addr()
	if err := r.mem.Adopt(host, x.mem.Size(), func() { r.store.leave(x) }); err != nil {
		r.store.leave(x) // there may be enough for what is not rounded up
		return 0, nil
	}
	if err := r.st.Download(mem.Bytes(host, n*size), from); err != nil {
		return 0, r.failed(err)
	}
	if err := r.sync(); err != nil {
		return 0, err
	}
	return host, r.visitAll(host, 0, n, size, visit)
}
