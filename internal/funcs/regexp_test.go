package funcs

import (
	"fmt"
	"testing"
)

// TestCompiledIsBounded: patterns that differ from row to row are not all remembered.
func TestCompiledIsBounded(t *testing.T) {
	for i := range 2*mostCompiled + 1 {
		re, err := compile(fmt.Sprintf("^a{%d}(?:x%d)?", i%10, i), "", false)
		if err != nil || !re.MatchString("aaaaaaaaaa") {
			t.Fatal(i, err)
		}
		if n := len(compiled.m); n > mostCompiled {
			t.Fatalf("%d patterns are remembered, not %d", n, mostCompiled)
		}
	}
}

// TestJaro: texts without characters are alike, and like no other.
func TestJaro(t *testing.T) {
	for _, c := range []struct {
		x, y string
		want float64
	}{{"", "", 1}, {"", "a", 0}, {"a", "", 0}, {"a", "b", 0}, {"é", "é", 1}, {"ab", "ba", 0}, {"MARTHA", "MARHTA", 17.0 / 18}} {
		if got := jaro([]rune(c.x), []rune(c.y)); got < c.want-1e-12 || got > c.want+1e-12 {
			t.Errorf("%q, %q: %v", c.x, c.y, got)
		}
	}
}
