package funcs

import (
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// mostCompared bounds the product of the lengths of texts that are compared character by character: it takes as many steps,
// and nothing can stop it on the way.
const mostCompared = 1 << 30

func comparable(a []types.Value) error {
	if times(int64(len(a[0].S)), int64(len(a[1].S))) > mostCompared {
		return errorf(diag.ProgramLimitExceeded, "texts of %d and %d bytes are too long to be compared", len(a[0].S), len(a[1].S))
	}
	return nil
}

// distance is a function that counts the changes between two texts.
func distance(f func(x, y []rune) int) Eval {
	return func(a []types.Value, t types.Type) (types.Value, error) {
		if err := comparable(a); err != nil {
			return types.Value{}, err
		}
		return number(t, int64(f([]rune(a[0].S), []rune(a[1].S))))
	}
}

// levenshtein counts insertions, deletions and substitutions.
func levenshtein(x, y []rune) int {
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := diagonal
			if x[i] != y[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(y)]
}

// damerau is levenshtein that knows the exchange of two neighbours, whatever happens between them.
func damerau(x, y []rune) int {
	// Rows and columns are one further than in the text, for the distance that no path goes through.
	width := len(y) + 2
	d := make([]int, (len(x)+2)*width)
	far := len(x) + len(y)
	d[0] = far
	for i := 0; i <= len(x); i++ {
		d[(i+1)*width], d[(i+1)*width+1] = far, i
	}
	for j := 0; j <= len(y); j++ {
		d[j+1], d[width+j+1] = far, j
	}
	last := map[rune]int{}
	for i := 1; i <= len(x); i++ {
		match := 0
		for j := 1; j <= len(y); j++ {
			k, l := last[y[j-1]], match
			cost := 1
			if x[i-1] == y[j-1] {
				cost, match = 0, j
			}
			d[(i+1)*width+j+1] = min(d[i*width+j]+cost, d[(i+1)*width+j]+1, d[i*width+j+1]+1, d[k*width+l]+(i-k-1)+1+(j-l-1))
		}
		last[x[i-1]] = i
	}
	return d[(len(x)+1)*width+len(y)+1]
}

// hamming counts the places at which two texts of one length differ.
func hamming(a []types.Value, t types.Type) (types.Value, error) {
	x, y := []rune(a[0].S), []rune(a[1].S)
	if len(x) != len(y) {
		return fail(diag.InvalidParameter, "mismatches are counted between texts of the same length, not of %d and %d", len(x), len(y))
	}
	n := int64(0)
	for i := range x {
		if x[i] != y[i] {
			n++
		}
	}
	return number(t, n)
}

// jaccard compares sets of characters.
func jaccard(a []types.Value, _ types.Type) (types.Value, error) {
	if a[0].S == "" || a[1].S == "" {
		return fail(diag.InvalidParameter, "jaccard compares texts that are not empty")
	}
	sets := [2]map[rune]bool{{}, {}}
	for i := range sets {
		for _, r := range a[i].S {
			sets[i][r] = true
		}
	}
	both := 0
	for r := range sets[0] {
		if sets[1][r] {
			both++
		}
	}
	return double(float64(both) / float64(len(sets[0])+len(sets[1])-both))
}

// jaro counts characters that both texts have near the same place, and how many of them are out of order.
func jaro(x, y []rune) float64 {
	if len(x) == 0 && len(y) == 0 {
		return 1
	}
	reach := max(max(len(x), len(y))/2-1, 0)
	taken := make([]bool, len(y))
	var matched []rune
	for i, r := range x {
		for j := max(i-reach, 0); j < min(i+reach+1, len(y)); j++ {
			if !taken[j] && y[j] == r {
				taken[j] = true
				matched = append(matched, r)
				break
			}
		}
	}
	if len(matched) == 0 {
		return 0
	}
	swapped, k := 0, 0
	for j, t := range taken {
		if t {
			if y[j] != matched[k] {
				swapped++
			}
			k++
		}
	}
	m := float64(len(matched))
	return (m/float64(len(x)) + m/float64(len(y)) + (m-float64(swapped/2))/m) / 3
}

// jaroWinkler prefers texts that begin alike.
func jaroWinkler(x, y []rune) float64 {
	s := jaro(x, y)
	if s <= 0.7 {
		return s
	}
	same := 0
	for same < min(len(x), len(y), 4) && x[same] == y[same] {
		same++
	}
	return s + float64(same)*0.1*(1-s)
}

// soundexCodes are the digits of the letters A to Z; 0: none.
const soundexCodes = "01230120022455012623010202"

// soundex writes how a name sounds, as PostgreSQL's fuzzystrmatch does.
func soundex(s string) string {
	letter := func(c byte) int {
		if c |= 0x20; c >= 'a' && c <= 'z' {
			return int(c - 'a')
		}
		return -1
	}
	i := 0
	for i < len(s) && letter(s[i]) < 0 {
		i++
	}
	if i == len(s) {
		return ""
	}
	out := []byte{s[i] &^ 0x20}
	for i++; i < len(s) && len(out) < 4; i++ {
		c := letter(s[i])
		if c < 0 {
			continue
		}
		before := s[i-1] // what is no letter is its own code
		if k := letter(before); k >= 0 {
			before = soundexCodes[k]
		}
		if soundexCodes[c] != before && soundexCodes[c] != '0' {
			out = append(out, soundexCodes[c])
		}
	}
	return string(out) + strings.Repeat("0", 4-len(out))
}
