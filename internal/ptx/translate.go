package ptx

import (
	"fmt"
	"strings"

	"github.com/kelpiedb/kelpie/internal/ir"
)

// Oldest is the oldest architecture with match and independent lanes. Text for it runs on whatever
// is newer: the driver compiles it.
const Oldest = 70

// maxShared is how much shared memory a kernel may declare, maxParams how many words it may take.
const (
	maxShared = 48 << 10
	maxParams = 4096/8 - 1
)

// Translate writes a module of all functions for all architectures.
func Translate(fs ...*ir.Func) (string, error) { return TranslateFor(Oldest, fs...) }

// TranslateFor writes a module of all functions for an architecture, as 90, and newer ones. The text
// says no more than it needs, so that it may be the same for several.
func TranslateFor(arch int, fs ...*ir.Func) (string, error) {
	if arch < Oldest {
		return "", fmt.Errorf("ptx: sm_%d is older than sm_%d", arch, Oldest)
	}
	var b strings.Builder
	version, target, dynamic := "7.0", Oldest, false
	seen := map[string]bool{}
	for _, f := range fs {
		if seen[f.Name] {
			return "", fmt.Errorf("ptx: two functions are named %s", f.Name)
		}
		seen[f.Name] = true
		t := &translator{f: f, arch: arch, declared: make([]bool, len(f.Regs)), loopNames: map[int32]bool{}}
		if err := t.function(); err != nil {
			return "", fmt.Errorf("ptx: %s: %w", f.Name, err)
		}
		b.WriteByte('\n')
		t.write(&b)
		if t.once {
			version = "7.4"
		}
		if t.redux {
			target = 80
		}
		dynamic = dynamic || t.dynamic
	}
	head := fmt.Sprintf(".version %s\n.target sm_%d\n.address_size 64\n", version, target)
	if dynamic {
		head += "\n.extern .shared .align 16 .b8 dynamic[];\n"
	}
	return head + b.String(), nil
}

// boundMark begins the line of a text that says how many registers are worth having. Whoever assembles it tries that, but PTX itself has no
// way to say so: its own bound makes assemblers spill.
const boundMark = "// registers: "

// Bound is what a text says of the number of registers that are worth having; 0: nothing; ir.AsItIs: that nothing shall be optimized.
func Bound(text string) (n int) {
	if _, rest, ok := strings.Cut(text, "\n"+boundMark); ok {
		fmt.Sscanf(rest, "%d", &n)
	}
	return n
}

// translator writes one function. Its methods note the first error and go on.
type translator struct {
	f    *ir.Func
	arch int
	at   int // instruction being translated
	body strings.Builder
	err  error

	depth     int
	blocks    []block
	ifs       int
	hasElse   []bool // by number of the if
	loopNames map[int32]bool
	declared  []bool // registers that have a .reg already
	dynamic   bool   // dynamic shared memory is used
	scratch   bool   // the address of shared memory is in a register
	local     bool   // likewise that of local memory
	once      bool   // hints for caches are used
	redux     bool   // reductions over a warp are used

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
	fmt.Fprintf(b, ".visible .entry %s(.param .u64 ctx", t.f.Name)
	for i := range t.f.Params {
		fmt.Fprintf(b, ", .param .u64 p%d", i+1)
	}
	b.WriteString(")\n")
	if t.f.Bound != 0 {
		fmt.Fprintf(b, "%s%d\n", boundMark, t.f.Bound)
	}
	if t.f.Rolled != 0 {
		b.WriteString(".pragma \"nounroll\";\n")
	}
	b.WriteString("{\n")
	if t.f.SharedBytes > 0 {
		fmt.Fprintf(b, "    .shared .align 16 .b8 scratch[%d];\n", t.f.SharedBytes)
	}
	if t.f.LocalBytes > 0 {
		fmt.Fprintf(b, "    .local .align 16 .b8 own[%d];\n", t.f.LocalBytes)
	}
	for k, n := range t.most {
		if n > 0 {
			fmt.Fprintf(b, "    .reg %s %s<%d>;\n", tempNames[k].typ, tempNames[k].prefix, n)
		}
	}
	b.WriteString("    .reg .b64 %ctx;\n    ld.param.u64 %ctx, [ctx];\n")
	if t.scratch {
		b.WriteString("    .reg .b32 %scratch;\n    mov.u32 %scratch, scratch;\n")
	}
	if t.local {
		b.WriteString("    .reg .b64 %own;\n    mov.u64 %own, own;\n")
	}
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
	if t.f.Params < 0 || t.f.Params > maxParams {
		return fmt.Errorf("%d parameters are not 0 to %d", t.f.Params, maxParams)
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
	case ir.Param:
		if i := in.A.Imm; !in.A.IsImm() || i < 1 || i > int64(t.f.Params) {
			t.fail("parameter %d does not exist", i)
		}
		typ := t.typ(in.D)
		t.op("ld.param.u%d %s, [p%d]", bitsOf(typ), t.dst(in.D, typ), in.A.Imm)
	case ir.LoadBits:
		t.element(in)
	case ir.Load, ir.Store, ir.FLoad, ir.FStore, ir.Lea, ir.Prefetch, ir.Load2, ir.Load4, ir.Store2, ir.Store4,
		ir.AtomAdd, ir.AtomMin, ir.AtomMax, ir.AtomOr, ir.AtomExch, ir.AtomCAS, ir.AtomFAdd:
		t.memory(in)
	case ir.Special, ir.Ballot, ir.Shfl, ir.ShflXor, ir.ShflUp, ir.ShflDown, ir.Match, ir.Barrier, ir.Sync, ir.Fence,
		ir.RedAdd, ir.RedMin, ir.RedMax, ir.RedOr:
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
	typ := [...]string{ir.I64: ".b64", ir.F64: ".f64", ir.I32: ".b32"}
	t.op(".reg %s %s", typ[t.f.Regs[r].Type], t.name(r))
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

// typ is the type of an integer register: I64 or I32.
func (t *translator) typ(r ir.Reg) ir.Type {
	if r >= 0 && int(r) < len(t.f.Regs) && t.f.Regs[r].Type == ir.I32 {
		return ir.I32
	}
	return ir.I64
}

// valType is the type of an integer operand; a constant is I64.
func (t *translator) valType(v ir.Val) ir.Type {
	if v.IsImm() {
		return ir.I64
	}
	return t.typ(v.R)
}

func bitsOf(typ ir.Type) int {
	if typ == ir.I32 {
		return 32
	}
	return 64
}

func (t *translator) idst(r ir.Reg) string { return t.dst(r, ir.I64) }
func (t *translator) fdst(r ir.Reg) string { return t.dst(r, ir.F64) }

// val writes an integer operand, as one of a type, fval a float operand.
func (t *translator) val(v ir.Val) string { return t.as(v, ir.I64) }

func (t *translator) as(v ir.Val, typ ir.Type) string {
	switch {
	case !v.IsImm():
		return t.reg(v.R, typ)
	case typ == ir.I32:
		if v.Imm < -1<<31 || v.Imm >= 1<<32 {
			t.fail("constant %d does not fit in 32 bits", v.Imm)
		}
		return fmt.Sprint(int32(v.Imm))
	}
	return imm(v.Imm)
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
