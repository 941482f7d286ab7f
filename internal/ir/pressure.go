package ir

import "slices"

// Pressure is about how many registers of 32 bits are wanted at a time by what f computes: parameters are none, a GPU's instructions
// read them where they are. A register counts from where it is first assigned to where it is last read, and through any loop that it
// comes from outside of. What an assembler needs between, for addresses and halves, comes on top.
func (f *Func) Pressure() int {
	first, last := make([]int32, len(f.Regs)), make([]int32, len(f.Regs))
	params := make([]bool, len(f.Regs))
	for r := range first {
		first[r] = -1
	}
	type loop struct{ from, to int32 }
	var open, loops []loop
	for i := range f.Code {
		in, at := &f.Code[i], int32(i)
		switch in.Op {
		case Vreg, Clear, Comment, Nop:
			continue
		case Loop:
			open = append(open, loop{from: at})
			continue
		case Param:
			params[in.D] = true
		}
		in.reads(func(r Reg) { last[r] = at })
		in.writes(func(r Reg) {
			if first[r] < 0 {
				first[r] = at
			}
			last[r] = max(last[r], at)
		})
		if in.Op == EndLoop && len(open) > 0 {
			l := open[len(open)-1]
			l.to = at
			open, loops = open[:len(open)-1], append(loops, l)
		}
	}
	// Inner loops end first.
	slices.SortFunc(loops, func(a, b loop) int { return int(a.to - b.to) })
	begins, ends := make([]int, len(f.Code)+1), make([]int, len(f.Code)+1)
	for r := range first {
		if first[r] < 0 || params[r] || Reg(r) == Ctx {
			continue
		}
		for _, l := range loops {
			if first[r] < l.from && last[r] > l.from && last[r] < l.to {
				last[r] = l.to
			}
		}
		n := 2
		if f.Regs[r].Type == I32 {
			n = 1
		}
		begins[first[r]] += n
		ends[last[r]] += n
	}
	most, now := 0, 0
	for i := range f.Code {
		now += begins[i]
		most = max(most, now)
		now -= ends[i]
	}
	return most
}

// Instructions is how many f has that do something.
func (f *Func) Instructions() (n int) {
	for i := range f.Code {
		switch f.Code[i].Op {
		case Vreg, Clear, Comment, Nop:
		default:
			n++
		}
	}
	return n
}
