package edit

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// stream hands out one chunk per Read, as a terminal does: a key by itself, or a paste.
type stream struct{ chunks []string }

func (s *stream) Read(b []byte) (int, error) {
	if len(s.chunks) == 0 {
		return 0, io.EOF
	}
	n := copy(b, s.chunks[0])
	if s.chunks[0] = s.chunks[0][n:]; s.chunks[0] == "" {
		s.chunks = s.chunks[1:]
	}
	return n, nil
}

// editorOf edits what keys say: one chunk per field, " " between them, ␣ for a blank.
func editorOf(keys string) (*Editor, *bytes.Buffer) {
	chunks := strings.Split(keys, " ")
	for i, c := range chunks {
		chunks[i] = names.Replace(c)
	}
	var out bytes.Buffer
	e := newEditor(&stream{chunks}, &out, func() (int, int) { return 40, 10 })
	e.Prompt, e.More = "> ", ". "
	e.Complete = func(text string) bool { return strings.HasSuffix(strings.TrimSpace(text), ";") }
	return e, &out
}

var names = strings.NewReplacer("␣", " ", "<left>", "\x1b[D", "<right>", "\x1b[C", "<up>", "\x1b[A", "<down>", "\x1b[B",
	"<home>", "\x1b[H", "<end>", "\x1b[F", "<del>", "\x1b[3~", "<bs>", "\x7f", "<enter>", "\r", "<tab>", "\t",
	"<paste>", "\x1b[200~", "</paste>", "\x1b[201~", "<alt>", "\x1b", "<nl>", "\n",
	"^A", "\x01", "^C", "\x03", "^D", "\x04", "^E", "\x05", "^G", "\x07", "^K", "\x0b", "^R", "\x12", "^U", "\x15", "^W", "\x17", "^Y", "\x19")

func TestKeys(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"abc; <enter>", "abc;"},
		{"abc <enter> def; <enter>", "abc\ndef;"},
		{"ac <left> b <end> ; <enter>", "abc;"},
		{"xabc; <home> <del> <enter>", "abc;"},
		{"abcx <bs> ; <enter>", "abc;"},
		{"one␣two␣three ^W ; <enter>", "one two ;"},
		{"one␣two ^A ^K ^Y ^Y ; <enter>", "one twoone two;"},
		{"one␣two <alt>b ^U x; <enter>", "x;two <nl>"}, // see below: Enter does not end it
		{"日本 <left> x <end> ; <enter>", "日x本;"},
		{"e\u0301x <left> <left> y <end> ; <enter>", "ye\u0301x;"}, // a letter of two runes is one step
		{"a <enter> b <up> x <down> <end> ; <enter>", "ax\nb;"},
		{"<paste>a\tb;\rc;\r\n</paste> <enter>", "a\tb;\nc;"},
		{"a\tb; <enter>", "a\tb;"},       // a tab with more behind it was pasted
		{"a;<nl>rest", "a;"},             // newlines of type-ahead are Enter
		{"<alt>[99;5u a; <enter>", "a;"}, // unknown keys do nothing
		{"a; <alt><enter> b; <enter>", "a;\nb;"},
	} {
		e, _ := editorOf(c.keys)
		got, err := e.Read()
		want, unfinished := strings.CutSuffix(c.want, " <nl>")
		if unfinished {
			if err != io.EOF {
				t.Errorf("%s: %q, %v", c.keys, got, err)
			}
			continue
		}
		if got != want || err != nil {
			t.Errorf("%s: got %q, %v; want %q", c.keys, got, err, want)
		}
	}
}

func TestEnds(t *testing.T) {
	for keys, want := range map[string]error{"abc ^C": ErrInterrupt, "^D": io.EOF, "": io.EOF, "abc": io.EOF} {
		e, _ := editorOf(keys)
		if _, err := e.Read(); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", keys, err, want)
		}
	}
	e, _ := editorOf("ab <home> ^D ; <enter>") // Ctrl-D deletes where there is something to delete
	if got, err := e.Read(); got != "" || err != io.EOF {
		t.Errorf("%q, %v", got, err)
	}
}

// TestTypeAhead: what comes after the end of one input belongs to the next.
func TestTypeAhead(t *testing.T) {
	e, _ := editorOf("a;<enter>b;<enter> c; <enter>")
	for _, want := range []string{"a;", "b;", "c;"} {
		if got, err := e.Read(); got != want || err != nil {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
}

func TestHistory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	h := LoadHistory(file)
	h.Add("select 1;")
	h.Add("select 2\nfrom t;")
	h.Add("select 2\nfrom t;")
	h.Add("  ")
	h = LoadHistory(file)
	if !slices.Equal(h.entries, []string{"select 1;", "select 2\nfrom t;"}) {
		t.Fatalf("%q", h.entries)
	}
	for _, c := range []struct{ keys, want string }{
		{"<up> <enter>", "select 2\nfrom t;"},
		{"<up> <up> <up> <enter>", "select 1;"},
		{"dra <up> <down> <down> ft; <enter>", "draft;"},
		{"^R 1 <enter>", "select 1;"},
		{"^R sel ^R <enter>", "select 1;"},
		{"^R SELECT␣2 <end> <enter>", "select 2\nfrom t;"},
		{"kept; ^R sel ^G <enter>", "kept;"},
		{"^R zzz <enter> ; <enter>", "\n;"},
	} {
		e, _ := editorOf(c.keys)
		e.History = LoadHistory(file)
		e.History.file = ""
		if got, err := e.Read(); got != c.want || err != nil {
			t.Errorf("%s: got %q, %v; want %q", c.keys, got, err, c.want)
		}
	}
}

func TestComplete(t *testing.T) {
	words := []string{"l_shipdate", "l_shipmode", "l_tax"}
	for _, c := range []struct{ keys, want string }{
		{"l_t <tab> ; <enter>", "l_tax ;"},
		{"l_s <tab> d <tab> ; <enter>", "l_shipdate ;"},
		{"L_T <tab> ; <enter>", "l_tax ;"},
		{"q <tab> ; <enter>", "q;"},
		{"l_t␣x <left> <left> <tab> <end> ; <enter>", "l_tax x;"},
	} {
		e, _ := editorOf(c.keys)
		e.Candidates = func(text string, pos int) (int, []string) {
			start := strings.LastIndexByte(text[:pos], ' ') + 1
			var out []string
			for _, w := range words {
				if strings.HasPrefix(w, strings.ToLower(text[start:pos])) {
					out = append(out, w)
				}
			}
			return start, out
		}
		if got, err := e.Read(); got != c.want || err != nil {
			t.Errorf("%s: got %q, %v; want %q", c.keys, got, err, c.want)
		}
	}
}

func TestLayout(t *testing.T) {
	for _, c := range []struct {
		text     string
		pos      int
		rows     string // | between rows
		row, col int
	}{
		{"", 0, "> ", 0, 2},
		{"abc", 1, "> abc", 0, 3},
		{"abc\nde", 4, "> abc|. de", 1, 2},
		{"abcdefgh", 8, "> abcdefgh|", 1, 0}, // a full row: the cursor is on the next
		{"abcdefgh", 7, "> abcdefgh", 0, 9},
		{"abcdefghi", 9, "> abcdefgh|i", 1, 1},
		{"abcdefg日", 7, "> abcdefg|日", 0, 9}, // a wide letter does not fit into the last column
		{"\tx", 1, ">     x", 0, 6},
	} {
		f := layout(c.text, c.pos, 10, "> ", ". ", nil)
		if got := strings.Join(f.rows, "|"); got != c.rows || f.row != c.row || f.col != c.col {
			t.Errorf("%q: got %q at %d,%d; want %q at %d,%d", c.text, got, f.row, f.col, c.rows, c.row, c.col)
		}
	}
	// Colors end with the row and begin again on the next.
	f := layout("'ab\ncd'", 0, 10, "> ", ". ", []uint8{32, 32, 32, 32, 32, 32, 32})
	if got := strings.Join(f.rows, "|"); got != "> \x1b[32m'ab\x1b[0m|. \x1b[32mcd'\x1b[0m" {
		t.Errorf("%q", got)
	}
}

func TestColumns(t *testing.T) {
	words := strings.Fields("aa bb cc dd ee ff gg")
	if got := strings.Join(columnsOf(words, 12, 5), "|"); got != "aa  bb  cc|dd  ee  ff|gg" {
		t.Errorf("%q", got)
	}
	if got := strings.Join(columnsOf(words, 12, 2), "|"); got != "aa  bb  cc|… 4 more" {
		t.Errorf("%q", got)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("abc; \r\x1b[A\x1b[200~x\ty\x1b[201~\x12a\r\r;\r", 20)
	f.Fuzz(func(t *testing.T, keys string, width int) {
		e := newEditor(strings.NewReader(keys), io.Discard, func() (int, int) { return max(width%200, 1), 5 })
		e.Candidates = func(text string, pos int) (int, []string) { return pos, []string{"one", "two"} }
		for range 1000 {
			if _, err := e.Read(); err != nil && err != ErrInterrupt {
				return
			}
		}
	})
}
