package plan

import "math/bits"

// inlineWords is how many words a ColSet holds without allocating: 256 columns, more than
// most queries have.
const inlineWords = 4

// ColSet is a set of columns. The zero value is the empty set; it may be copied
// by assignment, copies are independent.
type ColSet struct {
	lo [inlineWords]uint64
	hi []uint64 // columns from 64*inlineWords on; copied before every change
}

// MakeColSet is the set of the given columns.
func MakeColSet(ids ...ColID) ColSet {
	var s ColSet
	for _, id := range ids {
		s.Add(id)
	}
	return s
}

// Add puts id in the set; 0, which is no column, is ignored.
func (s *ColSet) Add(id ColID) {
	w := int(id) >> 6
	if id <= 0 {
		return
	}
	if w < inlineWords {
		s.lo[w] |= 1 << (uint(id) & 63)
		return
	}
	w -= inlineWords
	hi := make([]uint64, max(len(s.hi), w+1))
	copy(hi, s.hi)
	hi[w] |= 1 << (uint(id) & 63)
	s.hi = hi
}

// AddAll puts all ids in the set.
func (s *ColSet) AddAll(ids []ColID) {
	for _, id := range ids {
		s.Add(id)
	}
}

// Remove takes id out of the set.
func (s *ColSet) Remove(id ColID) {
	w := int(id) >> 6
	if id <= 0 {
		return
	}
	if w < inlineWords {
		s.lo[w] &^= 1 << (uint(id) & 63)
		return
	}
	if w -= inlineWords; w < len(s.hi) {
		hi := append([]uint64(nil), s.hi...)
		hi[w] &^= 1 << (uint(id) & 63)
		s.hi = hi
	}
}

// Has reports whether id is in the set.
func (s *ColSet) Has(id ColID) bool {
	w := int(id) >> 6
	if id <= 0 {
		return false
	}
	if w < inlineWords {
		return s.lo[w]>>(uint(id)&63)&1 != 0
	}
	w -= inlineWords
	return w < len(s.hi) && s.hi[w]>>(uint(id)&63)&1 != 0
}

// HasAll reports whether every id is in the set.
func (s *ColSet) HasAll(ids []ColID) bool {
	for _, id := range ids {
		if !s.Has(id) {
			return false
		}
	}
	return true
}

// Union adds t's columns to s.
func (s *ColSet) Union(t ColSet) {
	for i := range s.lo {
		s.lo[i] |= t.lo[i]
	}
	if len(t.hi) == 0 {
		return
	}
	hi := make([]uint64, max(len(s.hi), len(t.hi)))
	copy(hi, s.hi)
	for i, w := range t.hi {
		hi[i] |= w
	}
	s.hi = hi
}

// Minus takes t's columns out of s.
func (s *ColSet) Minus(t ColSet) {
	for i := range s.lo {
		s.lo[i] &^= t.lo[i]
	}
	if len(s.hi) == 0 || len(t.hi) == 0 {
		return
	}
	hi := append([]uint64(nil), s.hi...)
	for i := range min(len(hi), len(t.hi)) {
		hi[i] &^= t.hi[i]
	}
	s.hi = hi
}

// Intersect keeps only the columns that t has too.
func (s *ColSet) Intersect(t ColSet) {
	for i := range s.lo {
		s.lo[i] &= t.lo[i]
	}
	n := min(len(s.hi), len(t.hi))
	hi := append([]uint64(nil), s.hi[:n]...)
	for i := range hi {
		hi[i] &= t.hi[i]
	}
	s.hi = hi
}

// Intersects reports whether s and t have a column in common.
func (s *ColSet) Intersects(t *ColSet) bool {
	for i := range s.lo {
		if s.lo[i]&t.lo[i] != 0 {
			return true
		}
	}
	for i := range min(len(s.hi), len(t.hi)) {
		if s.hi[i]&t.hi[i] != 0 {
			return true
		}
	}
	return false
}

// SubsetOf reports whether t has every column of s.
func (s *ColSet) SubsetOf(t *ColSet) bool {
	for i := range s.lo {
		if s.lo[i]&^t.lo[i] != 0 {
			return false
		}
	}
	for i, w := range s.hi {
		if i < len(t.hi) {
			w &^= t.hi[i]
		}
		if w != 0 {
			return false
		}
	}
	return true
}

// Empty reports whether the set has no column.
func (s *ColSet) Empty() bool {
	for _, w := range s.lo {
		if w != 0 {
			return false
		}
	}
	for _, w := range s.hi {
		if w != 0 {
			return false
		}
	}
	return true
}

// Len is the number of columns in the set.
func (s *ColSet) Len() int {
	n := 0
	for _, w := range s.lo {
		n += bits.OnesCount64(w)
	}
	for _, w := range s.hi {
		n += bits.OnesCount64(w)
	}
	return n
}

// All calls f for each column in ascending order; it is an iterator for range.
func (s ColSet) All(yield func(ColID) bool) {
	base := 0
	for _, words := range [2][]uint64{s.lo[:], s.hi} {
		for _, w := range words {
			for ; w != 0; w &= w - 1 {
				if !yield(ColID(base + bits.TrailingZeros64(w))) {
					return
				}
			}
			base += 64
		}
	}
}

// Slice lists the columns in ascending order.
func (s ColSet) Slice() []ColID {
	ids := make([]ColID, 0, s.Len())
	for id := range s.All {
		ids = append(ids, id)
	}
	return ids
}
