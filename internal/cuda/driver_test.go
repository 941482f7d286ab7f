package cuda

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// TestOpen: with or without a GPU, Open says what it found.
func TestOpen(t *testing.T) {
	d, err := Open()
	if err != nil {
		var u *Unavailable
		if !errors.As(err, &u) || u.Why == "" || strings.Contains(u.Why, "panic") {
			t.Fatalf("not a reason that a user can read: %v", err)
		}
		t.Log(err)
		return
	}
	devices, err := d.Devices()
	if err != nil || len(devices) == 0 {
		t.Fatal(devices, err)
	}
	for _, i := range devices {
		t.Logf("%d: %s, %s, %d units, %.1f GiB, L2 %d MiB, shared %d per block, CUDA %d", i.Ordinal, i.Name, i.Arch(), i.Units,
			float64(i.Memory)/(1<<30), i.L2>>20, i.SharedPerBlock, d.Version())
		if i.Warp != 32 || i.Units == 0 || i.Memory == 0 || i.SharedPerBlock < 48<<10 {
			t.Errorf("%+v", i)
		}
	}
}

// TestEnergy: the meter of a GPU that works goes up, and where there is none a user can read why.
func TestEnergy(t *testing.T) {
	d, err := Open()
	if err != nil {
		_, err := manage()
		var u *Unavailable
		if err != nil && (!errors.As(err, &u) || !strings.Contains(u.Why, "libnvidia-ml") && Built) {
			t.Fatalf("not a reason that a user can read: %v", err)
		}
		t.Skip(err)
	}
	meter := must[func() (float64, error)](t)(d.Energy(0))
	before := must[float64](t)(meter())
	time.Sleep(500 * time.Millisecond)
	after := must[float64](t)(meter())
	if taken := after - before; taken < 1 || taken > 1000 {
		t.Errorf("%g J in half a second, from %g to %g", taken, before, after)
	}
}

// gpu returns a context and a stream on the first device, or skips.
func gpu(t *testing.T) (*Context, *Stream) {
	d, err := Open()
	if err != nil {
		t.Skip(err)
	}
	c, err := d.Context(0)
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.Stream()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), c.Close()); err != nil && !IsLost(err) {
			t.Error(err)
		}
	})
	return c, s
}

// addText is a kernel: out[i] = in[i] + add for i < n.
func addText(name string) string {
	return fmt.Sprintf(`.version 7.0
.target sm_70
.address_size 64
.visible .entry %s(.param .u64 in, .param .u64 out, .param .u32 n, .param .u32 add)
{
	.reg .pred %%p;
	.reg .b32 %%r<6>;
	.reg .b64 %%d<5>;
	ld.param.u64 %%d0, [in];
	ld.param.u64 %%d1, [out];
	ld.param.u32 %%r0, [n];
	ld.param.u32 %%r1, [add];
	mov.u32 %%r2, %%ctaid.x;
	mov.u32 %%r3, %%ntid.x;
	mov.u32 %%r4, %%tid.x;
	mad.lo.u32 %%r2, %%r2, %%r3, %%r4;
	setp.ge.u32 %%p, %%r2, %%r0;
	@%%p ret;
	mul.wide.u32 %%d2, %%r2, 4;
	add.u64 %%d3, %%d0, %%d2;
	add.u64 %%d4, %%d1, %%d2;
	ld.global.u32 %%r5, [%%d3];
	add.u32 %%r5, %%r5, %%r1;
	st.global.u32 [%%d4], %%r5;
	ret;
}
`, name)
}

// addParams packs the two narrow parameters into one word, as they lie behind one another.
func addParams(in, out Ptr, n, add uint32) []uint64 {
	return []uint64{uint64(in), uint64(out), uint64(n) | uint64(add)<<32}
}

func compileAdd(t *testing.T, c *Context, name string) *Function {
	t.Helper()
	cubin, err := c.Link([]byte(addText(name)), 0)
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.Load(cubin)
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Function(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func ok(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestLaunch(t *testing.T) {
	c, s := gpu(t)
	f := compileAdd(t, c, "add")
	u := must[Usage](t)(f.Usage())
	if u.Registers == 0 || u.Local != 0 {
		t.Errorf("%+v", u)
	}
	const n = 1<<20 + 17
	host := make([]uint32, n)
	for i := range host {
		host[i] = uint32(i * 3)
	}
	a := must[Ptr](t)(s.Alloc(4 * n))
	b := must[Ptr](t)(s.Alloc(4 * n))
	from, to := must[*Event](t)(c.Event()), must[*Event](t)(c.Event())
	got := make([]uint32, n)
	ok(t, s.Upload(a, unsafe.Pointer(&host[0]), 4*n), s.Fill(b, 9, 4*n), s.Record(from),
		s.Launch(f, Shape{Blocks: (n + 255) / 256, Threads: 256}, addParams(a, b, n-1, 5)),
		s.Record(to), s.Download(unsafe.Pointer(&got[0]), b, 4*n), s.Sync())
	for i := range n - 1 {
		if got[i] != host[i]+5 {
			t.Fatalf("%d: %d, want %d", i, got[i], host[i]+5)
		}
	}
	if got[n-1] != 0x09090909 {
		t.Errorf("the last word became %d", got[n-1])
	}
	if took := must[time.Duration](t)(to.Since(from)); took <= 0 || took > time.Second {
		t.Errorf("took %v", took)
	}
	reserved, used, err := c.Pool()
	if err != nil || used < 8*n || reserved < used {
		t.Errorf("pool %d of %d, %v", used, reserved, err)
	}
	ok(t, s.Free(a), s.Free(b), s.Sync(), c.Trim(0))
	if _, used, _ := c.Pool(); used != 0 {
		t.Errorf("%d bytes in use after Free", used)
	}
}

// TestHostMemory: pinned and registered memory is reached by the device as it is.
func TestHostMemory(t *testing.T) {
	c, s := gpu(t)
	f := compileAdd(t, c, "add")
	const n = 1 << 16
	pinned := must[unsafe.Pointer](t)(c.Pinned(4 * n))
	mem, err := syscall.Mmap(-1, 0, 4*n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	ok(t, err)
	registered := unsafe.Pointer(&mem[0])
	in, out := unsafe.Slice((*uint32)(pinned), n), unsafe.Slice((*uint32)(registered), n)
	for i := range in {
		in[i] = uint32(i)
	}
	at := must[Ptr](t)(c.Register(registered, 4*n))
	ok(t, s.Launch(f, Shape{Blocks: n / 128, Threads: 128}, addParams(must[Ptr](t)(c.Mapped(pinned)), at, n, 7)), s.Sync())
	for i := range out {
		if out[i] != uint32(i)+7 {
			t.Fatalf("%d: %d", i, out[i])
		}
	}
	ok(t, c.Unregister(registered), c.FreePinned(pinned), syscall.Munmap(mem))
}

// TestStreams: a mark orders two streams; many goroutines use one context.
func TestStreams(t *testing.T) {
	c, _ := gpu(t)
	f := compileAdd(t, c, "add")
	const n = 4096
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			s, other := must[*Stream](t)(c.Stream()), must[*Stream](t)(c.Stream())
			e := must[*Event](t)(c.Event())
			p := must[Ptr](t)(s.Alloc(4 * n))
			ok(t, s.Fill(p, 0, 4*n))
			for i := range 100 {
				on, next := s, other
				if i%2 == 1 {
					on, next = other, s
				}
				ok(t, on.Launch(f, Shape{Blocks: n / 128, Threads: 128}, addParams(p, p, n, uint32(g))), on.Record(e), next.Wait(e))
			}
			got := make([]uint32, n)
			ok(t, s.Download(unsafe.Pointer(&got[0]), p, 4*n), s.Sync(), s.Free(p), e.Close(), other.Close(), s.Close())
			if slices.Min(got) != uint32(100*g) || slices.Max(got) != uint32(100*g) {
				t.Errorf("goroutine %d: %d to %d", g, slices.Min(got), slices.Max(got))
			}
		})
	}
	wg.Wait()
}

// TestRefusals: what the driver refuses is an error that says so, and nothing is broken by it.
func TestRefusals(t *testing.T) {
	c, s := gpu(t)
	_, err := c.Link([]byte(strings.Replace(addText("add"), "mad.lo.u32", "mad.low.u32", 1)), 0)
	if err == nil || !strings.Contains(err.Error(), "mad.low") && !strings.Contains(err.Error(), "line") {
		t.Errorf("bad PTX: %v", err)
	}
	if _, err := s.Alloc(1 << 48); !IsOutOfMemory(err) || IsLost(err) {
		t.Errorf("256 TiB: %v", err)
	}
	f := compileAdd(t, c, "add")
	if err := s.Launch(f, Shape{Blocks: 1, Threads: 4096}, addParams(0, 0, 0, 0)); err == nil || IsLost(err) {
		t.Errorf("a block of 4096 threads: %v", err)
	}
	big := c.Info.SharedPerBlock
	ok(t, f.AllowShared(big), s.Launch(f, Shape{Blocks: 1, Threads: 32, Shared: big}, addParams(0, 0, 0, 0)), s.Sync())
	if n := must[int](t)(f.Resident(1024, big)); n != 1 {
		t.Errorf("%d blocks with all shared memory on a multiprocessor", n)
	}
}

// TestCompiler: many texts at once, each compiled once, and from the disk the second time.
func TestCompiler(t *testing.T) {
	c, _ := gpu(t)
	dir := t.TempDir()
	for round := range 2 {
		k := c.Compiler(NewCache(dir, 1<<20))
		var builds []*Build
		start := time.Now()
		for i := range 16 {
			builds = append(builds, k.Start(addText(fmt.Sprintf("add%d", i)), []int{0, 32, AsItIs}[i%3], i%4 == 0))
		}
		for i, b := range builds {
			m, err := k.Module(b)
			ok(t, err)
			if _, err := m.Function(fmt.Sprintf("add%d", i)); err != nil {
				t.Error(err)
			}
			if b.Cached != (round == 1) {
				t.Errorf("round %d: cached %v", round, b.Cached)
			}
		}
		t.Logf("round %d: 16 kernels in %v", round, time.Since(start))
		if k.Start(addText("add3"), 0, false) != builds[3] {
			t.Error("compiled again")
		}
		if _, err := k.Module(k.Start("no PTX", 0, true)); err == nil {
			t.Error("no PTX compiles")
		}
	}
}

// TestLost: a kernel's fault ends the GPU for the process, as the driver says of itself (seen with
// driver 580: after a reset of the primary context, retaining it gives the same error). So it happens
// in a process of its own, and what is tested is that the error is known for what it is.
func TestLost(t *testing.T) {
	if os.Getenv("KELPIE_CUDA_LOST") == "" {
		if _, err := Open(); err != nil {
			t.Skip(err)
		}
		cmd := exec.Command(os.Args[0], "-test.run", "^TestLost$", "-test.v")
		cmd.Env = append(os.Environ(), "KELPIE_CUDA_LOST=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	c, s := gpu(t)
	f := compileAdd(t, c, "add")
	ok(t, s.Launch(f, Shape{Blocks: 1, Threads: 32}, addParams(16, 16, 32, 1)))
	if err := s.Sync(); !IsLost(err) || IsOutOfMemory(err) {
		t.Fatalf("an illegal address: %v", err)
	}
	if _, err := s.Alloc(64); !IsLost(err) {
		t.Errorf("a lost context answers %v", err)
	}
	if _, err := c.d.Context(0); err != nil && !IsLost(err) { // some drivers give a new one
		t.Errorf("a new context after the fault: %v", err)
	}
}

func TestModuleVersion(t *testing.T) {
	for text, want := range map[string]string{
		"NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun  6 22:20:39 UTC 2023\nGCC version: gcc 12.2.0\n": "535.54.03",
		"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (x)\n":                           "580.95.05",
		"": "",
	} {
		if got := moduleVersion(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
