package simt

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"sort"
)

// sectorSet counts the distinct 32-byte sectors of one warp instruction. Slots
// are emptied by counting the generation up.
type sectorSet struct {
	gen  uint32
	last uint64
	n    uint64
	host uint64 // of them, those of host memory
	made uint64 // and those of memory that kernels have written
	gens [64]uint32
	ids  [64]uint64
}

func (s *sectorSet) begin() {
	s.gen++
	s.n, s.host, s.made = 0, 0, 0
	s.last = ^uint64(0)
}

func (s *sectorSet) add(addr uint64, b *buffer) {
	id := addr >> 5
	if id == s.last { // neighbours share sectors more often than not
		return
	}
	s.last = id
	for i := id * 0x9e3779b97f4a7c15 >> 58; ; i = (i + 1) & 63 {
		if s.gens[i] != s.gen {
			s.gens[i], s.ids[i] = s.gen, id
			s.n++
			if b.host {
				s.host++
			}
			if b.made.Load() {
				s.made++
			}
			return
		}
		if s.ids[i] == id {
			return
		}
	}
}

// global finds the buffer with size bytes at addr; pc tells which one to try first.
func (w *warp) global(in *inst, pc int32, lane int, addr uint64, size int, write bool) (*buffer, *Error) {
	if addr&uint64(size-1) != 0 {
		return nil, w.fault(in, lane, Misaligned, "%d bytes at %#x", size, addr)
	}
	l := w.l
	if h := uint(l.hint[pc]); h < uint(len(l.buffers)) {
		b := &l.buffers[h]
		if off := addr - b.base; off < uint64(len(b.data)) && uint64(len(b.data))-off >= uint64(size) && (b.writable || !write) {
			return b, nil
		}
	}
	i := sort.Search(len(l.buffers), func(i int) bool { return l.buffers[i].base > addr }) - 1
	if i < 0 {
		return nil, w.fault(in, lane, OutOfBounds, "%d bytes at %#x%s", size, addr, l.describe(addr))
	}
	b := &l.buffers[i]
	off := addr - b.base
	if off >= uint64(len(b.data)) || uint64(len(b.data))-off < uint64(size) {
		return nil, w.fault(in, lane, OutOfBounds, "%d bytes at %#x%s", size, addr, l.describe(addr))
	}
	if write && !b.writable {
		return nil, w.fault(in, lane, ReadOnly, "%d bytes at %#x", size, addr)
	}
	l.hint[pc] = int32(i)
	if !l.touched[i] {
		l.touched[i] = true
		if l.shape.Touch != nil {
			if err := l.shape.Touch(b.base); err != nil {
				return nil, w.fault(in, lane, Unordered, "%d bytes at %#x: %v", size, addr, err)
			}
		}
	}
	return b, nil
}

// describe says what is known of an address where nothing is.
func (l *launch) describe(addr uint64) string {
	if l.dev.Explain != nil {
		if s := l.dev.Explain(addr); s != "" {
			return ", " + s
		}
	}
	return l.nearest(addr)
}

// nearest describes a bad address by the closest buffer.
func (l *launch) nearest(addr uint64) string {
	best, text := ^uint64(0), ", nothing is registered"
	for _, b := range l.buffers {
		size := uint64(len(b.data))
		switch off := addr - b.base; {
		case addr < b.base && b.base-addr < best:
			best = b.base - addr
			text = fmt.Sprintf(", %d bytes before the buffer of %d bytes at %#x", best, size, b.base)
		case addr >= b.base && off < size:
			return fmt.Sprintf(", across the end of the buffer of %d bytes at %#x", size, b.base)
		case addr >= b.base && off-size < best:
			best = off - size
			text = fmt.Sprintf(", %d bytes after the end of the buffer of %d bytes at %#x", best, size, b.base)
		}
	}
	return text
}

// sharedAt finds size bytes of shared memory, or of the lane's local memory, and their written-flags.
func (w *warp) sharedAt(in *inst, lane int, addr uint64, size int) (data, def []byte, err *Error) {
	off, data, def := addr-sharedBase, w.c.shared, w.c.sharedDef
	if in.space == spaceLocal {
		n := w.l.k.LocalBytes
		off, data, def = addr-localBase, w.local[lane*n:][:n], w.localDef[lane*n:][:n]
	}
	if addr&uint64(size-1) != 0 {
		return nil, nil, w.fault(in, lane, Misaligned, "%d bytes at %#x of %s memory", size, addr, spaceNames[in.space])
	}
	if n := uint64(len(data)); off >= n || n-off < uint64(size) {
		return nil, nil, w.fault(in, lane, OutOfBounds, "%d bytes at offset %d of %d bytes of %s memory",
			size, int64(off), n, spaceNames[in.space])
	}
	return data[off:], def[off:], nil
}

func written(def []byte, size int) bool {
	for _, b := range def[:size] {
		if b == 0 {
			return false
		}
	}
	return true
}

func readBytes(p []byte, width uint8) uint64 {
	switch width {
	case 8:
		return binary.LittleEndian.Uint64(p)
	case 4:
		return uint64(binary.LittleEndian.Uint32(p))
	case 2:
		return uint64(binary.LittleEndian.Uint16(p))
	}
	return uint64(p[0])
}

func writeBytes(p []byte, width uint8, v uint64) {
	switch width {
	case 8:
		binary.LittleEndian.PutUint64(p, v)
	case 4:
		binary.LittleEndian.PutUint32(p, uint32(v))
	case 2:
		binary.LittleEndian.PutUint16(p, uint16(v))
	default:
		p[0] = byte(v)
	}
}

// execMemory runs ld and st.
func (w *warp) execMemory(in *inst, pc int32, act uint32) *Error {
	write := in.op == opSt
	n := int(in.ndst)
	if write {
		n = int(in.nsrc) - 1
	}
	size := n * int(in.width)
	signed := in.t.signed()
	sh := uint8(64 - 8*in.width)
	addrs := w.regs[in.src[0]] // a copy: the address may be overwritten by what is loaded
	sectors := &w.l.sectors
	sectors.begin()
	for m := act; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & (warpSize - 1)
		addr := addrs[lane] + uint64(in.off)
		var data []byte
		if in.space == spaceGlobal {
			b, err := w.global(in, pc, lane, addr, size, write)
			if err != nil {
				return err
			}
			data = b.data[addr-b.base:]
			w.l.touch(b, addr, size, write)
			sectors.add(addr, b)
		} else {
			var def []byte
			var err *Error
			if data, def, err = w.sharedAt(in, lane, addr, size); err != nil {
				return err
			}
			if in.space == spaceShared {
				w.l.stats.SharedBytes += uint64(size)
			} else {
				w.l.stats.LocalBytes += uint64(size)
			}
			if write {
				for i := range size {
					def[i] = 0xff
				}
			} else if !written(def, size) {
				return w.fault(in, lane, UninitShared, "%d bytes at %#x of %s memory", size, addr, spaceNames[in.space])
			}
		}
		for i := range n {
			at := data[i*int(in.width):]
			if write {
				writeBytes(at, in.width, w.regs[in.src[1+i]][lane])
				continue
			}
			v := readBytes(at, in.width)
			if signed {
				v = uint64(extend(v, sh)) & in.mask
			}
			w.regs[in.dst[i]][lane] = v
		}
	}
	if write {
		w.l.stats.SectorsWritten += sectors.n
	} else {
		w.l.stats.SectorsRead += sectors.n
		w.l.stats.SectorsMade += sectors.made
	}
	w.l.stats.SectorsHost += sectors.host
	return nil
}
