package diag

import "strings"

// Suggest returns the candidate that name is most probably a misspelling of, or
// "" if none is near. Case does not count; ties go to the earliest candidate, so
// callers list the nearest scope first.
func Suggest(name string, candidates []string) string {
	name = strings.ToLower(name) // first: lower case may be longer, in bytes
	if name == "" || len(name) > maxSuggest {
		return ""
	}
	// About a third of the letters may be wrong: enough for slips of the hand,
	// too few to offer unrelated words.
	best, limit := "", (len(name)+2)/3+1
	switch len(name) {
	case 1:
		limit = 1
	case 2, 3:
		limit = 2
	}
	for _, c := range candidates {
		low := strings.ToLower(c)
		if len(low) > maxSuggest || abs(len(low)-len(name)) >= limit {
			continue
		}
		if d := distance(name, low, limit); d < limit {
			best, limit = c, d
		}
	}
	return best
}

// DidYouMean is Suggest as the text of a hint, or "".
func DidYouMean(name string, candidates []string) string {
	if s := Suggest(name, candidates); s != "" {
		return `did you mean "` + s + `"?`
	}
	return ""
}

// maxSuggest bounds the work for absurd names.
const maxSuggest = 128

// distance is the edit distance between a and b with insertion, deletion,
// substitution and the swap of neighbours, or limit if it is at least that.
func distance(a, b string, limit int) int {
	var store [3][maxSuggest + 1]int
	prev2, prev, cur := &store[0], &store[1], &store[2]
	for j := 0; j <= len(b); j++ {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		low := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, prev2[j-2]+1)
			}
			cur[j] = d
			low = min(low, d)
		}
		if low >= limit {
			return limit
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return min(prev[len(b)], limit)
}

func abs(x int) int {
	if x < 0 {
		return -x
	}
	return x
}
