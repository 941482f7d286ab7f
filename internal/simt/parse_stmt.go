package simt

// operand is one operand as written.
type operand struct {
	kind opndKind
	not  bool   // !p
	name string // opndName: register, symbol or label; opndAddr: its base
	val  uint64 // immediates; opndAddr: displacement
	neg  bool   // a minus stood before the immediate
	vec  []operand
	pair *operand // d|p
}

type opndKind uint8

const (
	opndName opndKind = iota
	opndInt
	opndFloat
	opndFloat32
	opndAddr
	opndVec
)

// statement reads a label or an instruction.
func (f *function) statement() {
	p := f.p
	var guard *operand
	if p.accept("@") {
		guard = &operand{not: p.accept("!")}
		guard.name = p.ident("a predicate")
	}
	line := p.tok.line
	name := p.ident("an instruction")
	if guard == nil && p.accept(":") {
		if _, twice := f.labels[name]; twice {
			p.fail(line, "label %s is defined twice", name)
		}
		f.labels[name] = len(f.k.code)
		return
	}
	var ops []operand
	if !p.is(";") {
		ops = append(ops, f.operand(0))
		for p.accept(",") {
			ops = append(ops, f.operand(0))
		}
	}
	p.expect(";")
	f.decode(line, guard, name, ops)
}

func (f *function) operand(depth int) operand {
	p := f.p
	switch {
	case p.accept("{"):
		if depth > 0 {
			p.fail(p.tok.line, "a vector inside a vector")
		}
		o := operand{kind: opndVec, vec: []operand{f.operand(1)}}
		for p.accept(",") {
			o.vec = append(o.vec, f.operand(1))
		}
		p.expect("}")
		return o
	case p.accept("["):
		return f.address()
	case p.accept("!"):
		return operand{not: true, name: p.ident("a predicate")}
	case p.tok.kind == tIdent:
		o := operand{name: p.ident("an operand")}
		if p.accept("|") {
			o.pair = &operand{name: p.ident("a predicate")}
		}
		return o
	}
	return f.number()
}

// number reads an immediate with its sign.
func (f *function) number() operand {
	p := f.p
	neg := p.accept("-")
	o := operand{val: p.tok.val, neg: neg}
	switch p.tok.kind {
	case tInt:
		o.kind = opndInt
		if neg {
			o.val = -o.val
		}
	case tFloat:
		o.kind = opndFloat
		if neg {
			o.val ^= 1 << 63
		}
	case tFloat32:
		o.kind = opndFloat32
		if neg {
			o.val ^= 1 << 31
		}
	default:
		p.fail(p.tok.line, "expected an operand, found %v", p.tok)
	}
	p.advance()
	return o
}

// address reads [base], [base+disp], [base+-disp] or [constant]. There is no
// [base-disp] in PTX.
func (f *function) address() operand {
	p := f.p
	o := operand{kind: opndAddr}
	if p.tok.kind == tIdent {
		o.name = p.ident("an address")
	} else {
		n := f.number()
		if n.kind != opndInt {
			p.fail(p.tok.line, "an address is not a float")
		}
		o.val = n.val
		p.expect("]")
		return o
	}
	if p.accept("+") {
		n := f.number()
		if n.kind != opndInt {
			p.fail(p.tok.line, "a displacement is not a float")
		}
		if d := int64(n.val); d != int64(int32(d)) {
			p.fail(p.tok.line, "displacement %d does not fit 32 bits", d)
		}
		o.val = n.val
	}
	p.expect("]")
	return o
}
