package diag

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Format prints err for a person who sent query:
//
//	ERROR: column "l_shipdat" does not exist (42703)
//	LINE 3: where l_shipdat < date '1998-09-02'
//	              ^
//	HINT: did you mean "l_shipdate" (lineitem)?
//
// Without a position (or without the query text) the two middle lines are left
// out. The text has no final newline.
func Format(err error, query string) string {
	if err == nil {
		return ""
	}
	var bug *Internal
	if errors.As(err, &bug) {
		return err.Error() // reads differently from a user's error on purpose
	}
	var b strings.Builder
	b.WriteString("ERROR: ")
	b.WriteString(err.Error())
	var e *Error
	if !errors.As(err, &e) {
		return b.String()
	}
	if e.Pos >= 0 && query != "" {
		caret(&b, query, e.Pos)
	}
	if e.Detail != "" {
		b.WriteString("\nDETAIL: ")
		b.WriteString(e.Detail)
	}
	if e.Hint != "" {
		b.WriteString("\nHINT: ")
		b.WriteString(e.Hint)
	}
	return b.String()
}

// LineCol returns the 1-based line and column (in runes) of a byte offset.
func LineCol(query string, pos int) (line, col int) {
	pos = clamp(query, pos)
	start := strings.LastIndexByte(query[:pos], '\n') + 1
	return 1 + strings.Count(query[:start], "\n"), 1 + utf8.RuneCountInString(query[start:pos])
}

// A source line longer than maxLine runes is cut to a window around the caret.
const (
	maxLine = 78
	lead    = 40 // runes kept before the caret
)

func caret(b *strings.Builder, query string, pos int) {
	pos = clamp(query, pos)
	start := strings.LastIndexByte(query[:pos], '\n') + 1
	end := len(query)
	if i := strings.IndexByte(query[pos:], '\n'); i >= 0 {
		end = pos + i
	}
	before := query[start:pos]
	after := strings.TrimRight(query[pos:end], " \t\r")

	nb, na := utf8.RuneCountInString(before), utf8.RuneCountInString(after)
	cutLeft, cutRight := "", ""
	if nb+na > maxLine {
		if keep := max(lead, maxLine-na); nb > keep {
			before, nb = dropRunes(before, nb-keep), keep
			cutLeft = "..."
		}
		if keep := maxLine - nb; na > keep {
			after = after[:len(after)-len(dropRunes(after, keep))]
			cutRight = "..."
		}
	}
	line := 1 + strings.Count(query[:start], "\n")
	prefix := "LINE " + strconv.Itoa(line) + ": " + cutLeft

	b.WriteByte('\n')
	b.WriteString(prefix)
	b.WriteString(printable(before))
	b.WriteString(printable(after))
	b.WriteString(cutRight)
	b.WriteByte('\n')
	for range len(prefix) {
		b.WriteByte(' ')
	}
	// A tab stays a tab under a tab, so that the caret lines up at any tab width.
	for _, r := range before {
		switch {
		case r == '\t':
			b.WriteByte('\t')
		case zeroWidth(r):
		case wide(r):
			b.WriteString("  ")
		default:
			b.WriteByte(' ')
		}
	}
	b.WriteByte('^')
}

// clamp puts pos into the text and on the first byte of a rune.
func clamp(s string, pos int) int {
	pos = max(0, min(pos, len(s)))
	for back := 0; pos > 0 && pos < len(s) && !utf8.RuneStart(s[pos]) && back < utf8.UTFMax; back++ {
		pos--
	}
	return pos
}

func dropRunes(s string, n int) string {
	for ; n > 0 && s != ""; n-- {
		_, size := utf8.DecodeRuneInString(s)
		s = s[size:]
	}
	return s
}

// printable replaces what would move the cursor or is no text at all; each
// replacement is one column wide, as caret expects.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if (r < ' ' && r != '\t') || r == 0x7f || (r >= 0x80 && r < 0xa0) {
			return utf8.RuneError
		}
		return r
	}, s)
}

// zeroWidth and wide cover what people put into string literals: combining marks
// and East Asian text or emoji. They need not be complete: a caret that is one
// column off still helps.
func zeroWidth(r rune) bool {
	return r >= 0x300 && r <= 0x36f || r >= 0x200b && r <= 0x200f || r >= 0xfe00 && r <= 0xfe0f
}

func wide(r rune) bool {
	return r >= 0x1100 && r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 ||
		r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 ||
		r >= 0xffe0 && r <= 0xffe6 || r >= 0x1f300 && r <= 0x1faff || r >= 0x20000 && r <= 0x3fffd
}
