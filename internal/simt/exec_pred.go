package simt

import (
	"math"
	"math/bits"
)

func (w *warp) setPred(p int32, act, value uint32) {
	w.preds[p] = w.preds[p]&^act | value&act
	w.pdef[p] |= act
}

// predicate reads the predicate operand.
func (w *warp) predicate(in *inst, act uint32) (uint32, *Error) {
	if bad := act &^ w.pdef[in.ps]; bad != 0 {
		return 0, w.fault(in, bits.TrailingZeros32(bad), UninitRegister, "a predicate")
	}
	p := w.preds[in.ps]
	if in.psNot {
		p = ^p
	}
	return p, nil
}

// execPred runs setp, selp and logic on predicates.
func (w *warp) execPred(in *inst, act uint32) *Error {
	var p uint32
	if in.ps >= 0 {
		var err *Error
		if p, err = w.predicate(in, act); err != nil {
			return err
		}
	}
	switch in.op {
	case opSetp:
		r := w.compare(in)
		w.setPred(in.pd[0], act, combine(in.comb, r, p))
		if in.pd[1] >= 0 {
			w.setPred(in.pd[1], act, combine(in.comb, ^r, p))
		}
	case opSelp:
		a, b := &w.regs[in.src[0]], &w.regs[in.src[1]]
		d, out := w.result(in, act)
		for l := range out {
			v := b[l]
			if p>>l&1 != 0 {
				v = a[l]
			}
			out[l] = v
		}
		merge(d, out, act)
	case opNot:
		w.setPred(in.pd[0], act, ^p)
	default:
		q := in.src[0]
		if bad := act &^ w.pdef[q]; bad != 0 {
			return w.fault(in, bits.TrailingZeros32(bad), UninitRegister, "a predicate")
		}
		w.setPred(in.pd[0], act, combine(in.op, w.preds[q], p))
	}
	return nil
}

func combine(op opcode, r, p uint32) uint32 {
	switch op {
	case opAnd:
		return r & p
	case opOr:
		return r | p
	case opXor:
		return r ^ p
	}
	return r
}

// compare is the raw comparison of all lanes.
func (w *warp) compare(in *inst) uint32 {
	a, b := &w.regs[in.src[0]], &w.regs[in.src[1]]
	if in.t.isFloat() {
		return compareFloats(in, a, b)
	}
	// Order by shifting the sign up, or for unsigned types by flipping it.
	sh := in.sh
	flip := uint64(1) << 63
	if in.t.signed() {
		flip = 0
	}
	var m uint32
	switch in.cmp {
	case cmpEq, cmpNe:
		for l := range a {
			m |= bit(a[l] == b[l]) << l
		}
	case cmpLt, cmpGe:
		for l := range a {
			m |= bit(int64(a[l]<<sh^flip) < int64(b[l]<<sh^flip)) << l
		}
	case cmpGt, cmpLe:
		for l := range a {
			m |= bit(int64(a[l]<<sh^flip) > int64(b[l]<<sh^flip)) << l
		}
	}
	if in.cmp == cmpNe || in.cmp == cmpGe || in.cmp == cmpLe {
		m = ^m
	}
	return m
}

func bit(b bool) uint32 {
	var v uint32
	if b {
		v = 1
	}
	return v
}

// compareFloats: the plain comparisons are false when either side is NaN, even
// ne; those with a u are then true.
func compareFloats(in *inst, a, b *[warpSize]uint64) (m uint32) {
	for l := range a {
		var x, y float64
		if in.t.bytes() == 8 {
			x, y = math.Float64frombits(a[l]), math.Float64frombits(b[l])
		} else {
			x, y = float64(math.Float32frombits(uint32(a[l]))), float64(math.Float32frombits(uint32(b[l])))
		}
		unordered := x != x || y != y
		var r bool
		switch in.cmp {
		case cmpEq, cmpEqu:
			r = x == y
		case cmpNe, cmpNeu:
			r = x != y && !unordered
		case cmpLt, cmpLtu:
			r = x < y
		case cmpLe, cmpLeu:
			r = x <= y
		case cmpGt, cmpGtu:
			r = x > y
		case cmpGe, cmpGeu:
			r = x >= y
		case cmpNum:
			r = !unordered
		case cmpNan:
			r = unordered
		}
		if unordered && in.cmp >= cmpEqu && in.cmp <= cmpGeu {
			r = true
		}
		m |= bit(r) << l
	}
	return m
}
