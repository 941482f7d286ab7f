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

func scanned[T uint32 | uint64](v []T) (out []T, total T) {
	for _, x := range v {
		out = append(out, total)
		total += x
	}
	return out, total
}

func testScan[T uint32 | uint64](b *bench, width int, value func(r *rand.Rand) T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range b.sizes() {
		in := make([]T, n)
		for i := range in {
			in[i] = value(r)
		}
		want, total := scanned(in)
		a, out, sum := upload(b, append(in, 99)), b.alloc(width*(n+1)), b.alloc(width)
		what := fmt.Sprintf("%d values of %d bytes", n, width)
		ok(b.t, b.lib.Scan(b.s, out, a, width, n, sum))
		wantEqual(b, what, download[T](b, out, n), want)
		wantEqual(b, what+": the sum", download[T](b, sum, 1), []T{total})
		wantEqual(b, what+": the input", download[T](b, a, n+1), append(in, 99))
		ok(b.t, b.lib.Scan(b.s, a, a, width, n, 0))
		wantEqual(b, what+" in place", download[T](b, a, n+1), append(want, 99))
		b.free(a, out, sum)
	}
}

func TestScan(t *testing.T) {
	each(t, func(b *bench) {
		testScan(b, 4, func(r *rand.Rand) uint32 { return r.Uint32() })
		testScan(b, 8, func(r *rand.Rand) uint64 { return r.Uint64() })
		if b.lib.Scan(b.s, 256, 256, 2, 5, 0) == nil || b.lib.Scan(b.s, 256, 8, 4, 5, 0) == nil {
			t.Error("what cannot be scanned is")
		}
	})
}

func TestCompact(t *testing.T) {
	each(t, func(b *bench) {
		r := rand.New(rand.NewPCG(5, 6))
		for _, n := range b.sizes() {
			for _, keep := range []float64{0, 0.01, 0.5, 1} {
				bits := make([]uint32, (n+31)/32)
				var want []uint32
				for i := range n {
					if r.Float64() < keep {
						bits[i/32] |= 1 << (i % 32)
						want = append(want, uint32(i))
					}
				}
				a, rows, count := upload(b, append(bits, 0xffffffff)), b.alloc(4*len(want)+4), b.alloc(4)
				ok(t, b.s.Fill(rows, 1, 4*len(want)+4), b.lib.Compact(b.s, rows, a, n, count))
				what := fmt.Sprintf("%g of %d rows", keep, n)
				wantEqual(b, what+": count", download[uint32](b, count, 1), []uint32{uint32(len(want))})
				wantEqual(b, what, download[uint32](b, rows, len(want)+1), append(want, 0x01010101))
				b.free(a, rows, count)
			}
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
			sizes := []int{0, 1, 2, 33, 257, 2047, 2048, 2049, 5000}
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

func TestHistogram(t *testing.T) {
	each(t, func(b *bench) {
		r := rand.New(rand.NewPCG(9, 10))
		for _, bins := range []int{1, 7, 256, 5000, b.dev.Info().BlockShared / 4} {
			for _, n := range []int{0, 1, 255, 1024, 5001, b.big} {
				in, want := make([]uint32, n), make([]uint32, bins)
				for i := range in {
					switch r.IntN(4) {
					case 0:
						in[i] = 0 // many of one
					case 1:
						in[i] = r.Uint32() // mostly none of ours
					default:
						in[i] = uint32(r.IntN(bins))
					}
					if in[i] < uint32(bins) {
						want[in[i]]++
					}
				}
				a, counts := upload(b, in), b.alloc(4*bins)
				ok(t, b.s.Fill(counts, 0, 4*bins), b.lib.Histogram(b.s, counts, a, n, bins))
				wantEqual(b, fmt.Sprintf("%d numbers in %d bins", n, bins), download[uint32](b, counts, bins), want)
				b.free(a, counts)
			}
		}
		if b.lib.Histogram(b.s, 256, 256, 1, 1<<20) == nil || b.lib.Histogram(b.s, 256, 256, 1, 0) == nil {
			t.Error("bins that do not fit")
		}
	})
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
		{"scan4", 3, 8, 4, 40, func(b *bench, a, o device.Addr) error { return b.lib.Scan(b.s, o, a, 4, n, 0) }},
		{"scan8", 3, 16, 8, 85, func(b *bench, a, o device.Addr) error { return b.lib.Scan(b.s, o, a, 8, n, 0) }},
		{"histogram", 1, 4, 0, 14, func(b *bench, a, o device.Addr) error { return b.lib.Histogram(b.s, o, a, n, 64) }},
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
