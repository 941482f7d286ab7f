package irtest

import (
	"encoding/binary"
	"fmt"

	"github.com/kelpiedb/kelpie/internal/ir"
)

// element is element k, of w bytes, of the array at an address.
func (m *Machine) element(at uint64, k, w int) uint64 {
	var buf [8]byte
	copy(buf[:w], m.Mem[at-m.Base+uint64(k*w):][:w])
	return binary.LittleEndian.Uint64(buf[:])
}

// mask is the result of an operation that clears bits of a mask of rows.
func (m *Machine) mask(in *ir.Instr) (out uint64) {
	at, a := m.where(in.M), uint64(m.val(in.A))
	w := max(int(in.W), 1)
	for k := range 64 {
		x := m.element(at, k, w) // readable whatever A is
		if a>>k&1 != 0 && m.passes(in, at, k, x) {
			out |= 1 << k
		}
	}
	return out
}

func (m *Machine) passes(in *ir.Instr, at uint64, k int, x uint64) bool {
	mod := func(v uint64) uint64 { return v & (^uint64(0) >> (64 - 8*in.W)) }
	switch in.Op {
	case ir.MaskRange:
		return mod(x-uint64(m.val(in.B))) <= mod(uint64(m.val(in.C)))
	case ir.MaskCmp:
		w2 := int(in.C2.Imm)
		sum, y := int64(x)+m.val(in.B), int64(m.element(uint64(m.val(in.C)), k, w2))
		if in.W <= 2 && w2 <= 2 {
			sum = int64(int32(sum))
		}
		return Holds(in.Cond, sum, y)
	case ir.MaskBits:
		bit := uint64(uint32(x - uint64(m.val(in.B))))
		return m.element(uint64(m.val(in.C)), int(bit>>6), 8)>>(bit&63)&1 != 0
	case ir.MaskLut:
		if x >= uint64(in.C2.Imm) {
			panic(fmt.Sprintf("entry %d of a table of %d", x, in.C2.Imm))
		}
		return m.element(uint64(m.val(in.C)), int(x), 1) != 0
	default: // MaskBytes
		return byte(x) == byte(m.val(in.B)) && byte(m.element(at, k+int(in.C2.Imm), 1)) == byte(m.val(in.C))
	}
}

// pick stores the rows of a mask and counts them. Words behind them may be anything:
// it leaves them alone, and tests do not look at them.
func (m *Machine) pick(in *ir.Instr) (n int64) {
	out, a, first := m.addr(in.M, 256), uint64(m.val(in.A)), m.val(in.B)
	for k := range 64 {
		if a>>k&1 != 0 {
			binary.LittleEndian.PutUint32(out[4*n:], uint32(first+int64(k)))
			n++
		}
	}
	return n
}
