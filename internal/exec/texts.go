package exec

import (
	"strings"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// makeText gives generated code what it needs to make texts.
func (w *worker) makeText(status int64) error {
	state := w.textSpace
	arg := state + emit.TextArg
	need := int(load64(arg))
	text := ""
	if status != layout.YieldText {
		text = textAt(uintptr(load64(arg)), int(load64(arg+8)))
		if text = strings.ToLower(text); status == layout.YieldUpper {
			text = strings.ToUpper(textAt(uintptr(load64(arg)), int(load64(arg+8))))
		}
		need = len(text)
	}
	// The space is the arena's; how much of it is taken, generated code knows.
	w.texts.mem = w.r.mem
	w.texts.cur = uintptr(load64(state + emit.TextCur))
	if w.texts.cur+uintptr(need)+column.TextPad > w.texts.end {
		if err := w.texts.grow(need); err != nil {
			return err
		}
		store64(state+emit.TextStart, uint64(w.texts.cur))
		store64(state+emit.TextEnd, uint64(w.texts.end-column.TextPad))
	}
	if status != layout.YieldText {
		p, err := w.texts.put(text)
		if err != nil {
			return err
		}
		store64(arg, uint64(p))
		store64(arg+8, uint64(need))
	}
	store64(state+emit.TextCur, uint64(w.texts.cur))
	return nil
}

// textState is where generated code finds its space for texts.
func (w *worker) textState() (uintptr, error) {
	if w.textSpace == 0 {
		a, err := w.r.mem.alloc(emit.TextSpace)
		if err != nil {
			return 0, err
		}
		w.textSpace = a
	}
	return w.textSpace, nil
}
