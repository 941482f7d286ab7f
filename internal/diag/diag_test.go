package diag

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

func TestFormat(t *testing.T) {
	query := "select sum(l_quantity)\nfrom lineitem\nwhere l_shipdat < date '1998-09-02'\ngroup by 1"
	long := strings.Repeat("a, ", 40) + "bad, " + strings.Repeat("c, ", 40)
	for _, c := range []struct {
		name, query string
		err         error
		want        string
	}{
		{"caret", query,
			Errorf(UndefinedColumn, strings.Index(query, "l_shipdat "), "column %q does not exist", "l_shipdat").
				WithHint("did you mean %q (lineitem)?", "l_shipdate"),
			`ERROR: column "l_shipdat" does not exist (42703)
LINE 3: where l_shipdat < date '1998-09-02'
              ^
HINT: did you mean "l_shipdate" (lineitem)?`},
		{"no position", query, Errorf(OutOfMemory, NoPos, "out of memory").WithDetail("needed 100%"),
			"ERROR: out of memory (53200)\nDETAIL: needed 100%"},
		{"no text", "", Errorf(SyntaxError, 3, "oops"), "ERROR: oops (42601)"},
		{"at the end", "select", Errorf(SyntaxError, 6, "oops"), "ERROR: oops (42601)\nLINE 1: select\n              ^"},
		{"past the end", "select", Errorf(SyntaxError, 600, "oops"), "ERROR: oops (42601)\nLINE 1: select\n              ^"},
		{"tabs", "\tselect\tx", Errorf(SyntaxError, 8, "oops"), "ERROR: oops (42601)\nLINE 1: \tselect\tx\n        \t      \t^"},
		{"runes", "select 'äöü' x", Errorf(SyntaxError, 16, "oops"), "ERROR: oops (42601)\nLINE 1: select 'äöü' x\n                     ^"},
		{"wide runes", "select '日本' x", Errorf(SyntaxError, 16, "oops"), "ERROR: oops (42601)\nLINE 1: select '日本' x\n                      ^"},
		{"inside a rune", "ä", Errorf(SyntaxError, 1, "oops"), "ERROR: oops (42601)\nLINE 1: ä\n        ^"},
		{"carriage return", "a b\r\nc", Errorf(SyntaxError, 2, "oops"), "ERROR: oops (42601)\nLINE 1: a b\n          ^"},
		{"control bytes", "a\x1b\xff b", Errorf(SyntaxError, 4, "oops"), "ERROR: oops (42601)\nLINE 1: a\ufffd\ufffd b\n            ^"},
		{"long line", long, Errorf(SyntaxError, strings.Index(long, "bad"), "oops"),
			"ERROR: oops (42601)\n" +
				"LINE 1: ... a, a, a, a, a, a, a, a, a, a, a, a, a, bad, c, c, c, c, c, c, c, c, c, c, c, ...\n" +
				"                                                   ^"},
		{"wrapped", "x", fmt.Errorf("script.sql: %w", Errorf(SyntaxError, 0, "oops")), "ERROR: script.sql: oops (42601)\nLINE 1: x\n        ^"},
		{"plain", "x", errors.New("plain"), "ERROR: plain"},
		{"internal", "x", Internalf("emit hashjoin", "register %s still open", "key#7"),
			"internal error in emit hashjoin: register key#7 still open (please report)"},
	} {
		if got := Format(c.err, c.query); got != c.want {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", c.name, got, c.want)
		}
	}
	if Format(nil, "x") != "" {
		t.Error("no error must print as nothing")
	}
}

func TestError(t *testing.T) {
	e := Errorf(IOError, NoPos, "cannot read %q: %w", "x", fs.ErrNotExist)
	if !errors.Is(e, fs.ErrNotExist) || e.Error() != `cannot read "x": file does not exist (58030)` {
		t.Errorf("got %v", e)
	}
	if got := e.At(5).At(7).Pos; got != 5 {
		t.Errorf("position %d, want the first one, 5", got)
	}
	var moved *Error
	if !errors.As(Shift(e, 10), &moved) || moved.Pos != 15 || e.Pos != 5 {
		t.Errorf("shifted to %+v from %+v", moved, e)
	}
	if got := CodeOf(fmt.Errorf("x: %w", e)); got != IOError {
		t.Errorf("code %s", got)
	}
	if got := CodeOf(errors.New("x")); got != InternalError {
		t.Errorf("code %s", got)
	}
	if got := Unsupported(3, "%s JOIN", "ASOF").Error(); got != "ASOF JOIN is not supported (0A000)" {
		t.Error(got)
	}
	// A hint without arguments is text: percent signs in user input stay as they are.
	if got := Errorf(SyntaxError, 0, "oops").WithHint("50%").Hint; got != "50%" {
		t.Error(got)
	}
}

func TestRecover(t *testing.T) {
	run := func(v any) (err error) {
		defer Recover("bind", &err)
		panic(v)
	}
	user := Errorf(SyntaxError, 0, "oops")
	if err := run(user); err != error(user) {
		t.Errorf("got %v", err)
	}
	var bug *Internal
	if err := run("boom"); !errors.As(err, &bug) || bug.Stage != "bind" || bug.Msg != "boom" || !strings.Contains(string(bug.Stack), "TestRecover") {
		t.Errorf("got %+v", bug)
	}
	if err := run(fs.ErrClosed); !errors.Is(err, fs.ErrClosed) || !errors.As(err, &bug) {
		t.Errorf("got %v", err)
	}
	if err := run(Internalf("emit", "x")); !errors.As(err, &bug) || bug.Stage != "emit" || bug.Stack == nil {
		t.Errorf("got %v", err)
	}
	quiet := func() (err error) {
		defer Recover("bind", &err)
		return user
	}
	if err := quiet(); err != error(user) {
		t.Errorf("got %v", err)
	}
}

func TestSuggest(t *testing.T) {
	columns := []string{"l_orderkey", "l_shipdate", "l_shipmode", "l_tax", "o_orderkey", "a", "id"}
	for name, want := range map[string]string{
		"l_shipdat": "l_shipdate", "L_SHIPDATE": "l_shipdate", "l_shpidate": "l_shipdate", "shipdate": "l_shipdate",
		"orderkey": "l_orderkey", "l_txa": "l_tax", "di": "id", "zzzz": "", "": "", "x": "",
	} {
		if got := Suggest(name, columns); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	if got := DidYouMean("l_shipdat", columns); got != `did you mean "l_shipdate"?` {
		t.Error(got)
	}
	if got := Suggest(strings.Repeat("x", 1000), columns); got != "" {
		t.Error(got)
	}
}

func FuzzFormat(f *testing.F) {
	f.Add("select 1", 3)
	f.Add("\xff\t\n", -1)
	f.Fuzz(func(t *testing.T, query string, pos int) {
		got := Format(Errorf(SyntaxError, pos, "x"), query)
		if pos >= 0 && query != "" && !strings.HasSuffix(got, "^") {
			t.Errorf("no caret in %q", got)
		}
		LineCol(query, pos)
		Suggest(query, []string{query, "select"})
	})
}
