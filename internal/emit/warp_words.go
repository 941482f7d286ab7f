package emit

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// maxParams is how many words of the context are parameters of the kernel. Every device lets them have 4 KB.
const maxParams = 500

// hoistWords makes the words of the context parameters of the kernel: they do not change during a launch, and
// parameters lie where instructions can read them as if they were registers. The register into which a row read a word is replaced by
// the lane's, unless it is changed afterwards; then the lane's is copied.
func (e *warp) hoistWords() {
	e.placeInsertions()
	if e.spare != nil { // nothing is inserted after this
		spares.Put(e.spare)
		e.spare = nil
	}
	f := e.B.F
	assigned := make([]uint8, len(f.Regs)) // how often, as far as that matters
	count := func(r ir.Reg) { assigned[r] = min(assigned[r]+1, 2) }
	for i := range f.Code {
		f.Code[i].Writes(count)
	}
	isWord := func(in *ir.Instr) bool {
		return in.Op == ir.Load && in.M.Base == ir.Ctx && in.M.Index == ir.NoReg && in.W == 8
	}
	start, end := e.begin, len(f.Code)
	words := map[int32]ir.Reg{}            // by offset
	instead := make([]ir.Reg, len(f.Regs)) // NoReg: it stays
	for i := range instead {
		instead[i] = ir.NoReg
	}
	for i := start; i < end; i++ {
		in := f.Code[i]
		if !isWord(&in) {
			continue
		}
		w, ok := words[in.M.Disp]
		if !ok { // behind all code, at first
			w = e.Int(f.Regs[in.D].Name)
			if f.Params < maxParams {
				f.Params++
				e.B.Param(w, f.Params)
				e.f.Params = append(e.f.Params, int(in.M.Disp))
			} else {
				e.B.Load8(w, in.M)
			}
			words[in.M.Disp] = w
			e.ofKernel = append(e.ofKernel, w)
		}
		if assigned[in.D] == 1 {
			instead[in.D] = w
			f.Code[i] = ir.Instr{} // not needed
		} else {
			f.Code[i] = ir.Instr{Op: ir.Mov, D: in.D, A: w.V()}
		}
	}
	read := slices.Clone(f.Code[end:])
	copy(f.Code[start+len(read):], f.Code[start:end])
	copy(f.Code[start:], read)
	replace := func(r *ir.Reg) {
		if uint(*r) < uint(len(instead)) && instead[*r] != ir.NoReg {
			*r = instead[*r]
		}
	}
	to := start + len(read)
	for i := to; i < len(f.Code); i++ {
		in := &f.Code[i]
		switch {
		case in.Op == ir.Nop, (in.Op == ir.Vreg || in.Op == ir.Clear) && uint(in.D) < uint(len(instead)) && instead[in.D] != ir.NoReg:
			continue
		}
		for _, v := range [...]*ir.Val{&in.A, &in.A2, &in.B, &in.B2, &in.C, &in.C2} {
			replace(&v.R)
		}
		replace(&in.M.Base)
		replace(&in.M.Index)
		f.Code[to] = *in
		to++
	}
	f.Code = f.Code[:to]
	e.f.CtxKept = layout.CtxWords
	for i := range f.Code {
		switch m, ok := f.Code[i].Memory(); {
		case !ok || m.Base != ir.Ctx || m.Space != ir.Global:
		case f.Code[i].Op == ir.Lea || m.Index != ir.NoReg: // whoever has the address may go on from there
			e.f.CtxKept = e.CtxSize
		default:
			e.f.CtxKept = max(e.f.CtxKept, int(m.Disp)+8)
		}
	}
}
