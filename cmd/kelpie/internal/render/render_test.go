package render

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie"
)

func query(t *testing.T, sql string) *kelpie.Result {
	t.Helper()
	db, err := kelpie.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	res, err := db.Session().Query(context.Background(), sql)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func rendered(t *testing.T, sql string, o Options) string {
	t.Helper()
	var b strings.Builder
	if err := NewWriter(&b).Write(context.Background(), query(t, sql), o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestFit: on a terminal, texts are cut to make the table fit, numbers never.
func TestFit(t *testing.T) {
	const sql = `select 1234567890123 as n, 'the quick brown fox jumps' as text, '日本語日本語日本語日本語' as wide`
	for _, c := range []struct {
		width int
		want  string
	}{
		{0, ` 1234567890123 | the quick brown fox jumps | 日本語日本語日本語日本語`},
		{80, ` 1234567890123 | the quick brown fox jumps | 日本語日本語日本語日本語`},
		{60, ` 1234567890123 | the quick brown fo… | 日本語日本語日本語…`},
		{30, ` 1234567890123 | … | 日本語…`}, // no narrower: columns in the middle are left out
		{29, ` 1234567890123 | …`},
		{5, ` 1234567890123 | …`}, // one is shown, whatever happens
	} {
		got := strings.Split(rendered(t, sql, Options{Format: "table", Width: c.width}), "\n")
		if got[2] != c.want {
			t.Errorf("%d columns:\n%s\nwant\n%s", c.width, got[2], c.want)
		}
		for _, line := range got {
			if c.width >= 29 && width(line) > c.width {
				t.Errorf("%d columns: %q has %d", c.width, line, width(line))
			}
		}
	}
}

// TestLookahead: a table of many rows is printed as they come, with the widths of the first ones.
func TestLookahead(t *testing.T) {
	got := rendered(t, "select i, 'x' as x from generate_series(1, 25000) as t(i) order by i", Options{Format: "table"})
	lines := strings.Split(got, "\n")
	if len(lines) != 2+25000+3 || lines[2] != "     1 | x" || lines[25001] != " 25000 | x" || lines[25002] != "(25000 rows)" {
		t.Errorf("%d lines: %q %q %q", len(lines), lines[2], lines[25001], lines[25002])
	}
}

func TestExpanded(t *testing.T) {
	got := rendered(t, "select 1 as a, E'two\nlines' as long_name, null as c", Options{Format: "table", Expanded: true})
	if want := `-[ RECORD 1 ]---------------------------
a         | 1
long_name | two
          | lines
c         |

`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

type broken struct{ writes int }

var errBroken = errors.New("broken pipe")

func (b *broken) Write([]byte) (int, error) { b.writes++; return 0, errBroken }

// TestBroken: when nobody reads any more, printing ends soon.
func TestBroken(t *testing.T) {
	for _, format := range Formats {
		w := &broken{}
		if err := NewWriter(w).Write(context.Background(), query(t, "select * from generate_series(1, 100000)"), Options{Format: format}); !errors.Is(err, errBroken) || w.writes != 1 {
			t.Errorf("%s: %v after %d writes", format, err, w.writes)
		}
	}
}

func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var b strings.Builder
	if err := NewWriter(&b).Write(ctx, query(t, "select * from generate_series(1, 100000)"), Options{Format: "csv"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestTruncate(t *testing.T) {
	for _, c := range []struct {
		s    string
		w    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"日本語", 5, "日本…"}, {"日本語", 4, "日…"}, {"e\u0301e\u0301e\u0301", 2, "e\u0301…"}} {
		if got := truncate(c.s, c.w); got != c.want || width(got) > c.w {
			t.Errorf("%q to %d: %q", c.s, c.w, got)
		}
	}
}

func BenchmarkFormats(b *testing.B) {
	db, err := kelpie.Open()
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	s := db.Session()
	if _, err := s.Exec(context.Background(), "call tpch(sf => 0.01)"); err != nil {
		b.Fatal(err)
	}
	for _, format := range Formats {
		b.Run(format, func(b *testing.B) {
			for b.Loop() {
				res, err := s.Query(context.Background(), "select * from lineitem")
				if err != nil {
					b.Fatal(err)
				}
				w := &counter{}
				if err := NewWriter(w).Write(context.Background(), res, Options{Format: format}); err != nil {
					b.Fatal(err)
				}
				b.SetBytes(w.n)
			}
		})
	}
}

type counter struct{ n int64 }

func (c *counter) Write(b []byte) (int, error) { c.n += int64(len(b)); return len(b), nil }

func TestFromMiddle(t *testing.T) {
	for n, want := range [][]int{nil, nil, {1}, {1, 2}, {1, 2, 3}, {2, 3, 1, 4}, {2, 3, 1, 4, 5}} {
		if got := fromMiddle(n); !slices.Equal(got, want) {
			t.Errorf("%d columns: %v", n, got)
		}
	}
}
