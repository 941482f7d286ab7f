package types

// ListWalk finds elements of a list. One that comes after the one before is found from there.
type ListWalk struct {
	list Value
	rest string // from the element behind number at on
	at   int64
}

// Reset begins with another list, which is not NULL.
func (w *ListWalk) Reset(list Value) { *w = ListWalk{list: list, rest: list.S} }

// Elem is element i, from 1; ok is false where there is none.
func (w *ListWalk) Elem(i int64) (v Value, ok bool) {
	if i <= w.at {
		w.Reset(w.list)
	}
	elem := w.list.Type.Elem()
	for w.at < i {
		if len(w.rest) == 0 || w.rest[0] == 0 {
			return NullOf(elem), false
		}
		v, w.rest = nextElem(elem, w.rest)
		w.at++
	}
	return v, i > 0
}
