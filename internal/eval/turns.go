package eval

import (
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Turns computes rows that take the elements of lists in turn: unnest asks for the first element of a list, for the second, and so on, each
// in a row of its own. The list is computed once and walked through once, where each row alone would begin anew.
//
// Texts of rows have to stay where they are as long as rows are computed: a list is the same if what it is computed from is. One thread has it.
type Turns struct{ lists map[*plan.Call]*turn }

// turn is a list whose elements are taken.
type turn struct {
	from  []plan.ColID // what the list is computed from
	was   []types.Value
	walk  types.ListWalk
	null  bool
	begun bool
}

// Row is Row for the row after the one before.
func (t *Turns) Row(e plan.Expr, cols Columns, room func(bytes int64) error) (types.Value, error) {
	return compute(e, &around{cols, room, true, t})
}

// element computes a call of a function that takes elements of its first operand.
func (t *Turns) element(x *plan.Call, in *around) (types.Value, error) {
	l := t.lists[x]
	if l == nil {
		refs := plan.Refs(x.Args[0])
		l = &turn{from: refs.Slice()}
		if t.lists == nil {
			t.lists = map[*plan.Call]*turn{}
		}
		t.lists[x] = l
	}
	if !l.same(in.cols) {
		l.begun = false // if there is an error, too
		list, err := compute(x.Args[0], in)
		if err != nil {
			return list, err
		}
		if l.null = list.Null; !l.null {
			l.walk.Reset(list)
		}
		l.begun = true
	}
	i, err := compute(x.Args[1], in)
	if err != nil || l.null || i.Null {
		return types.NullOf(x.T), err
	}
	v, ok := l.walk.Elem(i.I)
	if !ok {
		return types.NullOf(x.T), nil
	}
	v.Type = x.T
	return v, nil
}

// same reports that the list is computed from what it was computed from before, and takes note of it.
func (l *turn) same(cols Columns) bool {
	same := l.begun
	for k, id := range l.from {
		v, _ := cols(id)
		if k == len(l.was) {
			l.was, same = append(l.was, v), false
		}
		same = same && identical(v, l.was[k])
		l.was[k] = v
	}
	return same
}

// identical: texts are the same if they are at the same place.
func identical(a, b types.Value) bool {
	return unsafe.StringData(a.S) == unsafe.StringData(b.S) && len(a.S) == len(b.S) && a.Null == b.Null && a.I == b.I && a.Hi == b.Hi &&
		(a.F == b.F || a.F != a.F && b.F != b.F)
}
