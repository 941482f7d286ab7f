package automaton

// Table is an automaton. A state is the offset of its row in Rows: so the next state is one addition and one load away.
//
// States are in an order that tells what they mean by comparisons: 0 is the one from which nothing is ever accepted; from Ends on a text
// that ends there is accepted; from Accepts on it is accepted whatever follows.
type Table struct {
	// Class is, for each byte, which column of a row it is.
	Class [256]byte
	// Rows has, for each state, the next one by class.
	Rows []uint16
	// Stride is how many entries a row has.
	Stride int
	// Start is the state at the beginning of a text, Middle that at any other place of it.
	Start, Middle int
	Ends, Accepts int
}

// mostEntries bounds Rows, so that offsets are of 16 bits.
const mostEntries = 1 << 16

// mostStates bounds the states: letters of all languages alone take 300.
const mostStates = 512

// States is how many there are.
func (t *Table) States() int { return len(t.Rows) / t.Stride }

// Step is the state after a byte.
func (t *Table) Step(state int, c byte) int { return int(t.Rows[state+int(t.Class[c])]) }

// Match runs a search: it reports that some part of the text is accepted.
func (t *Table) Match(s string) bool {
	state := t.Start
	for i := 0; i < len(s); i++ {
		if state = t.Step(state, s[i]); state == 0 || state >= t.Accepts {
			break
		}
	}
	return state >= t.Ends
}

// End is where the longest match ends that begins at an offset; -1: none does.
func (t *Table) End(s string, from int) int {
	state, found := t.Middle, -1
	if from == 0 {
		state = t.Start
	}
	for i := from; ; i++ {
		if state >= t.Accepts {
			found = i
		}
		if i == len(s) {
			if state >= t.Ends {
				found = i
			}
			return found
		}
		if state = t.Step(state, s[i]); state == 0 {
			return found
		}
	}
}

// Find is the first match from an offset on, the longest of those that begin there; lo is -1 if there is none.
func (t *Table) Find(s string, from int) (lo, hi int) {
	for ; from <= len(s); from++ {
		if hi = t.End(s, from); hi >= 0 {
			return from, hi
		}
	}
	return -1, -1
}

// Prompt reports that no walk goes on for long without accepting something: there is no way to return to a state but through one that
// accepts. Then Find takes time in proportion to the text: each walk that is in vain ends after as many steps as there are states.
func (t *Table) Prompt() bool {
	const entered, left = 1, 2
	seen := make([]byte, t.States())
	var loops func(state int) bool
	loops = func(state int) bool {
		if state == 0 || state >= t.Accepts {
			return false
		}
		switch i := state / t.Stride; seen[i] {
		case entered:
			return true
		case left:
			return false
		default:
			seen[i] = entered
			for _, next := range t.Rows[state : state+t.Stride] {
				if loops(int(next)) {
					return true
				}
			}
			seen[i] = left
			return false
		}
	}
	for state := t.Stride; state < t.Accepts; state += t.Stride {
		if loops(state) {
			return false
		}
	}
	return true
}

// Empty reports that a text without bytes is accepted, or a part of one without bytes at some place.
func (t *Table) Empty() bool { return t.Start >= t.Ends || t.Middle >= t.Ends }
