// Package edit is a line editor for the shell: it reads a statement of one or more lines from a
// terminal, with history, search, completion, colors and pasting.
//
// In: keys. Out: text. All movements on the screen are relative to where the prompt began, so that
// the terminal is never asked anything, and no key can get lost among its answers. Read edit.go for
// what the keys do; buffer.go holds the text, keys.go reads keys, draw.go puts the text on the screen.
package edit

import (
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// ErrInterrupt says that Ctrl-C was pressed.
var ErrInterrupt = errors.New("interrupted")

// Editor reads statements. Set the fields before the first Read.
type Editor struct {
	Prompt string // before the first line
	More   string // before each further line
	Start  string // what the next text begins with
	// Complete reports that Enter may end the input; otherwise it begins a new line.
	Complete func(text string) bool
	// Candidates are what may stand in place of text[start:pos].
	Candidates func(text string, pos int) (start int, words []string)
	// Styles gives each byte of a text an SGR code, 0 for plain.
	Styles  func(text string) []uint8
	History *History

	keys keyReader
	out  io.Writer
	tty  *os.File // nil in tests
	size func() (columns, rows int)

	buffer
	killed string // what Ctrl-Y brings back
	screen screen
	below  []string // lines under the text, until the next key
	recall recall
}

// New edits on a terminal.
func New(in, out *os.File) *Editor {
	e := newEditor(in, out, func() (int, int) {
		w, h, err := term.GetSize(int(out.Fd()))
		if err != nil || w < 1 || h < 1 {
			return 80, 24
		}
		return w, h
	})
	e.tty = in
	return e
}

func newEditor(in io.Reader, out io.Writer, size func() (int, int)) *Editor {
	return &Editor{keys: keyReader{in: in}, out: out, size: size, History: &History{},
		Complete: func(string) bool { return true }}
}

// Read lets the user edit a text and returns it. Ctrl-C gives up with ErrInterrupt, Ctrl-D on an
// empty line with io.EOF.
func (e *Editor) Read() (string, error) {
	if e.tty != nil {
		state, err := term.MakeRaw(int(e.tty.Fd()))
		if err != nil {
			return "", err
		}
		defer term.Restore(int(e.tty.Fd()), state)
	}
	io.WriteString(e.out, "\x1b[?2004h") // pasted text comes marked
	defer io.WriteString(e.out, "\x1b[?2004l")
	e.buffer = buffer{}
	e.set(e.Start)
	e.screen = screen{}
	e.recall = recall{at: e.History.Len()}
	e.below = nil
	for {
		// While more keys are waiting, as in a paste without marks, the screen can wait too.
		if !e.keys.buffered() {
			e.draw()
		}
		k, err := e.keys.next()
		if err != nil {
			e.leave("")
			return "", err
		}
		e.below = nil
		if done, err := e.key(k); done {
			return e.text, err
		}
	}
}

// key does what a key asks for. The input ends when done is true.
func (e *Editor) key(k key) (done bool, err error) {
	switch k.code {
	case keyRune:
		e.insert(string(k.r))
	case keyPaste:
		e.insert(k.text)
	case keyEnter:
		if !e.Complete(e.text) {
			e.insert("\n")
			break
		}
		e.set(strings.TrimRight(e.text, " \t\n")) // a paste often ends with a newline
		e.leave("")
		e.History.Add(e.text)
		return true, nil
	case keyNewline:
		e.insert("\n")
	case keyInterrupt:
		e.pos = len(e.text)
		e.leave("^C")
		return true, ErrInterrupt
	case keyDelete, keyEOF:
		if k.code == keyEOF && e.text == "" {
			e.leave("")
			return true, io.EOF
		}
		e.cut(e.pos, e.next(e.pos))
	case keyBackspace:
		e.cut(e.prev(e.pos), e.pos)
	case keyLeft:
		e.pos = e.prev(e.pos)
	case keyRight:
		e.pos = e.next(e.pos)
	case keyWordLeft:
		e.pos = e.wordLeft()
	case keyWordRight:
		e.pos = e.wordRight()
	case keyHome:
		e.pos = e.lineStart()
	case keyEnd:
		e.pos = e.lineEnd()
	case keyUp:
		if !e.up() {
			e.older()
		}
	case keyDown:
		if !e.down() {
			e.newer()
		}
	case keyKillEnd:
		end := e.lineEnd()
		if end == e.pos { // at the end of a line: join it with the next
			end = e.next(e.pos)
		}
		e.kill(e.pos, end)
	case keyKillStart:
		e.kill(e.lineStart(), e.pos)
	case keyKillWordLeft:
		e.kill(e.wordLeft(), e.pos)
	case keyKillWordRight:
		e.kill(e.pos, e.wordRight())
	case keyYank:
		e.insert(e.killed)
	case keyClear:
		io.WriteString(e.out, "\x1b[H\x1b[2J")
		e.screen = screen{}
	case keySearch:
		return e.search()
	case keyTab:
		if e.keys.buffered() { // nobody types on before seeing what Tab did: it was pasted
			e.insert("\t")
			break
		}
		e.complete()
	}
	return false, nil
}

// kill cuts text so that it can be brought back.
func (e *Editor) kill(from, to int) {
	if from < to {
		e.killed = e.text[from:to]
		e.cut(from, to)
	}
}

// complete completes the word before the cursor as far as all candidates agree, and lists them if that
// is no further than it is.
func (e *Editor) complete() {
	if e.Candidates == nil {
		return
	}
	start, words := e.Candidates(e.text, e.pos)
	if len(words) == 0 {
		return
	}
	common := words[0]
	for _, w := range words[1:] {
		n := 0
		for n < min(len(common), len(w)) && lower(common[n]) == lower(w[n]) {
			n++
		}
		common = common[:n]
	}
	rest := e.text[e.pos:]
	if len(words) == 1 && !strings.HasSuffix(common, "/") && (rest == "" || !strings.ContainsAny(rest[:1], " '\")")) { // a path goes on
		common += " "
	}
	if len(common) > e.pos-start {
		e.cut(start, e.pos)
		e.insert(common)
		return
	}
	e.below = words
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
