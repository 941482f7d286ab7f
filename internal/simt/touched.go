package simt

// footprint is which sectors of a buffer a launch has read and written so far: what must pass between the memory and the chip
// even if caches keep everything.
type footprint struct{ read, written []uint64 }

// touch takes note of size bytes at addr, which lie in the buffer. Memory of the host is not the device's.
func (l *launch) touch(b *buffer, addr uint64, size int, write bool) {
	if write && !b.made.Load() {
		b.made.Store(true)
	}
	if b.host {
		return
	}
	if l.lastOf != b {
		f := l.footing[b]
		if f == nil {
			n := (uint64(len(b.data))+b.base&31)/sectorSize/64 + 1
			f = &footprint{make([]uint64, n), make([]uint64, n)}
			if l.footing == nil {
				l.footing = map[*buffer]*footprint{}
			}
			l.footing[b] = f
		}
		l.last, l.lastOf = f, b
	}
	bits, n := l.last.read, &l.stats.TouchedRead
	if write {
		bits, n = l.last.written, &l.stats.TouchedWritten
	}
	from := b.base &^ (sectorSize - 1)
	for s := (addr - from) / sectorSize; s <= (addr-from+uint64(size)-1)/sectorSize; s++ {
		if m := uint64(1) << (s % 64); bits[s/64]&m == 0 {
			bits[s/64] |= m
			*n++
		}
	}
}

// sectorSize is the unit in which a GPU moves memory.
const sectorSize = 32
