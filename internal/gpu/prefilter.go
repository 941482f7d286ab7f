package gpu

import (
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// Filters of a scan whose columns stream can be tested by the CPU's own code, chunk by chunk, while kernels are at the chunk before. Then a chunk has a bit for each row
// that says whether it passes, and columns that nothing else reads need not come. For kernels the bits are a column of one bit that is packed as resident ones are.

// testedBits is how the column of bits is packed.
var testedBits = packing{bits: 1, most: 1}

// testedColumn is the column of bits, which chunks bring.
func testedColumn() *deviceColumn {
	return &deviceColumn{shape: column.Shape{Enc: column.EncInt, Width: 1}, bits: testedBits.bits, streamed: true}
}

// prefiltered is the program with scans whose filters the CPU tests.
func (l *lease) prefiltered(prog *pipe.Program, opts *exec.Options) *pipe.Program {
	threads := max(opts.Threads, 1)
	if l.pass { // it shares the rows as well
		threads = 0
	}
	return prefiltered(prog, opts.Prefilter, threads, func(t *pipe.Table, ord int) (bits float64) {
		key := keyOf(t.Scan.Snap, ord)
		switch l.parts[key] {
		case far:
			return 8 * (float64(expectedBytes(t.Scan.Snap, ord, packing{})) / float64(max(t.Scan.Snap.Rows, 1)))
		case streamed:
			form := packing{}
			if it := l.copies[key]; it != nil && it.copy.wish {
				form = packingOf(t.Scan.Snap, ord)
			}
			return bitsOf(t, ord, form)
		}
		return 0
	})
}

// Prefiltered is the program as EXPLAIN knows it, before anybody has looked for room: with scans whose filters the CPU tests, where columns stream in any case.
func Prefiltered(prog *pipe.Program, opts *exec.Options) *pipe.Program {
	if opts.Feed.Whole() {
		return prog
	}
	return prefiltered(prog, opts.Prefilter, max(opts.Threads, 1), func(t *pipe.Table, ord int) float64 { return bitsOf(t, ord, packing{}) })
}

// bitsOf is how many bits of a column come over the bus for a row, if it is packed in such a way.
func bitsOf(t *pipe.Table, ord int, form packing) float64 {
	sh, _ := shapeOf(t.Scan.Snap, ord)
	bits := 8 * float64(sh.Width)
	if form.bits > 0 {
		bits = float64(form.bits)
	}
	if sh.Nulls {
		bits += 8
	}
	return bits
}

func prefiltered(prog *pipe.Program, mode phys.Prefilter, threads int, bits func(t *pipe.Table, ord int) float64) *pipe.Program {
	if !device.HasCPU() {
		return prog
	}
	return prog.Prefilter(func(t *pipe.Table, unread []int) bool {
		if isFile(t.Scan.Snap) {
			return false
		}
		u := phys.Unshipped{Rows: t.Scan.Snap.Rows, Threads: threads}
		for _, ord := range unread {
			u.Bits += bits(t, ord)
		}
		return u.Bits > 0 && mode.At(t.Scan).Choose(u)
	})
}

// tests begins to test the filters of a scan for a feed, if it wants that.
func (f *feed) tests() (err error) {
	if t := f.src.before; t != nil {
		f.tested, err = exec.NewPrefilter(f.r.ctx, f.r.prog, t, f.r.team, f.r.Options)
	}
	return err
}

// isTested reports the column of bits.
func (c *deviceColumn) isTested() bool { return c.streamed && c.bits > 0 }

// testedBytes is what the bits of so many rows take.
func testedBytes(rows int64) int64 { return (rows + 31) / 32 * 4 }

// test adds tasks that set the bits of n rows from row lo on.
func (f *feed) test(tasks []func() error, dst []byte, lo, n, step int64) []func() error {
	clear(dst)
	for from := int64(0); from < n; from += step {
		tasks = append(tasks, func() error { return f.tested.Test(dst[from/8:], lo+from, lo+min(from+step, n)) })
	}
	return tasks
}
