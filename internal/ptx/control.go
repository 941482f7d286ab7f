package ptx

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/ir"
)

// block is an open if or loop.
type block struct {
	name      string
	loop      bool
	label     int32 // of a loop
	inElse    bool
	hasElse   bool
	placed    bool // LOOP_NEXT stands already
	breaks    bool // someone goes to LOOP_END
	continues bool // someone goes to LOOP_NEXT
}

// findElses looks ahead, so that an if without else needs one label only.
func (t *translator) findElses() {
	var open []int
	for i := range t.f.Code {
		switch t.f.Code[i].Op {
		case ir.If:
			open = append(open, len(t.hasElse))
			t.hasElse = append(t.hasElse, false)
		case ir.Else:
			if len(open) > 0 {
				t.hasElse[open[len(open)-1]] = true
			}
		case ir.EndIf:
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		}
	}
}

func (t *translator) top(loop bool) *block {
	if n := len(t.blocks) - 1; n >= 0 && t.blocks[n].loop == loop {
		return &t.blocks[n]
	}
	t.fail("no if or loop is open here")
	return &block{}
}

func (t *translator) loop(label int32) *block {
	for i := len(t.blocks) - 1; i >= 0; i-- {
		if b := &t.blocks[i]; b.loop && b.label == label {
			return b
		}
	}
	t.fail("loop %d is not open here", label)
	return &block{}
}

func (t *translator) pop() {
	if len(t.blocks) > 0 {
		t.blocks = t.blocks[:len(t.blocks)-1]
	}
	t.depth--
}

func (t *translator) control(in *ir.Instr) {
	switch in.Op {
	case ir.If:
		b := block{name: fmt.Sprintf("IF%d", t.ifs+1), hasElse: t.hasElse[t.ifs]}
		t.ifs++
		if p := t.cond(in); p != "" {
			target := b.name + "_END"
			if b.hasElse {
				target = b.name + "_ELSE"
			}
			t.op("@!%s bra %s", p, target)
		}
		t.blocks = append(t.blocks, b)
		t.depth++
	case ir.Else:
		b := t.top(false)
		if b.inElse {
			t.fail("a second else")
		}
		b.inElse = true
		t.op("bra %s_END", b.name)
		t.label(b.name + "_ELSE")
	case ir.EndIf:
		t.label(t.top(false).name + "_END")
		t.pop()
	case ir.Loop:
		if t.loopNames[in.Label] {
			t.fail("there are two loops %d", in.Label)
		}
		t.loopNames[in.Label] = true
		t.blocks = append(t.blocks, block{name: fmt.Sprintf("LOOP%d", in.Label), loop: true, label: in.Label})
		t.depth++
		t.label(t.top(true).name)
	case ir.Next:
		b := t.top(true)
		if b.label != in.Label || b.placed {
			t.fail("next of loop %d does not stand here", in.Label)
		}
		t.label(b.name + "_NEXT")
		b.placed = true
	case ir.EndLoop:
		b := t.top(true)
		if b.label != in.Label {
			t.fail("loop %d does not end here", in.Label)
		}
		if b.continues && !b.placed {
			t.label(b.name + "_NEXT")
		}
		if !never(in) {
			t.branch(in, b.name)
		}
		if b.breaks {
			t.label(b.name + "_END")
		}
		t.pop()
	case ir.Break:
		b := t.loop(in.Label)
		b.breaks = true
		t.branch(in, b.name+"_END")
	case ir.Continue:
		b := t.loop(in.Label)
		if b.placed {
			t.fail("continue of loop %d stands after its next", in.Label)
		}
		b.continues = true
		t.branch(in, b.name+"_NEXT")
	case ir.Exit:
		p := t.cond(in)
		if in.Code != ir.StatusDone {
			t.status(p, in.Code)
		}
		t.op("%sret", guard(p))
	}
}

// branch goes to a label if the condition holds.
func (t *translator) branch(in *ir.Instr, label string) {
	t.op("%sbra %s", guard(t.cond(in)), label)
}

func guard(p string) string {
	if p == "" {
		return ""
	}
	return "@" + p + " "
}

// status leaves an exit code in the context, unless another was first.
func (t *translator) status(p string, code int32) {
	t.op("%satom.global.cas.b64 _, [%%ctx+%d], 0, %d", guard(p), ir.CtxStatus, code)
}

// conds are setp's comparison and type, but for its width, for each integer condition.
var conds = [...]string{ir.EQ: "eq.s", ir.NE: "ne.s", ir.LT: "lt.s", ir.LE: "le.s", ir.GT: "gt.s", ir.GE: "ge.s",
	ir.ULT: "lt.u", ir.ULE: "le.u", ir.UGT: "gt.u", ir.UGE: "ge.u"}

// fconds compare floats: false when unordered, except ne.
var fconds = [...]string{ir.EQ: "eq.f64", ir.NE: "neu.f64", ir.LT: "lt.f64", ir.LE: "le.f64", ir.GT: "gt.f64", ir.GE: "ge.f64"}

// cond sets a predicate to an instruction's condition; "" for Always.
func (t *translator) cond(in *ir.Instr) string {
	if in.Cond == ir.Always {
		return ""
	}
	if int(in.Cond) >= len(conds) {
		t.fail("condition %d does not exist", in.Cond)
		return ""
	}
	p := t.temp(tempPred)
	typ := t.valType(in.A)
	if in.A.IsImm() {
		typ = t.valType(in.B)
	}
	t.op("setp.%s%d %s, %s, %s", conds[in.Cond], bitsOf(typ), p, t.as(in.A, typ), t.as(in.B, typ))
	return p
}

// valueCond is cond for values, where there must be a comparison.
func (t *translator) valueCond(in *ir.Instr) string {
	p := t.cond(in)
	if p == "" {
		t.fail("a comparison is needed")
	}
	return p
}

func (t *translator) fcond(in *ir.Instr) string {
	if in.Cond == ir.Always || int(in.Cond) >= len(fconds) {
		t.fail("condition %d does not compare floats", in.Cond)
		return ""
	}
	p := t.temp(tempPred)
	t.op("setp.%s %s, %s, %s", fconds[in.Cond], p, t.fval(in.A), t.fval(in.B))
	return p
}

// never reports a loop that is gone through once.
func never(in *ir.Instr) bool { return in.Cond == ir.NE && in.A.IsImm() && in.A == in.B }
