package kernels

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/ir"
)

// bench is a device with the library and a stream.
type bench struct {
	t   *testing.T
	dev device.Device
	lib *Library
	s   device.Stream
	big int // values that are many, here
}

// each runs a test on simulated devices, in several orders, and on a GPU where there is one.
func each(t *testing.T, f func(b *bench)) {
	for _, seed := range []uint64{0, 1, 2} {
		t.Run(fmt.Sprintf("simt%d", seed), func(t *testing.T) {
			start(t, device.NewSimulated(device.SimulatedOptions{Units: 1 + int(seed), Seed: seed, Memory: 256 << 20}), 60_000, f)
		})
	}
	t.Run("cuda", func(t *testing.T) {
		if _, err := device.CUDADevices(); err != nil {
			t.Skip(err)
		}
		dev, err := device.OpenCUDA(0)
		ok(t, err)
		start(t, dev, 3_000_000, f)
	})
}

func start(t *testing.T, dev device.Device, big int, f func(b *bench)) {
	t.Helper()
	lib := Load(dev)
	s, err := dev.Stream(context.Background())
	ok(t, err)
	before, err := dev.Available()
	ok(t, err)
	f(&bench{t, dev, lib, s, big})
	ok(t, s.Sync(), s.Close())
	if after, err := dev.Available(); err != nil || dev.Info().Name[:4] == "simt" && after != before {
		t.Errorf("%d bytes are not given back (%v)", before-after, err)
	}
	ok(t, dev.Close())
}

func ok(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// sizes are numbers of values around every edge, and a large one.
func (b *bench) sizes() []int {
	return []int{0, 1, 2, 3, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 2047, 2049, 8191, 8192, 8193, 20_000, b.big}
}

func (b *bench) alloc(bytes int) device.Addr {
	b.t.Helper()
	a, err := b.s.Alloc(bytes)
	ok(b.t, err)
	return a
}

func upload[T any](b *bench, v []T) device.Addr {
	b.t.Helper()
	data, err := binary.Append(nil, binary.LittleEndian, v)
	ok(b.t, err)
	a := b.alloc(len(data))
	ok(b.t, b.s.Upload(a, data))
	return a
}

func download[T any](b *bench, a device.Addr, n int) []T {
	b.t.Helper()
	v := make([]T, n)
	data := make([]byte, binary.Size(v))
	ok(b.t, b.s.Download(data, a), b.s.Sync())
	_, err := binary.Decode(data, binary.LittleEndian, v)
	ok(b.t, err)
	return v
}

func (b *bench) free(as ...device.Addr) {
	b.t.Helper()
	for _, a := range as {
		ok(b.t, b.s.Free(a))
	}
}

func wantEqual[T comparable](b *bench, what string, got, want []T) {
	b.t.Helper()
	if slices.Equal(got, want) {
		return
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			b.t.Fatalf("%s: value %d is %v, want %v", what, i, got[i], want[i])
		}
	}
	b.t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
}

func TestVerify(t *testing.T) {
	for _, f := range functions() {
		if err := ir.Verify(f); err != nil {
			t.Error(err)
		}
	}
}

func TestFill(t *testing.T) {
	each(t, func(b *bench) {
		for _, n := range b.sizes() {
			a := b.alloc(8*n + 64)
			ok(t, b.s.Fill(a, 7, 8*n+64), b.lib.Fill(b.s, a, 4, 0x1122334455667788, n))
			want := slices.Repeat([]uint32{0x55667788}, n)
			wantEqual(b, fmt.Sprintf("%d words", n), download[uint32](b, a, n+4), append(want, 0x07070707, 0x07070707, 0x07070707, 0x07070707))
			ok(t, b.s.Fill(a, 7, 8*n+64), b.lib.Fill(b.s, a, 8, 0x1122334455667788, n))
			long := slices.Repeat([]uint64{0x1122334455667788}, n)
			wantEqual(b, fmt.Sprintf("%d longs", n), download[uint64](b, a, n+1), append(long, 0x0707070707070707))
			b.free(a)
		}
		if b.lib.Fill(b.s, 256, 3, 0, 1) == nil || b.lib.Fill(b.s, 8, 4, 0, 1) == nil || b.lib.Fill(b.s, 256, 4, 0, -1) == nil {
			t.Error("what cannot be filled is")
		}
	})
}

func TestSort(t *testing.T) {
	each(t, func(b *bench) {
		r := rand.New(rand.NewPCG(7, 8))
		type kind struct {
			name     string
			from, to int
			key      func(i int) uint64
		}
		kinds := []kind{
			{"any", 0, 64, func(int) uint64 { return r.Uint64() }},
			{"few", 0, 64, func(int) uint64 { return uint64(r.IntN(3)) << 40 }},
			{"equal", 0, 16, func(int) uint64 { return 77 }},
			{"descending", 0, 32, func(i int) uint64 { return uint64(1<<31 - i) }},
			{"some bits", 5, 16, func(int) uint64 { return r.Uint64() }},
			{"high bits", 59, 64, func(int) uint64 { return r.Uint64() }},
			{"no bits", 7, 7, func(int) uint64 { return r.Uint64() }},
		}
		for k, kind := range kinds {
			sizes := []int{0, 1, 2, 33, 257, 4095, 4096, 4097, 9000}
			if k == 0 {
				sizes = append(sizes, b.big)
			}
			for _, n := range sizes {
				type pair struct {
					key   uint64
					value uint32
				}
				keys, values, pairs := make([]uint64, n), make([]uint32, n), make([]pair, n)
				for i := range n {
					keys[i], values[i] = kind.key(i), uint32(i)
					pairs[i] = pair{keys[i], values[i]}
				}
				part := func(p pair) uint64 {
					if kind.to == 64 {
						return p.key >> kind.from
					}
					return p.key & (1<<kind.to - 1) >> kind.from
				}
				slices.SortStableFunc(pairs, func(x, y pair) int { return cmp.Compare(part(x), part(y)) })
				a := Pairs{upload(b, keys), upload(b, values)}
				o := Pairs{b.alloc(8 * n), b.alloc(4 * n)}
				got, err := b.lib.Sort(b.s, a, o, n, kind.from, kind.to)
				ok(t, err)
				for i, p := range pairs {
					keys[i], values[i] = p.key, p.value
				}
				what := fmt.Sprintf("%s, %d pairs", kind.name, n)
				wantEqual(b, what+": keys", download[uint64](b, got.Keys, n), keys)
				wantEqual(b, what+": values", download[uint32](b, got.Values, n), values)
				b.free(a.Keys, a.Values, o.Keys, o.Values)
			}
		}
		if _, err := b.lib.Sort(b.s, Pairs{}, Pairs{}, 10, 0, 65); err == nil {
			t.Error("a key of 65 bits")
		}
	})
}

// wordOfArray reads the key of an item from an array, whose address is the first parameter, and adds what it is told.
func wordOfArray(b *ir.Builder, param func(string, int) ir.Reg, item, arg, key ir.Reg) {
	at := param("array", 0)
	b.Load8(key, ir.AtIndex(at, item, 8, 0))
	b.Op2(ir.Add, key, key.V(), arg.V())
	b.Clear(at)
}

// load compiles a function.
func (b *bench) load(f *ir.Func) device.Function {
	b.t.Helper()
	text, err := device.ModuleGPU(b.dev.Info().Arch, f)
	ok(b.t, err)
	fn, err := b.dev.Load(text).Function(f.Name)
	ok(b.t, err)
	return fn
}

// TestOrder: keys of several words, of all items or of those in a list, and what takes them.
func TestOrder(t *testing.T) {
	o := &Ordering{Name: "order", Params: 3,
		Words: []func(*ir.Builder, func(string, int) ir.Reg, ir.Reg, ir.Reg, ir.Reg){wordOfArray, func(b *ir.Builder, param func(string, int) ir.Reg, item, arg, key ir.Reg) {
			at := param("second", 1)
			b.Load8(key, ir.AtIndex(at, item, 8, 0))
			b.Op2(ir.Shr, key, key.V(), arg.V())
			b.Op2(ir.And, key, key.V(), ir.K(1<<20-1))
			b.Clear(at)
		}},
		Put: func(b *ir.Builder, param func(string, int) ir.Reg, place, item ir.Reg) {
			at := param("out", 2)
			b.Store(ir.AtIndex(at, place, 8, 0), item.V(), 8)
			b.Clear(at)
		}}
	order := func(b *bench) {
		ok(t, ir.Verify(o.Kernel()))
		fn := b.load(o.Kernel())
		r := rand.New(rand.NewPCG(11, 12))
		for _, n := range []int{1, 2, 255, 1023, 1024, 1025, 4096, 4097, 9000, b.big / 4} {
			one, two, list, items := make([]uint64, n), make([]uint64, n), make([]uint32, n), make([]uint64, n)
			for i := range n {
				one[i], two[i], list[i] = uint64(r.IntN(50)), r.Uint64(), uint32(n-1-i)
			}
			m := n
			if n%2 == 1 {
				m = n/2 + 1 // of the list
			}
			for i := range m {
				items[i] = uint64(list[i])
				if n == m {
					items[i] = uint64(i)
				}
			}
			slices.SortStableFunc(items[:m], func(x, y uint64) int {
				low, high := func(x uint64) uint64 { return two[x] & (1<<20 - 1) }, func(x uint64) uint64 { return two[x] >> 40 & (1<<20 - 1) }
				return cmp.Or(cmp.Compare(one[x], one[y]), cmp.Compare(high(x), high(y)), cmp.Compare(low(x), low(y)))
			})
			a1, a2, a3 := upload(b, one), upload(b, two), upload(b, list)
			k := &Sorting{N: m, Keys: []Key{{Word: 0, Arg: 3, To: 6}, {Word: 0, To: 0}, {Word: 1, Arg: 40, To: 20}, {Word: 1, To: 20}},
				A: Pairs{b.alloc(8 * m), b.alloc(4 * m)}, B: Pairs{b.alloc(8 * m), b.alloc(4 * m)}, First: m / 3, Count: m - m/3 - m/7}
			if m < n {
				k.List = a3
			}
			out := b.alloc(8*k.Count + 8)
			ok(t, b.s.Fill(out, 7, 8*k.Count+8))
			var steps device.Addr
			up := func(data []byte) (device.Addr, error) { steps = upload(b, data); return steps, b.s.Sync() }
			before := b.s.Counts().Launches
			p, err := b.lib.Order(b.s, up, o, fn, k, uint64(a1), uint64(a2), uint64(out))
			ok(t, err)
			if n := b.s.Counts().Launches - before; n != 1 {
				t.Errorf("%d launches", n)
			}
			what := fmt.Sprintf("%d of %d", m, n)
			wantEqual(b, what, download[uint64](b, out, k.Count+1), append(slices.Clone(items[k.First:k.First+k.Count]), 0x0707070707070707))
			for i, x := range download[uint32](b, p.Values, m) {
				if uint64(x) != items[i] {
					t.Fatalf("%s: value %d is %d, want %d", what, i, x, items[i])
				}
			}
			b.free(a1, a2, a3, out, steps, k.A.Keys, k.A.Values, k.B.Keys, k.B.Values)
		}
		if _, err := b.lib.Order(b.s, nil, o, fn, &Sorting{N: MostItems + 1}); err == nil {
			t.Error("too many items")
		}
	}
	each(t, func(b *bench) {
		for _, o.Few = range []bool{false, true} {
			order(b)
		}
	})
}

// TestChoose: the list has all items that are among the first, no other twice, and is short if keys differ.
func TestChoose(t *testing.T) {
	c := &Choice{Name: "choose", Params: 1, Word: wordOfArray}
	each(t, func(b *bench) {
		ok(t, ir.Verify(c.Kernel()))
		fn := b.load(c.Kernel())
		r := rand.New(rand.NewPCG(13, 14))
		for _, kind := range []struct {
			bits  int
			short bool
			key   func() uint64
		}{
			{64, true, r.Uint64},
			{40, true, func() uint64 { return r.Uint64() >> 24 }},
			{64, true, func() uint64 { return 1<<63 | r.Uint64()>>50<<8 }},
			{3, false, func() uint64 { return uint64(r.IntN(7)) }},
			{64, false, func() uint64 { return 1<<64 - 2 }},
		} {
			for _, n := range []int{2, 300, 5000, b.big / 2} {
				for _, want := range []int{1, n / 3, n - 1} {
					if want == 0 {
						continue
					}
					keys := make([]uint64, n)
					for i := range keys {
						keys[i] = kind.key()
					}
					in, state, room, list := upload(b, keys), b.alloc(StateBytes), b.alloc(8*n), b.alloc(4*n)
					ok(t, b.s.Fill(state, 0, StateBytes))
					var steps device.Addr
					up := func(data []byte) (device.Addr, error) { steps = upload(b, data); return steps, b.s.Sync() }
					ok(t, b.lib.Choose(b.s, up, fn, &Choosing{N: n, Want: want, Bits: kind.bits, Arg: 1, Keys: room, List: list, State: state}, uint64(in)))
					length := int(download[uint64](b, Listed(state), 1)[0])
					got := download[uint32](b, list, length)
					slices.Sort(got)
					order := slices.Clone(keys)
					slices.Sort(order)
					most := order[want-1]
					if length > 0 {
						for _, i := range got {
							most = max(most, keys[i])
						}
					}
					var all []uint32 // up to the largest in the list
					for i, k := range keys {
						if k <= most {
							all = append(all, uint32(i))
						}
					}
					what := fmt.Sprintf("the first %d of %d with %d bits", want, n, kind.bits)
					wantEqual(b, what, got, all)
					if kind.short && length > max(2*want, shortList)+n/4000 {
						t.Errorf("%s: a list of %d", what, length)
					}
					b.free(in, state, room, list, steps)
				}
			}
		}
	})
}

// BenchmarkSort is for a GPU: pairs of a key of 8 bytes and a value of 4.
func BenchmarkSort(b *testing.B) {
	if _, err := device.CUDADevices(); err != nil {
		b.Skip(err)
	}
	dev, err := device.OpenCUDA(0)
	if err != nil {
		b.Fatal(err)
	}
	lib := Load(dev)
	const n = 100_000_000
	keys := make([]byte, 8*n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := 0; i < len(keys); i += 8 {
		binary.LittleEndian.PutUint64(keys[i:], r.Uint64())
	}
	for _, bits := range []int{16, 32, 40, 64} {
		b.Run(fmt.Sprintf("%d_pairs_%d_bits", n, bits), func(b *testing.B) {
			s, err := dev.Stream(context.Background())
			must := func(errs ...error) {
				if err := errors.Join(errs...); err != nil {
					b.Fatal(err)
				}
			}
			must(err)
			var at [5]device.Addr
			for i, bytes := range []int{8, 4, 8, 4, 8} {
				at[i], err = s.Alloc(bytes * n)
				must(err)
			}
			from, err := dev.Event()
			must(err)
			to, err := dev.Event()
			must(err, s.Upload(at[4], keys), s.Fill(at[1], 0, 4*n), s.Sync())
			took := time.Duration(0)
			b.ResetTimer()
			for range b.N {
				must(s.Copy(at[0], at[4], 8*n), s.Sync(), s.Record(from))
				_, err := lib.Sort(s, Pairs{at[0], at[1]}, Pairs{at[2], at[3]}, n, 0, bits)
				must(err, s.Record(to), s.Sync())
				d, err := to.Since(from)
				must(err)
				took += d
			}
			b.ReportMetric(float64(took.Microseconds())/1000/float64(b.N), "ms/sort")
			for _, a := range at {
				must(s.Free(a))
			}
			must(s.Sync(), s.Close())
		})
	}
}

// TestCosts: how many launches, instructions and sectors the library needs, as the simulation counts them.
func TestCosts(t *testing.T) {
	const n = 1 << 17
	for _, c := range []struct {
		name     string
		launches int
		read     int // bytes of memory per value
		written  int
		perLane  float64 // instructions of 32 lanes, per 32 values
		do       func(b *bench, a, o device.Addr) error
	}{
		{"fill", 1, 0, 4, 4, func(b *bench, a, _ device.Addr) error { return b.lib.Fill(b.s, a, 4, 5, n) }},
		{"prefix", 2, 4 + 4, 4, 60, func(b *bench, a, o device.Addr) error { return b.lib.Prefix(b.s, a, o, n) }},
		{"sort", 1, 8 + 2*12 + 8, 2*(12+8) + 2, 220, func(b *bench, a, o device.Addr) error {
			values := b.alloc(8 * n)
			ok(b.t, b.s.Fill(values, 0, 8*n))
			_, err := b.lib.Sort(b.s, Pairs{a, values}, Pairs{o, values + 4*n}, n, 0, 16)
			b.free(values)
			return err
		}},
	} {
		start(t, device.NewSimulated(device.SimulatedOptions{}), 0, func(b *bench) {
			a, o := b.alloc(8*n), b.alloc(8*n)
			ok(t, b.s.Fill(a, 0, 8*n), b.s.Fill(o, 0, 8*n))
			ok(t, c.do(b, a, o))
			k := b.s.Counts()
			perLane := float64(k.Lanes.WarpInstrs) / (n / 32)
			t.Logf("%s: %d launches, %.1f instructions per 32 values, %d sectors read, %d written", c.name, k.Launches, perLane,
				k.Lanes.SectorsRead, k.Lanes.SectorsWritten)
			if k.Launches > c.launches || perLane > c.perLane {
				t.Errorf("%s: more than %d launches or %g instructions", c.name, c.launches, c.perLane)
			}
			if r := float64(k.Lanes.SectorsRead) * 32; r > 1.1*float64(c.read*n)+4096 {
				t.Errorf("%s: %g bytes read, want %d", c.name, r, c.read*n)
			}
			if w := float64(k.Lanes.SectorsWritten) * 32; w > 1.1*float64(c.written*n)+4096 {
				t.Errorf("%s: %g bytes written, want %d", c.name, w, c.written*n)
			}
			b.free(a, o)
		})
	}
}

// TestPtxas: registers and spills, where NVIDIA's assembler is (see package ptx).
func TestPtxas(t *testing.T) {
	tool := os.Getenv("KELPIE_PTXAS")
	if tool == "" {
		t.Skip("KELPIE_PTXAS names no assembler")
	}
	file := filepath.Join(t.TempDir(), "kernels.ptx")
	for _, arch := range []int{70, 80, 90} {
		text, err := device.ModuleGPU(arch, functions()...)
		ok(t, err, os.WriteFile(file, []byte(text), 0o600))
		out, err := exec.Command(tool, "-v", fmt.Sprintf("-arch=sm_%d", arch), "-o", file+".cubin", file).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		spills := regexp.MustCompile(`(\d+) bytes spill`).FindAllSubmatch(out, -1)
		for _, s := range spills {
			if string(s[1]) != "0" {
				t.Errorf("sm_%d: spills\n%s", arch, out)
			}
		}
		used := regexp.MustCompile(`Function properties for (\w+)[\s\S]*?Used (\d+) registers`).FindAllSubmatch(out, -1)
		if len(used) != len(functions()) {
			t.Errorf("%d functions in\n%s", len(used), out)
		}
		for _, u := range used {
			t.Logf("sm_%d: %s %s registers", arch, u[1], u[2])
		}
	}
}
