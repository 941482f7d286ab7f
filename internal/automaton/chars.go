package automaton

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// Characters as bytes. A set of characters is a tree by their bytes: each node has ranges of bytes, none of which overlap, and where each leads.
// Equal nodes are one node, so that the many ranges of letters do not take many states.

// done is the node behind the last byte of a character.
const done = 0

// edge is a range of bytes and the node that it leads to.
type edge struct {
	lo, hi byte
	to     int
}

// trees are the nodes of all sets of a pattern.
type trees struct {
	nodes [][]edge
	known map[string]int
	all   [4]int // the nodes for any so many bytes that go on with a character, if there are some
}

func newTrees() *trees { return &trees{nodes: make([][]edge, 1), known: map[string]int{}} }

// node is the number of a node with some edges, of which neighbours that lead to the same node are joined.
func (t *trees) node(edges []edge) int {
	joined := edges[:0]
	for _, e := range edges {
		if n := len(joined); n > 0 && joined[n-1].to == e.to && int(joined[n-1].hi)+1 == int(e.lo) {
			joined[n-1].hi = e.hi
			continue
		}
		joined = append(joined, e)
	}
	key := make([]byte, 0, 8*len(joined))
	for _, e := range joined {
		key = append(key, e.lo, e.hi, byte(e.to), byte(e.to>>8), byte(e.to>>16))
	}
	n, ok := t.known[string(key)]
	if !ok {
		n = len(t.nodes)
		t.nodes = append(t.nodes, append([]edge(nil), joined...))
		t.known[string(key)] = n
	}
	return n
}

// set is the root of the tree for ranges of characters: pairs, in order.
func (t *trees) set(ranges []rune) int {
	var root []edge
	for _, width := range []struct {
		lo, hi rune
		bytes  int
	}{{0, 0x7f, 1}, {0x80, 0x7ff, 2}, {0x800, 0xffff, 3}, {0x10000, unicode.MaxRune, 4}} {
		part := within(ranges, width.lo, width.hi)
		if width.bytes == 3 { // no text has halves of pairs
			part = append(within(part, 0x800, 0xd7ff), within(part, 0xe000, 0xffff)...)
		}
		root = append(root, t.level(part, width.bytes, true)...)
	}
	return t.node(root)
}

// level is the edges for characters of which n bytes are left; ranges has those bytes of them as numbers, but for the first.
func (t *trees) level(ranges []rune, n int, first bool) (edges []edge) {
	lead := byte(0x80)
	if first {
		lead = [...]byte{0, 0, 0xc0, 0xe0, 0xf0}[n]
	}
	if n == 1 {
		for i := 0; i < len(ranges); i += 2 {
			edges = append(edges, edge{lead | byte(ranges[i]), lead | byte(ranges[i+1]), done})
		}
		return edges
	}
	shift := 6 * (n - 1)
	low := rune(1)<<shift - 1
	var part []rune // of the characters with one first byte
	for i := 0; i < len(ranges); {
		b := ranges[i] >> shift
		part = part[:0]
		for ; i < len(ranges) && ranges[i]>>shift == b; i += 2 {
			if ranges[i+1]>>shift > b { // the rest has other first bytes
				part = append(part, ranges[i]&low, low)
				ranges[i] = (b + 1) << shift
				break
			}
			part = append(part, ranges[i]&low, ranges[i+1]&low)
		}
		edges = append(edges, edge{lead | byte(b), lead | byte(b), t.rest(slices.Clone(part), n-1)})
	}
	return edges
}

// rest is the node for ranges of n more bytes. That for all of them is made once: there are a million characters.
func (t *trees) rest(ranges []rune, n int) int {
	all := len(ranges) == 2 && ranges[0] == 0 && ranges[1] == 1<<(6*n)-1
	if all && t.all[n] > 0 {
		return t.all[n]
	}
	if !all {
		return t.node(t.level(ranges, n, false))
	}
	to := done
	if n > 1 {
		to = t.rest([]rune{0, 1<<(6*(n-1)) - 1}, n-1)
	}
	t.all[n] = t.node([]edge{{0x80, 0xbf, to}})
	return t.all[n]
}

// within is the parts of ranges that lie in another, as a list of its own.
func within(ranges []rune, lo, hi rune) (out []rune) {
	for i := 0; i < len(ranges); i += 2 {
		if a, b := max(ranges[i], lo), min(ranges[i+1], hi); a <= b {
			out = append(out, a, b)
		}
	}
	return out
}

// ranges are the characters that an instruction takes.
func rangesOf(in *syntax.Inst) []rune {
	switch in.Op {
	case syntax.InstRuneAny:
		return []rune{0, unicode.MaxRune}
	case syntax.InstRuneAnyNotNL:
		return []rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune}
	case syntax.InstRune1:
		return []rune{in.Rune[0], in.Rune[0]}
	}
	if len(in.Rune) > 1 {
		return in.Rune
	}
	if len(in.Rune) == 0 {
		return nil
	}
	// One character, perhaps in all of its cases.
	all := []rune{in.Rune[0]}
	if syntax.Flags(in.Arg)&syntax.FoldCase != 0 {
		for r := unicode.SimpleFold(all[0]); r != all[0]; r = unicode.SimpleFold(r) {
			all = append(all, r)
		}
	}
	return pairs(all)
}

// pairs are characters as ranges, in order.
func pairs(all []rune) (out []rune) {
	for len(all) > 0 {
		least := 0
		for i, r := range all {
			if r < all[least] {
				least = i
			}
		}
		out = append(out, all[least], all[least])
		all[least] = all[len(all)-1]
		all = all[:len(all)-1]
	}
	return out
}

// bytesOf is the most bytes that a character of some ranges has.
func bytesOf(ranges []rune) int {
	if len(ranges) == 0 {
		return 0
	}
	return max(utf8.RuneLen(ranges[len(ranges)-1]), 1)
}
