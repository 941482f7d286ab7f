package dbgen

// The generator is Park and Miller's "minimal standard": the next state is state * 16807 modulo the
// prime 2^31 - 1.
const (
	multiplier = 16807
	modulus    = 1<<31 - 1
)

// Rand draws random numbers. Its value is the generator's state.
type Rand uint64

// Step moves to the next state.
func (r Rand) Step() Rand { return Rand(mulmod(uint64(r), multiplier)) }

// Int draws a number from lo to hi, both inclusive.
func (r *Rand) Int(lo, hi int64) int64 {
	*r = r.Step()
	return lo + r.scale(float64(hi-lo+1))
}

// scale maps the state to 0 ... n-1. It is floating-point because the reference's is, and for n above a
// million the two roundings show.
func (r Rand) scale(n float64) int64 {
	return int64(float64(r) / modulus * n)
}

// mulmod multiplies two numbers that are not 0, modulo 2^31 - 1. As 2^31 is 1 in that field, the high bits
// of the product are simply added to the low ones, twice, because the first sum may have a high bit
// again. A comparison would be as short, but is a branch that goes either way at random. The result is
// never the modulus itself, which would be 0, as the modulus is prime.
func mulmod(a, b uint64) uint64 {
	p := a * b
	p = p&modulus + p>>31
	return p&modulus + p>>31
}

// power is the multiplier of n steps at once.
func power(n int64) uint64 {
	result := uint64(1)
	for square := uint64(multiplier); n > 0; n >>= 1 {
		if n&1 != 0 {
			result = mulmod(result, square)
		}
		square = mulmod(square, square)
	}
	return result
}

// Stream is the random stream of one column, standing at the beginning of a row.
type Stream struct {
	state uint64
	jump  uint64 // multiplier that leads to the next row
}

// NewStream returns the stream that starts with the given seed and consumes perRow numbers for a row,
// standing at row.
func NewStream(seed uint64, perRow int, row int64) Stream {
	return Stream{
		state: mulmod(seed, power(int64(perRow)*row)),
		jump:  power(int64(perRow)),
	}
}

// Row returns the random numbers of the current row and moves the stream to the next row.
func (s *Stream) Row() Rand {
	r := Rand(s.state)
	s.state = mulmod(s.state, s.jump)
	return r
}

// Jump is a number of steps, to be taken at once.
type Jump uint64

// NewJump prepares n steps.
func NewJump(n int) Jump { return Jump(power(int64(n))) }

// Jump moves on by the steps of j.
func (r Rand) Jump(j Jump) Rand { return Rand(mulmod(uint64(r), uint64(j))) }
