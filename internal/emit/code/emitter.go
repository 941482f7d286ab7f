package code

import (
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/techniques"
)

// Emitter is a function that is being written: its code, the words of its context, its errors and literals, and the
// columns of the row at hand. It knows what its surroundings can do, not what they are.
type Emitter struct {
	B    *ir.Builder
	Cols *plan.Columns
	Rows int64 // bounds how many rows there are
	Can  Abilities
	Off  techniques.Off
	// Check: addresses and lengths of texts are looked at. Verbose: comments tell expressions.
	Check, Verbose bool
	// Brief: the code serves literals of any length, at the cost of some speed.
	Brief bool
	// Folds is how the letters of texts are changed that are read by words.
	Folds Fold
	// Exit ends the query with an error status under a condition.
	Exit func(status int32, c ir.Cond, x, y ir.Val)
	// Texts is where texts are made.
	Texts TextSpace

	Words    []Word
	Pool     []byte        // of literals; WordPool points to a copy
	Literals []int64       // that come from the context
	Errors   []*diag.Error // exit status k+1 means Errors[k]

	CtxSize int          // next free context offset
	words   map[Word]int // places in Words, if there are many

	env
}

// Abilities are what the surroundings of the code can do.
type Abilities struct {
	Unaligned  bool // read 8 bytes at any address
	Divide128  bool // divide 128 bits by 64 in an instruction
	Masks      bool // work on masks of rows or bytes
	Yield      bool // ask Go for something and go on, such as for space for texts
	CheapLoads bool // read from a table sooner than do a dozen multiplications
	Checked    bool // look at every access to memory themselves, when that is simulated
	Words      bool // have registers of 32 bits, and work on those faster
	Parameters bool // serve other literals and other data without being compiled again: numbers of them are parameters
}

// TextSpace is where code makes texts, one behind the other. They last as long as the query, unless they are dropped.
type TextSpace interface {
	// Ready comes before code that makes texts may be taken back (ir.Builder.Undo).
	Ready()
	// Room opens a register with the address where the next text begins, with room for n bytes, and 8 more that may be written. Without
	// Abilities.Unaligned it is a multiple of 8. Nothing is taken yet.
	Room(n ir.Val) ir.Reg
	// Take keeps what lies before end.
	Take(end ir.Val)
	// Mark opens a register with the place where texts that are made from now on will begin, Drop takes back the room of all
	// that were made since.
	Mark() ir.Reg
	Drop(mark ir.Reg)
}

// Fold is a change of case.
type Fold uint8

const (
	FoldNone Fold = iota
	FoldLower
	FoldUpper
)

// WordKind says what a context word holds.
type WordKind uint8

const (
	WordData       WordKind = iota // column Index: data
	WordBase                       // column Index: frame of reference
	WordNull                       // column Index: NULL bytes
	WordHeap                       // column Index: string heap
	WordDesc                       // Dict: descriptors
	WordDHeap                      // Dict: heap
	WordPool                       // literal pool, from Index on
	WordSlots                      // Build: slots
	WordTuples                     // Build: tuple array
	WordZero                       // a block of zero bytes: the tuple of an outer row without match
	WordLut                        // Luts[Index]
	WordFilter                     // bits of semi-join filter Index
	WordCount                      // a counter, starts at 0
	WordQueue                      // the queue of rows with many matches
	WordLanes                      // one of a profile's, likewise
	WordLiteral                    // Literals[Index]
	WordTexts                      // the worker's space for texts: layout.TextCur and what follows it
	WordSpace                      // a GPU's space for texts: what is not taken of it begins here, a counter
	WordSpaceEnd                   // and ends here
	WordSpaceTakes                 // how much of it a lane takes at a time, at least
	WordRanks                      // Dict: the rank of each code, 4 bytes
	WordRow                        // what row numbers are added to: the number of the segment, shifted to the upper half, or the chunk's first row
)

// Word is a context word that the executor fills before the first row.
type Word struct {
	Off   int
	Kind  WordKind
	Index int
	Dict  *column.Dict
	Build *pipe.Build
}

// Unsupported is what Refuse panics with.
type Unsupported struct{ Err *diag.Error }

// Refuse ends the compilation: the query needs something that is not there.
func Refuse(pos int, format string, args ...any) {
	panic(Unsupported{Err: diag.Errorf(diag.FeatureNotSupported, pos, format, args...)})
}

// Word allots a context word for w and returns its offset.
func (e *Emitter) Word(w Word) int {
	if i := e.findWord(w); i >= 0 {
		return e.Words[i].Off
	}
	if e.words != nil {
		e.words[w] = len(e.Words)
	}
	w.Off = e.CtxSize
	e.CtxSize += 8
	e.Words = append(e.Words, w)
	return w.Off
}

// findWord is the place of a word among those that were allotted, -1 if it was not. Few are looked through.
func (e *Emitter) findWord(w Word) int {
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

// LoadWord opens a register with a context word.
func (e *Emitter) LoadWord(name string, w Word) ir.Reg {
	r := e.B.Vreg(name, ir.I64)
	e.B.Load8(r, ir.At(ir.Ctx, e.Word(w)))
	return r
}

// Fail is the exit status for an error.
func (e *Emitter) Fail(err *diag.Error) int32 {
	for i, x := range e.Errors {
		if *x == *err {
			return int32(i + 1)
		}
	}
	e.Errors = append(e.Errors, err)
	return int32(len(e.Errors))
}

// Say leaves a comment for the reader of a listing; what is only asked in Verbose
// mode, since it costs more than the line that it explains.
func (e *Emitter) Say(text string, what func(plan.Names) string) {
	if e.Verbose {
		if s := what(e.Cols.Short()); s != "" {
			text += " " + s
		}
	}
	e.B.Comment(text)
}

// Detail is a comment that only Verbose mode has.
func (e *Emitter) Detail(text string, what func(plan.Names) string) {
	if e.Verbose {
		e.Say(text, what)
	}
}

// PartName names a register after a part of a column, as far as people will read it.
func (e *Emitter) PartName(name, part string) string {
	if e.Verbose {
		return name + part
	}
	return name
}

// Called names the registers that a value owns after its column, in Verbose mode.
func (e *Emitter) Called(v Value, name string) Value {
	if !e.Verbose {
		return v
	}
	if v.OwnA {
		e.B.F.Regs[v.A.R].Name = name
	}
	if v.OwnB {
		e.B.F.Regs[v.B.R].Name = name + "." + [...]string{layout.I128: "hi", layout.Str: "len", layout.Ivl: "us"}[v.Desc.Form]
	}
	if v.OwnNull {
		e.B.F.Regs[v.Null.R].Name = name + ".null"
	}
	return v
}

// maxFacts bounds the numbers that come from outside: a kernel takes so many parameters, and those beyond stay in
// its text.
const maxFacts = 256

// Fact is a number that the query or the data says, as an operand: as it is, or as a parameter, so that the same code serves
// queries of the same shape, and other data. A parameter's register is read where the function begins, and nobody else's to clear
// or to change.
func (e *Emitter) Fact(i int64) ir.Val {
	if !e.Can.Parameters || len(e.Literals) >= maxFacts {
		return ir.K(i)
	}
	e.Literals = append(e.Literals, i)
	return e.LoadWord("fact", Word{Kind: WordLiteral, Index: len(e.Literals) - 1}).V()
}

// FactValue makes a parameter of an operand that is a literal.
func (e *Emitter) FactValue(v Value) Value {
	if !e.Can.Parameters || v.Null.IsImm() && v.IsNull() {
		return v
	}
	switch v.Desc.Form {
	case layout.I64:
		if v.A.IsImm() {
			v.A = e.Fact(v.A.Imm)
		}
	case layout.I128:
		if v.A.IsImm() && v.B.IsImm() {
			v.A, v.B = e.Fact(v.A.Imm), e.Fact(v.B.Imm)
		}
	}
	return v
}

// Scratch allots bytes of the context for use within a morsel.
func (e *Emitter) Scratch(bytes int) int {
	off := e.CtxSize
	e.CtxSize += (bytes + 7) &^ 7
	return off
}

// Mix folds a word into a hash: a 64×64→128 multiplication, halves xored.
func (e *Emitter) Mix(h ir.Reg, w ir.Val) {
	hi := e.Int("hi")
	e.B.Op2(ir.Xor, h, h.V(), w)
	e.B.Op128(ir.MulWideU, h, hi, h.V(), ir.Val{}, ir.K(layout.HashMul), ir.Val{}, 0)
	e.B.Op2(ir.Xor, h, h.V(), hi.V())
	e.B.Clear(hi)
}
