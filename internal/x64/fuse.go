package x64

import "github.com/kelpiedb/kelpie/internal/ir"

// Registers that live for one operation. Emitters write them because it is simple; a machine
// instruction can do without. All patterns begin with the register's Vreg and end with its Clear.

// fuse translates such a pattern, if one begins here.
func (t *translator) fuse() bool { return t.inPlace() || t.operand() }

// aluOf is the machine's group for an operation that has one.
func aluOf(op ir.Op) (g inst, ok bool) {
	switch op {
	case ir.Add:
		return iADD, true
	case ir.Sub:
		return iSUB, true
	case ir.And:
		return iAND, true
	case ir.Or:
		return iOR, true
	case ir.Xor:
		return iXOR, true
	}
	return 0, false
}

// fresh reports that d is not open: functions that open it twice fail elsewhere.
func (t *translator) fresh(d ir.Reg) bool { return uint(d) < uint(len(t.loc)) && t.loc[d] == closed }

// inPlace is a change of a word in memory, as aggregates make it:
//
//	vreg d; load d,[m]; add d,d,b; store [m],d; clear d
func (t *translator) inPlace() bool {
	code := t.f.Code[t.index:]
	if len(code) < 5 || code[1].Op != ir.Load || code[3].Op != ir.Store || code[4].Op != ir.Clear {
		return false
	}
	d, load, op, store := code[0].D, &code[1], &code[2], &code[3]
	g, ok := aluOf(op.Op)
	if !ok || load.D != d || op.D != d || op.A.R != d || op.B.R == d || store.A.R != d || code[4].D != d ||
		load.W != 8 || store.W != 8 || load.M != store.M || load.M.Base == d || load.M.Index == d || !t.fresh(d) {
		return false
	}
	t.aluMem(g, t.mem(&load.M, rax, rdx), op.B, rcx)
	t.fused = t.index + 5
	return true
}

// operand is a second operand which the operation can read where it is:
//
//	vreg x; load x,[m]; add d,a,x; clear x
//	vreg x; mov x,b; add d,a,x; clear x
func (t *translator) operand() bool {
	code := t.f.Code[t.index:]
	if len(code) < 4 || code[3].Op != ir.Clear {
		return false
	}
	x, src, op := code[0].D, &code[1], code[2]
	g, ok := aluOf(op.Op)
	if !ok || src.D != x || op.D == x || code[3].D != x || !t.fresh(x) {
		return false
	}
	if op.A.R == x && op.Op != ir.Sub {
		op.A, op.B = op.B, op.A
	}
	if op.B.R != x || op.A.R == x {
		return false
	}
	switch {
	case src.Op == ir.Mov && src.A.R != x:
		op.B = src.A
		t.instr(&op)
	case src.Op == ir.Load && src.W == 8 && src.M.Base != x && src.M.Index != x:
		m := t.mem(&src.M, rdx, rcx)
		r := t.dst(op.D, rax)
		if op.A.R != op.D && (m.base == r || m.index == r) {
			r = rax // what the address needs is not yet overwritten
		}
		t.into(r, op.A)
		t.insM(g+aluRM, r, 0, m, 0)
		t.finish(op.D, r, rcx)
		t.setFlags(op.D, ccNE)
	default:
		return false
	}
	t.fused = t.index + 4
	return true
}
