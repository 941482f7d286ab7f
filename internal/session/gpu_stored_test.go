package session

import (
	"slices"
	"sync"
	"testing"

	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/gen/tpch"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/gpu"
	"github.com/kelpiedb/kelpie/internal/ir"
)

// keeping is a simulated device that keeps code by its names, as one with a disk does.
type keeping struct {
	*device.Simulated
	mu       sync.Mutex
	byName   map[string]string // the text of the code
	compiled int
	quick    int // of these, for somebody who waits
}

// keptCode is code that can be kept.
type keptCode struct {
	device.Code
	d    *keeping
	text string
}

func (c *keptCode) Keep(name string) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	c.d.byName[name] = c.text
}

func (d *keeping) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.compiled
}

func (d *keeping) load(text string) device.Code {
	d.mu.Lock()
	d.compiled++
	d.mu.Unlock()
	return &keptCode{d.Simulated.Load(text), d, text}
}

func (d *keeping) Load(text string) device.Code            { return d.load(text) }
func (d *keeping) LoadHere(text string) device.Code        { return d.load(text) }
func (d *keeping) Anew(text string, _, _ bool) device.Code { return d.load(text) }

func (d *keeping) LoadQuick(text string) device.Code {
	d.mu.Lock()
	d.quick++
	d.mu.Unlock()
	return d.load(text)
}

func (d *keeping) Stored(name string, _ bool) device.Code {
	d.mu.Lock()
	defer d.mu.Unlock()
	if text, ok := d.byName[name]; ok {
		return d.Simulated.Load(text)
	}
	return nil
}

// TestGPUStoredCode: code that a device has kept is found without its text, by all queries, and gives the same rows; one that must know nothing
// compiles everything.
func TestGPUStoredCode(t *testing.T) {
	if device.CodeName(device.AnyGPU, &ir.Func{Name: "f"}) == "" {
		t.Skip("this program has no name")
	}
	dev := &keeping{Simulated: device.NewSimulated(device.SimulatedOptions{}), byName: map[string]string{}}
	s := load(t, "tpch", "0.01")
	queries := tpch.Queries()
	if testing.Short() {
		queries = slices.DeleteFunc(queries, func(q gen.Query) bool { return !slices.Contains(simtFive["tpch"], q.Name) })
	}
	for _, q := range queries {
		want := rowsOf(t, s, q.SQL)
		ask := func(from string, early bool) (compiled int) {
			s.DB.Accelerate(gpu.NewStore(dev, 0)) // it knows nothing
			s.Configure(func(x *Settings) { x.Device, x.Off.EarlyKernels = "gpu", !early })
			mustRun(t, s, "set gpu_code = '"+from+"'")
			before := dev.count()
			if got := rowsOf(t, s, q.SQL); got != want {
				t.Errorf("%s, %s:\n%swant\n%s", q.Name, from, got, want)
			}
			s.Configure(func(x *Settings) { x.Device = "cpu" })
			return dev.count() - before
		}
		first := ask("new", false)
		if first == 0 {
			t.Errorf("%s compiles nothing", q.Name)
		}
		for _, from := range []string{"stored", "kept"} {
			if n := ask(from, false); n > 0 {
				t.Errorf("%s, %s: %d texts are compiled again", q.Name, from, n)
			}
			ask(from, true) // what is foreseen in vain is another matter
		}
		if again := ask("new", false); again < first {
			t.Errorf("%s: %d texts are compiled anew, and %d at first", q.Name, again, first)
		}
	}
}

// TestGPUQuickKernels: who waits for kernels asks for quick ones, unless that is switched off, or what they take is measured, or the rows are many.
func TestGPUQuickKernels(t *testing.T) {
	s := load(t, "tpch", "0.01")
	want := rowsOf(t, s, "select count(*), sum(l_quantity) from lineitem where l_shipmode = 'AIR'")
	for _, c := range []struct {
		set   string
		quick bool
	}{{"quick_kernels = on", true}, {"quick_kernels = off", false}, {"gpu_times = on", false}} {
		dev := &keeping{Simulated: device.NewSimulated(device.SimulatedOptions{}), byName: map[string]string{}}
		s.DB.Accelerate(gpu.NewStore(dev, 0))
		mustRun(t, s, "set device = 'gpu'")
		mustRun(t, s, "set "+c.set)
		if got := rowsOf(t, s, "select count(*), sum(l_quantity) from lineitem where l_shipmode = 'AIR'"); got != want {
			t.Errorf("%s: %s, want %s", c.set, got, want)
		}
		if dev.count() == 0 || (dev.quick == dev.count()) != c.quick || (dev.quick > 0) != c.quick {
			t.Errorf("%s: %d of %d kernels are quick", c.set, dev.quick, dev.count())
		}
		mustRun(t, s, "set device = 'cpu'")
	}
	mustRun(t, s, "set gpu_times = off")
	mustRun(t, s, "set quick_kernels = on")
	dev := &keeping{Simulated: device.NewSimulated(device.SimulatedOptions{}), byName: map[string]string{}}
	s.DB.Accelerate(gpu.NewStore(dev, 0))
	mustRun(t, s, "set device = 'gpu'")
	mustRun(t, s, "explain (analyze) select count(*) from lineitem")
	if dev.count() == 0 || dev.quick > 0 {
		t.Errorf("EXPLAIN ANALYZE measures %d quick kernels of %d", dev.quick, dev.count())
	}
}
