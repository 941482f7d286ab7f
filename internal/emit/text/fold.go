package text

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
)

// Folded is emit under which the texts that it reads by words are as lower or upper would make them, as far as they are ASCII.
func Folded(e *code.Emitter, upper bool, emit func() code.Value) code.Value {
	e.Folds = code.FoldLower
	if upper {
		e.Folds = code.FoldUpper
	}
	v := emit()
	e.Folds = code.FoldNone
	return v
}

// CanFold reports that Folded finds a pattern where it is in what lower or upper make: it has only characters of ASCII that are of that case, and none
// that others become.
func CanFold(lit string, upper bool) bool {
	becomes, change := fromBeyond().lower, unicode.ToLower
	if upper {
		becomes, change = fromBeyond().upper, unicode.ToUpper
	}
	for _, c := range lit {
		if c >= utf8.RuneSelf || change(c) != c {
			return false
		}
	}
	return !strings.ContainsAny(lit, becomes)
}

// fromBeyond are the letters of ASCII that letters beyond it become, in lower and in upper case: K of Kelvin, a long s, and i with a dot or without.
var fromBeyond = sync.OnceValue(func() (out struct{ lower, upper string }) {
	for r := rune(utf8.RuneSelf); r <= unicode.MaxRune; r++ {
		if c := unicode.ToLower(r); c < utf8.RuneSelf {
			out.lower += string(c)
		}
		if c := unicode.ToUpper(r); c < utf8.RuneSelf {
			out.upper += string(c)
		}
	}
	return out
})

// foldCase changes the case of the letters of ASCII in a word. Other characters must not be in it, unless mixed.
func foldCase(e *code.Emitter, w ir.Reg, fold code.Fold, mixed bool) {
	const ones, tops = 0x0101010101010101, -0x7f7f7f7f7f7f7f80
	first, last := int64('A'), int64('Z')
	if fold == code.FoldUpper {
		first, last = 'a', 'z'
	}
	// Without their top bits the sums below do not carry from byte to byte; the top bit of
	// one tells ≥ first, that of the other > last.
	t, u := e.Int("t"), e.Int("u")
	e.B.Op2(ir.And, t, w.V(), ir.K(ones*0x7f))
	e.B.Op2(ir.Add, u, t.V(), ir.K(ones*(0x80-first)))
	e.B.Op2(ir.Add, t, t.V(), ir.K(ones*(0x7f-last)))
	e.B.Op2(ir.Xor, t, t.V(), u.V())
	e.B.Op2(ir.And, t, t.V(), ir.K(tops))
	if mixed { // no byte beyond ASCII is a letter
		e.B.Op1(ir.Not, u, w.V())
		e.B.Op2(ir.And, t, t.V(), u.V())
	}
	e.B.Op2(ir.Shr, t, t.V(), ir.K(2)) // 0x20 for each letter
	e.B.Op2(ir.Xor, w, w.V(), t.V())
	e.B.Clear(t, u)
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
