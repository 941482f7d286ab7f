package gpu

import "github.com/kelpiedb/kelpie/internal/device"

// What a kernel is told goes to the device from memory that it reaches by itself. Copies from other memory wait, and let the host wait, until no
// large one is on its way; while a table streams, that is always.

const (
	pinBytes = 64 << 10 // of a block that a query cuts pieces from
	keptPins = 64       // blocks that are kept for the next queries: to get one takes long
)

// pinnedWords is n bytes, all 0, until the query ends.
func (r *run) pinnedWords(n int) []byte {
	n = (n + 7) &^ 7
	if n > pinBytes {
		return make([]byte, n)
	}
	if len(r.unused) < n {
		h, err := r.store.takePin()
		if err != nil { // the machine has too little of such memory; if it is more than that, the next call tells
			return make([]byte, n)
		}
		r.pins = append(r.pins, h)
		r.unused = h.Bytes
	}
	out := r.unused[:n:n]
	r.unused = r.unused[n:]
	clear(out)
	return out
}

func (s *Store) takePin() (*device.Host, error) {
	s.mu.Lock()
	if n := len(s.pins); n > 0 {
		h := s.pins[n-1]
		s.pins = s.pins[:n-1]
		s.mu.Unlock()
		return h, nil
	}
	s.mu.Unlock()
	return s.dev.Pinned(pinBytes)
}

// givePins takes blocks back that nothing uses any more.
func (s *Store) givePins(pins []*device.Host) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range pins {
		if len(s.pins) < keptPins && !s.done {
			s.pins = append(s.pins, h)
		} else {
			_ = h.Free()
		}
	}
}
