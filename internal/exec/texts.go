package exec

import (
	"strings"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// makeText gives generated code what it needs to make texts.
func (w *worker) makeText(status int64) error {
	state := w.textSpace
	arg := state + layout.TextArg
	need := int(mem.Load64(arg))
	text := ""
	if status != layout.YieldText {
		text = mem.Text(uintptr(mem.Load64(arg)), int(mem.Load64(arg+8)))
		if text = strings.ToLower(text); status == layout.YieldUpper {
			text = strings.ToUpper(mem.Text(uintptr(mem.Load64(arg)), int(mem.Load64(arg+8))))
		}
		need = len(text)
	}
	// The space is the arena's; how much of it is taken, generated code knows.
	w.texts.Mem = w.r.mem
	w.texts.Cur = uintptr(mem.Load64(state + layout.TextCur))
	if w.texts.Cur+uintptr(need)+column.TextPad > w.texts.End {
		if err := w.texts.Grow(need); err != nil {
			return err
		}
		mem.Store64(state+layout.TextStart, uint64(w.texts.Cur))
		mem.Store64(state+layout.TextEnd, uint64(w.texts.End-column.TextPad))
	}
	if status != layout.YieldText {
		p, err := w.texts.Put(text)
		if err != nil {
			return err
		}
		mem.Store64(arg, uint64(p))
		mem.Store64(arg+8, uint64(need))
	}
	mem.Store64(state+layout.TextCur, uint64(w.texts.Cur))
	return nil
}

// forgetTexts lets generated code write over the texts that it has made: nobody needs them any more.
func (w *worker) forgetTexts() {
	if w.texts.Rewind(); w.textSpace != 0 {
		mem.Store64(w.textSpace+layout.TextCur, uint64(w.texts.Cur))
		mem.Store64(w.textSpace+layout.TextStart, uint64(w.texts.Cur))
	}
}

// textState is where generated code finds its space for texts.
func (w *worker) textState() (uintptr, error) {
	if w.textSpace == 0 {
		a, err := w.r.mem.Alloc(layout.TextSpace)
		if err != nil {
			return 0, err
		}
		w.textSpace = a
	}
	return w.textSpace, nil
}
