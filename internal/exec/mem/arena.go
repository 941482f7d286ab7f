package mem

import (
	"github.com/kelpiedb/kelpie/internal/column"
)

// Arena holds texts. There is room behind the last for what generated code reads too much.
type Arena struct {
	Mem      *Memory
	Cur, End uintptr // what is left of the last piece; generated code may write there, too
	size     int
	pieces   []Piece
}

// Piece is a stretch of memory.
type Piece struct {
	Addr uintptr
	Size int
}

// Pieces are all that were begun.
func (t *Arena) Pieces() []Piece { return t.pieces }

// Sizes of an arena's pieces: each is twice as large as the one before.
const (
	FirstTexts = 16 << 10
	LastTexts  = 2 << 20
)

// Rewind forgets all texts. The last piece is written again from its start, others are given back.
func (t *Arena) Rewind() {
	if len(t.pieces) == 0 {
		return
	}
	last := t.pieces[len(t.pieces)-1]
	for _, p := range t.pieces[:len(t.pieces)-1] {
		t.Mem.Free(p.Addr)
	}
	t.pieces = append(t.pieces[:0], last)
	t.Cur = last.Addr
}

// Room is where n bytes of a text can be made that Put is given next, which leaves it there.
func (t *Arena) Room(n int) ([]byte, error) {
	if t.Cur+uintptr(n)+column.TextPad > t.End {
		if err := t.Grow(n); err != nil {
			return nil, err
		}
	}
	return Bytes(t.Cur, n), nil
}

// Put copies a text and returns where it is.
func (t *Arena) Put(s string) (uintptr, error) {
	if t.Cur+uintptr(len(s))+column.TextPad > t.End {
		if err := t.Grow(len(s)); err != nil {
			return 0, err
		}
	}
	p := t.Cur
	copy(Bytes(p, len(s)), s)
	t.Cur += uintptr(len(s))
	return p, nil
}

// Grow begins a new piece with room for n bytes at least.
func (t *Arena) Grow(n int) error {
	t.size = min(max(t.size*2, FirstTexts), LastTexts)
	n = max(t.size, n+column.TextPad)
	a, err := t.Mem.Alloc(n)
	if err == nil {
		t.Cur, t.End = a, a+uintptr(n)
		t.pieces = append(t.pieces, Piece{a, n})
	}
	return err
}
