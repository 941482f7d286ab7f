package gpu

import (
	"encoding/binary"
	"math"
	"math/bits"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/emit/scanned"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// A column on the device is one array over all segments of the table, of one width and with one base, so
// that one kernel in one launch reads all of it.

// deviceColumn is a table's column in a device's memory.
type deviceColumn struct {
	shape column.Shape
	base  int64
	data  device.Addr
	nulls device.Addr
	heap  device.Addr
	dict  *column.Dict // of codes
	texts []homes      // where its texts are on the host
	bytes int64        // of its rows
	bits  int          // of a code or descriptor that is packed; 0: it has whole bytes
	wish  int          // the same as who copied it wished it

	streamed bool      // it has no data here: chunks of rows are brought while a query runs
	copy     *hostCopy // from which they come; nil: from the table
	form     *packing  // of the copy; nil: it has no form yet, and no pieces
	late     bool      // they do not: rows that need it read it over the bus
}

// homes says that n bytes at an address of the device are also at an address of the host.
type homes struct {
	at   device.Addr
	n    int
	host uintptr
}

// shapeOf is the form in which a column goes to the device.
func shapeOf(snap *catalog.Snapshot, ord int) (column.Shape, int64) {
	st := &snap.Stats[ord]
	t := snap.Table.Columns[ord].Type
	sh := column.Shape{Nulls: st.NullCount > 0, Width: 8}
	switch {
	case st.Dict != nil:
		sh.Enc, sh.Width = column.EncDict, widthOf(uint64(max(st.DictLen, 1)-1))
		if sh.Width == 8 {
			sh.Width = 4
		}
		return sh, 0
	case t.Phys() == types.PhysF64:
		sh.Enc, sh.Width = column.EncF64, 4
		for _, seg := range snap.Segments {
			sh.Width = max(sh.Width, seg.Chunks[ord].Width)
		}
		return sh, 0
	case t.Phys() == types.PhysStr:
		sh.Enc, sh.Width = column.EncStr, 16
		return sh, 0
	case t.Phys() == types.PhysIvl:
		sh.Enc, sh.Width = column.EncIvl, 16
		return sh, 0
	}
	sh.Enc = column.EncInt
	if !st.HasRange {
		sh.Width = 1
		return sh, 0
	}
	lo, hi := st.Min.Int128(), st.Max.Int128()
	if t.Kind == types.Bool && sh.Nulls {
		lo = types.Int128{} // NULL reads as false, also where all others are true
	}
	if !lo.FitsInt64() || !hi.FitsInt64() {
		sh.Enc, sh.Width = column.EncI128, 16
		return sh, 0
	}
	sh.Width = widthOf(hi.Lo - lo.Lo)
	if sh.Width == 8 {
		return sh, 0
	}
	return sh, int64(lo.Lo)
}

// widthOf is how many bytes hold numbers from 0 to most.
func widthOf(most uint64) uint8 {
	switch n := bits.Len64(most); {
	case n <= 8:
		return 1
	case n <= 16:
		return 2
	case n <= 32:
		return 4
	}
	return 8
}

// within is a number that fits so many bytes, or 0.
func within(x uint64, width uint8) uint64 {
	if width < 8 && x>>(8*width) != 0 {
		return 0
	}
	return x
}

// chunkBytes are the rows of a chunk, as they are stored.
func chunkBytes(c *column.Chunk, width int) []byte {
	return unsafe.Slice((*byte)(pointer(c.Data)), c.Rows*width)
}

func pointer(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

// encode writes a chunk's rows to dst in the given shape. Only what stands for NULL may lie outside of the column's range, and
// below its base; it becomes the base, so that nobody meets a number that is out of bounds.
func encode(dst []byte, c *column.Chunk, sh column.Shape, base int64) {
	switch sh.Enc {
	case column.EncInt, column.EncDict:
		if c.Enc == column.EncI128 {
			for i := range c.Rows {
				put(dst, i, sh.Width, within(loadWord(c.Data+uintptr(16*i), 8)-uint64(base), sh.Width))
			}
			return
		}
		off := uint64(c.Base) - uint64(base)
		switch {
		case c.Width == sh.Width && off == 0:
			copy(dst, chunkBytes(c, int(c.Width)))
		case c.Width == sh.Width && c.Null == 0:
			addToAll(dst, chunkBytes(c, int(c.Width)), c.Width, off)
		default:
			for i := range c.Rows {
				put(dst, i, sh.Width, within(loadWord(c.Data+uintptr(i)*uintptr(c.Width), c.Width)+off, sh.Width))
			}
		}
	case column.EncI128:
		if c.Enc == column.EncI128 {
			copy(dst, chunkBytes(c, 16))
			return
		}
		for i := range c.Rows {
			x := types.FromInt64(int64(loadWord(c.Data+uintptr(i)*uintptr(c.Width), c.Width)) + c.Base)
			binary.LittleEndian.PutUint64(dst[16*i:], x.Lo)
			binary.LittleEndian.PutUint64(dst[16*i+8:], uint64(x.Hi))
		}
	case column.EncF64:
		if c.Width == sh.Width {
			copy(dst, chunkBytes(c, int(c.Width)))
			return
		}
		for i := range c.Rows {
			x := math.Float32frombits(uint32(loadWord(c.Data+uintptr(4*i), 4)))
			put(dst, i, 8, math.Float64bits(float64(x)))
		}
	default:
		copy(dst, chunkBytes(c, int(sh.Width)))
	}
}

// addToAll writes the numbers of src, of width bytes each, to dst, with off added to each. No sum is too large for its bytes, so that those of eight
// bytes are added at a time.
func addToAll(dst, src []byte, width uint8, off uint64) {
	each := off
	if width < 8 {
		each *= math.MaxUint64 / (1<<(8*width) - 1)
	}
	done := addBlocks(dst, src, each)
	dst, src = dst[done:len(src)], src[done:]
	le := binary.LittleEndian
	for len(src) >= 32 && len(dst) >= 32 {
		a, b, c, d := le.Uint64(src), le.Uint64(src[8:]), le.Uint64(src[16:]), le.Uint64(src[24:])
		le.PutUint64(dst, a+each)
		le.PutUint64(dst[8:], b+each)
		le.PutUint64(dst[16:], c+each)
		le.PutUint64(dst[24:], d+each)
		src, dst = src[32:], dst[32:]
	}
	for i := range len(src) / int(width) {
		put(dst, i, width, loadWord(uintptr(unsafe.Pointer(&src[i*int(width)])), width)+off)
	}
}

func loadWord(at uintptr, width uint8) uint64 {
	p := pointer(at)
	switch width {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

func put(dst []byte, i int, width uint8, x uint64) {
	switch width {
	case 1:
		dst[i] = byte(x)
	case 2:
		binary.LittleEndian.PutUint16(dst[2*i:], uint16(x))
	case 4:
		binary.LittleEndian.PutUint32(dst[4*i:], uint32(x))
	default:
		binary.LittleEndian.PutUint64(dst[8*i:], x)
	}
}

// heapEnd is the end of what the descriptors of a chunk use of its heap.
func heapEnd(descs []column.StrDesc) int {
	end := uint64(0)
	for i := range descs {
		if d := &descs[i]; d.Len > column.StrInline {
			end = max(end, binary.LittleEndian.Uint64(d.Rest[:])+uint64(d.Len))
		}
	}
	return int(end)
}

func descriptors(addr uintptr, n int) []column.StrDesc {
	return unsafe.Slice((*column.StrDesc)(pointer(addr)), n)
}

func hostBytes(addr uintptr, n int) []byte { return unsafe.Slice((*byte)(pointer(addr)), n) }

// shapes are those that a scan's columns have on a device, if they are packed in such a way.
func shapes(scan *plan.Scan, form func(snap *catalog.Snapshot, ord int) packing) []scanned.Shape {
	var out []scanned.Shape
	for _, ord := range scan.Ordinal {
		if ord == plan.Tested {
			out = append(out, onDevice(testedColumn().shape, testedBits.bits))
			continue
		}
		sh, _ := shapeOf(scan.Snap, ord)
		out = append(out, onDevice(sh, form(scan.Snap, ord).bits))
	}
	return out
}

// onDevice is how code reads a column of a shape: numbers that are not as wide as can be have a base.
func onDevice(sh column.Shape, bits int) scanned.Shape {
	return scanned.Shape{Shape: sh, Based: sh.Enc == column.EncInt, Bits: uint8(bits)}
}
