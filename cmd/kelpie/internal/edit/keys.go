package edit

import (
	"io"
	"strings"
	"unicode/utf8"
)

type keyCode uint8

const (
	keyNone keyCode = iota
	keyRune
	keyPaste
	keyEnter
	keyNewline
	keyInterrupt
	keyEOF
	keyDelete
	keyBackspace
	keyLeft
	keyRight
	keyWordLeft
	keyWordRight
	keyHome
	keyEnd
	keyUp
	keyDown
	keyKillEnd
	keyKillStart
	keyKillWordLeft
	keyKillWordRight
	keyYank
	keyClear
	keySearch
	keyCancel
	keyTab
)

// key is one key, or one paste.
type key struct {
	code keyCode
	r    rune   // of keyRune
	text string // of keyPaste
}

// control are the keys below the blank: Ctrl-A is 1.
var control = [32]keyCode{
	'A' - '@': keyHome, 'B' - '@': keyLeft, 'C' - '@': keyInterrupt, 'D' - '@': keyEOF, 'E' - '@': keyEnd,
	'F' - '@': keyRight, 'G' - '@': keyCancel, 'H' - '@': keyBackspace, 'I' - '@': keyTab, 'J' - '@': keyEnter,
	'K' - '@': keyKillEnd, 'L' - '@': keyClear, 'M' - '@': keyEnter, 'N' - '@': keyDown, 'P' - '@': keyUp,
	'R' - '@': keySearch, 'U' - '@': keyKillStart, 'W' - '@': keyKillWordLeft, 'Y' - '@': keyYank,
}

// sequences are what terminals send after ESC, in their several dialects.
var sequences = map[string]keyCode{
	"[A": keyUp, "OA": keyUp, "[B": keyDown, "OB": keyDown, "[C": keyRight, "OC": keyRight, "[D": keyLeft, "OD": keyLeft,
	"[H": keyHome, "OH": keyHome, "[1~": keyHome, "[7~": keyHome, "[F": keyEnd, "OF": keyEnd, "[4~": keyEnd, "[8~": keyEnd,
	"[3~": keyDelete, "[3;5~": keyKillWordRight,
	"[1;5D": keyWordLeft, "[1;3D": keyWordLeft, "[5D": keyWordLeft, "b": keyWordLeft,
	"[1;5C": keyWordRight, "[1;3C": keyWordRight, "[5C": keyWordRight, "f": keyWordRight,
	"d": keyKillWordRight, "\x7f": keyKillWordLeft, "\b": keyKillWordLeft, "\r": keyNewline, "\n": keyNewline,
}

const pasteBegin, pasteEnd = "[200~", "\x1b[201~"

// keyReader turns bytes into keys. What has been read but not used stays for the next Read: it was
// typed ahead.
type keyReader struct {
	in  io.Reader
	buf []byte
	mem [1024]byte
}

// buffered reports that keys are there without waiting.
func (r *keyReader) buffered() bool { return len(r.buf) > 0 }

// byte waits for the next byte.
func (r *keyReader) byte() (byte, error) {
	for len(r.buf) == 0 {
		n, err := r.in.Read(r.mem[:])
		if n == 0 && err != nil {
			return 0, err
		}
		r.buf = r.mem[:n]
	}
	b := r.buf[0]
	r.buf = r.buf[1:]
	return b, nil
}

// next waits for a key. Unknown ones are keyNone.
func (r *keyReader) next() (key, error) {
	b, err := r.byte()
	switch {
	case err != nil:
		return key{}, err
	case b == 0x1b:
		return r.escape()
	case b < ' ':
		return key{code: control[b]}, nil
	case b == 0x7f:
		return key{code: keyBackspace}, nil
	case b < utf8.RuneSelf:
		return key{code: keyRune, r: rune(b)}, nil
	}
	char := []byte{b}
	for !utf8.FullRune(char) {
		if b, err = r.byte(); err != nil {
			return key{}, err
		}
		char = append(char, b)
	}
	c, _ := utf8.DecodeRune(char)
	return key{code: keyRune, r: c}, nil
}

// escape reads what follows ESC: a letter (Alt), or "[" or "O" with parameters and a final byte.
func (r *keyReader) escape() (key, error) {
	b, err := r.byte()
	if err != nil {
		return key{}, err
	}
	seq := []byte{b}
	if b == '[' || b == 'O' {
		for {
			if b, err = r.byte(); err != nil {
				return key{}, err
			}
			seq = append(seq, b)
			if b >= 0x40 && b <= 0x7e || len(seq) > 16 {
				break
			}
		}
	}
	if string(seq) == pasteBegin {
		return r.paste()
	}
	return key{code: sequences[string(seq)]}, nil
}

// paste reads up to the mark that ends a paste. Line ends become newlines; other control characters
// have no business in a statement.
func (r *keyReader) paste() (key, error) {
	var text strings.Builder
	for !strings.HasSuffix(text.String(), pasteEnd) {
		b, err := r.byte()
		if err != nil {
			return key{}, err
		}
		text.WriteByte(b)
	}
	s := strings.TrimSuffix(text.String(), pasteEnd)
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	s = strings.Map(func(c rune) rune {
		if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			return -1
		}
		return c
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return key{code: keyPaste, text: s}, nil
}
