package dbgen

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

//go:embed dists.dss
var dists string

// Dist is a list of words with weights.
type Dist struct {
	Words []string

	// Sums[i] is the sum of the weights of the words up to and including word i. (For the nations it
	// is the number of the region that the nation belongs to.)
	Sums []int

	index   []uint8 // word number for each value from 0 to the sum of all weights - 1
	total   float64
	padded  []paddedWord
	longest int
}

// wordSize is more than the length of any word.
const wordSize = 32

// paddedWord can be copied at once, which is faster than to branch on its length.
type paddedWord struct {
	text [wordSize]byte
	n    int
}

// put copies word i to buf[at:], which needs room for wordSize bytes, and returns where it ends.
func (d *Dist) put(buf []byte, at, i int) int {
	w := &d.padded[i]
	to := (*[wordSize]byte)(buf[at:])
	copy(to[:16], w.text[:16])
	copy(to[16:], w.text[16:])
	return at + w.n
}

// Pick draws the number of a word.
func (r *Rand) Pick(d *Dist) int {
	*r = r.Step()
	return int(d.index[r.scale(d.total)])
}

// Index is the word number for each value from 0 to the sum of all weights, exclusive.
func (d *Dist) Index() []uint8 { return d.index }

// Lazy returns a function that loads the named word list when it is first called: a program that never
// generates data should not pay for it at its start.
func Lazy(name string) func() *Dist {
	return sync.OnceValue(func() *Dist { return LoadDist(name) })
}

// LoadDist reads the named word list. It panics when there is none: the names are ours.
func LoadDist(name string) *Dist {
	_, body, ok := strings.Cut(dists, "begin "+name+"\n")
	if !ok {
		panic(fmt.Sprintf("dbgen: no word list %q", name))
	}
	body, _, _ = strings.Cut(body, "end\n")
	d := new(Dist)
	sum := 0
	for line := range strings.Lines(body) {
		word, weight, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "|")
		w, err := strconv.Atoi(weight)
		if !ok || err != nil {
			panic(fmt.Sprintf("dbgen: word list %q: bad line %q", name, line))
		}
		for range w {
			d.index = append(d.index, uint8(len(d.Words)))
		}
		sum += w
		d.Words = append(d.Words, word)
		d.Sums = append(d.Sums, sum)
		d.longest = max(d.longest, len(word))
		padded := paddedWord{n: len(word)}
		if copy(padded.text[:], word) < len(word) {
			panic(fmt.Sprintf("dbgen: word list %q: %q is too long", name, word))
		}
		d.padded = append(d.padded, padded)
	}
	d.total = float64(sum)
	return d
}
