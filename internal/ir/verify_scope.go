package ir

import "fmt"

// scopes follows control flow and register scopes in one pass over the code.
type scopes struct {
	f      *Func
	regs   []regScope
	blocks []scopeBlock   // open blocks, the function's own first
	labels map[int32]bool // of all loops so far
}

type regState uint8

const (
	unopened regState = iota
	open
	cleared
)

type regScope struct {
	state regState
	// depth of the block with the vreg. A depth identifies the block: one that
	// has ended has no open registers.
	depth int32
	at    int32 // instruction of the vreg
}

// scopeBlock is the function's body, a branch or a loop body.
type scopeBlock struct {
	op     Op // Nop for the function; If, Else or Loop
	label  int32
	at     int
	next   bool // the loop's Next has passed
	opened []Reg
}

func newScopes(f *Func) *scopes {
	s := &scopes{f: f, regs: make([]regScope, len(f.Regs)), labels: map[int32]bool{}}
	s.regs[Ctx].state = open
	s.blocks = append(s.blocks, scopeBlock{op: Nop})
	return s
}

func (s *scopes) top() *scopeBlock { return &s.blocks[len(s.blocks)-1] }

// step takes instruction at, whose form is known to be good.
func (s *scopes) step(at int, in *Instr) error {
	switch in.Op {
	case Vreg:
		return s.vreg(at, in.D)
	case Clear:
		return s.clear(in.D)
	}
	if err := s.uses(in); err != nil {
		return err
	}
	switch in.Op {
	case If:
		s.blocks = append(s.blocks, scopeBlock{op: If, at: at})
	case Else:
		if s.top().op != If {
			return fmt.Errorf("else without if, %s", s.inside())
		}
		if err := s.leave(); err != nil {
			return err
		}
		s.blocks = append(s.blocks, scopeBlock{op: Else, at: at})
	case EndIf:
		if op := s.top().op; op != If && op != Else {
			return fmt.Errorf("end of an if, %s", s.inside())
		}
		return s.leave()
	case Loop:
		if s.labels[in.Label] {
			return fmt.Errorf("a second loop L%d", in.Label)
		}
		s.labels[in.Label] = true
		s.blocks = append(s.blocks, scopeBlock{op: Loop, label: in.Label, at: at})
	case Next:
		b := s.top()
		switch {
		case b.op != Loop || b.label != in.Label:
			return fmt.Errorf("next must stand directly in its loop, %s", s.inside())
		case b.next:
			return fmt.Errorf("a second next in loop L%d", in.Label)
		}
		b.next = true
	case EndLoop:
		if b := s.top(); b.op != Loop || b.label != in.Label {
			return fmt.Errorf("end of loop L%d, %s", in.Label, s.inside())
		}
		return s.leave()
	case Break, Continue:
		b := s.loop(in.Label)
		if b == nil {
			return fmt.Errorf("not inside a loop L%d", in.Label)
		}
		// Jumping back to a Next would be a second loop inside the loop.
		if in.Op == Continue && b.next {
			return fmt.Errorf("continue stands after the next of loop L%d", in.Label)
		}
	}
	return nil
}

func (s *scopes) end() error {
	if len(s.blocks) > 1 {
		return fmt.Errorf("block is not closed, %s", s.inside())
	}
	return s.leave()
}

func (s *scopes) loop(label int32) *scopeBlock {
	for i := len(s.blocks) - 1; i > 0; i-- {
		if b := &s.blocks[i]; b.op == Loop && b.label == label {
			return b
		}
	}
	return nil
}

// inside says where we are, for messages.
func (s *scopes) inside() string {
	b := s.top()
	if b.op == Nop {
		return "outside any block"
	}
	return fmt.Sprintf("inside the %s of instr %d", b.op, b.at)
}

// leave ends the innermost block.
func (s *scopes) leave() error {
	for _, r := range s.top().opened {
		if s.regs[r].state == open {
			return fmt.Errorf("register %s of instr %d is not cleared in its block", regText(s.f, r), s.regs[r].at)
		}
	}
	s.blocks = s.blocks[:len(s.blocks)-1]
	return nil
}

func (s *scopes) vreg(at int, r Reg) error {
	g := &s.regs[r]
	if g.state != unopened {
		return fmt.Errorf("register %s was opened before, at instr %d", regText(s.f, r), g.at)
	}
	*g = regScope{state: open, depth: int32(len(s.blocks)), at: int32(at)}
	b := s.top()
	b.opened = append(b.opened, r)
	return nil
}

func (s *scopes) clear(r Reg) error {
	if err := s.use(r); err != nil {
		return err
	}
	g := &s.regs[r]
	if g.depth != int32(len(s.blocks)) {
		return fmt.Errorf("register %s was opened in another block, at instr %d", regText(s.f, r), g.at)
	}
	g.state = cleared
	return nil
}

// uses checks that the registers of an instruction are open.
func (s *scopes) uses(in *Instr) error {
	var err error
	use := func(r Reg) {
		if err == nil {
			err = s.use(r)
		}
	}
	in.writes(use)
	in.reads(use)
	return err
}

func (s *scopes) use(r Reg) error {
	switch s.regs[r].state {
	case unopened:
		return fmt.Errorf("register %s is used before its vreg", regText(s.f, r))
	case cleared:
		return fmt.Errorf("register %s is used after its clear", regText(s.f, r))
	}
	return nil
}

// writes calls visit for each register that an instruction assigns.
func (in *Instr) writes(visit func(Reg)) {
	info := in.Op.info()
	if info.d != unused {
		for i := range Reg(in.spans()) {
			visit(in.D + i)
		}
	}
	if info.d2 != unused {
		visit(in.D2)
	}
}

// Writes calls visit for each register that an instruction assigns; to open and to clear one are no assignments.
func (in *Instr) Writes(visit func(Reg)) {
	if in.Op != Vreg && in.Op != Clear {
		in.writes(visit)
	}
}

// reads calls visit for each register that an instruction reads.
func (in *Instr) reads(visit func(Reg)) {
	if info := in.Op.info(); info.span > 0 && info.d == unused {
		for i := Reg(1); i < Reg(info.span); i++ {
			visit(in.A.R + i)
		}
	}
	if in.Op.info().mem {
		if in.M.Base != NoReg {
			visit(in.M.Base)
		}
		if in.M.Index != NoReg {
			visit(in.M.Index)
		}
	}
	for s := in.operands(); s != 0; s = s.rest() {
		if v := in.val(s.first()); !v.IsImm() {
			visit(v.R)
		}
	}
}
