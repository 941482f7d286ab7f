package ptx

import (
	"github.com/kelpiedb/kelpie/internal/ir"
)

var specials = map[ir.SpecialReg]string{
	ir.LaneID: "%laneid", ir.ThreadID: "%tid.x", ir.BlockID: "%ctaid.x", ir.BlockDim: "%ntid.x", ir.GridDim: "%nctaid.x",
	ir.LanesBelow: "%lanemask_lt",
}

// everyone is the mask of collectives: the IR places them only where all lanes
// of a warp come by.
const everyone = "0xffffffff"

func (t *translator) lanes(in *ir.Instr) {
	switch in.Op {
	case ir.Barrier:
		t.op("bar.sync 0")
		return
	case ir.Sync:
		t.op("bar.warp.sync " + everyone)
		return
	case ir.Fence:
		t.op("fence.acq_rel.gpu")
		return
	case ir.Shfl, ir.ShflXor, ir.ShflUp, ir.ShflDown:
		t.shuffle(in)
		return
	}
	// The results have 32 bits; an I64 gets zeros above.
	typ := t.typ(in.D)
	d := t.dst(in.D, typ)
	r := d
	if typ == ir.I64 {
		r = t.temp(temp32)
	}
	switch in.Op {
	case ir.RedAdd, ir.RedMin, ir.RedMax, ir.RedOr:
		t.reduce(in, d)
		return
	case ir.Special:
		name, ok := specials[ir.SpecialReg(in.A.Imm)]
		if !ok || !in.A.IsImm() {
			t.fail("special register %d does not exist", in.A.Imm)
		}
		t.op("mov.u32 %s, %s", r, name)
	case ir.Ballot:
		p := t.temp(tempPred)
		of := t.valType(in.A)
		t.op("setp.ne.s%d %s, %s, 0", bitsOf(of), p, t.as(in.A, of))
		t.op("vote.sync.ballot.b32 %s, %s, %s", r, p, everyone)
	case ir.Match:
		of := t.valType(in.A)
		t.op("match.any.sync.b%d %s, %s, %s", bitsOf(of), r, t.as(in.A, of), everyone)
	}
	if typ == ir.I64 {
		t.op("cvt.u64.u32 %s, %s", d, r)
	}
}

var reductions = map[ir.Op]struct{ redux, step string }{
	ir.RedAdd: {"add.s32", "add.s32"}, ir.RedMin: {"min.s32", "min.s32"}, ir.RedMax: {"max.s32", "max.s32"}, ir.RedOr: {"or.b32", "or.b32"},
}

// reduce is one instruction since sm_80, and five exchanges between lanes before.
func (t *translator) reduce(in *ir.Instr, d string) {
	how, a := reductions[in.Op], t.as(in.A, ir.I32)
	if t.arch >= 80 {
		t.redux = true
		t.op("redux.sync.%s %s, %s, %s", how.redux, d, a, everyone)
		return
	}
	sum, other := t.temp(temp32), t.temp(temp32)
	t.op("mov.b32 %s, %s", sum, a)
	for step := 16; step > 0; step /= 2 {
		t.op("shfl.sync.bfly.b32 %s, %s, %d, 31, %s", other, sum, step, everyone)
		t.op("%s %s, %s, %s", how.step, sum, sum, other)
	}
	t.op("mov.b32 %s, %s", d, sum)
}

// shuffle moves a word, and 64 bits as two halves. The fourth operand is the last lane that
// may be read, or for up the first.
func (t *translator) shuffle(in *ir.Instr) {
	mode := map[ir.Op]string{ir.Shfl: "idx", ir.ShflXor: "bfly", ir.ShflUp: "up", ir.ShflDown: "down"}[in.Op]
	limit := "31"
	if in.Op == ir.ShflUp {
		limit = "0"
	}
	if in.B.IsImm() && (in.B.Imm < 0 || in.B.Imm > 31) {
		t.fail("there is no lane %d", in.B.Imm)
	}
	if t.typ(in.D) == ir.I32 {
		d, a := t.dst(in.D, ir.I32), t.as(in.A, ir.I32)
		t.op("shfl.sync.%s.b32 %s, %s, %s, %s, %s", mode, d, a, t.low(in.B), limit, everyone)
		return
	}
	d := t.idst(in.D)
	lo, hi := t.temp(temp32), t.temp(temp32)
	t.op("mov.b64 {%s, %s}, %s", lo, hi, t.val(in.A))
	lane := t.low(in.B)
	for _, half := range []string{lo, hi} {
		t.op("shfl.sync.%s.b32 %s, %s, %s, %s, %s", mode, half, half, lane, limit, everyone)
	}
	t.op("mov.b64 %s, {%s, %s}", d, lo, hi)
}
