package simt

func decodeBra(d *decoder) {
	d.take("uni")
	d.count(1)
	o := d.ops[0]
	if o.kind != opndName || o.not || o.pair != nil {
		d.fail("bra needs a label")
	}
	d.in.class, d.in.op = classControl, opBra
	d.f.gotos = append(d.f.gotos, pendingBranch{len(d.f.k.code), o.name, d.line})
}

func decodeEnd(d *decoder) {
	d.take("uni")
	d.count(0)
	d.in.class, d.in.op = classControl, opRet
	if d.name == "trap" {
		d.in.op = opTrap
	}
}

// decodeFence: lanes, warps and blocks run one after the other, so memory is
// always in order.
func decodeFence(d *decoder) {
	for d.take("cta", "gl", "sys", "gpu", "sc", "acq_rel", "acquire", "release", "u32") != "" {
	}
	d.in.class, d.in.op = classControl, opNop
	if d.name == "nanosleep" {
		d.count(1)
		d.src(d.ops[0], typeU|4, ptype.accepts)
		return
	}
	d.count(0)
}

// decodeBar reads bar.sync and barrier.sync with a number and perhaps a count of
// threads, and bar.warp.sync.
func decodeBar(d *decoder) {
	if d.take("warp") != "" {
		if d.take("sync") == "" {
			d.fail("bar.warp is simulated as bar.warp.sync only")
		}
		d.count(1)
		d.in.class, d.in.op = classLanes, opWarpSync
		d.src(d.ops[0], typeB|4, ptype.accepts)
		return
	}
	d.take("cta")
	if d.take("sync") == "" {
		d.fail("%s is simulated as %s.sync only", d.name, d.name)
	}
	d.take("aligned")
	d.in.class, d.in.op = classControl, opBar
	if len(d.ops) != 1 {
		d.count(2)
	}
	for _, o := range d.ops {
		if o.kind != opndInt {
			d.fail("%s takes constants only", d.name)
		}
		d.src(o, typeU|4, ptype.accepts)
	}
	if d.ops[0].val > 15 {
		d.fail("there are 16 barriers, not %d", d.ops[0].val)
	}
	if len(d.ops) == 2 && (d.ops[1].val%warpSize != 0 || d.ops[1].val == 0 || d.ops[1].val > maxBlock) {
		d.fail("a barrier waits for whole warps, not %d threads", d.ops[1].val)
	}
}

// sync requires .sync, without which lane intrinsics do not exist since sm_70.
func (d *decoder) sync() {
	if d.take("sync") == "" {
		d.fail("%s without .sync does not exist on sm_70 and later", d.name)
	}
	d.in.class = classLanes
}

func decodeVote(d *decoder) {
	t := d.typ()
	d.sync()
	d.count(3)
	switch d.take("all", "any", "uni", "ballot") {
	case "all":
		d.in.op = opVoteAll
	case "any":
		d.in.op = opVoteAny
	case "uni":
		d.in.op = opVoteUni
	case "ballot":
		d.in.op = opBallot
	default:
		d.fail("vote needs .all, .any, .uni or .ballot")
	}
	if d.in.op == opBallot {
		d.want(t, t == typeB|4)
		d.dst(d.ops[0], t, ptype.accepts)
	} else {
		d.want(t, t == typePred)
		d.in.pd[0] = d.pred(d.ops[0])
	}
	d.in.ps, d.in.psNot = d.pred(d.ops[1]), d.ops[1].not
	d.src(d.ops[2], typeB|4, ptype.accepts)
}

func decodeActivemask(d *decoder) {
	t := d.typ()
	d.want(t, t == typeB|4)
	d.count(1)
	d.in.class, d.in.op = classLanes, opActivemask
	d.dst(d.ops[0], t, ptype.accepts)
}

// pairDst is a destination that may be written d|p.
func (d *decoder) pairDst(o operand, t ptype) {
	if o.pair != nil {
		d.in.pd[0] = d.pred(*o.pair)
		o.pair = nil
	}
	d.dst(o, t, ptype.accepts)
}

func decodeShfl(d *decoder) {
	t := d.typ()
	d.sync()
	d.want(t, t == typeB|4)
	d.count(5)
	switch d.take("idx", "up", "down", "bfly") {
	case "idx":
		d.in.op = opShflIdx
	case "up":
		d.in.op = opShflUp
	case "down":
		d.in.op = opShflDown
	case "bfly":
		d.in.op = opShflBfly
	default:
		d.fail("shfl needs .idx, .up, .down or .bfly")
	}
	d.pairDst(d.ops[0], t)
	// The mask comes first, where all collectives have it.
	for _, i := range []int{4, 1, 2, 3} {
		d.src(d.ops[i], t, ptype.accepts)
	}
}

func decodeMatch(d *decoder) {
	t := d.typ()
	d.sync()
	d.want(t, t == typeB|4 || t == typeB|8)
	d.count(3)
	switch d.take("any", "all") {
	case "any":
		d.in.op = opMatchAny
	case "all":
		d.in.op = opMatchAll
	default:
		d.fail("match needs .any or .all")
	}
	if d.in.op == opMatchAny && d.ops[0].pair != nil {
		d.fail("match.any has no predicate as a result")
	}
	d.pairDst(d.ops[0], typeB|4)
	d.src(d.ops[2], typeB|4, ptype.accepts)
	d.src(d.ops[1], t, ptype.accepts)
}

// decodeRedux reads the reductions of 32-bit values over a warp, which exist since sm_80.
func decodeRedux(d *decoder) {
	t := d.typ()
	d.sync()
	d.count(3)
	var ok bool
	switch d.take("add", "min", "max", "and", "or", "xor") {
	case "add":
		d.in.comb, ok = opAdd, t.isInt()
	case "min":
		d.in.comb, ok = opMin, t.isInt()
	case "max":
		d.in.comb, ok = opMax, t.isInt()
	case "and":
		d.in.comb, ok = opAnd, t.class() == typeB
	case "or":
		d.in.comb, ok = opOr, t.class() == typeB
	case "xor":
		d.in.comb, ok = opXor, t.class() == typeB
	default:
		d.fail("redux needs an operation")
	}
	d.want(t, ok && t.bytes() == 4)
	d.in.op = opRedux
	d.setType(t)
	d.dst(d.ops[0], t, ptype.accepts)
	d.src(d.ops[2], typeB|4, ptype.accepts)
	d.src(d.ops[1], t, ptype.accepts)
}
