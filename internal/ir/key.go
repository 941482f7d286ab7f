package ir

import (
	"crypto/sha256"
	"encoding/binary"
)

// Key stands for what a function does: two functions with one key are translated to the same machine code by the same translator. Comments and the names of
// registers do not matter for that.
func (f *Func) Key() [sha256.Size]byte {
	const instr = 120 // more bytes than one takes
	b := make([]byte, 0, 64+len(f.Name)+len(f.Regs)+instr*len(f.Code))
	word := func(xs ...int) {
		for _, x := range xs {
			b = binary.LittleEndian.AppendUint64(b, uint64(x))
		}
	}
	short := func(x int32) { b = binary.LittleEndian.AppendUint32(b, uint32(x)) }
	val := func(v *Val) {
		short(int32(v.R))
		b = binary.LittleEndian.AppendUint64(b, uint64(v.Imm))
	}
	word(len(f.Name), len(f.Regs), int(f.Target), f.SharedBytes, f.LocalBytes, f.Params, f.Bound, f.Rolled)
	b = append(b, f.Name...)
	for i := range f.Regs {
		b = append(b, byte(f.Regs[i].Type))
	}
	for i := range f.Code {
		in := &f.Code[i]
		if in.Op == Comment {
			continue
		}
		signed := byte(0)
		if in.Signed {
			signed = 1
		}
		b = append(b, byte(in.Op), byte(in.Cond), in.W, signed, byte(in.Kind), in.M.Scale, byte(in.M.Space))
		short(in.Label)
		short(in.Code)
		short(int32(in.D))
		short(int32(in.D2))
		short(int32(in.M.Base))
		short(int32(in.M.Index))
		short(in.M.Disp)
		val(&in.A)
		val(&in.A2)
		val(&in.B)
		val(&in.B2)
		val(&in.C)
		val(&in.C2)
	}
	return sha256.Sum256(b)
}
