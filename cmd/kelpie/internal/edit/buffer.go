package edit

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// buffer is the text that is edited and the cursor's place in it, in bytes.
type buffer struct {
	text string
	pos  int
}

// longest bounds a text: Ctrl-Y pressed for fun doubles it each time. Larger scripts are for \i.
const longest = 4 << 20

func (b *buffer) insert(s string) {
	if len(b.text)+len(s) > longest {
		return
	}
	b.text = b.text[:b.pos] + s + b.text[b.pos:]
	b.pos += len(s)
}

// cut removes a part and leaves the cursor there.
func (b *buffer) cut(from, to int) {
	b.text = b.text[:from] + b.text[to:]
	b.pos = from
}

// set replaces the text; the cursor goes to its end.
func (b *buffer) set(text string) { b.text, b.pos = text, len(text) }

// next and prev are the places after and before a visible character, which may be several runes.
func (b *buffer) next(pos int) int {
	cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(b.text[pos:], -1)
	return pos + len(cluster)
}

func (b *buffer) prev(pos int) int {
	// Clusters are found from the front only; those of the current line are enough.
	last := strings.LastIndexByte(b.text[:pos], '\n') + 1
	if last == pos {
		return max(pos-1, 0)
	}
	for at := last; at < pos; at = b.next(at) {
		last = at
	}
	return last
}

func (b *buffer) lineStart() int { return strings.LastIndexByte(b.text[:b.pos], '\n') + 1 }

func (b *buffer) lineEnd() int {
	if n := strings.IndexByte(b.text[b.pos:], '\n'); n >= 0 {
		return b.pos + n
	}
	return len(b.text)
}

// wordLeft is the beginning of the word before the cursor, wordRight the end of the one after it.
func (b *buffer) wordLeft() int {
	p := len(strings.TrimRightFunc(b.text[:b.pos], notWord))
	return len(strings.TrimRightFunc(b.text[:p], isWord))
}

func (b *buffer) wordRight() int {
	rest := strings.TrimLeftFunc(b.text[b.pos:], notWord)
	rest = strings.TrimLeftFunc(rest, isWord)
	return len(b.text) - len(rest)
}

func isWord(r rune) bool  { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
func notWord(r rune) bool { return !isWord(r) }

// up and down go to the line above or below and report whether there is one.
func (b *buffer) up() bool {
	start := b.lineStart()
	if start == 0 {
		return false
	}
	column := utf8.RuneCountInString(b.text[start:b.pos])
	b.pos = start - 1
	b.pos = b.column(b.lineStart(), column)
	return true
}

func (b *buffer) down() bool {
	end := b.lineEnd()
	if end == len(b.text) {
		return false
	}
	column := utf8.RuneCountInString(b.text[b.lineStart():b.pos])
	b.pos = b.column(end+1, column)
	return true
}

// column is the place n characters after the beginning of a line, or the line's end.
func (b *buffer) column(start, n int) int {
	pos := start
	for ; n > 0 && pos < len(b.text) && b.text[pos] != '\n'; n-- {
		_, size := utf8.DecodeRuneInString(b.text[pos:])
		pos += size
	}
	return pos
}
