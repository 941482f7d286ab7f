package emit

import (
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/techniques"
)

// coder is a function that is being written: its code, the words of its context, its errors and literals, and the
// columns of the row at hand. It knows what its surroundings can do, not what they are.
type coder struct {
	b    *ir.Builder
	Cols *plan.Columns
	Rows int64 // bounds how many rows there are
	Can  abilities
	Off  techniques.Off
	// Check: addresses and lengths of texts are looked at. Verbose: comments tell expressions.
	Check, Verbose bool
	// exit ends the query with an error status under a condition.
	exit func(status int32, c ir.Cond, x, y ir.Val)

	Words    []Word
	Pool     []byte        // of literals; WordPool points to a copy
	Literals []int64       // that come from the context
	Errors   []*diag.Error // exit status k+1 means Errors[k]

	ctx   int          // next free context offset
	words map[Word]int // places in Words, if there are many

	env
}

// abilities are what the surroundings of the code can do.
type abilities struct {
	Unaligned  bool // read 8 bytes at any address
	Divide128  bool // divide 128 bits by 64 in an instruction
	Masks      bool // work on masks of rows or bytes
	Yield      bool // ask Go for something and go on, such as for space for texts
	CheapLoads bool // read from a table sooner than do a dozen multiplications
	Parameters bool // serve other literals of comparisons without being compiled again: they come from the context
}

// WordKind says what a context word holds.
type WordKind uint8

const (
	WordData    WordKind = iota // column Index: data
	WordBase                    // column Index: frame of reference
	WordNull                    // column Index: NULL bytes
	WordHeap                    // column Index: string heap
	WordDesc                    // Dict: descriptors
	WordDHeap                   // Dict: heap
	WordPool                    // literal pool
	WordSlots                   // Build: slots
	WordTuples                  // Build: tuple array
	WordZero                    // a block of zero bytes: the tuple of an outer row without match
	WordLut                     // Luts[Index]
	WordFilter                  // bits of semi-join filter Index
	WordCount                   // a counter, starts at 0
	WordLiteral                 // Literals[Index]
	WordTexts                   // the worker's space for texts: see maketext.go
	WordRanks                   // Dict: the rank of each code, 4 bytes
	WordRow                     // the number of the segment, shifted to the upper half: row numbers are added to it
)

// Word is a context word that the executor fills before the first row.
type Word struct {
	Off   int
	Kind  WordKind
	Index int
	Dict  *column.Dict
	Build *pipe.Build
}

type unsupported struct{ err *diag.Error }

// refuse ends the compilation: the query needs something that is not there.
func refuse(pos int, format string, args ...any) {
	panic(unsupported{diag.Errorf(diag.FeatureNotSupported, pos, format, args...)})
}

// word allots a context word for w and returns its offset.
func (e *coder) word(w Word) int {
	if i := e.findWord(w); i >= 0 {
		return e.Words[i].Off
	}
	if e.words != nil {
		e.words[w] = len(e.Words)
	}
	w.Off = e.ctx
	e.ctx += 8
	e.Words = append(e.Words, w)
	return w.Off
}

// findWord is the place of a word among those that were allotted, -1 if it was not. Few are looked through.
func (e *coder) findWord(w Word) int {
	const few = 24
	if len(e.Words) < few {
		for i, o := range e.Words {
			if o.Off = 0; o == w {
				return i
			}
		}
		return -1
	}
	if e.words == nil {
		e.words = make(map[Word]int, 2*few)
		for i, o := range e.Words {
			o.Off = 0
			e.words[o] = i
		}
	}
	if i, ok := e.words[w]; ok {
		return i
	}
	return -1
}

// loadWord opens a register with a context word.
func (e *coder) loadWord(name string, w Word) ir.Reg {
	r := e.b.Vreg(name, ir.I64)
	e.b.Load8(r, ir.At(ir.Ctx, e.word(w)))
	return r
}

// fail is the exit status for an error.
func (e *coder) fail(err *diag.Error) int32 {
	for i, x := range e.Errors {
		if *x == *err {
			return int32(i + 1)
		}
	}
	e.Errors = append(e.Errors, err)
	return int32(len(e.Errors))
}

// say leaves a comment for the reader of a listing; what is only asked in Verbose
// mode, since it costs more than the line that it explains.
func (e *coder) say(text string, what func(plan.Names) string) {
	if e.Verbose {
		if s := what(e.Cols.Short()); s != "" {
			text += " " + s
		}
	}
	e.b.Comment(text)
}

// detail is a comment that only Verbose mode has.
func (e *coder) detail(text string, what func(plan.Names) string) {
	if e.Verbose {
		e.say(text, what)
	}
}

// partName names a register after a part of a column, as far as people will read it.
func (e *coder) partName(name, part string) string {
	if e.Verbose {
		return name + part
	}
	return name
}

// called names the registers that a value owns after its column, in Verbose mode.
func (e *coder) called(v value, name string) value {
	if !e.Verbose {
		return v
	}
	if v.ownA {
		e.b.F.Regs[v.a.R].Name = name
	}
	if v.ownB {
		e.b.F.Regs[v.b.R].Name = name + "." + [...]string{layout.I128: "hi", layout.Str: "len", layout.Ivl: "us"}[v.d.Form]
	}
	if v.ownNull {
		e.b.F.Regs[v.null.R].Name = name + ".null"
	}
	return v
}

// literal uses a number of a comparison: as it is, or read from the context, so that the same code serves other
// numbers.
func (e *coder) literal(i int64, use func(k ir.Val)) {
	if !e.Can.Parameters {
		use(ir.K(i))
		return
	}
	r := e.loadLiteral(i)
	use(r.V())
	e.b.Clear(r)
}

func (e *coder) loadLiteral(i int64) ir.Reg {
	e.Literals = append(e.Literals, i)
	return e.loadWord("literal", Word{Kind: WordLiteral, Index: len(e.Literals) - 1})
}

// literalValue is the same for an operand that may be a literal.
func (e *coder) literalValue(v value) value {
	if e.Can.Parameters && v.a.IsImm() && v.d.Form == layout.I64 {
		v.a, v.ownA = e.loadLiteral(v.a.Imm).V(), true
	}
	return v
}

// scratch allots bytes of the context for use within a morsel.
func (e *coder) scratch(bytes int) int {
	off := e.ctx
	e.ctx += (bytes + 7) &^ 7
	return off
}
