package column

import (
	"math"
	"math/bits"
)

// Sketch estimates how many distinct values it has seen, to within about 2 %: a
// HyperLogLog of 4096 registers with the estimator of Ertl, "New cardinality estimation
// algorithms for HyperLogLog sketches" (2017), which needs no correction tables. Sketches
// of parts merge into that of the whole.
type Sketch struct {
	regs registers
	hist [sketchMax + 1]int32 // how many registers hold each value but 0
}

// registers is the part of a sketch that sealing fills, value by value.
type registers [sketchRegs]uint8

const (
	sketchBits = 12
	sketchRegs = 1 << sketchBits
	sketchMax  = 64 - sketchBits + 1
)

// add counts a hashed value. It has no branch to mispredict: a fresh sketch changes often.
func (r *registers) add(h uint64) {
	rank := uint8(bits.LeadingZeros64(h<<sketchBits|1<<(sketchBits-1))) + 1
	at := &r[h>>(64-sketchBits)]
	*at = max(*at, rank)
}

// add counts a hashed value.
func (s *Sketch) add(h uint64) {
	rank := uint8(bits.LeadingZeros64(h<<sketchBits|1<<(sketchBits-1))) + 1
	if r := &s.regs[h>>(64-sketchBits)]; rank > *r {
		s.raise(r, rank)
	}
}

func (s *Sketch) raise(r *uint8, rank uint8) {
	s.hist[*r]--
	s.hist[rank]++
	*r = rank
}

// Merge adds what o has seen.
func (s *Sketch) Merge(o *Sketch) { s.merge(&o.regs) }

func (s *Sketch) merge(o *registers) {
	for i, rank := range o {
		if r := &s.regs[i]; rank > *r {
			s.raise(r, rank)
		}
	}
}

// Estimate is the number of distinct values.
func (s *Sketch) Estimate() float64 {
	const m = sketchRegs
	zero := m // the histogram's first entry counts down from none
	for _, n := range s.hist[1:] {
		zero -= int(n)
	}
	if zero == m {
		return 0
	}
	z := m * tau(1-float64(s.hist[sketchMax])/m)
	for k := sketchMax - 1; k >= 1; k-- {
		z = (z + float64(s.hist[k])) / 2
	}
	z += m * sigma(float64(zero)/m)
	return m * m / (2 * math.Ln2 * z)
}

func sigma(x float64) float64 {
	y, z := 1.0, x
	for {
		x *= x
		before := z
		z += x * y
		y += y
		if z == before {
			return z
		}
	}
}

func tau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	y, z := 1.0, 1-x
	for {
		x = math.Sqrt(x)
		before := z
		y /= 2
		z -= (1 - x) * (1 - x) * y
		if z == before {
			return z / 3
		}
	}
}
