package ir

import "math/rand/v2"

// A small interpreter of integer code, to hold the verifier's claims against what
// happens. It runs the threads of a block each on its own and lets them meet at
// collectives; when those that must meet do not, that is a finding.

const (
	warpSize  = 4
	blockSize = 3 * warpSize
)

type machine struct {
	f     *Func
	rng   *rand.Rand
	coin  bool          // conditions are decided by chance, not by values
	match []int         // for If, Else: the instruction after the branch; for Loop: its EndLoop
	next  map[int32]int // for loops: where Continue goes
	loops map[int32]int // for loops: the Loop instruction
	inner [][]int32     // for collectives: the loops around
}

type thread struct {
	id, pc   int
	regs     []int64
	assigned []bool
	rounds   map[int32]int // of each loop
	fuel     int
	done     bool
	unread   int // instruction that read an unassigned register, or -1
}

func newMachine(f *Func, rng *rand.Rand) *machine {
	m := &machine{f: f, rng: rng, match: make([]int, len(f.Code)), next: map[int32]int{}, loops: map[int32]int{}, inner: make([][]int32, len(f.Code))}
	var stack []int
	var labels []int32
	for i := range f.Code {
		in := &f.Code[i]
		m.inner[i] = append([]int32(nil), labels...)
		switch in.Op {
		case If:
			stack = append(stack, i)
		case Loop:
			stack = append(stack, i)
			labels = append(labels, in.Label)
			m.loops[in.Label] = i
		case Else:
			m.match[stack[len(stack)-1]] = i + 1
			stack[len(stack)-1] = i
		case EndIf:
			m.match[stack[len(stack)-1]] = i
			stack = stack[:len(stack)-1]
		case Next:
			m.next[in.Label] = i
		case EndLoop:
			m.match[stack[len(stack)-1]] = i
			stack = stack[:len(stack)-1]
			labels = labels[:len(labels)-1]
			if _, ok := m.next[in.Label]; !ok {
				m.next[in.Label] = i
			}
		}
	}
	return m
}

func (m *machine) thread(id int) *thread {
	n := len(m.f.Regs)
	th := &thread{id: id, regs: make([]int64, n), assigned: make([]bool, n), rounds: map[int32]int{}, fuel: 300, unread: -1}
	th.assigned[Ctx] = true
	return th
}

func (m *machine) holds(th *thread, in *Instr) bool {
	if in.Cond == Always {
		return true
	}
	if m.coin {
		return m.rng.IntN(2) == 0
	}
	a, b := th.val(in.A), th.val(in.B)
	switch in.Cond {
	case EQ:
		return a == b
	case NE:
		return a != b
	case LT:
		return a < b
	}
	return a >= b
}

func (th *thread) val(v Val) int64 {
	if v.IsImm() {
		return v.Imm
	}
	return th.regs[v.R]
}

// run goes on until a collective, the end, or until the fuel is spent.
func (m *machine) run(th *thread) {
	for th.pc < len(m.f.Code) {
		in := &m.f.Code[th.pc]
		if in.Op.info().group != alone && !m.coin {
			return
		}
		if th.fuel--; th.fuel < 0 {
			return
		}
		m.step(th, in)
		if m.coin && th.unread >= 0 {
			return
		}
	}
	th.done = true
}

func (m *machine) step(th *thread, in *Instr) {
	in.reads(func(r Reg) {
		if !th.assigned[r] {
			th.unread = th.pc
		}
	})
	info := in.Op.info()
	if info.d == intVal || info.d == sameVal || info.d == freeVal {
		th.assigned[in.D] = true
		th.regs[in.D] = m.result(th, in)
	}
	th.pc++
	switch in.Op {
	case Vreg:
		th.assigned[in.D] = false
	case If:
		if !m.holds(th, in) {
			th.pc = m.match[th.pc-1]
		}
	case Else:
		th.pc = m.match[th.pc-1]
	case Loop:
		th.rounds[in.Label] = 0
	case EndLoop:
		if m.holds(th, in) {
			th.rounds[in.Label]++
			th.pc = m.loops[in.Label] + 1
		}
	case Break:
		if m.holds(th, in) {
			th.pc = m.match[m.loops[in.Label]] + 1
		}
	case Continue:
		if m.holds(th, in) {
			th.pc = m.next[in.Label]
		}
	case Exit:
		if m.holds(th, in) {
			th.pc = len(m.f.Code)
		}
	}
}

func (m *machine) result(th *thread, in *Instr) int64 {
	switch in.Op {
	case Add:
		return (th.val(in.A) + th.val(in.B)) % 8
	case Set:
		if m.holds(th, in) {
			return 1
		}
		return 0
	case Special:
		switch SpecialReg(in.A.Imm) {
		case LaneID:
			return int64(th.id % warpSize)
		case ThreadID:
			return int64(th.id)
		}
		return 2
	case Load:
		if in.M.Base == Ctx && in.M.Index == NoReg {
			return int64(in.M.Disp/8) % 4
		}
		return int64(m.rng.IntN(4))
	}
	return th.val(in.A) // Mov; collectives when conditions are coins
}

// block runs a whole block. It is nil if all went well or ran out of fuel, and
// otherwise says which threads missed each other. meetings counts collectives.
func (m *machine) block(meetings *int) (missed []*thread) {
	ths := make([]*thread, blockSize)
	for i := range ths {
		ths[i] = m.thread(i)
	}
	for {
		for w := 0; w < blockSize; w += warpSize {
			for {
				lanes := ths[w : w+warpSize]
				for _, th := range lanes {
					if m.run(th); th.fuel < 0 {
						return nil
					}
				}
				if !m.together(lanes) {
					return lanes
				}
				if lanes[0].done || m.f.Code[lanes[0].pc].Op == Barrier {
					break
				}
				m.collective(lanes)
				*meetings++
			}
		}
		if !m.together(ths) {
			return ths
		}
		if ths[0].done {
			return nil
		}
		*meetings++
		for _, th := range ths {
			th.pc++
		}
	}
}

// together: all at the same place in the same rounds of the loops around, or all done.
func (m *machine) together(ths []*thread) bool {
	for _, th := range ths[1:] {
		if th.done != ths[0].done || th.pc != ths[0].pc {
			return false
		}
		if th.done {
			continue
		}
		for _, l := range m.inner[th.pc] {
			if th.rounds[l] != ths[0].rounds[l] {
				return false
			}
		}
	}
	return true
}

func (m *machine) collective(lanes []*thread) {
	in := &m.f.Code[lanes[0].pc]
	out := make([]int64, len(lanes))
	for i, th := range lanes {
		a, b := th.val(in.A), int(th.val(in.B))
		switch in.Op {
		case Ballot:
			for j, other := range lanes {
				if other.val(in.A) != 0 {
					out[i] |= 1 << j
				}
			}
		case Match:
			for j, other := range lanes {
				if other.val(in.A) == a {
					out[i] |= 1 << j
				}
			}
		case Shfl:
			out[i] = lanes[(b%warpSize+warpSize)%warpSize].val(in.A)
		default:
			out[i] = lanes[((i^b)%warpSize+warpSize)%warpSize].val(in.A)
		}
	}
	for i, th := range lanes {
		th.regs[in.D], th.assigned[in.D] = out[i], true
		th.pc++
	}
}
