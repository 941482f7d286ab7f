package ptx

import (
	"fmt"
	"strings"

	"github.com/kelpiedb/kelpie/internal/ir"
)

// header: sm_70 is the oldest architecture with match and independent lanes; the
// driver compiles for whatever is newer.
const header = `.version 7.0
.target sm_70
.address_size 64
`

// maxShared is how much shared memory a kernel may declare.
const maxShared = 48 << 10

// Translate writes a module of all functions.
func Translate(fs ...*ir.Func) (string, error) {
	var b strings.Builder
	b.WriteString(header)
	seen := map[string]bool{}
	for _, f := range fs {
		if seen[f.Name] {
			return "", fmt.Errorf("ptx: two functions are named %s", f.Name)
		}
		seen[f.Name] = true
		t := &translator{f: f, declared: make([]bool, len(f.Regs)), loopNames: map[int32]bool{}}
		if err := t.function(); err != nil {
			return "", fmt.Errorf("ptx: %s: %w", f.Name, err)
		}
		b.WriteByte('\n')
		t.write(&b)
	}
	return b.String(), nil
}

// translator writes one function. Its methods note the first error and go on.
type translator struct {
	f    *ir.Func
	at   int // instruction being translated
	body strings.Builder
	err  error

	depth     int
	blocks    []block
	ifs       int
	hasElse   []bool // by number of the if
	loopNames map[int32]bool
	declared  []bool // registers that have a .reg already
	scratch   bool   // the address of shared memory is needed in a register

	// Temporaries belong to one instruction and are used again by the next.
	temps [numTemps]int
	most  [numTemps]int
}

type tempKind int

const (
	tempPred tempKind = iota
	temp32
	temp64
	tempF32
	numTemps
)

var tempNames = [numTemps]struct{ prefix, typ string }{
	{"%p", ".pred"}, {"%r", ".b32"}, {"%t", ".b64"}, {"%f", ".f32"},
}

func (t *translator) temp(k tempKind) string {
	n := t.temps[k]
	t.temps[k]++
	t.most[k] = max(t.most[k], t.temps[k])
	return fmt.Sprintf("%s%d", tempNames[k].prefix, n)
}

func (t *translator) fail(format string, args ...any) {
	if t.err == nil {
		t.err = fmt.Errorf("instruction %d: %s", t.at, fmt.Sprintf(format, args...))
	}
}

// line writes one line at the current depth, op one instruction.
func (t *translator) line(s string) {
	for range t.depth {
		t.body.WriteString("    ")
	}
	t.body.WriteString("    ")
	t.body.WriteString(s)
	t.body.WriteByte('\n')
}

func (t *translator) op(format string, args ...any) { t.line(fmt.Sprintf(format, args...) + ";") }

// label stands one step to the left of the code that it names.
func (t *translator) label(name string) {
	t.depth--
	t.line(name + ":")
	t.depth++
}

// write gives the finished text: declarations that are known only now, then the body.
func (t *translator) write(b *strings.Builder) {
	fmt.Fprintf(b, ".visible .entry %s(.param .u64 ctx)\n{\n", t.f.Name)
	if t.f.SharedBytes > 0 {
		fmt.Fprintf(b, "    .shared .align 16 .b8 scratch[%d];\n", t.f.SharedBytes)
	}
	for k, n := range t.most {
		if n > 0 {
			fmt.Fprintf(b, "    .reg %s %s<%d>;\n", tempNames[k].typ, tempNames[k].prefix, n)
		}
	}
	if t.scratch {
		b.WriteString("    .reg .b64 %scratch;\n    mov.b64 %scratch, scratch;\n")
	}
	b.WriteString("    .reg .b64 %ctx;\n    ld.param.u64 %ctx, [ctx];\n")
	b.WriteString(t.body.String())
	b.WriteString("    ret;\n}\n")
}

func (t *translator) function() error {
	if !isName(t.f.Name) {
		return fmt.Errorf("%q cannot be the name of a kernel", t.f.Name)
	}
	if t.f.Target&ir.GPU == 0 {
		return fmt.Errorf("the function is not for the GPU")
	}
	if t.f.SharedBytes > maxShared {
		return fmt.Errorf("%d bytes of shared memory are more than %d", t.f.SharedBytes, maxShared)
	}
	if len(t.f.Regs) == 0 {
		return fmt.Errorf("the function has no context register")
	}
	t.declared[ir.Ctx] = true
	t.findElses()
	for i := range t.f.Code {
		t.at = i
		t.temps = [numTemps]int{}
		t.instr(&t.f.Code[i])
		if t.err != nil {
			return t.err
		}
	}
	if len(t.blocks) > 0 {
		return fmt.Errorf("an if or loop has no end")
	}
	return nil
}

func isName(s string) bool {
	for i, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c != '_' && c != '$' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != ""
}

func (t *translator) instr(in *ir.Instr) {
	switch in.Op {
	case ir.Nop:
	case ir.Comment:
		for s := range strings.SplitSeq(t.f.Text(in), "\n") {
			t.line("// " + s)
		}
	case ir.Vreg:
		t.declare(in.D)
	case ir.Clear:
		// PTX registers live to the end of the kernel; the driver sees their last use.
	case ir.Yield:
		t.fail("yield is for the CPU only")
	case ir.Div128, ir.Rem128:
		t.fail("division of 128-bit numbers is for the CPU only")
	case ir.Blsr, ir.MaskRange, ir.MaskCmp, ir.MaskBits, ir.MaskLut, ir.MaskBytes, ir.Pick:
		t.fail("%s is for the CPU only", in.Op)
	case ir.If, ir.Else, ir.EndIf, ir.Loop, ir.Next, ir.EndLoop, ir.Break, ir.Continue, ir.Exit:
		t.control(in)
	case ir.Load, ir.Store, ir.FLoad, ir.FStore, ir.Lea, ir.Prefetch,
		ir.AtomAdd, ir.AtomMin, ir.AtomMax, ir.AtomOr, ir.AtomExch, ir.AtomCAS, ir.AtomFAdd:
		t.memory(in)
	case ir.Special, ir.Ballot, ir.Shfl, ir.ShflXor, ir.ShflUp, ir.ShflDown, ir.Match, ir.Barrier, ir.Fence:
		t.lanes(in)
	default:
		t.arith(in)
	}
}

// declare writes the .reg of a virtual register where it is opened first.
func (t *translator) declare(r ir.Reg) {
	if r <= 0 || int(r) >= len(t.f.Regs) {
		t.fail("register %d does not exist", r)
		return
	}
	if t.declared[r] {
		return
	}
	t.declared[r] = true
	typ := ".b64"
	if t.f.Regs[r].Type == ir.F64 {
		typ = ".f64"
	}
	t.op(".reg %s %s", typ, t.name(r))
}

// name is a register's PTX name: unique by its number, readable by its column.
func (t *translator) name(r ir.Reg) string {
	if r == ir.Ctx {
		return "%ctx"
	}
	name := []byte(t.f.Regs[r].Name)
	if len(name) > 48 {
		name = name[:48]
	}
	for i, c := range name {
		if !isName("x" + string(rune(c))) {
			name[i] = '_'
		}
	}
	s := string(name)
	// %pm0_64 to %pm7_64 and %reserved_smem_offset_0 exist in PTX itself.
	if s == "" || strings.HasPrefix(s, "pm") || strings.HasPrefix(s, "reserved") {
		s = "v_" + s
	}
	return fmt.Sprintf("%%%s_%d", s, r)
}

// reg checks and names a register of a type.
func (t *translator) reg(r ir.Reg, typ ir.Type) string {
	if r < 0 || int(r) >= len(t.f.Regs) {
		t.fail("register %d does not exist", r)
		return "%?"
	}
	if !t.declared[r] {
		t.fail("register %s is used before it is opened", t.name(r))
	}
	if t.f.Regs[r].Type != typ {
		t.fail("register %s has the wrong type", t.name(r))
	}
	return t.name(r)
}

// dst names a destination.
func (t *translator) dst(r ir.Reg, typ ir.Type) string {
	if r == ir.Ctx {
		t.fail("the context register is assigned")
	}
	return t.reg(r, typ)
}

func (t *translator) idst(r ir.Reg) string { return t.dst(r, ir.I64) }
func (t *translator) fdst(r ir.Reg) string { return t.dst(r, ir.F64) }

// val writes an integer operand, fval a float operand.
func (t *translator) val(v ir.Val) string {
	if v.IsImm() {
		return imm(v.Imm)
	}
	return t.reg(v.R, ir.I64)
}

func (t *translator) fval(v ir.Val) string {
	if v.IsImm() {
		t.fail("a float operand is not a register")
		return "?"
	}
	return t.reg(v.R, ir.F64)
}

func imm(i int64) string {
	if i == -1<<63 {
		return "0x8000000000000000" // its decimal form would be the negation of a number that does not exist
	}
	return fmt.Sprint(i)
}
