package ir

import (
	"math"
	"strconv"
	"strings"
)

// String is the function as text, one instruction a line, indented by the depth
// of control flow. Parse reads it back. It prints broken functions too, since
// that is when people look at them.
//
//	func q6_pipe0 cpu {
//	  ; scan lineitem
//	  vreg i#1:i64
//	  load i#1, [ctx + 24]
//	  loop L1 {
//	    vreg q#2:i64
//	    load.u1 q#2, [ctx + i#1*1 + 64]
//	    continue.ge L1 q#2, 24
//	    addx i#1, i#1, q#2 !3
//	    next L1
//	    clear q#2
//	  } while.lt L1 i#1, 100
//	  exit.ne i#1, 0 !4
//	  clear i#1
//	}
func (f *Func) String() string {
	p := printer{f: f, buf: make([]byte, 0, 64+32*len(f.Code))}
	p.header()
	depth := 1
	for i := range f.Code {
		in := &f.Code[i]
		info := in.Op.info()
		if info.closes && depth > 1 {
			depth--
		}
		p.indent(depth)
		p.instr(in)
		p.str("\n")
		if info.opens {
			depth++
		}
	}
	p.str("}\n")
	return string(p.buf)
}

// Line is instruction i as String prints it, without the indentation: for
// listings that put machine code beside the IR, and for error messages.
func (f *Func) Line(i int) string {
	p := printer{f: f}
	p.instr(&f.Code[i])
	return string(p.buf)
}

// String is the operation's name in the textual IR.
func (o Op) String() string {
	if o < numOps {
		return ops[o].name
	}
	return nameOf(int(o), "op", nil)
}

// String is the condition's name, empty for Always.
func (c Cond) String() string { return nameOf(int(c), "cond", condNames[:]) }

func (t Type) String() string       { return nameOf(int(t), "type", typeNames[:]) }
func (s SpecialReg) String() string { return nameOf(int(s), "special", specialNames[:]) }
func (t Target) String() string     { return nameOf(int(t), "target", targetNames[:]) }

func nameOf(i int, kind string, names []string) string {
	if i >= 0 && i < len(names) {
		return names[i]
	}
	return kind + strconv.Itoa(i)
}

type printer struct {
	f   *Func
	buf []byte
}

func (p *printer) str(s string) { p.buf = append(p.buf, s...) }
func (p *printer) int(i int64)  { p.buf = strconv.AppendInt(p.buf, i, 10) }
func (p *printer) indent(depth int) {
	for range depth {
		p.str("  ")
	}
}

// header prints the line of the function, and a reg line for each register that
// no vreg line will declare. Those occur in broken functions, or when the context
// has an unusual name.
func (p *printer) header() {
	p.str("func ")
	p.name(p.f.Name)
	p.str(" ")
	p.str(p.f.Target.String())
	if p.f.Params != 0 {
		p.str(" " + paramsName + " ")
		p.int(int64(p.f.Params))
	}
	if p.f.SharedBytes != 0 {
		p.str(" " + sharedName + " ")
		p.int(int64(p.f.SharedBytes))
	}
	if p.f.LocalBytes != 0 {
		p.str(" " + localName + " ")
		p.int(int64(p.f.LocalBytes))
	}
	if p.f.Bound != 0 {
		p.str(" " + boundName + " ")
		p.int(int64(p.f.Bound))
	}
	if p.f.Rolled != 0 {
		p.str(" " + rolledName + " ")
		p.int(int64(p.f.Rolled))
	}
	p.str(" {\n")

	opened := make([]bool, len(p.f.Regs))
	for i := range p.f.Code {
		if in := &p.f.Code[i]; in.Op == Vreg && p.known(in.D) {
			opened[in.D] = true
		}
	}
	for r, info := range p.f.Regs {
		if r == 0 && info == (RegInfo{Name: ctxName}) || r > 0 && opened[r] {
			continue
		}
		p.str("  reg ")
		p.decl(Reg(r))
		p.str("\n")
	}
}

func (p *printer) instr(in *Instr) {
	info := in.Op.info()
	switch in.Op {
	case Comment:
		p.comment(p.f.Text(in))
		return
	case Vreg:
		p.str("vreg ")
		if in.D == Ctx || !p.known(in.D) {
			p.reg(in.D)
		} else {
			p.decl(in.D)
		}
		return
	case EndIf:
		p.str("}")
		return
	}

	if info.closes {
		p.str("} ")
	}
	p.mnemonic(in, info)
	if info.label {
		p.str(" L")
		p.int(int64(in.Label))
	}
	p.operands(in, info)
	if info.code != noCode {
		p.str(" !")
		p.int(int64(in.Code))
	}
	if info.opens {
		p.str(" {")
	}
}

// mnemonic prints the operation with its condition, its width and its kind.
func (p *printer) mnemonic(in *Instr, info *opInfo) {
	if in.Op == EndLoop && in.Cond == Always {
		p.str(foreverName)
		return
	}
	p.str(in.Op.String())
	if info.cond != noCond && in.Cond != Always {
		p.str(".")
		p.str(in.Cond.String())
	}
	if info.width != noWidth && in.W != 8 {
		p.str(".")
		if info.signed {
			if in.Signed {
				p.str("s")
			} else {
				p.str("u")
			}
		}
		p.int(int64(in.W))
	}
	if info.kinds != 0 && in.Kind != Plain {
		p.str(".")
		p.str(nameOf(int(in.Kind), "kind", kindNames[:]))
	}
}

func (p *printer) operands(in *Instr, info *opInfo) {
	sep := " "
	next := func() {
		p.str(sep)
		sep = ", "
	}
	if info.d != unused {
		next()
		p.reg(in.D)
	}
	if info.d2 != unused {
		next()
		p.reg(in.D2)
	}
	if info.mem {
		next()
		p.mem(&in.M)
	}
	for s := in.operands(); s != 0; s = s.rest() {
		next()
		v, kind := in.val(s.first()), info.src[s.first()]
		switch {
		case !v.IsImm():
			p.reg(v.R)
		case kind == fltBits:
			p.float(v.Imm)
		case kind == special && v.Imm >= 0 && v.Imm < int64(len(specialNames)):
			p.str(specialNames[v.Imm])
		default:
			p.int(v.Imm)
		}
	}
}

// mem prints [base + index*scale + disp]. The scale is always there: it tells an
// index without base from a base.
func (p *printer) mem(m *Mem) {
	p.str(nameOf(int(m.Space), "space", spaceNames[:]))
	p.str("[")
	first := true
	if m.Base != NoReg {
		p.reg(m.Base)
		first = false
	}
	if m.Index != NoReg {
		if !first {
			p.str(" + ")
		}
		p.reg(m.Index)
		p.str("*")
		p.int(int64(m.Scale))
		first = false
	}
	switch {
	case first:
		p.int(int64(m.Disp))
	case m.Disp > 0:
		p.str(" + ")
		p.int(int64(m.Disp))
	case m.Disp < 0:
		p.str(" - ")
		p.int(-int64(m.Disp))
	}
	p.str("]")
}

func (p *printer) known(r Reg) bool { return r >= 0 && int(r) < len(p.f.Regs) }

// reg prints name#number, or ctx for the context.
func (p *printer) reg(r Reg) {
	if r == Ctx {
		p.str(ctxName)
		return
	}
	if !p.known(r) {
		p.str("?")
	} else if name := p.f.Regs[r].Name; name != "" {
		p.name(name)
	}
	p.str("#")
	p.int(int64(r))
}

// decl prints name#number:type, also of the context.
func (p *printer) decl(r Reg) {
	info := p.f.Regs[r]
	if info.Name != "" {
		p.name(info.Name)
	}
	p.str("#")
	p.int(int64(r))
	p.str(":")
	p.str(info.Type.String())
}

// name prints a name that is like an identifier as it is, and quotes others.
// Column names can be anything.
func (p *printer) name(s string) {
	if plainName(s) {
		p.str(s)
		return
	}
	p.buf = strconv.AppendQuote(p.buf, s)
}

// comment prints a text as it is unless that would not read back: line breaks,
// spaces around it, what is not printable, or a quote at the front.
func (p *printer) comment(text string) {
	p.str(";")
	switch {
	case text == "":
	case plainText(text):
		p.str(" ")
		p.str(text)
	default:
		p.str(" ")
		p.buf = strconv.AppendQuote(p.buf, text)
	}
}

// float prints the shortest decimal with these bits; a NaN has many bit patterns
// and prints its own.
func (p *printer) float(bits int64) {
	x := math.Float64frombits(uint64(bits))
	if math.IsNaN(x) {
		p.str(nanPrefix)
		p.buf = strconv.AppendUint(p.buf, uint64(bits), 16)
		return
	}
	p.buf = strconv.AppendFloat(p.buf, x, 'g', -1, 64)
}

// Words that the printer and the parser agree on, beside the names in the table.
const (
	ctxName     = "ctx"
	sharedName  = "shared"
	localName   = "local"
	paramsName  = "params"
	boundName   = "bound"
	rolledName  = "rolled"
	foreverName = "forever" // EndLoop without condition
	nanPrefix   = "nan:"
)

func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.'
}

func plainName(s string) bool {
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	for i := range len(s) {
		if !nameByte(s[i]) {
			return false
		}
	}
	return true
}

func plainText(s string) bool {
	if strings.HasPrefix(s, `"`) || strings.TrimSpace(s) != s || strings.ContainsRune(s, '\uFFFD') {
		return false
	}
	for _, r := range s {
		if !strconv.IsPrint(r) {
			return false
		}
	}
	return true
}
