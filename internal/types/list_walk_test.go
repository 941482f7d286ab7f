package types

import "testing"

func TestListWalk(t *testing.T) {
	list := ListValue(TText, []Value{TextValue("a"), NullOf(TText), TextValue(""), TextValue("x\x00é")})
	elems := list.Elems()
	var w ListWalk
	w.Reset(list)
	for _, i := range []int64{1, 2, 3, 4, 4, 2, 1, 5, 3, 0, -1, 4, 6, 1} { // in turn, again, back, and where nothing is
		v, ok := w.Elem(i)
		if want := i >= 1 && i <= 4; ok != want {
			t.Fatalf("element %d: %v instead of %v", i, ok, want)
		}
		if ok && (v.Null != elems[i-1].Null || v.S != elems[i-1].S) {
			t.Errorf("element %d is %q instead of %q", i, v.S, elems[i-1].S)
		}
	}
	w.Reset(ListValue(TInt64, nil))
	if _, ok := w.Elem(1); ok {
		t.Error("an empty list has an element")
	}
}
