package simt

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Shared variables begin here and not at 0: since sm_90 the first KiB belongs to
// the system, and code that takes the base for 0 should fail here as it would there.
const sharedBase = 1024

// localBase is likewise where the local memory of each lane begins.
const localBase = 2048

const (
	maxShared = 48 << 10 // of static shared memory, as ptxas has it
	maxSlots  = 1 << 16  // a bound on what one kernel costs us
)

// Parse reads a PTX module. The error is a *ParseError.
func Parse(text string) (m *Module, err error) {
	p := &parser{lex: lexer{src: text, line: 1}, m: &Module{lines: strings.Split(text, "\n")}}
	defer func() {
		// Faults found deep in the text unwind by panic, and only they.
		switch e := recover().(type) {
		case nil:
		case *ParseError:
			m, err = nil, e
		default:
			panic(e)
		}
	}()
	p.advance()
	p.module()
	return p.m, nil
}

type parser struct {
	lex    lexer
	tok    token
	m      *Module
	shared map[string]sharedVar // of the module
}

type sharedVar struct {
	size, align int
	dynamic     bool // .extern: as large as the launch says
}

func (p *parser) fail(line int, format string, args ...any) {
	panic(&ParseError{line, fmt.Sprintf(format, args...)})
}

func (p *parser) advance() {
	p.tok = p.lex.next()
	if p.lex.err != nil {
		panic(p.lex.err)
	}
}

func (p *parser) is(text string) bool {
	return p.tok.text == text && (p.tok.kind == tPunct || p.tok.kind == tDir)
}

func (p *parser) accept(text string) bool {
	if p.is(text) {
		p.advance()
		return true
	}
	return false
}

func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.fail(p.tok.line, "expected %q, found %v", text, p.tok)
	}
}

func (p *parser) ident(what string) string {
	if p.tok.kind != tIdent {
		p.fail(p.tok.line, "expected %s, found %v", what, p.tok)
	}
	text := p.tok.text
	p.advance()
	return text
}

func (p *parser) integer(what string, max uint64) int {
	if p.tok.kind != tInt {
		p.fail(p.tok.line, "expected %s, found %v", what, p.tok)
	}
	v := p.tok.val
	if v > max {
		p.fail(p.tok.line, "%s is %d, more than %d", what, v, max)
	}
	p.advance()
	return int(v)
}

// typeDir reads a type such as .u64.
func (p *parser) typeDir() ptype {
	t, ok := typeNames[strings.TrimPrefix(p.tok.text, ".")]
	if !ok || p.tok.kind != tDir {
		p.fail(p.tok.line, "expected a type, found %v", p.tok)
	}
	p.advance()
	return t
}

func (p *parser) module() {
	p.shared = map[string]sharedVar{}
	for p.tok.kind != tEOF {
		line := p.tok.line
		if p.tok.kind != tDir {
			p.fail(line, "expected a directive, found %v", p.tok)
		}
		dir := p.tok.text
		p.advance()
		switch dir {
		case ".version":
			if p.tok.kind != tFloat {
				p.fail(line, ".version takes a number such as 7.0")
			}
			p.advance()
		case ".target":
			p.ident("a target")
			for p.accept(",") {
				p.ident("a target")
			}
		case ".address_size":
			if p.integer("an address size", 64) != 64 {
				p.fail(line, "only 64-bit addresses are simulated")
			}
		case ".visible", ".weak":
		case ".extern":
			p.expect(".shared")
			name, v := p.sharedDecl(true)
			p.declareShared(line, name, v)
		case ".file":
			p.debugLine()
		case ".shared":
			name, v := p.sharedDecl(false)
			p.declareShared(line, name, v)
		case ".entry":
			p.entry()
		case ".func":
			p.fail(line, "device functions (.func) are not simulated: inline them")
		default:
			p.fail(line, "directive %s is not known at module level", dir)
		}
	}
}

// debugLine skips what .file and .loc carry: integers, strings, commas.
func (p *parser) debugLine() {
	line := p.tok.line
	for p.tok.line == line && (p.tok.kind == tInt || p.tok.kind == tString || p.is(",")) {
		p.advance()
	}
}

// declareShared adds a shared variable of the module.
func (p *parser) declareShared(line int, name string, v sharedVar) {
	if _, twice := p.shared[name]; twice {
		p.fail(line, "shared variable %s is declared twice", name)
	}
	p.shared[name] = v
}

// sharedDecl reads the rest of a .shared declaration. A dynamic one has no size.
func (p *parser) sharedDecl(dynamic bool) (string, sharedVar) {
	align := 1
	if p.accept(".align") {
		line := p.tok.line
		align = p.integer("an alignment", 1024)
		if align == 0 || align&(align-1) != 0 {
			p.fail(line, "alignment %d is not a power of two", align)
		}
	}
	line := p.tok.line
	t := p.typeDir()
	if t == typePred {
		p.fail(line, "there are no predicates in memory")
	}
	name := p.ident("a name")
	if dynamic {
		if align > dynamicAlign {
			p.fail(line, "dynamic shared memory is aligned to %d bytes, not %d", dynamicAlign, align)
		}
		p.expect("[")
		p.expect("]")
		p.expect(";")
		return name, sharedVar{align: align, dynamic: true}
	}
	n := 1
	if p.accept("[") {
		n = p.integer("a size", maxShared)
		p.expect("]")
	}
	p.expect(";")
	return name, sharedVar{size: n * t.bytes(), align: max(align, t.bytes())}
}

func (p *parser) entry() {
	line := p.tok.line
	f := &function{
		p:      p,
		k:      &Kernel{Name: p.ident("a kernel name"), module: p.m},
		labels: map[string]int{},
		consts: map[uint64]int32{},
		shared: map[string]int{},
		local:  map[string]int{},
	}
	for _, k := range p.m.kernels {
		if k.Name == f.k.Name {
			p.fail(line, "kernel %s is defined twice", k.Name)
		}
	}
	f.slot(slot{name: "_"}) // sinkSlot
	if p.accept("(") && !p.accept(")") {
		f.param()
		for p.accept(",") {
			f.param()
		}
		p.expect(")")
	}
	for p.tok.kind == tDir {
		f.tuning()
	}
	p.expect("{")
	f.body()
	f.finish()
	p.m.kernels = append(p.m.kernels, f.k)
}

// function is the state of parsing one kernel's body.
type function struct {
	p       *parser
	k       *Kernel
	scopes  []scope
	labels  map[string]int // → index into code
	gotos   []pendingBranch
	consts  map[uint64]int32
	shared  map[string]int // → address
	local   map[string]int // likewise
	dynamic int32          // slot with the address of dynamic shared memory; 0: none yet
	spec    [spMaskGe + 1]int32
	params  []int32
}

type scope struct {
	regs   map[string]regRef
	ranges []regRange
}

// regRef is a declared register; its slot is given when it is first used, so
// that %r<10000> costs nothing.
type regRef struct {
	t ptype
	n int32 // slot, or number of a predicate; -1: none yet
}

type regRange struct {
	prefix string
	n      int
	t      ptype
}

type pendingBranch struct {
	inst  int
	label string
	line  int
}

func (f *function) slot(s slot) int32 {
	if len(f.k.slots) >= maxSlots {
		f.p.fail(f.p.tok.line, "kernel %s uses more than %d registers and constants", f.k.Name, maxSlots)
	}
	f.k.slots = append(f.k.slots, s)
	return int32(len(f.k.slots) - 1)
}

func (f *function) param() {
	p := f.p
	p.expect(".param")
	line := p.tok.line
	t := p.typeDir()
	if t == typePred {
		p.fail(line, "a parameter cannot be a predicate")
	}
	if p.accept(".ptr") {
		for p.accept(".global") || p.accept(".shared") || p.accept(".const") || p.accept(".local") {
		}
		if p.accept(".align") {
			p.integer("an alignment", 1024)
		}
	}
	name := p.ident("a parameter name")
	if p.is("[") {
		p.fail(line, "parameter %s: arrays as parameters are not simulated", name)
	}
	for _, n := range f.k.Params {
		if n == name {
			p.fail(line, "parameter %s is declared twice", name)
		}
	}
	f.params = append(f.params, f.slot(slot{kind: slotParam, val: uint64(len(f.k.Params))}))
	f.k.Params = append(f.k.Params, name)
	f.k.paramTypes = append(f.k.paramTypes, t)
}

// tuning reads a directive between the parameters and the body.
func (f *function) tuning() {
	p := f.p
	dir, line := p.tok.text, p.tok.line
	p.advance()
	switch dir {
	case ".maxntid", ".reqntid":
		n := p.integer("a number of threads", maxBlock)
		for p.accept(",") {
			n *= p.integer("a number of threads", maxBlock)
		}
		f.k.maxThreads, f.k.exactly = n, dir == ".reqntid"
	case ".minnctapersm", ".maxnreg":
		p.integer("a number", math.MaxInt32)
	case ".pragma":
		p.debugLine()
		p.expect(";")
	default:
		p.fail(line, "directive %s is not known before a kernel's body", dir)
	}
}

func (f *function) body() {
	p := f.p
	f.scopes = []scope{{regs: map[string]regRef{}}}
	for {
		line := p.tok.line
		switch {
		case p.tok.kind == tEOF:
			p.fail(line, "kernel %s has no end", f.k.Name)
		case p.accept("{"):
			f.scopes = append(f.scopes, scope{regs: map[string]regRef{}})
		case p.accept("}"):
			if f.scopes = f.scopes[:len(f.scopes)-1]; len(f.scopes) == 0 {
				return
			}
		case p.tok.kind == tDir:
			f.declaration()
		default:
			f.statement()
		}
	}
}

func (f *function) declaration() {
	p := f.p
	dir, line := p.tok.text, p.tok.line
	p.advance()
	switch dir {
	case ".reg":
		f.regDecl()
	case ".shared":
		name, v := p.sharedDecl(false)
		if _, twice := f.shared[name]; twice {
			p.fail(line, "shared variable %s is declared twice", name)
		}
		f.placeShared(name, v, line)
	case ".local":
		name, v := p.sharedDecl(false)
		if _, twice := f.local[name]; twice {
			p.fail(line, "local variable %s is declared twice", name)
		}
		at := (f.k.LocalBytes + v.align - 1) &^ (v.align - 1)
		f.local[name], f.k.LocalBytes = localBase+at, at+v.size
	case ".loc":
		p.debugLine()
	case ".pragma":
		p.debugLine()
		p.expect(";")
	default:
		p.fail(line, "directive %s is not known in a kernel", dir)
	}
}

func (f *function) placeShared(name string, v sharedVar, line int) {
	at := (f.k.SharedBytes + v.align - 1) &^ (v.align - 1)
	f.shared[name] = sharedBase + at
	if f.k.SharedBytes = at + v.size; f.k.SharedBytes > maxShared {
		f.p.fail(line, "kernel %s declares more than %d bytes of shared memory", f.k.Name, maxShared)
	}
}

func (f *function) regDecl() {
	p := f.p
	line := p.tok.line
	t := p.typeDir()
	if t.bytes() == 1 {
		p.fail(line, "there are no registers of type %v", t)
	}
	sc := &f.scopes[len(f.scopes)-1]
	for {
		line := p.tok.line
		name := p.ident("a register name")
		if _, reserved := specials[name]; reserved || strings.Contains(name, ".") {
			p.fail(line, "%s is not a name for a register", name)
		}
		if p.accept("<") {
			sc.ranges = append(sc.ranges, regRange{name, p.integer("a number of registers", math.MaxInt32), t})
			p.expect(">")
		} else {
			if _, twice := sc.regs[name]; twice {
				p.fail(line, "register %s is declared twice", name)
			}
			sc.regs[name] = regRef{t, -1}
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect(";")
}

// reg finds a register by name and gives it a slot.
func (f *function) reg(name string) (regRef, bool) {
	for i := len(f.scopes) - 1; i >= 0; i-- {
		sc := &f.scopes[i]
		r, ok := sc.regs[name]
		if !ok {
			for _, rr := range sc.ranges {
				digits, has := strings.CutPrefix(name, rr.prefix)
				if n, err := strconv.Atoi(digits); has && err == nil && n >= 0 && n < rr.n && strconv.Itoa(n) == digits {
					r, ok = regRef{rr.t, -1}, true
					break
				}
			}
		}
		if !ok {
			continue
		}
		if r.n < 0 {
			if r.t == typePred {
				r.n = int32(f.k.npreds)
				f.k.npreds++
			} else {
				r.n = f.slot(slot{name: name})
			}
			sc.regs[name] = r
		}
		return r, true
	}
	return regRef{}, false
}
