package simt

import "math"

func (w *warp) execConvert(in *inst, act uint32) {
	a := &w.regs[in.src[0]]
	d, out := w.result(in, act)
	switch {
	case in.from.isInt() && in.t.isInt():
		sh := uint8(64 - in.from.bits())
		narrow := uint8(64 - in.t.bits())
		for l := range out {
			v := a[l] & in.from.mask()
			if in.from.signed() {
				v = uint64(extend(v, sh))
			}
			out[l] = widen(v, in.t, narrow) & in.mask
		}
	case in.from.isInt():
		sh := uint8(64 - in.from.bits())
		for l := range out {
			v := a[l] & in.from.mask()
			if in.t.bytes() == 8 {
				f := float64(v)
				if in.from.signed() {
					f = float64(extend(v, sh))
				}
				out[l] = math.Float64bits(f)
			} else {
				f := float32(v)
				if in.from.signed() {
					f = float32(extend(v, sh))
				}
				out[l] = uint64(math.Float32bits(f))
			}
		}
	case in.t.isInt():
		narrow := uint8(64 - in.t.bits())
		for l := range out {
			out[l] = widen(toInt(in, readFloat(a[l], in.from)), in.t, narrow) & in.mask
		}
	default:
		for l := range out {
			out[l] = toFloat(in, a[l])
		}
	}
	merge(d, out, act)
}

// widen cuts a value to its type and extends it again, as for a wider register.
func widen(v uint64, t ptype, narrow uint8) uint64 {
	if t.signed() {
		return uint64(extend(v, narrow))
	}
	return v & t.mask()
}

func readFloat(v uint64, t ptype) float64 {
	if t.bytes() == 8 {
		return math.Float64frombits(v)
	}
	return float64(math.Float32frombits(uint32(v)))
}

func roundIntegral(x float64, r round) float64 {
	switch r {
	case roundNear:
		return math.RoundToEven(x)
	case roundZero:
		return math.Trunc(x)
	case roundDown:
		return math.Floor(x)
	case roundUp:
		return math.Ceil(x)
	}
	return x
}

// toInt clamps to the range of the type. NaN becomes 0 from and to 32 bits and
// less, and the top bit alone where 64 bits take part.
func toInt(in *inst, x float64) uint64 {
	t := in.t
	if x != x {
		if in.from.bytes() == 8 || t.bytes() == 8 {
			return 1 << (t.bits() - 1)
		}
		return 0
	}
	x = roundIntegral(x, in.rnd)
	if t.signed() {
		limit := math.Ldexp(1, t.bits()-1)
		switch {
		case x >= limit:
			return 1<<(t.bits()-1) - 1
		case x < -limit:
			return -(uint64(1) << (t.bits() - 1))
		}
		return uint64(int64(x))
	}
	switch {
	case x >= math.Ldexp(1, t.bits()):
		return t.mask()
	case x <= 0:
		return 0
	case x >= 1<<63:
		return uint64(x-1<<63) | 1<<63
	}
	return uint64(x)
}

func toFloat(in *inst, v uint64) uint64 {
	x := readFloat(v, in.from)
	switch {
	case in.from == in.t:
		if in.rnd == roundNone || x != x {
			return v
		}
		x = roundIntegral(x, in.rnd)
		if in.t.bytes() == 4 {
			return uint64(math.Float32bits(float32(x)))
		}
		return math.Float64bits(x)
	case in.t.bytes() == 8:
		return math.Float64bits(x)
	}
	y := float32(x)
	// The nearest single may lie on the wrong side for a directed rounding.
	switch back := float64(y); {
	case in.rnd == roundZero && math.Abs(back) > math.Abs(x):
		y = math.Nextafter32(y, 0)
	case in.rnd == roundDown && back > x:
		y = math.Nextafter32(y, float32(math.Inf(-1)))
	case in.rnd == roundUp && back < x:
		y = math.Nextafter32(y, float32(math.Inf(1)))
	}
	return uint64(math.Float32bits(y))
}
