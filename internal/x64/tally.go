package x64

import (
	"strings"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/ir"
)

// Tally is how much machine code a function has executed.
type Tally struct {
	Static       int64 // instructions that there are
	Instructions int64 // that were executed
	Memory       int64 // of them, those that read or write memory
	Spills       int64 // of those, the ones of spill slots
}

// Add adds what was executed so many times.
func (t *Tally) Add(u Tally, times int64) {
	t.Static += u.Static
	t.Instructions += times * u.Instructions
	t.Memory += times * u.Memory
	t.Spills += times * u.Spills
}

// tally counts instructions without help of the processor, which virtual machines rarely give: each straight
// stretch of code counts how often it is entered, and what it contains is known from the listing. Loops
// within one operation, such as those of masks without vector instructions, count once.
type tally struct {
	blocks []Tally // what each stretch contains
	times  []int64 // how often it was entered; generated code writes here
}

// newTally makes room for the stretches of f.
func newTally(f *ir.Func) *tally {
	n := 0
	for i := range f.Code {
		if leads(f, i) {
			n++
		}
	}
	return &tally{times: make([]int64, n)}
}

// leads reports that a stretch begins with instruction i.
func leads(f *ir.Func, i int) bool {
	if i == 0 {
		return true
	}
	switch f.Code[i-1].Op {
	case ir.If, ir.Else, ir.EndIf, ir.Loop, ir.Next, ir.EndLoop, ir.Break, ir.Continue, ir.Exit, ir.Yield:
		return true
	}
	return false
}

// tallied translates instruction i and counts what it becomes. What goes to the other section, an
// error's exit for example, is hardly ever executed.
func (t *translator) tallied(i int) {
	y := t.counts
	if leads(t.f, i) {
		t.imm(rcx, int64(uintptr(unsafe.Pointer(&y.times[len(y.blocks)]))))
		t.insM(iADD+aluMI8, 0, 0, at(rcx, 0), 1)
		y.blocks = append(y.blocks, Tally{})
	}
	cold, before := t.cold, len(t.lines)
	t.instr(&t.f.Code[i])
	lines := t.lines
	if t.cold != cold {
		lines = t.other.lines
	}
	b := &y.blocks[len(y.blocks)-1]
	for _, l := range lines[before:] {
		if l.end == l.off || strings.HasPrefix(l.text, "nop") { // a comment, or for alignment
			continue
		}
		b.Static++
		b.Instructions++
		if strings.Contains(l.text, "[") && !strings.HasPrefix(l.text, "lea") && !strings.HasPrefix(l.text, "prefetch") {
			b.Memory++
			if strings.Contains(l.text, "[rsp") {
				b.Spills++
			}
		}
	}
}

// Tally is what the function has executed so far, if Options.Tally asked for it.
func (c *Code) Tally() (sum Tally) {
	if c.counts != nil {
		for i, b := range c.counts.blocks {
			sum.Add(b, c.counts.times[i])
		}
	}
	return sum
}
