package automaton

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
)

// place is where a thread of the automaton that Go compiled is: in the tree of a set of characters, and at which instruction it goes on behind it.
type place struct{ node, then int }

// builder makes states of sets of places.
type builder struct {
	prog   *syntax.Prog
	trees  *trees
	roots  []int // by instruction: the tree of its characters
	search bool  // a match may begin anywhere, and its end does not matter
	class  [256]byte
	bytes  []byte // one byte of each class

	states []state
	known  map[string]int
	seen   []int // by instruction: the closure that it was added in last
	round  int
	into   state // that is being made
}

// state is a set of places.
type state struct {
	places  []place
	accepts bool // the text is accepted, whatever follows
	ends    bool // it is if it ends here
	next    []int
}

// build makes a table; nil: it would be too large, or the pattern looks at what is around a place.
func build(prog *syntax.Prog, search bool) *Table {
	b := &builder{prog: prog, trees: newTrees(), search: search, known: map[string]int{}, seen: make([]int, len(prog.Inst)), roots: make([]int, len(prog.Inst))}
	for i := range prog.Inst {
		switch in := &prog.Inst[i]; in.Op {
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^(syntax.EmptyBeginText|syntax.EmptyEndText) != 0 {
				return nil
			}
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			b.roots[i] = b.trees.set(rangesOf(in))
		}
	}
	b.classes()
	b.state() // the first is the one without places
	b.begin()
	b.follow(prog.Start, syntax.EmptyBeginText)
	start := b.state()
	b.begin()
	b.follow(prog.Start, 0)
	middle := b.state()
	for i := 0; i < len(b.states); i++ {
		if len(b.states) > mostStates || len(b.states)*len(b.bytes) > mostEntries {
			return nil
		}
		b.states[i].next = make([]int, len(b.bytes))
		for k, c := range b.bytes {
			b.states[i].next[k] = b.step(i, c)
		}
	}
	return b.table(start, middle)
}

// classes finds bytes that no set tells apart.
func (b *builder) classes() {
	var bound [257]bool
	for _, edges := range b.trees.nodes {
		for _, e := range edges {
			bound[e.lo], bound[int(e.hi)+1] = true, true
		}
	}
	for c := range 256 {
		if c == 0 || bound[c] {
			b.bytes = append(b.bytes, byte(c))
		}
		b.class[c] = byte(len(b.bytes) - 1)
	}
}

// begin begins another state.
func (b *builder) begin() {
	b.round++
	b.into = state{}
}

// follow adds the places that are reached from an instruction without a character; at is what holds of the place in the text, but for its
// end: that is asked for apart.
func (b *builder) follow(pc int, at syntax.EmptyOp) {
	if b.seen[pc] == b.round {
		return
	}
	b.seen[pc] = b.round
	switch in := &b.prog.Inst[pc]; in.Op {
	case syntax.InstMatch:
		b.into.accepts = true
	case syntax.InstAlt, syntax.InstAltMatch:
		b.follow(int(in.Out), at)
		b.follow(int(in.Arg), at)
	case syntax.InstCapture, syntax.InstNop:
		b.follow(int(in.Out), at)
	case syntax.InstEmptyWidth:
		if asked := syntax.EmptyOp(in.Arg); asked&^at == 0 {
			b.follow(int(in.Out), at)
		} else if asked&^(at|syntax.EmptyEndText) == 0 && b.matchesNothing(int(in.Out), at|syntax.EmptyEndText, map[uint32]bool{}) {
			b.into.ends = true
		}
	case syntax.InstFail:
	default:
		if root := b.roots[pc]; len(b.trees.nodes[root]) > 0 {
			b.into.places = append(b.into.places, place{root, int(in.Out)})
		}
	}
}

// matchesNothing reports that the end of the pattern is reached without a character.
func (b *builder) matchesNothing(pc int, at syntax.EmptyOp, seen map[uint32]bool) bool {
	if seen[uint32(pc)] {
		return false
	}
	seen[uint32(pc)] = true
	switch in := &b.prog.Inst[pc]; in.Op {
	case syntax.InstMatch:
		return true
	case syntax.InstAlt, syntax.InstAltMatch:
		return b.matchesNothing(int(in.Out), at, seen) || b.matchesNothing(int(in.Arg), at, seen)
	case syntax.InstCapture, syntax.InstNop:
		return b.matchesNothing(int(in.Out), at, seen)
	case syntax.InstEmptyWidth:
		return syntax.EmptyOp(in.Arg)&^at == 0 && b.matchesNothing(int(in.Out), at, seen)
	}
	return false
}

// step is the state after a byte.
func (b *builder) step(from int, c byte) int {
	if b.search && b.states[from].accepts {
		return from
	}
	b.begin()
	for _, p := range b.states[from].places {
		for _, e := range b.trees.nodes[p.node] {
			if c < e.lo || c > e.hi {
				continue
			}
			if e.to == done {
				b.follow(p.then, 0)
			} else {
				b.into.places = append(b.into.places, place{e.to, p.then})
			}
		}
	}
	if b.search && from != 0 {
		b.follow(b.prog.Start, 0)
	}
	return b.state()
}

// state is the number of the state that was being made.
func (b *builder) state() int {
	s := b.into
	if s.accepts && b.search {
		s.places = nil // all such states are one
	}
	s.ends = s.ends || s.accepts
	slices.SortFunc(s.places, func(x, y place) int {
		if x.node != y.node {
			return x.node - y.node
		}
		return x.then - y.then
	})
	s.places = slices.Compact(s.places)
	key := make([]byte, 0, 2+4*len(s.places))
	for _, p := range s.places {
		key = binary.AppendUvarint(binary.AppendUvarint(key, uint64(p.node)), uint64(p.then))
	}
	key = append(key, b01(s.accepts), b01(s.ends))
	n, ok := b.known[string(key)]
	if !ok {
		n = len(b.states)
		b.states = append(b.states, s)
		b.known[string(key)] = n
	}
	return n
}

func b01(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// table puts the states in their order.
func (b *builder) table(start, middle int) *Table {
	t := &Table{Class: b.class, Stride: len(b.bytes)}
	order := make([]int, 0, len(b.states))
	put := func(is func(s *state) bool) int {
		for i := range b.states {
			if i > 0 && is(&b.states[i]) {
				order = append(order, i)
			}
		}
		return len(order) * t.Stride
	}
	order = append(order, 0)
	t.Ends = put(func(s *state) bool { return !s.ends })
	t.Accepts = put(func(s *state) bool { return s.ends && !s.accepts })
	put(func(s *state) bool { return s.accepts })
	offset := make([]int, len(b.states))
	for i, s := range order {
		offset[s] = i * t.Stride
	}
	t.Rows = make([]uint16, 0, len(order)*len(b.bytes))
	for _, s := range order {
		for _, next := range b.states[s].next {
			t.Rows = append(t.Rows, uint16(offset[next]))
		}
	}
	t.Start, t.Middle = offset[start], offset[middle]
	return t
}
