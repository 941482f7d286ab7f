package simt

// hints are suffixes of loads and stores that change nothing here.
var hints = []string{"weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "cta", "gpu", "sys",
	"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "L1::no_allocate", "L1::evict_first", "L1::evict_last"}

func (d *decoder) takeHints() {
	for d.take(hints...) != "" {
	}
}

// addr appends an address: its register as a source, its displacement apart.
func (d *decoder) addr(o operand) {
	if o.kind != opndAddr {
		d.fail("%s needs an address in brackets", d.name)
	}
	d.in.off = int64(o.val)
	if o.name == "" {
		d.in.src[d.in.nsrc] = d.konst(0)
		d.in.nsrc++
		return
	}
	r, ok := d.f.reg(o.name)
	if ok {
		if r.t.isFloat() || r.t == typePred || r.t.bytes() < 4 {
			d.fail("%s is %v and cannot be an address", o.name, r.t)
		}
		d.in.src[d.in.nsrc] = r.n
		d.in.nsrc++
		return
	}
	at, of, ok := d.variable(o.name)
	if !ok {
		d.fail("%s is not declared", o.name)
	}
	if d.in.space != of {
		d.fail("%s is a %s variable, but the access is to %s memory", o.name, spaceNames[of], spaceNames[d.in.space])
	}
	d.in.src[d.in.nsrc] = at
	d.in.nsrc++
}

func (d *decoder) takeSpace() {
	if d.take("shared", "global") == "shared" {
		d.in.space = spaceShared
	}
}

// takeAnySpace is takeSpace for accesses that lanes make for themselves, too.
func (d *decoder) takeAnySpace() {
	if d.take("local") != "" {
		d.in.space = spaceLocal
		return
	}
	d.takeSpace()
}

// elements are the registers of a scalar or vector access.
func (d *decoder) elements(o operand) []operand {
	n := 1
	switch d.take("v2", "v4") {
	case "v2":
		n = 2
	case "v4":
		n = 4
	default:
		return []operand{o}
	}
	if o.kind != opndVec || len(o.vec) != n {
		d.fail("%s.v%d needs %d registers in braces", d.name, n, n)
	}
	if n*int(d.in.width) > 16 {
		d.fail("%s.v%d of %d bytes each is more than 16 bytes", d.name, n, d.in.width)
	}
	return o.vec
}

func decodeLd(d *decoder) {
	t := d.typ()
	d.want(t, t != typePred)
	d.count(2)
	d.in.class, d.in.op, d.in.t, d.in.width = classMemory, opLd, t, uint8(t.bytes())
	if d.take("param") != "" {
		decodeLdParam(d, t)
		return
	}
	d.takeAnySpace()
	d.takeHints()
	for _, o := range d.elements(d.ops[0]) {
		reg := d.dst(o, t, ptype.acceptsWider)
		if d.in.ndst > 1 && reg.mask() != d.in.mask {
			d.fail("the registers of a vector have one size")
		}
		d.in.mask = reg.mask()
	}
	d.addr(d.ops[1])
}

// decodeLdParam makes the load a conversion: parameters have slots.
func decodeLdParam(d *decoder, t ptype) {
	o := d.ops[1]
	for i, name := range d.f.k.Params {
		if o.kind != opndAddr || o.name != name {
			continue
		}
		if pt := d.f.k.paramTypes[i]; pt.bytes() < t.bytes() || pt.bytes() > t.bytes() && t.isFloat() || o.val != 0 {
			d.fail("parameter %s is %v and is loaded from its beginning, as that or less", name, pt)
		}
		d.in.class, d.in.op, d.in.from = classConvert, opCvt, t
		if t.class() == typeB {
			d.in.t, d.in.from = typeU|t&0x0f, typeU|t&0x0f
		}
		d.in.mask = d.dst(d.ops[0], t, ptype.acceptsWider).mask()
		d.in.src[0], d.in.nsrc = d.f.params[i], 1
		return
	}
	d.fail("ld.param needs the name of a parameter in brackets")
}

func decodeSt(d *decoder) {
	t := d.typ()
	d.want(t, t != typePred)
	d.count(2)
	d.in.class, d.in.op, d.in.t, d.in.width = classMemory, opSt, t, uint8(t.bytes())
	d.takeAnySpace()
	d.takeHints()
	d.addr(d.ops[0])
	for _, o := range d.elements(d.ops[1]) {
		d.src(o, t, ptype.acceptsWider)
	}
}

// decodePrefetch checks the operand; the hint itself changes nothing.
func decodePrefetch(d *decoder) {
	d.take("global")
	if d.take("L1", "L2") == "" {
		d.fail("prefetch needs .L1 or .L2")
	}
	d.count(1)
	d.addr(d.ops[0])
	d.in.class, d.in.op = classControl, opNop
}

// decodeAtom reads atom and red, which is atom without a result.
func decodeAtom(d *decoder) {
	t := d.typ()
	d.in.class = classAtomic
	d.takeSpace()
	d.takeHints()
	d.want(t, t != typePred && t.bytes() >= 4)
	d.setType(t)
	d.in.width = uint8(t.bytes())
	bits := t.class() == typeB
	n := 3
	var ok bool
	switch d.take("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec") {
	case "add":
		d.in.op, ok = opAdd, t != typeS|8 && !bits
	case "min":
		d.in.op, ok = opMin, t.isInt()
	case "max":
		d.in.op, ok = opMax, t.isInt()
	case "and":
		d.in.op, ok = opAnd, bits
	case "or":
		d.in.op, ok = opOr, bits
	case "xor":
		d.in.op, ok = opXor, bits
	case "exch":
		d.in.op, ok = opExch, bits && d.name == "atom"
	case "cas":
		d.in.op, ok, n = opCas, bits && d.name == "atom", 4
	case "inc":
		d.in.op, ok = opInc, t == typeU|4
	case "dec":
		d.in.op, ok = opDec, t == typeU|4
	default:
		d.fail("%s needs an operation", d.name)
	}
	d.want(t, ok)
	ops := d.ops
	if d.name == "red" {
		n--
	}
	d.count(n)
	if d.name == "atom" {
		d.dst(ops[0], t, ptype.accepts)
		ops = ops[1:]
	} else {
		d.in.dst[0], d.in.ndst = sinkSlot, 1
	}
	d.addr(ops[0])
	for _, o := range ops[1:] {
		d.src(o, t, ptype.accepts)
	}
}
