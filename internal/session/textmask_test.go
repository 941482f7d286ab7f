package session

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/types"
)

// randText is of few letters, some of more than one byte, so that much of what is searched for
// is there or nearly so. Lengths lie around what is read at a time, and around what a
// descriptor holds.
func randText(r *rand.Rand) string {
	n := []int{0, 1, 3, 11, 12, 13, 20, 40, 62, 63, 64, 65, 66, 100, 127, 128, 129, 200}[r.IntN(18)]
	letters := []string{"a", "a", "b", "c", "x", "é", "日", " "}
	if r.IntN(2) == 0 {
		letters = letters[:5]
	}
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(letters[r.IntN(len(letters))])
	}
	return b.String()
}

// randPattern takes pieces of a text apart by wildcards.
func randPattern(r *rand.Rand, text string) string {
	runes := []rune(text)
	var b strings.Builder
	for i := 0; ; {
		switch r.IntN(6) {
		case 0, 1:
			b.WriteByte('%')
			i += r.IntN(70)
		case 2:
			b.WriteByte('_')
			i++
		case 3:
			b.WriteString([]string{"b", "cab", "日", "xx"}[r.IntN(4)])
		default:
			n := 1 + r.IntN(12)
			if i < len(runes) {
				b.WriteString(string(runes[i:min(i+n, len(runes))]))
			}
			i += n
		}
		if r.IntN(4) == 0 || i > len(runes) {
			break
		}
	}
	if r.IntN(2) == 0 {
		b.WriteByte('%')
	}
	return b.String()
}

// TestTextSearch: LIKE, position, length and their like give what the interpreter gives, with
// and without vector instructions, for texts in heaps, in descriptors and at the end of both.
func TestTextSearch(t *testing.T) {
	s := New(NewDB())
	query := func(sql string) [][]types.Value {
		t.Helper()
		res, err := s.Query(context.Background(), sql)
		if err != nil {
			t.Fatalf("%s\n%v", sql, err)
		}
		defer res.Close()
		return res.Values()
	}
	query("set check = on; set dictionaries = off; create table texts (id int, t varchar)")
	r := rand.New(rand.NewPCG(1, 2))
	var texts []string
	var rows []string
	for i := range 600 {
		texts = append(texts, randText(r))
		rows = append(rows, fmt.Sprintf("(%d, '%s')", i, texts[i]))
	}
	query("insert into texts values " + strings.Join(rows, ", "))
	trials := 250
	if testing.Short() {
		trials = 60
	}
	for range trials {
		pat := randPattern(r, texts[r.IntN(len(texts))])
		lit := strings.NewReplacer("%", "", "_", "").Replace(pat)
		from, count := 1+r.IntN(6), r.IntN(5)
		list := []string{texts[r.IntN(len(texts))], "a", "", "ab", "日x"}[:1+r.IntN(5)]
		if r.IntN(2) == 0 {
			list = append(list[1:], "xx", "abc", "cab", "a")
		}
		sql := fmt.Sprintf(`select t like '%s', position('%[2]s' in t), length(t), starts_with(t, '%[2]s'), t = '%[2]s', t < '%[2]s', '%[2]s' < t, t >= '%[2]s', t <> '%[2]s',
			substring(t from %d for %d) = 'ab', substring(t from %[3]d for %[4]d) in ('', 'a', 'xa'), t in ('%s') from texts order by id`, pat, lit, from, count, strings.Join(list, "', '"))
		for _, level := range []string{"off", "avx2", "avx512"} {
			query("set simd = " + level)
			for i, row := range query(sql) {
				text := texts[i]
				pos := strings.Index(text, lit)
				if pos >= 0 {
					pos = utf8.RuneCountInString(text[:pos]) + 1
				} else {
					pos = 0
				}
				runes := []rune(text)
				part := string(runes[min(from-1, len(runes)):min(from-1+count, len(runes))])
				want := []any{funcs.Like(text, pat), pos, utf8.RuneCountInString(text), strings.HasPrefix(text, lit), text == lit, text < lit, lit < text, text >= lit, text != lit,
					part == "ab", slices.Contains([]string{"", "a", "xa"}, part), slices.Contains(list, text)}
				for k, v := range row {
					got := any(v.I != 0)
					if k == 1 || k == 2 {
						got = int(v.I)
					}
					if got != want[k] {
						t.Fatalf("simd %s: %q: column %d of %s is %v, want %v", level, text, k, sql, got, want[k])
					}
				}
			}
		}
	}
	if column.TextPad < 64 {
		t.Error("generated code reads 64 bytes at a time, and the first of them is one of the text")
	}
}
