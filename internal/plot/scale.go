package plot

import "math"

// scale takes values to places between two ends of an axis.
type scale struct {
	lo, hi   float64 // of the values
	from, to float64 // of the places
	log      bool
}

func (s scale) at(v float64) float64 {
	lo, hi := s.lo, s.hi
	if s.log {
		v, lo, hi = math.Log(v), math.Log(lo), math.Log(hi)
	}
	return s.from + (s.to-s.from)*math.Min(math.Max((v-lo)/(hi-lo), 0), 1)
}

// ticks are round values on the axis.
func (s scale) ticks() []float64 {
	var out []float64
	if s.log {
		steps := []float64{1, 2, 5}
		if s.hi/s.lo > 2000 {
			steps = steps[:1]
		}
		for p := math.Floor(math.Log10(s.lo)); p <= math.Ceil(math.Log10(s.hi)); p++ {
			for _, f := range steps {
				if v := f * math.Pow(10, p); v >= s.lo*0.999 && v <= s.hi*1.001 {
					out = append(out, v)
				}
			}
		}
		return out
	}
	step := round((s.hi - s.lo) / 5)
	for k := math.Ceil(s.lo/step - 1e-9); k*step <= s.hi+step/1e6; k++ {
		out = append(out, k*step)
	}
	return out
}

// round is the next of 1, 2, 5, 10, 20 … that is not below a step.
func round(step float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(step)))
	for _, f := range []float64{1, 2, 5} {
		if step <= f*p*1.0001 {
			return f * p
		}
	}
	return 10 * p
}

// around makes a scale that holds all values; what is linear begins at 0, unless there are values below it.
func around(values []float64, log bool) scale {
	s := scale{lo: math.Inf(1), hi: math.Inf(-1), log: log}
	for _, v := range values {
		if drawable(v, log) {
			s.lo, s.hi = math.Min(s.lo, v), math.Max(s.hi, v)
		}
	}
	switch {
	case s.lo > s.hi && log: // there is nothing
		s.lo, s.hi = 1, 10
	case s.lo > s.hi:
		s.lo, s.hi = 0, 1
	}
	if log {
		s.lo, s.hi = floorLog(s.lo*0.999), ceilLog(s.hi*1.001)
		return s
	}
	s.lo = math.Min(s.lo, 0)
	if s.hi <= s.lo {
		s.hi = s.lo + 1
	}
	step := round((s.hi - s.lo) / 5)
	s.lo, s.hi = step*math.Floor(s.lo/step), step*math.Ceil(s.hi/step)
	return s
}

// floorLog and ceilLog are the round values, 1, 2 or 5 times a power of ten, below and above.
func floorLog(v float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{5, 2} {
		if f*p <= v {
			return f * p
		}
	}
	return p
}

func ceilLog(v float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 2, 5} {
		if f*p >= v {
			return f * p
		}
	}
	return 10 * p
}

// yScale holds the values of all series; bars: and their bounds.
func (c *Chart) yScale(bars bool) scale {
	var all []float64
	for _, s := range c.Series {
		all = append(all, s.Values...)
		if bars {
			all = append(all, s.Bounds...)
		}
	}
	return around(all, c.LogY)
}
