package gpu

import (
	"encoding/binary"
	"math/bits"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// The bus is eighty times slower than the device's memory. So the host's copies of columns have as few bits for each row as the greatest code needs, where that is
// less than whole bytes by an eighth at least, and a kernel makes bytes of them before others read those.

// packing is how codes are packed: in words of 4 bytes, the first row in the lowest bits.
type packing struct {
	bits int // of a code; 0: they are not packed
	most uint64
}

// packingOf is how a column that streams is packed.
func packingOf(snap *catalog.Snapshot, ord int) packing {
	sh, p := codesOf(snap, ord)
	if p.bits > 7*int(sh.Width) {
		return packing{}
	}
	return p
}

// residentPacking is how a column that stays is packed: so that kernels read it without loss.
func residentPacking(snap *catalog.Snapshot, ord int) packing {
	sh, p := codesOf(snap, ord)
	if sh.Enc == column.EncStr && snap.Stats[ord].AvgLen > column.StrInline { // probably all are long
		return packing{bits: packedDescriptor}
	}
	if p.bits = phys.PackedBits(p.bits, int(sh.Width)); p.bits == 0 {
		return packing{}
	}
	return p
}

// packedDescriptor is how many bits the descriptor of a text has that is packed.
const packedDescriptor = 64

// forms is how queries with such options have columns packed that stay. The store may be nil.
func (s *Store) forms(opts *exec.Options) func(snap *catalog.Snapshot, ord int) packing {
	least := int64(phys.WorthPacking)
	if s != nil && s.PackLeast > 0 {
		least = s.PackLeast
	}
	off := opts.Off.PackedColumns || opts.Feed == phys.FeedRunToFinish // which takes them from copies, as they are
	return func(snap *catalog.Snapshot, ord int) packing {
		if off || snap.Rows < least || isFile(snap) {
			return packing{}
		}
		return residentPacking(snap, ord)
	}
}

// form is how a column is packed that the query reads: those that stream are not, in the device's memory.
func (l *lease) form(snap *catalog.Snapshot, ord int) packing {
	if l.parts[keyOf(snap, ord)] != 0 {
		return packing{}
	}
	return l.packed(snap, ord)
}

// codesOf is the shape of a column and how many bits its codes need, 0 where it has none.
func codesOf(snap *catalog.Snapshot, ord int) (column.Shape, packing) {
	sh, _ := shapeOf(snap, ord)
	st := &snap.Stats[ord]
	var p packing
	switch {
	case sh.Enc == column.EncDict:
		p.most = uint64(max(st.DictLen, 1) - 1)
	case sh.Enc == column.EncInt && sh.Width <= 4 && st.HasRange:
		p.most = st.Max.Int128().Lo - uint64(baseOf(snap, ord))
	default:
		return sh, packing{}
	}
	p.bits = max(bits.Len64(p.most), 1)
	return sh, p
}

func baseOf(snap *catalog.Snapshot, ord int) int64 {
	_, base := shapeOf(snap, ord)
	return base
}

// bytesOf is what so many rows of codes of width bytes take. Behind those that are packed one more word can be read.
func (p packing) bytesOf(rows, width int) int {
	if p.bits == 0 {
		return rows * width
	}
	return (rows*p.bits+31)/32*4 + 4
}

// packStep is how many rows are packed at a time: a whole number of words.
const packStep = 1 << 13

// pack writes codes of width bytes to dst, from row at on, a multiple of 32. What stands for NULL may be greater than all codes: it becomes 0.
func (p packing) pack(dst, src []byte, at, width int) {
	dst = dst[at*p.bits/8:]
	word, n := uint64(0), 0
	for i := range len(src) / width {
		var x uint64
		switch width {
		case 1:
			x = uint64(src[i])
		case 2:
			x = uint64(binary.LittleEndian.Uint16(src[2*i:]))
		default:
			x = uint64(binary.LittleEndian.Uint32(src[4*i:]))
		}
		if x > p.most {
			x = 0
		}
		word |= x << n
		if n += p.bits; n >= 32 {
			binary.LittleEndian.PutUint32(dst, uint32(word))
			dst = dst[4:]
			word >>= 32
			n -= 32
		}
	}
	if n > 0 {
		binary.LittleEndian.PutUint32(dst, uint32(word))
	}
}

// unpacking is a chunk's packed rows of a column, and where their codes go.
type unpacking struct {
	from, to device.Addr
	bits     int
	width    int
}

// unpackCodes writes the codes of packed rows, of width bytes each: packed rows, array, bits of a code, a mask of those.
func unpackCodes(width int) *ir.Func {
	return newKernel([]string{1: "unpack_1", 2: "unpack_2", 4: "unpack_4"}[width], func(k *kernel) []ir.Reg { return k.load("packed", "array", "bits", "mask") },
		func(k *kernel, s []ir.Reg) {
			bit, at, x, y := k.Vreg("bit", ir.I64), k.Vreg("at", ir.I64), k.Vreg("low", ir.I64), k.Vreg("high", ir.I64)
			k.Op2(ir.Mul, bit, k.item.V(), s[2].V())
			k.Op2(ir.Shr, at, bit.V(), ir.K(5))
			k.Load(x, ir.AtIndex(s[0], at, 4, 0), 4, false)
			k.Load(y, ir.AtIndex(s[0], at, 4, 4), 4, false)
			k.Op2(ir.Shl, y, y.V(), ir.K(32))
			k.Op2(ir.Or, x, x.V(), y.V())
			k.Op2(ir.And, bit, bit.V(), ir.K(31))
			k.Op2(ir.Shr, x, x.V(), bit.V())
			k.Op2(ir.And, x, x.V(), s[3].V())
			k.Store(ir.AtIndex(s[1], k.item, width, 0), x.V(), width)
			k.Clear(bit, at, x, y)
		})
}

// unpack queues the kernel over n rows.
func (r *run) unpack(u unpacking, n int64) error {
	fn := r.unpackers[u.width]
	if fn == nil {
		var err error
		if fn, err = r.function(unpackCodes(u.width)); err != nil {
			return err
		}
		r.unpackers[u.width] = fn
	}
	return r.st.Launch(fn, r.shape(fn, n, false), 0, uint64(n), uint64(u.from), uint64(u.to), uint64(u.bits), uint64(1)<<u.bits-1)
}
