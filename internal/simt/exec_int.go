package simt

import "math/bits"

// Instructions without side effects compute all 32 lanes, active or not, into
// out; merge then keeps the active ones. When the warp is whole, out is the
// destination itself. One loop without conditions per instruction is quicker
// than picking lanes, and there is only one of it to get right.

// result gives the destination and where to compute it.
func (w *warp) result(in *inst, act uint32) (d, out *[warpSize]uint64) {
	d = &w.regs[in.dst[0]]
	if act == fullMask {
		return d, d
	}
	return d, &w.tmp
}

func merge(d, out *[warpSize]uint64, act uint32) {
	if d == out {
		return
	}
	for m := act; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & (warpSize - 1)
		d[l] = out[l]
	}
}

// extend reads a narrow value as a signed number.
func extend(v uint64, sh uint8) int64 { return int64(v<<(sh&63)) >> (sh & 63) }

// execInt runs integer instructions. Values are kept with zeros above their
// width, so that wrapping arithmetic of every width is 64-bit arithmetic and a mask.
func (w *warp) execInt(in *inst, act uint32) *Error {
	if in.carryIn || in.carryOut {
		return w.execCarry(in, act)
	}
	a, b, c := &w.regs[in.src[0]], &w.regs[in.src[1]], &w.regs[in.src[2]]
	d, out := w.result(in, act)
	mask, sh := in.mask, in.sh
	switch in.op {
	case opMov:
		*out = *a
	case opAdd:
		for l := range out {
			out[l] = (a[l] + b[l]) & mask
		}
	case opSub:
		for l := range out {
			out[l] = (a[l] - b[l]) & mask
		}
	case opMulLo:
		for l := range out {
			out[l] = a[l] * b[l] & mask
		}
	case opMadLo:
		for l := range out {
			out[l] = (a[l]*b[l] + c[l]) & mask
		}
	case opMulHi, opMulWide, opMadHi, opMadWide:
		for l := range out {
			out[l] = multiply(in, a[l], b[l], c[l])
		}
	case opDiv, opRem:
		return w.divide(in, act)
	case opAbs:
		for l := range out {
			v := extend(a[l], sh)
			out[l] = uint64(max(v, -v)) & mask
			if v == -v {
				out[l] = a[l] // 0, or the number without a positive counterpart
			}
		}
	case opNeg:
		for l := range out {
			out[l] = -a[l] & mask
		}
	case opMin, opMax:
		minMax(in, out, a, b)
	case opAnd:
		for l := range out {
			out[l] = a[l] & b[l]
		}
	case opOr:
		for l := range out {
			out[l] = a[l] | b[l]
		}
	case opXor:
		for l := range out {
			out[l] = a[l] ^ b[l]
		}
	case opNot:
		for l := range out {
			out[l] = ^a[l] & mask
		}
	case opShl:
		for l := range out {
			out[l] = a[l] << b[l] & mask
		}
	case opShr:
		// Counts beyond the width clamp in PTX, and so they do in Go.
		if in.t.signed() {
			for l := range out {
				out[l] = uint64(extend(a[l], sh)>>b[l]) & mask
			}
		} else {
			for l := range out {
				out[l] = a[l] >> b[l]
			}
		}
	case opPopc:
		for l := range out {
			out[l] = uint64(bits.OnesCount64(a[l]))
		}
	case opClz:
		for l := range out {
			out[l] = uint64(bits.LeadingZeros64(a[l])) - uint64(sh)
		}
	case opBrev:
		for l := range out {
			out[l] = bits.Reverse64(a[l]) >> sh
		}
	case opPrmt:
		for l := range out {
			out[l] = permute(a[l], b[l], c[l])
		}
	case opPack:
		for l := range out {
			out[l] = a[l] | b[l]<<sh
		}
	case opUnpack:
		w.unpack(in, act)
		return nil
	}
	merge(d, out, act)
	return nil
}

func (w *warp) unpack(in *inst, act uint32) {
	a, lo, hi := &w.regs[in.src[0]], &w.regs[in.dst[0]], &w.regs[in.dst[1]]
	for m := act; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		v := a[l]
		lo[l] = v & (1<<in.sh - 1)
		hi[l] = v >> in.sh
	}
}

// multiply is mul and mad with .hi and .wide.
func multiply(in *inst, x, y, z uint64) uint64 {
	if in.t.bytes() < 8 {
		p := x * y
		if in.t.signed() {
			p = uint64(extend(x, in.sh) * extend(y, in.sh))
		}
		switch in.op {
		case opMulHi:
			return p >> in.t.bits() & in.mask
		case opMadHi:
			return (p>>in.t.bits() + z) & in.mask
		case opMadWide:
			p += z
		}
		return p & (^uint64(0) >> (64 - 2*in.t.bits()))
	}
	hi, _ := bits.Mul64(x, y)
	if in.t.signed() {
		hi -= uint64(int64(x)>>63)&y + uint64(int64(y)>>63)&x
	}
	if in.op == opMadHi {
		hi += z
	}
	return hi
}

// divide looks at active lanes only, since a zero in another means nothing.
func (w *warp) divide(in *inst, act uint32) *Error {
	a, b, d := &w.regs[in.src[0]], &w.regs[in.src[1]], &w.regs[in.dst[0]]
	for m := act; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		x, y := a[l], b[l]
		if y == 0 {
			return w.fault(in, l, DivideByZero, "")
		}
		switch {
		case in.t.signed() && in.op == opDiv:
			x = uint64(extend(x, in.sh) / extend(y, in.sh))
		case in.t.signed():
			x = uint64(extend(x, in.sh) % extend(y, in.sh))
		case in.op == opDiv:
			x /= y
		default:
			x %= y
		}
		d[l] = x & in.mask
	}
	return nil
}

func minMax(in *inst, out, a, b *[warpSize]uint64) {
	for l := range out {
		x, y := a[l], b[l]
		less := x < y
		if in.t.signed() {
			less = extend(x, in.sh) < extend(y, in.sh)
		}
		if less != (in.op == opMin) {
			x = y
		}
		out[l] = x
	}
}

// permute is prmt.b32 in its default mode: four selectors of four bits pick
// bytes of a (0–3) and b (4–7); the top bit asks for that byte's sign instead.
func permute(a, b, sel uint64) uint64 {
	bytes := a | b<<32
	var v uint64
	for i := range 4 {
		s := sel >> (4 * i) & 15
		x := bytes >> (8 * (s & 7)) & 0xff
		if s&8 != 0 {
			x = x >> 7 * 0xff
		}
		v |= x << (8 * i)
	}
	return v
}

// execCarry is add and sub that read or write the carry flag CC.CF. For
// subtraction the flag is the borrow.
func (w *warp) execCarry(in *inst, act uint32) *Error {
	if in.carryIn {
		if bad := act &^ w.cdef; bad != 0 {
			return w.fault(in, bits.TrailingZeros32(bad), UninitRegister, "the carry flag")
		}
	}
	a, b, d := &w.regs[in.src[0]], &w.regs[in.src[1]], &w.regs[in.dst[0]]
	var out uint32
	for m := act; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		var cin uint64
		if in.carryIn {
			cin = uint64(w.carry >> l & 1)
		}
		var v, cout uint64
		if in.op == opAdd {
			v, cout = bits.Add64(a[l], b[l], cin)
		} else {
			v, cout = bits.Sub64(a[l], b[l], cin)
		}
		if in.sh != 0 {
			cout = v >> in.t.bits() & 1 // what left the narrow type
		}
		d[l] = v & in.mask
		out |= uint32(cout) << l
	}
	if in.carryOut {
		w.carry = w.carry&^act | out
		w.cdef |= act
	}
	return nil
}
