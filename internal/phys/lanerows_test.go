package phys

import (
	"fmt"
	"testing"
)

// TestChooseLaneRows: as many rows as registers and the code for them allow, and none where lanes must meet at each row or where a
// column cannot be read by wide loads.
func TestChooseLaneRows(t *testing.T) {
	for _, c := range []struct {
		name string
		code RowCode
		want string
	}{
		{"few instructions", RowCode{Instrs: 10, Bytes: 5, Widest: 4}, "8 4"},
		{"all that registers hold", RowCode{Instrs: 10, Bytes: 12, Widest: 2}, "8 8"},
		{"more", RowCode{Instrs: 10, Bytes: 13, Widest: 8}, "4 2"},
		{"all that half of the rows may have", RowCode{Instrs: 10, Bytes: 24, Widest: 4}, "4 4"},
		{"too much", RowCode{Instrs: 10, Bytes: 25, Widest: 8}, "0 0"},
		{"long", RowCode{Instrs: 125, Bytes: 1, Widest: 1}, "8 8"},
		{"longer", RowCode{Instrs: 126, Bytes: 1, Widest: 1}, "4 4"},
		{"half as many rows of a long one", RowCode{Instrs: 250, Bytes: 1, Widest: 1}, "4 4"},
		{"too long", RowCode{Instrs: 251, Bytes: 1, Widest: 1}, "0 0"},
		{"together", RowCode{Instrs: 10, Bytes: 12, Together: true, Widest: 1}, "0 0"},
		{"written", RowCode{Instrs: 10, Bytes: 12, Widest: 1, Writes: 0.25, Kept: 1}, "8 8 joined"},
		{"written, with two words", RowCode{Instrs: 10, Bytes: 12, Widest: 1, Writes: 1, Kept: 2}, "8 8 joined"},
		{"with three", RowCode{Instrs: 10, Bytes: 12, Widest: 1, Writes: 1, Kept: 3}, "4 4 joined"},
		{"with four", RowCode{Instrs: 10, Bytes: 12, Widest: 1, Writes: 1, Kept: 4}, "4 4 joined"},
		{"with more than can wait", RowCode{Instrs: 10, Bytes: 12, Widest: 1, Writes: 1, Kept: 5}, "8 8"},
		{"few written", RowCode{Instrs: 10, Bytes: 12, Widest: 1, Writes: 0.24}, "0 0"},
		{"no columns", RowCode{Instrs: 10, Widest: 1}, "0 0"},
		{"a column of texts", RowCode{Instrs: 10, Bytes: 12, Others: 1, Widest: 1}, "0 0"},
	} {
		n := ChooseLaneRows(c.code)
		got := fmt.Sprint(n.Rows, " ", n.Side)
		if n.Joined {
			got += " joined"
		}
		if got != c.want {
			t.Errorf("%s: %s, not %s", c.name, got, c.want)
		}
	}
	if s := (Decision{LaneRows: LaneRows{Rows: 8, Side: 4}}).String(); s != "8 rows a lane by wide loads" {
		t.Error(s)
	}
}

// TestChooseRunRows: rows of a lane lie side by side, and are no more than it has registers for.
func TestChooseRunRows(t *testing.T) {
	for _, c := range []struct {
		name  string
		code  RowCode
		words int
		want  int
	}{
		{"keys of 4 bytes", RowCode{Instrs: 10, Bytes: 5, Widest: 4}, 2, 4},
		{"keys of 2 bytes", RowCode{Instrs: 10, Bytes: 3, Widest: 2}, 2, 4},
		{"keys of 8 bytes", RowCode{Instrs: 10, Bytes: 9, Widest: 8}, 2, 2},
		{"more numbers", RowCode{Instrs: 10, Bytes: 5, Widest: 4}, 3, 2},
		{"all that two rows may have", RowCode{Instrs: 10, Bytes: 5, Widest: 4}, 4, 2},
		{"too much", RowCode{Instrs: 10, Bytes: 5, Widest: 4}, 5, 0},
		{"a column of texts", RowCode{Instrs: 10, Bytes: 12, Others: 1, Widest: 1}, 2, 0},
	} {
		got := ChooseRunRows(c.code, c.words)
		if got.Rows != c.want || got.Side != c.want {
			t.Errorf("%s: %+v, not %d", c.name, got, c.want)
		}
	}
}
