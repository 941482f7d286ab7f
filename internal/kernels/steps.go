package kernels

import (
	"encoding/binary"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/ir"
)

// Step is a part of a kernel's work that begins when all of the steps before it are done: tiles, each done by one block. Kind says
// which of the kernel's bodies does it, and Args are numbers for that.
type Step struct {
	Kind, Tiles int
	Args        [stepArgs]uint32
}

const (
	stepArgs  = 6
	stepWords = 3 + stepArgs // the first of its tiles, the one behind the last, kind, args
	stepBytes = 4 * stepWords
)

// Steps are what a launch does: like phases, but it is data how many there are, and which. Blocks draw numbers of tiles, first those
// of the first step. A block waits for others only if all tiles of the steps before its own have been drawn, by blocks that run and that wait for no later one.
type Steps []Step

// Bytes is what the device reads of them.
func (s Steps) Bytes() []byte {
	var out []byte
	at := 0
	word := func(x int) { out = binary.LittleEndian.AppendUint32(out, uint32(x)) }
	for _, step := range s {
		word(at)
		at += step.Tiles
		word(at)
		word(step.Kind)
		for _, x := range step.Args {
			word(int(x))
		}
	}
	word(at) // no more
	word(-1)
	word(noStep)
	return append(out, make([]byte, stepBytes)...)
}

// noStep is the kind behind the last.
const noStep = 1<<31 - 1

// most is how many tiles the largest step has.
func (s Steps) most() int {
	n := 0
	for i := range s {
		n = max(n, s[i].Tiles)
	}
	return n
}

// stepsShared is what steps need of shared memory.
const stepsShared = 8

// steps does a launch's steps by the bodies of their kinds, which open registers of their own. The kernel's first parameters are the addresses of two words that are 0,
// and of the steps. at is a place in shared memory that nobody else uses.
func (w *writer) steps(tid ir.Reg, at int, bodies []func(tile ir.Reg, arg arguments)) {
	step, awaited := w.param("step", 3), w.word("awaited")
	w.Mov(awaited, ir.K(0)) // the first step waits for nobody
	draw := w.Loop()
	w.scope(func() {
		tile, kind, first, end := w.word("tile"), w.word("kind"), w.word("first"), w.word("end")
		w.when(ir.EQ, tid.V(), ir.K(0), func() {
			n, ticket := w.word("n"), w.param("ticket", 1)
			w.Atom4(ir.AtomAdd, n, ir.At(ticket, 0), ir.K(1), ir.Val{})
			w.Store(sharedAt(at), n.V(), 4)
		})
		w.Barrier()
		w.Load(tile, sharedAt(at), 4, false)
		w.Op1(ir.Uniform, tile, tile.V())
		w.Load(end, ir.At(step, 4), 4, false)
		w.while(ir.UGE, tile.V(), end.V(), func() {
			w.Op2(ir.Add, step, step.V(), ir.K(stepBytes))
			w.Load(end, ir.At(step, 4), 4, false)
		})
		w.Load(kind, ir.At(step, 8), 4, false)
		w.Op1(ir.Uniform, kind, kind.V())
		w.Break(draw, ir.EQ, kind.V(), ir.K(noStep))
		w.Load(first, ir.At(step, 0), 4, false)
		w.Op1(ir.Uniform, first, first.V())
		w.when(ir.NE, first.V(), awaited.V(), func() {
			done := w.param("done", 2)
			w.await(done, tid, first)
			w.Mov(awaited, first.V())
		})
		w.Op2(ir.Sub, tile, tile.V(), first.V())
		for k, body := range bodies {
			w.when(ir.EQ, kind.V(), ir.K(int64(k)), func() {
				body(tile, arguments{w, step})
			})
		}
		w.Barrier()
		w.when(ir.EQ, tid.V(), ir.K(0), func() {
			n, done := w.word("n"), w.param("done", 2)
			w.Fence()
			w.Atom4(ir.AtomAdd, n, ir.At(done, 0), ir.K(1), ir.Val{})
		})
	})
	w.EndLoop(draw, ir.Always, ir.Val{}, ir.Val{})
}

// arguments are those of the step at hand. A body may read one again where it needs it, and has its register for something else till then.
type arguments struct {
	w    *writer
	step ir.Reg
}

// get opens a register with an argument.
func (a arguments) get(i int) ir.Reg {
	r := a.w.word("arg")
	a.w.Load(r, ir.At(a.step, 12+4*i), 4, false)
	return r
}

// all opens registers with all of them.
func (a arguments) all() (args [stepArgs]ir.Reg) {
	for i := range args {
		args[i] = a.get(i)
	}
	return args
}

// tileSize is how many of n items a tile has of a step in which each is looked at once: enough for what a block does beside that, and few enough for all
// blocks to have some.
func (l *Library) tileSize(n int) int {
	_, size := l.share(n, threads)
	return min(max(size, 4*threads), 1<<16)
}

// Upload copies bytes to memory of the device, which stays until the launch is done.
type Upload func(b []byte) (device.Addr, error)

// launchSteps queues a kernel. It lends room that is 0: so many bytes, and rows of counts for digits. Params makes the parameters behind those of the steps from where these are.
func (l *Library) launchSteps(s device.Stream, upload Upload, f device.Function, steps Steps, bytes, rows int, params func(room, counts uint64) []uint64) error {
	resident, err := f.Resident(threads, 0)
	if err != nil {
		return err
	}
	blocks := max(1, min(steps.most(), max(resident, 1)*l.info.Units))
	list, err := upload(steps.Bytes())
	if err != nil {
		return err
	}
	const words = 256 // the ticket, and what is done, in lines of their own
	counts := words + bytes
	all := counts + 4*digits*rows
	return temporary(s, all, func(a device.Addr) error {
		if err := s.Fill(a, 0, all); err != nil {
			return err
		}
		base := uint64(a)
		return s.Launch(f, device.Shape{Blocks: blocks, Threads: threads}, append([]uint64{0, base, base + words/2, uint64(list)},
			params(base+words, base+uint64(counts))...)...)
	})
}
