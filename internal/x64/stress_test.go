package x64

import (
	"bytes"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/ir"
)

// spinFunc counts n down from the context's first word and adds up in spilled
// registers, floats and integers; the sum is n(n+1)/2 in each.
func spinFunc() *ir.Func {
	b := ir.NewFunc("spin", ir.CPU)
	var regs []ir.Reg
	n := b.Vreg("n", ir.I64)
	b.Load8(n, ir.At(ir.Ctx, dataAt))
	for range 30 {
		v := b.Vreg("sum", ir.I64)
		b.Mov(v, ir.K(0))
		regs = append(regs, v)
	}
	f, x := b.Vreg("fsum", ir.F64), b.Vreg("x", ir.F64)
	b.FConst(f, 0)
	l := b.Loop()
	for _, v := range []ir.Reg{regs[0], regs[5], regs[29]} {
		b.Op2(ir.Add, v, v.V(), n.V())
	}
	b.Op1(ir.I2F, x, n.V())
	b.Op2(ir.FAdd, f, f.V(), x.V())
	b.Op2(ir.Sub, n, n.V(), ir.K(1))
	b.EndLoop(l, ir.NE, n.V(), ir.K(0))
	for i, v := range []ir.Reg{regs[0], regs[5], regs[29]} {
		b.Store(ir.At(ir.Ctx, dataAt+8+8*i), v.V(), 8)
	}
	b.Op1(ir.F2I, n, f.V())
	b.Store(ir.At(ir.Ctx, dataAt+32), n.V(), 8)
	return b.F
}

// deep calls the code with little stack left, so that the trampoline must grow it.
func deep(c *Code, w *world, depth int) int64 {
	var pad [64]byte
	if depth > 0 {
		pad[depth&63] = 1
		return deep(c, w, depth-1) + int64(pad[0])*0
	}
	return c.Call(unsafe.Pointer(&w.mem[0]))
}

// TestStress runs generated code beside all that the Go runtime does meanwhile:
// garbage collection, preemption signals, profiling, growing and shrinking stacks,
// code coming and going.
func TestStress(t *testing.T) {
	if !Supported() {
		t.Skip("no x86-64-v3 processor")
	}
	length := 1500 * time.Millisecond
	if testing.Short() {
		length = 200 * time.Millisecond
	}
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	var prof bytes.Buffer
	if err := pprof.StartCPUProfile(&prof); err == nil {
		defer pprof.StopCPUProfile()
	}
	stop := time.Now().Add(length)
	var wg sync.WaitGroup
	for g := range 24 {
		wg.Go(func() {
			n := int64(100_000 + 80_000*g) // about 0.1 to 2 ms
			for i := 0; time.Now().Before(stop); i++ {
				done := make(chan bool)
				go func() { // a fresh goroutine has a small stack
					defer close(done)
					c, err := Translate(spinFunc())
					if err != nil {
						t.Error(err)
						return
					}
					defer c.Free()
					w := newWorld()
					w.put(dataAt, n)
					if s := deep(c, w, i%97); s != 0 {
						t.Errorf("status %d", s)
					}
					for k := range 4 {
						if got, want := word(w.mem, dataAt+8+8*k), uint64(n*(n+1)/2); got != want {
							t.Errorf("sum %d is %d, want %d", k, got, want)
						}
					}
				}()
				<-done
			}
		})
	}
	wg.Go(func() {
		for time.Now().Before(stop) {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
	})
	wg.Wait()
}

// faulting is a function that faults in the second half of its work.
func faulting(kind string) *ir.Func {
	b := ir.NewFunc(kind, ir.CPU)
	v, z := b.Vreg("v", ir.I64), b.Vreg("z", ir.I64)
	b.Load8(z, ir.At(ir.Ctx, dataAt))
	switch kind {
	case "load":
		b.Load8(v, ir.At(z, 16))
	case "divide":
		b.Mov(v, ir.K(10))
		b.Op2(ir.Div, v, v.V(), z.V())
	}
	b.Store(ir.At(ir.Ctx, dataAt+8), v.V(), 8)
	return b.F
}

// TestFaults: an access of the nil page and a division by zero are panics that can
// be recovered, again and again, also while the collector runs.
func TestFaults(t *testing.T) {
	for _, kind := range []string{"load", "divide"} {
		c := mustTranslate(t, faulting(kind))
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for i := range 200 {
					err := callRecovering(c, i%50)
					if err == nil {
						t.Errorf("%s did not fault", kind)
						return
					}
					if _, ok := err.(runtime.Error); !ok {
						t.Errorf("%s: %v", kind, err)
					}
				}
			})
		}
		runtime.GC()
		wg.Wait()
	}
}

func callRecovering(c *Code, depth int) (err any) {
	defer func() {
		err = recover()
		if depth == 7 {
			runtime.GC()
			_ = debug.Stack()
		}
	}()
	deep(c, newWorld(), depth)
	return nil
}
