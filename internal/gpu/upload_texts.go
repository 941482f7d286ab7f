package gpu

import (
	"encoding/binary"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/emit"
)

// A column of texts has one heap on the device, those of its segments one behind the other, so that descriptors point to other places there than on the host. They are written
// while they are copied: a second copy of all within the host would take as much memory as the column, and to move that in one go keeps Go from stopping threads, and all queries with them.

// textSegment is a segment of such a column.
type textSegment struct {
	ch    *column.Chunk
	view  column.DictView // of codes
	row   int             // its first
	heap  uintptr         // where its long texts are
	bytes int             // and how many those are
	at    int             // where they begin on the device
	long  bool            // all texts have a packed descriptor
}

// texts copies descriptors, and the heaps of all segments as one. A segment of codes becomes
// descriptors of its dictionary's texts. Descriptors are packed if that is wished and all texts are long.
func (u *upload) texts(c *deviceColumn, snap *catalog.Snapshot, ord int, pack bool) (err error) {
	segs := make([]textSegment, len(snap.Segments))
	views := map[*column.Dict]column.DictView{}
	row := 0
	for i, seg := range snap.Segments {
		s := &segs[i]
		s.ch, s.row = seg.Chunks[ord], row
		row += s.ch.Rows
		if d := s.ch.Dict; s.coded() {
			if _, known := views[d]; !known {
				views[d] = d.View()
			}
			s.view = views[d]
		}
	}
	each(len(segs), u.threads(), func(i int) { segs[i].measure(pack) })
	var heap, data []piece
	var long, own []homes // offsets instead of addresses until those are known
	size := 0
	dictAt := map[*column.Dict]int{}
	for i := range segs {
		s := &segs[i]
		pack = pack && s.long
		if at, known := dictAt[s.ch.Dict]; known && s.coded() {
			s.at = at
			continue
		}
		s.at = size
		if s.coded() {
			dictAt[s.ch.Dict] = size
		}
		if s.bytes > 0 {
			heap = append(heap, copies(hostBytes(s.heap, s.bytes))...)
			long = append(long, homes{device.Addr(size), s.bytes, s.heap})
			size += s.bytes
		}
	}
	width := 16
	if pack {
		width, c.bits = packedDescriptor/8, packedDescriptor
	}
	for i := range segs {
		data = append(data, segs[i].pieces(width)...)
		if !pack {
			own = segs[i].homes(own)
		}
	}
	if c.data, err = u.putPieces(data, width*emit.ArrayPad); err != nil {
		return err
	}
	if c.heap, err = u.putPieces(heap, column.TextPad); err != nil {
		return err
	}
	for _, h := range own {
		c.texts = append(c.texts, homes{c.data + h.at, h.n, h.host})
	}
	for _, h := range long {
		c.texts = append(c.texts, homes{c.heap + h.at, h.n, h.host})
	}
	return nil
}

// coded reports a segment of a dictionary's codes.
func (s *textSegment) coded() bool { return s.ch.Enc != column.EncStr }

// code is that of a row.
func (s *textSegment) code(i int) int {
	return int(loadWord(s.ch.Data+uintptr(i)*uintptr(s.ch.Width), s.ch.Width))
}

// measure finds out how much of a heap there is, and, if that is asked for, whether all texts are long.
func (s *textSegment) measure(pack bool) {
	if s.coded() {
		s.heap, s.bytes = s.view.Heap, heapEnd(descriptors(s.view.Desc, s.view.Len))
	} else {
		s.heap, s.bytes = s.ch.Heap, heapEnd(descriptors(s.ch.Data, s.ch.Rows))
	}
	s.long = pack
	for i := 0; i < s.ch.Rows && s.long; i++ {
		_, s.long = s.desc(i).Packed()
	}
}

// desc is the descriptor of a row, as it is on the host.
func (s *textSegment) desc(i int) *column.StrDesc {
	if s.coded() {
		return s.view.At(s.code(i))
	}
	return &descriptors(s.ch.Data, s.ch.Rows)[i]
}

// textRows is how many descriptors a piece has.
const textRows = 8 << 10

// pieces are the segment's descriptors, of so many bytes.
func (s *textSegment) pieces(width int) (out []piece) {
	for lo := 0; lo < s.ch.Rows; lo += textRows {
		n := min(textRows, s.ch.Rows-lo)
		out = append(out, piece{n * width, func(dst []byte) {
			some := make([]column.StrDesc, n)
			for i := range some {
				some[i] = *s.desc(lo + i)
			}
			rebase(some, s.at)
			if width == 16 {
				copy(dst, unsafe.Slice((*byte)(unsafe.Pointer(&some[0])), 16*n))
				return
			}
			for i := range some {
				x, _ := some[i].Packed()
				binary.LittleEndian.PutUint64(dst[width*i:], x)
			}
		}})
	}
	return out
}

// homes adds where the segment's descriptors are on the host, by their offsets on the device.
func (s *textSegment) homes(list []homes) []homes {
	if !s.coded() {
		return append(list, homes{device.Addr(16 * s.row), 16 * s.ch.Rows, s.ch.Data})
	}
	for i := range s.ch.Rows {
		list = append(list, homes{device.Addr(16 * (s.row + i)), 16, s.view.Desc + uintptr(16*s.code(i))})
	}
	return list
}

// rebase lets descriptors point into a heap that begins by bytes further on.
func rebase(descs []column.StrDesc, by int) {
	for i := range descs {
		if d := &descs[i]; d.Len > column.StrInline {
			binary.LittleEndian.PutUint64(d.Rest[:], binary.LittleEndian.Uint64(d.Rest[:])+uint64(by))
		}
	}
}
