package simt

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// decoder turns one written instruction into an inst. Its methods fail by
// unwinding to Parse.
type decoder struct {
	f    *function
	in   *inst
	line int
	name string   // without suffixes
	mods []string // suffixes not yet used
	ops  []operand
}

// decoders knows the simulated instructions by name.
var decoders map[string]func(*decoder)

func init() {
	decoders = map[string]func(*decoder){
		"mov": decodeMov, "cvta": decodeCvta,
		"add": decodeAdd, "sub": decodeAdd, "addc": decodeAdd, "subc": decodeAdd,
		"mul": decodeMul, "mad": decodeMul, "fma": decodeMul,
		"div": decodeDiv, "rem": decodeDiv,
		"abs": decodeUnary, "neg": decodeUnary, "sqrt": decodeUnary, "rcp": decodeUnary,
		"min": decodeMinMax, "max": decodeMinMax,
		"and": decodeLogic, "or": decodeLogic, "xor": decodeLogic, "not": decodeLogic,
		"shl": decodeShift, "shr": decodeShift,
		"popc": decodeBits, "clz": decodeBits, "brev": decodeBits, "prmt": decodePrmt,
		"setp": decodeSetp, "selp": decodeSelp, "cvt": decodeCvt,
		"ld": decodeLd, "st": decodeSt, "prefetch": decodePrefetch,
		"atom": decodeAtom, "red": decodeAtom,
		"vote": decodeVote, "activemask": decodeActivemask, "shfl": decodeShfl, "match": decodeMatch, "redux": decodeRedux,
		"bar": decodeBar, "barrier": decodeBar, "membar": decodeFence, "fence": decodeFence,
		"nanosleep": decodeFence,
		"bra":       decodeBra, "ret": decodeEnd, "exit": decodeEnd, "trap": decodeEnd,
	}
}

// decode appends one instruction to the kernel.
func (f *function) decode(line int, guard *operand, name string, ops []operand) {
	parts := strings.Split(name, ".")
	in := inst{guard: -1, ps: -1, pd: [2]int32{-1, -1}, line: int32(line), reconv: -1}
	d := &decoder{f: f, in: &in, line: line, name: parts[0], mods: parts[1:], ops: ops}
	if guard != nil {
		in.guard, in.guardNot = d.pred(*guard), guard.not
	}
	fn, ok := decoders[d.name]
	if !ok {
		d.fail("instruction %s is not simulated", d.name)
	}
	fn(d)
	if len(d.mods) > 0 {
		d.fail("%s does not take .%s here", d.name, d.mods[0])
	}
	f.k.code = append(f.k.code, in)
}

func (d *decoder) fail(format string, args ...any) {
	d.f.p.fail(d.line, "%s", fmt.Sprintf(format, args...))
}

// take removes and returns the first suffix that is among names, or "".
func (d *decoder) take(names ...string) string {
	for i, m := range d.mods {
		if slices.Contains(names, m) {
			d.mods = slices.Delete(slices.Clone(d.mods), i, i+1)
			return m
		}
	}
	return ""
}

// typ takes the last suffix, a type.
func (d *decoder) typ() ptype {
	if len(d.mods) == 0 {
		d.fail("%s needs a type", d.name)
	}
	last := d.mods[len(d.mods)-1]
	t, ok := typeNames[last]
	if !ok {
		d.fail("%s ends in .%s, which is not a type", d.name, last)
	}
	d.mods = d.mods[:len(d.mods)-1]
	return t
}

// want fails unless the type is among those of the instruction.
func (d *decoder) want(t ptype, ok bool) {
	if !ok {
		d.fail("%s does not work on %v", d.name, t)
	}
}

// arithmetic sets the type of an instruction on integers of 16 bits and more or
// on floats, and chooses the class.
func (d *decoder) arithmetic(t ptype) {
	d.want(t, t != typePred && t.bytes() > 1)
	d.setType(t)
	if d.in.class = classInt; t.isFloat() {
		d.in.class = classFloat
	}
}

func (d *decoder) setType(t ptype) {
	d.in.t, d.in.mask, d.in.sh = t, t.mask(), uint8(64-t.bits())
}

func (d *decoder) count(n int) {
	if len(d.ops) != n {
		d.fail("%s takes %d operands, not %d", d.name, n, len(d.ops))
	}
}

func (d *decoder) konst(v uint64) int32 {
	s, ok := d.f.consts[v]
	if !ok {
		s = d.f.slot(slot{kind: slotConst, val: v})
		d.f.consts[v] = s
	}
	return s
}

// pred resolves a predicate.
func (d *decoder) pred(o operand) int32 {
	if o.kind == opndName && o.pair == nil {
		if r, ok := d.f.reg(o.name); ok {
			if r.t != typePred {
				d.fail("%s is not a predicate but %v", o.name, r.t)
			}
			return r.n
		}
		d.fail("%s is not declared", o.name)
	}
	d.fail("%s needs a predicate here", d.name)
	return -1
}

// register resolves a name that may be a register, and checks its type.
func (d *decoder) register(o operand, t ptype, fits func(t, reg ptype) bool) (regRef, bool) {
	if o.kind != opndName || o.not || o.pair != nil {
		return regRef{}, false
	}
	if r, ok := d.f.reg(o.name); ok {
		if !fits(t, r.t) {
			d.fail("%s is %v and does not fit %s with type %v", o.name, r.t, d.name, t)
		}
		return r, true
	}
	return regRef{}, false
}

// dst appends destination operand o of type t.
func (d *decoder) dst(o operand, t ptype, fits func(t, reg ptype) bool) ptype {
	if o.kind == opndName && o.name == "_" && o.pair == nil {
		d.in.dst[d.in.ndst] = sinkSlot
		d.in.ndst++
		return t
	}
	r, ok := d.register(o, t, fits)
	if !ok {
		if o.kind == opndName && !o.not && o.pair == nil {
			d.fail("%s is not a declared register", o.name)
		}
		d.fail("%s needs a register as destination", d.name)
	}
	d.in.dst[d.in.ndst] = r.n
	d.in.ndst++
	return r.t
}

// src appends source operand o of type t.
func (d *decoder) src(o operand, t ptype, fits func(t, reg ptype) bool) {
	d.in.src[d.in.nsrc] = d.resolve(o, t, fits)
	d.in.nsrc++
}

func (d *decoder) resolve(o operand, t ptype, fits func(t, reg ptype) bool) int32 {
	switch o.kind {
	case opndInt:
		if t.isFloat() {
			d.fail("%s on %v needs a float constant such as 0d3FF0000000000000", d.name, t)
		}
		return d.konst(o.val & t.mask())
	case opndFloat, opndFloat32:
		v, ok := o.val, t.isFloat()
		if t.bytes() == 4 {
			if o.kind == opndFloat {
				v = uint64(math.Float32bits(float32(math.Float64frombits(v))))
			}
		} else {
			ok = ok && o.kind == opndFloat
		}
		if !ok {
			d.fail("a float constant does not fit %s with type %v", d.name, t)
		}
		return d.konst(v)
	case opndName:
		if o.not || o.pair != nil {
			break
		}
		if r, ok := d.register(o, t, fits); ok {
			return r.n
		}
		if s, ok := d.special(o.name, t, fits); ok {
			return s
		}
		d.fail("%s is not declared", o.name)
	}
	d.fail("%s cannot take such an operand here", d.name)
	return 0
}

// special resolves special registers and the constant WARP_SZ.
func (d *decoder) special(name string, t ptype, fits func(t, reg ptype) bool) (int32, bool) {
	if name == "WARP_SZ" {
		return d.konst(32), true
	}
	sp, ok := specials[name]
	if !ok {
		return 0, false
	}
	if !fits(t, typeU|4) {
		d.fail("%s is .u32 and does not fit %s with type %v", name, d.name, t)
	}
	if d.f.spec[sp] == 0 {
		d.f.spec[sp] = d.f.slot(slot{kind: slotSpecial, val: uint64(sp)})
	}
	return d.f.spec[sp], true
}

// variable is a slot with the address of a variable, and the space that it lies in.
func (d *decoder) variable(name string) (at int32, of space, ok bool) {
	if at, ok := d.f.local[name]; ok {
		return d.konst(uint64(at)), spaceLocal, true
	}
	at, ok = d.sharedAddr(name)
	return at, spaceShared, ok
}

// sharedAddr is a slot with the address of a shared variable.
func (d *decoder) sharedAddr(name string) (int32, bool) {
	if at, ok := d.f.shared[name]; ok {
		return d.konst(uint64(at)), true
	}
	v, ok := d.f.p.shared[name]
	switch {
	case !ok:
		return 0, false
	case v.dynamic:
		// Its place is behind all that the kernel declares, which is known at the end.
		if d.f.dynamic == 0 {
			d.f.dynamic = d.f.slot(slot{kind: slotDynamic})
		}
		return d.f.dynamic, true
	}
	d.f.placeShared(name, v, d.line)
	return d.konst(uint64(d.f.shared[name])), true
}

// operands is the common shape: one destination and the rest sources, all of type t.
func (d *decoder) operands(t ptype, n int) {
	d.count(n)
	d.dst(d.ops[0], t, ptype.accepts)
	for _, o := range d.ops[1:] {
		d.src(o, t, ptype.accepts)
	}
}

// finish resolves labels and finds where divergent branches meet again.
func (f *function) finish() {
	for _, g := range f.gotos {
		at, ok := f.labels[g.label]
		if !ok {
			f.p.fail(g.line, "label %s is not defined in kernel %s", g.label, f.k.Name)
		}
		f.k.code[g.inst].target = int32(at)
	}
	findReconvergence(f.k.code)
}
