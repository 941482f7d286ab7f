package exec

import (
	"github.com/kelpiedb/kelpie/internal/column"
)

// arena holds texts. There is room behind the last for what generated code reads too much.
type arena struct {
	mem      *memory
	cur, end uintptr
	size     int
}

const (
	firstTexts = 16 << 10
	lastTexts  = 2 << 20
)

func (t *arena) put(s string) (uintptr, error) {
	if t.cur+uintptr(len(s))+column.TextPad > t.end {
		if err := t.grow(len(s)); err != nil {
			return 0, err
		}
	}
	p := t.cur
	copy(bytesAt(p, len(s)), s)
	t.cur += uintptr(len(s))
	return p, nil
}

// grow begins a new piece with room for n bytes at least.
func (t *arena) grow(n int) error {
	t.size = min(max(t.size*2, firstTexts), lastTexts)
	n = max(t.size, n+column.TextPad)
	a, err := t.mem.alloc(n)
	if err == nil {
		t.cur, t.end = a, a+uintptr(n)
	}
	return err
}
