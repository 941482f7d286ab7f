package opt

import "math/bits"

func trailing(mask uint64) int { return bits.TrailingZeros64(mask) }
func leading(mask uint64) int  { return bits.LeadingZeros64(mask) }

// maxRels is how many relations a relSet can hold.
const maxRels = 128

// relSet is a set of relations of a block, by number. Dynamic programming, which sees few relations, works
// on the low word alone.
type relSet struct{ lo, hi uint64 }

func oneRel(i int) relSet {
	if i < 64 {
		return relSet{lo: 1 << i}
	}
	return relSet{hi: 1 << (i - 64)}
}

// firstRels are relations 0 … n-1.
func firstRels(n int) relSet {
	if n >= 64 {
		return relSet{^uint64(0), 1<<(n-64) - 1}
	}
	return relSet{lo: 1<<n - 1}
}

func (s relSet) has(i int) bool {
	if i < 64 {
		return s.lo>>i&1 != 0
	}
	return s.hi>>(i-64)&1 != 0
}

func (s relSet) or(t relSet) relSet     { return relSet{s.lo | t.lo, s.hi | t.hi} }
func (s relSet) and(t relSet) relSet    { return relSet{s.lo & t.lo, s.hi & t.hi} }
func (s relSet) minus(t relSet) relSet  { return relSet{s.lo &^ t.lo, s.hi &^ t.hi} }
func (s relSet) empty() bool            { return s.lo|s.hi == 0 }
func (s relSet) overlaps(t relSet) bool { return s.lo&t.lo|s.hi&t.hi != 0 }
func (s relSet) within(t relSet) bool   { return s.lo&^t.lo|s.hi&^t.hi == 0 }
func (s relSet) len() int               { return bits.OnesCount64(s.lo) + bits.OnesCount64(s.hi) }
func (s relSet) several() bool          { return s.lo&(s.lo-1)|s.hi&(s.hi-1) != 0 || s.lo != 0 && s.hi != 0 }
func (s relSet) all(yield func(int) bool) { // an iterator for range
	for w := s.lo; w != 0; w &= w - 1 {
		if !yield(trailing(w)) {
			return
		}
	}
	for w := s.hi; w != 0; w &= w - 1 {
		if !yield(64 + trailing(w)) {
			return
		}
	}
}

// first is the lowest number in a set that is not empty.
func (s relSet) first() int {
	if s.lo != 0 {
		return trailing(s.lo)
	}
	return 64 + trailing(s.hi)
}

// only is the number of the only relation of a set, -1 if there are none or several.
func (s relSet) only() int {
	if s.empty() || s.several() {
		return -1
	}
	return s.first()
}
