package device

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// The suite: what every device does. It runs on simulated ones, in several orders, and on a GPU
// where there is one.
var suite = []struct {
	name string
	test func(t *testing.T, d Device)
}{
	{"Info", testInfo},
	{"Copies", testCopies},
	{"Launch", testLaunch},
	{"Parameters", testParameters},
	{"Shared", testShared},
	{"Host", testHost},
	{"Events", testEvents},
	{"Streams", testStreams},
	{"Code", testCode},
	{"Refusals", testRefusals},
	{"Memory", testMemory},
}

func TestSimulated(t *testing.T) {
	for _, seed := range []uint64{0, 1, 2, 3} {
		t.Run(fmt.Sprintf("seed%d", seed), func(t *testing.T) {
			runSuite(t, func() Device { return NewSimulated(SimulatedOptions{Memory: 64 << 20, Seed: seed}) })
		})
	}
}

func TestCUDA(t *testing.T) {
	if _, err := CUDADevices(); err != nil {
		if KindOf(err) != Missing {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	runSuite(t, func() Device {
		d, err := OpenCUDA(0)
		if err != nil {
			t.Fatal(err)
		}
		return d
	})
}

// TestCUDALost runs in a process of its own: a fault ends the GPU for the process.
func TestCUDALost(t *testing.T) {
	if os.Getenv("KELPIE_DEVICE_LOST") == "" {
		if _, err := CUDADevices(); err != nil {
			t.Skip(err)
		}
		cmd := exec.Command(os.Args[0], "-test.run", "^TestCUDALost$", "-test.v")
		cmd.Env = append(os.Environ(), "KELPIE_DEVICE_LOST=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	d, err := OpenCUDA(0)
	ok(t, err)
	testLost(t, d)
}

func TestSimulatedLost(t *testing.T) {
	testLost(t, NewSimulated(SimulatedOptions{}))
}

func runSuite(t *testing.T, open func() Device) {
	for _, s := range suite {
		t.Run(s.name, func(t *testing.T) {
			d := open()
			s.test(t, d)
			ok(t, d.Close())
		})
	}
}

// text is a module with two kernels: add makes out[i] = in[i] + word for i < n, on 32-bit words;
// total adds all threads' numbers in dynamic shared memory and stores the sums of blocks.
const text = `.version 7.0
.target sm_70
.address_size 64
.extern .shared .align 16 .b8 more[];
.visible .entry add(.param .u64 in, .param .u64 out, .param .u64 n, .param .u64 word)
{
	.reg .pred %p;
	.reg .b32 %r<7>;
	.reg .b64 %d<5>;
	ld.param.u64 %d0, [in];
	ld.param.u64 %d1, [out];
	ld.param.u32 %r0, [n];
	ld.param.u32 %r1, [word];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	mad.lo.u32 %r2, %r2, %r3, %r4;
	mov.u32 %r6, %nctaid.x;
	mul.lo.u32 %r3, %r3, %r6;
LOOP:
	setp.ge.u32 %p, %r2, %r0;
	@%p ret;
	mad.wide.u32 %d3, %r2, 4, %d0;
	mad.wide.u32 %d4, %r2, 4, %d1;
	ld.global.u32 %r5, [%d3];
	add.u32 %r5, %r5, %r1;
	st.global.u32 [%d4], %r5;
	add.u32 %r2, %r2, %r3;
	bra LOOP;
}
.visible .entry total(.param .u64 out, .param .u64 last)
{
	.reg .pred %p;
	.reg .b32 %r<8>;
	.reg .b64 %d<4>;
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, more;
	ld.param.u32 %r6, [last];
	add.u32 %r6, %r6, %r1;
	setp.ne.u32 %p, %r0, 0;
	@%p bra READY;
	st.shared.u32 [%r6], 0;
READY:
	bar.sync 0;
	atom.shared.add.u32 %r2, [%r6], %r0;
	bar.sync 0;
	ld.shared.u32 %r3, [%r6];
	mov.u32 %r4, %ctaid.x;
	ld.param.u64 %d0, [out];
	mad.wide.u32 %d1, %r4, 4, %d0;
	@%p ret;
	st.global.u32 [%d1], %r3;
	ret;
}
`

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

func wantKind(t *testing.T, what string, err error, kind Kind) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Kind != kind {
		t.Fatalf("%s: %v, want an error of kind %q", what, err, kind)
	}
}

func stream(t *testing.T, d Device) Stream {
	t.Helper()
	return must[Stream](t)(d.Stream(context.Background()))
}

func function(t *testing.T, d Device, name string) Function {
	t.Helper()
	return must[Function](t)(d.Load(text).Function(name))
}

func numbers(n int, f func(i int) uint32) []byte {
	var b []byte
	for i := range n {
		b = binary.LittleEndian.AppendUint32(b, f(i))
	}
	return b
}

func testInfo(t *testing.T, d Device) {
	i := d.Info()
	t.Logf("%+v", i)
	if i.Name == "" || i.Warp != 32 || i.Units == 0 || i.Memory == 0 || i.BlockShared < 48<<10 || i.UnitShared < i.BlockShared ||
		i.UnitThreads < 1024 || i.Arch < 70 || i.UnitRegisters == 0 || i.L2 == 0 {
		t.Error("something is missing")
	}
	if free := must[uint64](t)(d.Available()); free == 0 || free > i.Memory {
		t.Errorf("%d bytes available", free)
	}
}

func testCopies(t *testing.T, d Device) {
	s := stream(t, d)
	const n = 100_003
	up := numbers(n, func(i int) uint32 { return uint32(i * i) })
	a, b := must[Addr](t)(s.Alloc(4*n)), must[Addr](t)(s.Alloc(4*n))
	if a%256 != 0 || b%256 != 0 || a == b {
		t.Errorf("addresses %#x and %#x", a, b)
	}
	down := make([]byte, 4*n)
	ok(t, s.Upload(a, up), s.Fill(b, 7, 4*n), s.Copy(b+8, a+4, 4000), s.Fill(b+12, 0xff, 1), s.Download(down, b), s.Sync())
	want := bytes.Repeat([]byte{7}, 4*n)
	copy(want[8:], up[4:4004])
	want[12] = 0xff
	if !bytes.Equal(down, want) {
		t.Error("other bytes came back")
	}
	ok(t, s.Upload(a, nil), s.Download(nil, a), s.Copy(a, b, 0), s.Fill(a, 1, 0))
	c := s.Counts()
	if c.Uploads != 1 || c.UploadBytes != 4*n || c.Downloads != 1 || c.DownloadBytes != 4*n || c.Launches != 0 {
		t.Errorf("%+v", c)
	}
	if all := d.Counts(); all.UploadBytes != c.UploadBytes || all.Downloads != 1 {
		t.Errorf("%+v", all)
	}
	ok(t, s.Free(a), s.Free(b), s.Sync(), s.Close())
}

func testLaunch(t *testing.T, d Device) {
	s := stream(t, d)
	f := function(t, d, "add")
	const n = 30_011
	a, b := must[Addr](t)(s.Alloc(4*n)), must[Addr](t)(s.Alloc(4*n))
	down := make([]byte, 4*n)
	for round, shape := range []Shape{{1, 32, 0}, {7, 64, 0}, {130, 256, 0}, {2, 1024, 0}} {
		ok(t, s.Upload(a, numbers(n, func(i int) uint32 { return uint32(i) })), s.Fill(b, 9, 4*n),
			s.Launch(f, shape, uint64(a), uint64(b), n-1, uint64(round+5)), s.Download(down, b), s.Sync())
		want := numbers(n, func(i int) uint32 { return uint32(i + round + 5) })
		copy(want[4*n-4:], []byte{9, 9, 9, 9})
		if !bytes.Equal(down, want) {
			t.Fatalf("%+v: wrong numbers", shape)
		}
	}
	if c := s.Counts(); c.Launches != 4 {
		t.Errorf("%+v", c)
	}
	if r := must[int](t)(f.Resident(1024, 0)); r < 1 || r > 2 {
		t.Errorf("%d blocks of 1024 threads on a unit", r)
	}
	if u := f.Usage(); u.Local != 0 || u.MaxThreads < 256 || u.Shared != 0 {
		t.Errorf("%+v", u)
	}
	ok(t, s.Free(a), s.Free(b), s.Close())
}

// testParameters: parameters are copied when a launch is queued, also narrow ones of a word.
func testParameters(t *testing.T, d Device) {
	s := stream(t, d)
	f := function(t, d, "add")
	a := must[Addr](t)(s.Alloc(4 * 64))
	params := []uint64{uint64(a), uint64(a), 64, 1<<32 | 3}
	ok(t, s.Fill(a, 0, 256))
	for range 10 {
		ok(t, s.Launch(f, Shape{1, 64, 0}, params...))
		params[3]++
	}
	down := make([]byte, 256)
	ok(t, s.Download(down, a), s.Sync())
	if !bytes.Equal(down, numbers(64, func(int) uint32 { return 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 11 + 12 })) {
		t.Errorf("%v", down)
	}
	ok(t, s.Free(a), s.Close())
}

// testShared: dynamic shared memory, a little and all that a block may have.
func testShared(t *testing.T, d Device) {
	s := stream(t, d)
	f := function(t, d, "total")
	const blocks = 40
	a := must[Addr](t)(s.Alloc(4 * blocks))
	for _, shared := range []int{4, 1024, 100 << 10, d.Info().BlockShared} {
		if n := must[int](t)(f.Resident(128, shared)); n < 1 {
			t.Errorf("%d blocks with %d bytes on a unit", n, shared)
		}
		down := make([]byte, 4*blocks)
		ok(t, s.Fill(a, 0xee, 4*blocks), s.Launch(f, Shape{blocks, 128, shared}, uint64(a), uint64(shared-4)), s.Download(down, a), s.Sync())
		if !bytes.Equal(down, numbers(blocks, func(int) uint32 { return 127 * 128 / 2 })) {
			t.Fatalf("%d bytes: %v", shared, down)
		}
	}
	wantKind(t, "too much shared memory", s.Launch(f, Shape{1, 128, d.Info().BlockShared + 16}, uint64(a), 0), Refused)
	ok(t, s.Sync(), s.Free(a), s.Close())
}

func testHost(t *testing.T, d Device) {
	s := stream(t, d)
	f := function(t, d, "add")
	const n = 1 << 14
	pinned := must[*Host](t)(d.Pinned(4 * n))
	mem, err := syscall.Mmap(-1, 0, 4*n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	ok(t, err)
	registered := must[*Host](t)(d.Register(mem))
	copy(pinned.Bytes, numbers(n, func(i int) uint32 { return uint32(i) }))
	ok(t, s.Launch(f, Shape{8, 128, 0}, uint64(pinned.Addr), uint64(registered.Addr), n, 7), s.Sync())
	if !bytes.Equal(mem, numbers(n, func(i int) uint32 { return uint32(i + 7) })) {
		t.Error("the device wrote something else")
	}
	// Copies from and to it as well.
	a := must[Addr](t)(s.Alloc(4 * n))
	ok(t, s.Upload(a, registered.Bytes), s.Launch(f, Shape{8, 128, 0}, uint64(a), uint64(a), n, 1), s.Download(pinned.Bytes, a), s.Sync())
	if !bytes.Equal(pinned.Bytes, numbers(n, func(i int) uint32 { return uint32(i + 8) })) {
		t.Error("other bytes came back")
	}
	ok(t, s.Free(a), registered.Free(), pinned.Free(), syscall.Munmap(mem), s.Close())
}

func testEvents(t *testing.T, d Device) {
	s := stream(t, d)
	f := function(t, d, "add")
	from, to := must[Event](t)(d.Event()), must[Event](t)(d.Event())
	a := must[Addr](t)(s.Alloc(1 << 16))
	down := make([]byte, 1<<16)
	ok(t, s.Fill(a, 0, 1<<16), s.Record(from), s.Launch(f, Shape{4, 64, 0}, uint64(a), uint64(a), 1<<14, 1), s.Download(down, a), s.Record(to), to.Sync())
	if !bytes.Equal(down, numbers(1<<14, func(int) uint32 { return 1 })) {
		t.Error("a mark was passed before the copy in front of it")
	}
	if took, err := to.Since(from); err != nil || took <= 0 {
		t.Errorf("%v, %v", took, err)
	}
	ok(t, s.Free(a), from.Close(), to.Close(), s.Close())
}

// testStreams: marks order two streams, and many goroutines use one device.
func testStreams(t *testing.T, d Device) {
	f := function(t, d, "add")
	const n = 512
	var wg sync.WaitGroup
	for g := range 6 {
		wg.Go(func() {
			s, other := stream(t, d), stream(t, d)
			e := must[Event](t)(d.Event())
			p := must[Addr](t)(s.Alloc(4 * n))
			ok(t, s.Fill(p, 0, 4*n), s.Record(e), other.Wait(e))
			for i := range 20 {
				on, next := s, other
				if i%2 == 1 {
					on, next = other, s
				}
				ok(t, on.Launch(f, Shape{2, 64, 0}, uint64(p), uint64(p), n, uint64(g)), on.Record(e), next.Wait(e))
			}
			got := make([]byte, 4*n)
			ok(t, s.Download(got, p), s.Sync(), s.Free(p), e.Close(), other.Close(), s.Close())
			if !bytes.Equal(got, numbers(n, func(int) uint32 { return uint32(20 * g) })) {
				t.Errorf("goroutine %d: %v", g, got[:16])
			}
		})
	}
	wg.Wait()
	if c := d.Counts(); c.Launches != 120 || c.Downloads != 6 {
		t.Errorf("%+v", c)
	}
}

// testCode: many texts at once; what does not compile says why and breaks nothing.
func testCode(t *testing.T, d Device) {
	s := stream(t, d)
	a := must[Addr](t)(s.Alloc(256))
	ok(t, s.Fill(a, 0, 256))
	var codes []Code
	for i := range 8 {
		codes = append(codes, d.Load(strings.Replace(text, "entry add(", fmt.Sprintf("entry add%d(", i), 1)))
	}
	for i, c := range codes {
		<-c.Ready()
		f := must[Function](t)(c.Function(fmt.Sprintf("add%d", i)))
		ok(t, s.Launch(f, Shape{1, 64, 0}, uint64(a), uint64(a), 64, 1))
	}
	down := make([]byte, 256)
	ok(t, s.Download(down, a), s.Sync())
	if !bytes.Equal(down, numbers(64, func(int) uint32 { return 8 })) {
		t.Errorf("%v", down)
	}
	_, err := codes[0].Function("sub")
	wantKind(t, "no such function", err, Refused)
	_, err = d.Load(strings.Replace(text, "mad.lo.u32", "mad.low.u32", 1)).Function("add")
	wantKind(t, "bad PTX", err, Refused)
	if !strings.Contains(err.Error(), "line") {
		t.Errorf("bad PTX: %v", err)
	}
	ok(t, s.Free(a), s.Sync(), s.Close())
}

func testRefusals(t *testing.T, d Device) {
	s := stream(t, d)
	f := function(t, d, "add")
	wantKind(t, "a block of 4096 threads", s.Launch(f, Shape{1, 4096, 0}, 0, 0, 0, 0), Refused)
	wantKind(t, "no blocks", s.Launch(f, Shape{0, 32, 0}, 0, 0, 0, 0), Refused)
	_, err := s.Alloc(-1)
	wantKind(t, "a negative size", err, Refused)
	other := NewSimulated(SimulatedOptions{})
	wantKind(t, "another device's function", s.Launch(function(t, other, "add"), Shape{1, 32, 0}, 0, 0, 0, 0), Refused)
	wantKind(t, "another device's event", s.Record(must[Event](t)(other.Event())), Refused)
	ctx, stop := context.WithCancel(context.Background())
	late := must[Stream](t)(d.Stream(ctx))
	stop()
	if err := late.Launch(f, Shape{1, 32, 0}, 0, 0, 0, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("a launch that nobody wants: %v", err)
	}
	ok(t, late.Close(), s.Launch(f, Shape{1, 32, 0}, 0, 0, 0, 0), s.Sync(), s.Close())
}

// testMemory: too much is an error, after which there is as much as before.
func testMemory(t *testing.T, d Device) {
	s := stream(t, d)
	_, err := s.Alloc(1 << 45)
	wantKind(t, "32 TiB", err, OutOfMemory)
	before := must[uint64](t)(d.Available())
	var blocks []Addr
	size := int(before / 5)
	for range 20 {
		a, err := s.Alloc(size)
		if err != nil {
			wantKind(t, "a full device", err, OutOfMemory)
			break
		}
		blocks = append(blocks, a)
	}
	if len(blocks) < 4 || len(blocks) > 5 {
		t.Errorf("%d fifths of the memory", len(blocks))
	}
	for _, a := range blocks {
		ok(t, s.Fill(a+Addr(size)-8, 1, 8), s.Free(a))
	}
	ok(t, s.Sync())
	if after := must[uint64](t)(d.Available()); after < before-before/100 {
		t.Errorf("%d bytes available, %d before", after, before)
	}
	a := must[Addr](t)(s.Alloc(0))
	ok(t, s.Free(a), s.Close())
}

// testLost: a kernel that goes astray ends the device, and everything says so.
func testLost(t *testing.T, d Device) {
	s := stream(t, d)
	f := function(t, d, "add")
	const nowhere = 16 // a host pointer would do on most machines, but some GPUs follow those
	err := s.Launch(f, Shape{1, 32, 0}, nowhere, nowhere, 32, 1)
	if err == nil {
		err = s.Sync()
	}
	wantKind(t, "an address where nothing is", err, Faulted)
	_, err = s.Alloc(64)
	if k := KindOf(err); k != Lost && k != Faulted {
		t.Errorf("after a fault: %v", err)
	}
}
