package render

import (
	"fmt"
	"strings"

	"github.com/rivo/uniseg"
)

// width is how many columns of a terminal s takes.
func width(s string) int {
	if plain(s) {
		return len(s)
	}
	return uniseg.StringWidth(s)
}

// plain reports printable ASCII, where bytes are columns.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// printable makes a value safe for a terminal: control characters would move the cursor and break
// the table, or worse, talk to the terminal. They are shown as psql shows them; newlines stay.
func printable(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	col := 0
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteRune(r)
			col = 0
			continue
		case r == '\t':
			n := 8 - col%8
			b.WriteString(strings.Repeat(" ", n))
			col += n
			continue
		case r == '\r':
			b.WriteString(`\r`)
			col += 2
			continue
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\x%02X`, r)
			col += 4
			continue
		case r >= 0x80 && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // C1, direction overrides
			fmt.Fprintf(&b, `\u%04X`, r)
			col += 6
			continue
		}
		b.WriteRune(r)
		col++
	}
	return b.String()
}

// truncate shortens s to at most w columns, with … at the end if something is left out.
func truncate(s string, w int) string {
	if width(s) <= w {
		return s
	}
	used, end, state := 0, 0, -1
	for rest := s; rest != ""; {
		var cluster string
		var cw int
		cluster, rest, cw, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if used+cw > w-1 {
			break
		}
		used += cw
		end += len(cluster)
	}
	return s[:end] + "…"
}
