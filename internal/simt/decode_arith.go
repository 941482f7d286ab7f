package simt

func decodeMov(d *decoder) {
	t := d.typ()
	d.count(2)
	if t == typePred {
		// mov.pred p, q is p = q & q.
		d.in.class, d.in.op, d.in.t = classPred, opAnd, t
		d.in.pd[0] = d.pred(d.ops[0])
		d.in.ps = d.pred(d.ops[1])
		d.in.src[0] = d.in.ps
		if d.ops[1].not {
			d.fail("mov.pred does not negate its operand")
		}
		return
	}
	d.want(t, t.bytes() > 1)
	d.in.class, d.in.op = classInt, opMov
	d.setType(t)
	switch {
	case d.ops[0].kind == opndVec:
		half := d.half(t, d.ops[0].vec)
		d.in.op = opUnpack
		d.dst(d.ops[0].vec[0], half, ptype.accepts)
		d.dst(d.ops[0].vec[1], half, ptype.accepts)
		d.src(d.ops[1], t, ptype.accepts)
	case d.ops[1].kind == opndVec:
		half := d.half(t, d.ops[1].vec)
		d.in.op = opPack
		d.dst(d.ops[0], t, ptype.accepts)
		d.src(d.ops[1].vec[0], half, ptype.accepts)
		d.src(d.ops[1].vec[1], half, ptype.accepts)
	default:
		d.dst(d.ops[0], t, ptype.accepts)
		if o := d.ops[1]; o.kind == opndName {
			if at, _, ok := d.variable(o.name); ok {
				d.want(t, t.bytes() >= 4 && !t.isFloat())
				d.in.src[0], d.in.nsrc = at, 1
				return
			}
		}
		d.src(d.ops[1], t, ptype.accepts)
	}
}

// half is the type of the elements of a packed register.
func (d *decoder) half(t ptype, vec []operand) ptype {
	d.want(t, t == typeB|8 || t == typeB|4)
	if len(vec) != 2 {
		d.fail("only pairs are packed, not %d elements", len(vec))
	}
	d.in.sh = uint8(t.bits() / 2)
	return typeB | ptype(t.bytes()/2)
}

// decodeCvta knows the global window only, which the generic one maps to itself.
func decodeCvta(d *decoder) {
	t := d.typ()
	d.want(t, t == typeU|8)
	d.take("to")
	if d.take("global") == "" {
		d.fail("cvta is simulated for .global only")
	}
	d.in.class, d.in.op = classInt, opMov
	d.setType(t)
	d.operands(t, 2)
}

func (d *decoder) nearest(must bool) {
	if d.take("rn") == "" && must {
		d.fail("%s on floats needs the rounding .rn", d.name)
	}
}

func decodeAdd(d *decoder) {
	t := d.typ()
	d.want(t, t.isInt() || t.isFloat())
	d.arithmetic(t)
	if d.in.op = opAdd; d.name[:3] == "sub" {
		d.in.op = opSub
	}
	d.in.carryIn = len(d.name) == 4
	if !t.isFloat() {
		d.in.carryOut = d.take("cc") != ""
	} else if d.nearest(false); d.in.carryIn {
		d.want(t, false)
	}
	if d.in.carryIn || d.in.carryOut {
		d.want(t, t.bytes() >= 4)
	}
	d.operands(t, 3)
}

// decodeMul reads mul, mad and fma.
func decodeMul(d *decoder) {
	t := d.typ()
	d.want(t, t.isInt() || t.isFloat())
	d.arithmetic(t)
	if t.isFloat() {
		if d.in.op = opMul; d.name == "mul" {
			d.nearest(false)
			d.operands(t, 3)
			return
		}
		d.nearest(true)
		d.in.op = opFma
		d.operands(t, 4)
		return
	}
	if d.name == "fma" {
		d.want(t, false)
	}
	mad := d.name == "mad"
	wide := t
	switch d.take("lo", "hi", "wide") {
	case "lo":
		d.in.op = opMulLo
	case "hi":
		d.in.op = opMulHi
	case "wide":
		d.want(t, t.bytes() <= 4)
		d.in.op = opMulWide
		wide = t.class() | ptype(2*t.bytes())
	default:
		d.fail("%s on integers needs .lo, .hi or .wide", d.name)
	}
	if mad {
		d.count(4)
	} else {
		d.count(3)
	}
	d.dst(d.ops[0], wide, ptype.accepts)
	d.src(d.ops[1], t, ptype.accepts)
	d.src(d.ops[2], t, ptype.accepts)
	if mad {
		d.in.op += opMadLo - opMulLo
		d.src(d.ops[3], wide, ptype.accepts)
	}
}

func decodeDiv(d *decoder) {
	t := d.typ()
	d.want(t, t.isInt() || t.isFloat() && d.name == "div")
	d.arithmetic(t)
	if d.in.op = opDiv; d.name == "rem" {
		d.in.op = opRem
	}
	if t.isFloat() {
		d.nearest(true)
	}
	d.operands(t, 3)
}

func decodeUnary(d *decoder) {
	t := d.typ()
	d.arithmetic(t)
	switch d.name {
	case "abs", "neg":
		d.want(t, t.isFloat() || t.signed())
		if d.in.op = opAbs; d.name == "neg" {
			d.in.op = opNeg
		}
	default:
		d.want(t, t.isFloat())
		d.nearest(true)
		if d.in.op = opSqrt; d.name == "rcp" {
			d.in.op = opRcp
		}
	}
	d.operands(t, 2)
}

func decodeMinMax(d *decoder) {
	t := d.typ()
	d.want(t, t.isInt() || t.isFloat())
	d.arithmetic(t)
	if d.in.op = opMin; d.name == "max" {
		d.in.op = opMax
	}
	d.operands(t, 3)
}

func decodeLogic(d *decoder) {
	t := d.typ()
	d.want(t, t == typePred || t.class() == typeB && t.bytes() > 1)
	d.in.op = map[string]opcode{"and": opAnd, "or": opOr, "xor": opXor, "not": opNot}[d.name]
	n := 3
	if d.in.op == opNot {
		n = 2
	}
	if t != typePred {
		d.arithmetic(t)
		d.operands(t, n)
		return
	}
	d.count(n)
	d.in.class, d.in.t = classPred, t
	d.in.pd[0] = d.pred(d.ops[0])
	d.in.src[0] = d.pred(d.ops[1])
	d.in.ps = d.pred(d.ops[n-1])
	for _, o := range d.ops {
		if o.not {
			d.fail("%s.pred does not negate operands", d.name)
		}
	}
}

// decodeShift: the count is 32 bits wide whatever the type.
func decodeShift(d *decoder) {
	t := d.typ()
	d.in.op = opShl
	if d.name == "shl" {
		d.want(t, t.class() == typeB && t.bytes() > 1)
	} else {
		d.in.op = opShr
	}
	d.arithmetic(t)
	d.want(t, !t.isFloat())
	d.count(3)
	d.dst(d.ops[0], t, ptype.accepts)
	d.src(d.ops[1], t, ptype.accepts)
	d.src(d.ops[2], typeU|4, ptype.accepts)
}

func decodeBits(d *decoder) {
	t := d.typ()
	d.want(t, t == typeB|4 || t == typeB|8)
	d.arithmetic(t)
	result := typeU | 4
	switch d.name {
	case "popc":
		d.in.op = opPopc
	case "clz":
		d.in.op = opClz
	case "brev":
		d.in.op, result = opBrev, t
	}
	d.count(2)
	d.dst(d.ops[0], result, ptype.accepts)
	d.src(d.ops[1], t, ptype.accepts)
}

func decodePrmt(d *decoder) {
	t := d.typ()
	d.want(t, t == typeB|4)
	d.arithmetic(t)
	d.in.op = opPrmt
	d.operands(t, 4)
}

func decodeSetp(d *decoder) {
	t := d.typ()
	d.want(t, t != typePred && t.bytes() > 1)
	d.setType(t)
	d.in.class, d.in.op = classPred, opSetp
	if len(d.mods) == 0 {
		d.fail("setp needs a comparison")
	}
	name := d.mods[0]
	cmp, ok := cmpOps[name]
	if !ok {
		d.fail("setp does not know the comparison .%s", name)
	}
	d.mods = d.mods[1:]
	unsignedOnly := len(name) == 2 && (name == "lo" || name == "ls" || name == "hi" || name == "hs")
	switch {
	case t.isFloat():
		ok = !unsignedOnly
	case t.class() == typeB:
		ok = cmp <= cmpNe
	default:
		ok = cmp <= cmpGe && !(unsignedOnly && t.signed())
	}
	if !ok {
		d.fail("setp cannot compare %v by .%s", t, name)
	}
	d.in.cmp = cmp
	n := 3
	if b := d.take("and", "or", "xor"); b != "" {
		n = 4
		d.in.comb = map[string]opcode{"and": opAnd, "or": opOr, "xor": opXor}[b]
	}
	d.count(n)
	first := d.ops[0]
	if first.pair != nil {
		d.in.pd[1] = d.pred(*first.pair)
		first.pair = nil
	}
	d.in.pd[0] = d.pred(first)
	d.src(d.ops[1], t, ptype.accepts)
	d.src(d.ops[2], t, ptype.accepts)
	if n == 4 {
		d.in.ps, d.in.psNot = d.pred(d.ops[3]), d.ops[3].not
	}
}

func decodeSelp(d *decoder) {
	t := d.typ()
	d.want(t, t != typePred && t.bytes() > 1)
	d.setType(t)
	d.in.class, d.in.op = classPred, opSelp
	d.count(4)
	d.dst(d.ops[0], t, ptype.accepts)
	d.src(d.ops[1], t, ptype.accepts)
	d.src(d.ops[2], t, ptype.accepts)
	d.in.ps, d.in.psNot = d.pred(d.ops[3]), d.ops[3].not
}

func decodeCvt(d *decoder) {
	from := d.typ()
	to := d.typ()
	d.want(from, from.isInt() || from.isFloat())
	d.want(to, to.isInt() || to.isFloat())
	integral := map[string]round{"rni": roundNear, "rzi": roundZero, "rmi": roundDown, "rpi": roundUp}
	fraction := map[string]round{"rn": roundNear, "rz": roundZero, "rm": roundDown, "rp": roundUp}
	rnd := d.take("rni", "rzi", "rmi", "rpi", "rn", "rz", "rm", "rp")
	var ok bool
	switch {
	case from.isFloat() && to.isInt():
		d.in.rnd, ok = integral[rnd]
	case from.isInt() && to.isFloat():
		// Other roundings of integers exist; nobody asked for them yet.
		d.in.rnd, ok = roundNear, rnd == "rn"
	case from.isInt() || from.bytes() < to.bytes():
		ok = rnd == ""
	case from.bytes() == to.bytes():
		d.in.rnd, ok = integral[rnd]
		ok = ok || rnd == ""
	default:
		d.in.rnd, ok = fraction[rnd]
	}
	if !ok {
		d.fail("cvt from %v to %v cannot have the rounding %q", from, to, rnd)
	}
	d.in.class, d.in.op = classConvert, opCvt
	d.in.t, d.in.from = to, from
	d.count(2)
	d.in.mask = d.dst(d.ops[0], to, ptype.acceptsWider).mask()
	d.src(d.ops[1], from, ptype.acceptsWider)
}
