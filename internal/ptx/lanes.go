package ptx

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/ir"
)

var specials = map[ir.SpecialReg]string{
	ir.LaneID: "%laneid", ir.ThreadID: "%tid.x", ir.BlockID: "%ctaid.x", ir.BlockDim: "%ntid.x", ir.GridDim: "%nctaid.x",
}

// everyone is the mask of collectives: the IR places them only where all lanes
// of a warp come by.
const everyone = "0xffffffff"

func (t *translator) lanes(in *ir.Instr) {
	switch in.Op {
	case ir.Barrier:
		t.op("bar.sync 0")
		return
	case ir.Fence:
		t.op("fence.acq_rel.gpu")
		return
	case ir.Shfl, ir.ShflXor, ir.ShflUp, ir.ShflDown:
		t.shuffle(in)
		return
	}
	d, r := t.idst(in.D), t.temp(temp32)
	switch in.Op {
	case ir.Special:
		name, ok := specials[ir.SpecialReg(in.A.Imm)]
		if !ok || !in.A.IsImm() {
			t.fail("special register %d does not exist", in.A.Imm)
		}
		t.op("mov.u32 %s, %s", r, name)
	case ir.Ballot:
		p := t.temp(tempPred)
		t.op("setp.ne.s64 %s, %s, 0", p, t.val(in.A))
		t.op("vote.sync.ballot.b32 %s, %s, %s", r, p, everyone)
	case ir.Match:
		t.op("match.any.sync.b64 %s, %s, %s", r, t.val(in.A), everyone)
	}
	t.op("cvt.u64.u32 %s, %s", d, r)
}

// shuffle moves 64 bits as two halves. The fourth operand is the last lane that
// may be read, or for up the first.
func (t *translator) shuffle(in *ir.Instr) {
	mode := map[ir.Op]string{ir.Shfl: "idx", ir.ShflXor: "bfly", ir.ShflUp: "up", ir.ShflDown: "down"}[in.Op]
	limit := "31"
	if in.Op == ir.ShflUp {
		limit = "0"
	}
	d := t.idst(in.D)
	lo, hi := t.temp(temp32), t.temp(temp32)
	t.op("mov.b64 {%s, %s}, %s", lo, hi, t.val(in.A))
	lane := ""
	if in.B.IsImm() {
		if in.B.Imm < 0 || in.B.Imm > 31 {
			t.fail("there is no lane %d", in.B.Imm)
		}
		lane = fmt.Sprint(in.B.Imm)
	} else {
		lane = t.temp(temp32)
		t.op("cvt.u32.u64 %s, %s", lane, t.val(in.B))
	}
	for _, half := range []string{lo, hi} {
		t.op("shfl.sync.%s.b32 %s, %s, %s, %s, %s", mode, half, half, lane, limit, everyone)
	}
	t.op("mov.b64 %s, {%s, %s}", d, lo, hi)
}
