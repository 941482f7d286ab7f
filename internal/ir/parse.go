package ir

import (
	"fmt"
	"strings"
)

// Parse reads what String prints. It is strict about form and knows nothing of
// the rules: that is Verify's work, and tests of Verify want to write broken
// functions. Beside what String prints it takes blank lines, any indentation,
// and a remark behind an instruction, which is dropped; a line that is nothing but
// a comment is a Comment.
func Parse(text string) (*Func, error) {
	p := parser{f: &Func{}, regs: map[Reg]*regSight{}}
	lines := strings.Split(text, "\n")
	last := len(lines) - 1
	for last > 0 && blank(lines[last]) {
		last--
	}
	header := false
	for i, line := range lines[:last+1] {
		if blank(line) {
			continue
		}
		c := &cursor{p: &p, line: i + 1, rest: line}
		var err error
		switch {
		case !header:
			header = true
			err = c.header()
			if err == nil && i == last {
				err = c.errorf("the function is not closed by }")
			}
		case i == last:
			// The last brace is the function's. The others belong to instructions,
			// whether or not they match.
			if err = c.expect("}"); err == nil {
				err = c.end()
			}
		default:
			err = c.instr()
		}
		if err != nil {
			return nil, err
		}
	}
	if !header {
		return nil, fmt.Errorf("ir: line 1: no func")
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	return p.f, nil
}

func blank(line string) bool { return strings.TrimSpace(line) == "" }

type parser struct {
	f    *Func
	regs map[Reg]*regSight
}

// regSight is what the lines so far say of a register. Uses may come before the
// declaration, in functions that Verify will refuse.
type regSight struct {
	info     RegInfo
	declared bool
	line     int // of the first sight
}

// finish makes the register table. Numbers have no gaps, so a large number in a
// short text cannot make a large table.
func (p *parser) finish() error {
	if p.regs[Ctx] == nil {
		p.regs[Ctx] = &regSight{info: RegInfo{Name: ctxName}, declared: true}
	}
	p.f.Regs = make([]RegInfo, len(p.regs))
	for i := range p.f.Regs {
		s := p.regs[Reg(i)]
		if s == nil {
			return fmt.Errorf("ir: there is no register %d, but one with a larger number", i)
		}
		if !s.declared {
			return fmt.Errorf("ir: line %d: register %q#%d has no vreg or reg line", s.line, s.info.Name, i)
		}
		p.f.Regs[i] = s.info
	}
	return nil
}

// header reads: func name target [params words] [shared bytes] {
func (c *cursor) header() error {
	if err := c.expect("func "); err != nil {
		return err
	}
	f := c.p.f
	var err error
	if f.Name, err = c.name(); err != nil {
		return err
	}
	if f.Name == "" && !c.sawQuote {
		return c.errorf("expected the function's name")
	}
	target := c.until(" \t{")
	t := indexOf(targetNames[:], target)
	if t < 0 {
		return c.errorf("unknown target %q", target)
	}
	f.Target = Target(t)
	for _, number := range [...]struct {
		name string
		to   *int
	}{{paramsName, &f.Params}, {sharedName, &f.SharedBytes}, {localName, &f.LocalBytes}, {boundName, &f.Bound}, {rolledName, &f.Rolled}} {
		if c.accept(number.name) {
			n, err := c.int(64)
			if err != nil {
				return err
			}
			*number.to = int(n)
		}
	}
	if err := c.expect("{"); err != nil {
		return err
	}
	return c.end()
}

// instr reads a line of the body.
func (c *cursor) instr() error {
	c.space()
	if c.accept(";") {
		return c.comment()
	}
	closing := c.accept("}")
	word := c.until(" \t{;")
	if word == "reg" && !closing {
		if _, err := c.declare(); err != nil {
			return err
		}
		return c.end()
	}

	in := Instr{}
	if err := c.mnemonic(&in, word, closing); err != nil {
		return err
	}
	info := in.Op.info()
	if info.closes != closing {
		return c.errorf("misplaced }")
	}
	if err := c.operands(&in, info); err != nil {
		return err
	}
	if info.code != noCode {
		if err := c.expect("!"); err != nil {
			return err
		}
		n, err := c.int(32)
		if err != nil {
			return err
		}
		in.Code = int32(n)
	}
	if info.opens {
		if err := c.expect("{"); err != nil {
			return err
		}
	}
	if err := c.end(); err != nil {
		return err
	}
	c.p.f.Code = append(c.p.f.Code, in)
	return nil
}

// mnemonic resolves the operation and what is joined to it by a dot.
func (c *cursor) mnemonic(in *Instr, word string, closing bool) error {
	if word == "" && closing {
		in.Op = EndIf
		return nil
	}
	if word == foreverName {
		in.Op = EndLoop
		return nil
	}
	name, suffix, dotted := strings.Cut(word, ".")
	op, ok := opByName[name]
	if !ok {
		return c.errorf("unknown operation %q", name)
	}
	in.Op = op
	info := op.info()
	if info.kinds != 0 && dotted {
		// The kind stands last, behind the width or alone.
		at := strings.LastIndexByte(suffix, '.')
		if k := indexOf(kindNames[:], suffix[at+1:]); k > int(Plain) {
			in.Kind = MemKind(k)
			suffix, dotted = suffix[:max(at, 0)], at >= 0
		}
	}
	if info.width != noWidth {
		in.W = 8
	}
	switch {
	case !dotted:
		// Always has another word for loops; without it, "while" is half a line.
		if op == EndLoop {
			return c.errorf("while needs a condition, or is written forever")
		}
		return nil
	case info.cond != noCond:
		cond, width, both := strings.Cut(suffix, ".")
		i := indexOf(condNames[:], cond)
		switch {
		case i <= int(Always) && info.width != noWidth:
			return c.width(in, info, suffix) // a broken function: the condition is missing
		case i <= int(Always):
			return c.errorf("unknown condition %q", cond)
		case both && info.width == noWidth:
			return c.errorf("%s takes no width", name)
		}
		in.Cond = Cond(i)
		if both {
			return c.width(in, info, width)
		}
		return nil
	case info.width != noWidth:
		return c.width(in, info, suffix)
	}
	return c.errorf("%s takes no suffix", name)
}

// width reads u1, s4 and so on of loads, and the plain number of others.
func (c *cursor) width(in *Instr, info *opInfo, suffix string) error {
	digits := suffix
	if info.signed {
		var ok bool
		if digits, ok = strings.CutPrefix(suffix, "s"); ok {
			in.Signed = true
		} else if digits, ok = strings.CutPrefix(suffix, "u"); !ok {
			return c.errorf("width %q needs s or u", suffix)
		}
	}
	w, err := parseUint(digits, 8)
	if err != nil {
		return c.errorf("width %q is not a number below 256", suffix)
	}
	in.W = uint8(w)
	in.Signed = in.Signed && in.W != 8
	return nil
}

// operands reads what the table says, in the printer's order.
func (c *cursor) operands(in *Instr, info *opInfo) error {
	if info.label {
		if err := c.label(in); err != nil {
			return err
		}
	}
	if in.Op == Vreg {
		var err error
		c.space()
		if in.D = Ctx; !c.acceptCtx() {
			in.D, err = c.declare()
		}
		return err
	}
	first := true
	comma := func() error {
		if first {
			first = false
			return nil
		}
		return c.expect(",")
	}
	for _, d := range [...]struct {
		r    *Reg
		kind slot
	}{{&in.D, info.d}, {&in.D2, info.d2}} {
		if d.kind == unused {
			continue
		}
		err := comma()
		if err == nil {
			*d.r, err = c.reg()
		}
		if err != nil {
			return err
		}
	}
	if info.mem {
		err := comma()
		if err == nil {
			in.M, err = c.mem()
		}
		if err != nil {
			return err
		}
	}
	for s := in.operands(); s != 0; s = s.rest() {
		err := comma()
		if err == nil {
			*in.val(s.first()), err = c.val(in.Op.info().src[s.first()])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *cursor) label(in *Instr) error {
	if err := c.expect("L"); err != nil {
		return err
	}
	n, err := c.int(32)
	in.Label = int32(n)
	return err
}

// comment reads the rest of a line that began with a semicolon.
func (c *cursor) comment() error {
	text := strings.TrimSpace(c.rest)
	if strings.HasPrefix(text, `"`) {
		c.rest = text
		quoted, err := c.quoted()
		if err != nil {
			return err
		}
		if !blank(c.rest) {
			return c.errorf("text behind the quoted comment")
		}
		text = quoted
	}
	f := c.p.f
	f.Code = append(f.Code, Instr{Op: Comment, Code: int32(len(f.Texts))})
	f.Texts = append(f.Texts, text)
	return nil
}

// opByName finds the operations that a line can begin with; comments and the
// end of an if have signs of their own.
var opByName = func() map[string]Op {
	m := make(map[string]Op, numOps)
	for op := range numOps {
		if op != Comment && op != EndIf {
			m[ops[op].name] = op
		}
	}
	return m
}()

func indexOf(names []string, name string) int {
	for i, n := range names {
		if n == name {
			return i
		}
	}
	return -1
}
