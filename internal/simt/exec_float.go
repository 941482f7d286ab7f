package simt

import "math"

// execFloat runs float arithmetic, rounded to nearest even. Go does not contract
// a*b+c across an explicit conversion, so each step rounds as PTX's .rn does.
func (w *warp) execFloat(in *inst, act uint32) {
	d, out := w.result(in, act)
	a, b, c := &w.regs[in.src[0]], &w.regs[in.src[1]], &w.regs[in.src[2]]
	if in.t.bytes() == 8 {
		floats64(in.op, out, a, b, c)
	} else {
		floats32(in.op, out, a, b, c)
	}
	merge(d, out, act)
}

func floats64(op opcode, out, a, b, c *[warpSize]uint64) {
	f, u := math.Float64frombits, math.Float64bits
	const sign = 1 << 63
	switch op {
	case opAdd:
		for l := range out {
			out[l] = u(float64(f(a[l]) + f(b[l])))
		}
	case opSub:
		for l := range out {
			out[l] = u(float64(f(a[l]) - f(b[l])))
		}
	case opMul:
		for l := range out {
			out[l] = u(float64(f(a[l]) * f(b[l])))
		}
	case opFma:
		for l := range out {
			out[l] = u(math.FMA(f(a[l]), f(b[l]), f(c[l])))
		}
	case opDiv:
		for l := range out {
			out[l] = u(f(a[l]) / f(b[l]))
		}
	case opRcp:
		for l := range out {
			out[l] = u(1 / f(a[l]))
		}
	case opSqrt:
		for l := range out {
			out[l] = u(math.Sqrt(f(a[l])))
		}
	case opAbs:
		for l := range out {
			out[l] = a[l] &^ sign
		}
	case opNeg:
		for l := range out {
			out[l] = a[l] ^ sign
		}
	case opMin, opMax:
		for l := range out {
			out[l] = u(pick(op, f(a[l]), f(b[l])))
		}
	}
}

// pick is min and max: a NaN loses against a number, and -0 is below +0.
func pick(op opcode, x, y float64) float64 {
	switch {
	case x != x:
		return y
	case y != y:
		return x
	case op == opMin:
		return min(x, y)
	}
	return max(x, y)
}

func floats32(op opcode, out, a, b, c *[warpSize]uint64) {
	f := func(v uint64) float32 { return math.Float32frombits(uint32(v)) }
	u := func(v float32) uint64 { return uint64(math.Float32bits(v)) }
	const sign = 1 << 31
	for l := range out {
		x, y := f(a[l]), f(b[l])
		switch op {
		case opAdd:
			out[l] = u(float32(x + y))
		case opSub:
			out[l] = u(float32(x - y))
		case opMul:
			out[l] = u(float32(x * y))
		case opFma:
			out[l] = u(fma32(x, y, f(c[l])))
		case opDiv:
			out[l] = u(x / y)
		case opRcp:
			out[l] = u(1 / x)
		case opSqrt:
			out[l] = u(float32(math.Sqrt(float64(x))))
		case opAbs:
			out[l] = a[l] &^ sign
		case opNeg:
			out[l] = a[l] ^ sign
		case opMin, opMax:
			out[l] = u(float32(pick(op, float64(x), float64(y))))
		}
	}
}

// fma32 rounds once. The product is exact in double precision; the sum is
// rounded to odd there, so that the second rounding cannot go wrong.
func fma32(x, y, z float32) float32 {
	p, q := float64(x)*float64(y), float64(z)
	s := float64(p + q)
	if math.IsInf(s, 0) || s != s {
		return float32(s)
	}
	// Knuth's two-sum: e is what s lost.
	bb := float64(s - p)
	e := float64(p-float64(s-bb)) + float64(q-bb)
	if e != 0 && math.Float64bits(s)&1 == 0 {
		if (e > 0) == (s > 0) {
			s = math.Float64frombits(math.Float64bits(s) + 1)
		} else {
			s = math.Float64frombits(math.Float64bits(s) - 1)
		}
	}
	return float32(s)
}
