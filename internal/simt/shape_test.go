package simt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// shaped launches a body over an output that lies at a made-up address.
func shaped(t *testing.T, k *Kernel, shape Shape, words int) ([]byte, Stats, error) {
	t.Helper()
	dev := NewDevice()
	out := make([]byte, 8*words)
	const base = 0x100000000000
	if err := dev.Place(base, out, false); err != nil {
		t.Fatal(err)
	}
	s, err := dev.LaunchShape(context.Background(), k, shape, []uint64{base})
	return out, s, err
}

// TestDrawnOrder: each thread takes a ticket, a few instructions apart. What the tickets are
// depends on the seed, that each is given once does not.
func TestDrawnOrder(t *testing.T) {
	k := kernel(t, threadAddr+`
atom.global.add.u64 %d0, [%d15+8192], 1;
st.global.u64 [%d14], %d0;
ret;`)
	const threads = 8 * 96
	seen := map[string]bool{}
	mixed := false
	for seed := range uint64(6) {
		out, s, err := shaped(t, k, Shape{Grid: 8, Block: 96, Seed: seed, Resident: 4}, 1025)
		if err != nil {
			t.Fatal(err)
		}
		var tickets []int
		for i := range threads {
			tickets = append(tickets, int(readBytes(out[8*i:], 8)))
		}
		seen[fmt.Sprint(tickets)] = true
		// Warps of different blocks interleave: some block's tickets are not one run.
		for b := range 8 {
			block := tickets[96*b : 96*b+96]
			mixed = mixed || slices.Max(block)-slices.Min(block) >= 96
		}
		slices.Sort(tickets)
		for i, v := range tickets {
			if i != v {
				t.Fatalf("seed %d: ticket %d is missing", seed, i)
			}
		}
		if s.WarpInstrs != 24*9 || s.Atomics != threads {
			t.Errorf("seed %d: %d instructions, %d atomics", seed, s.WarpInstrs, s.Atomics)
		}
		again, _, _ := shaped(t, k, Shape{Grid: 8, Block: 96, Seed: seed, Resident: 4}, 1025)
		if !slices.Equal(out, again) {
			t.Errorf("seed %d gives two orders", seed)
		}
	}
	if len(seen) < 5 || !mixed {
		t.Errorf("%d orders from 6 seeds, blocks mixed: %v", len(seen), mixed)
	}
}

// TestDrawnBarriers: barriers hold whatever the order, and a block that waits for one that runs
// later ends, because both are there.
func TestDrawnBarriers(t *testing.T) {
	ring := kernel(t, threadAddr+`
.shared .u32 ring[128];
mov.u32 %r5, ring;
mad.lo.u32 %r6, %r14, 4, %r5;
add.u32 %r0, %r14, 1;
and.b32 %r0, %r0, 127;
mad.lo.u32 %r7, %r0, 4, %r5;
mov.u32 %r1, %r15;
mov.u32 %r2, 0;
LOOP:
st.shared.u32 [%r6], %r1;
bar.sync 0;
ld.shared.u32 %r1, [%r7];
bar.sync 0;
add.u32 %r2, %r2, 1;
setp.lt.u32 %p0, %r2, 5;
@%p0 bra LOOP;
cvt.u64.u32 %d3, %r1;
st.global.u64 [%d14], %d3;
ret;`)
	pass := kernel(t, threadAddr+`
setp.ne.u32 %p0, %r13, 0;
@%p0 bra WRITE;
WAIT:
ld.relaxed.gpu.global.u64 %d0, [%d15+8];
setp.ne.u64 %p1, %d0, 7;
@%p1 bra WAIT;
ret;
WRITE:
st.global.u64 [%d14], 7;
ret;`)
	for seed := uint64(1); seed < 20; seed++ {
		out, s, err := shaped(t, ring, Shape{Grid: 5, Block: 128, Seed: seed, Resident: 3}, 640)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 640 {
			if v := readBytes(out[8*i:], 8); v != uint64(i/128*128+(i%128+5)%128) {
				t.Fatalf("seed %d: thread %d has %d", seed, i, v)
			}
		}
		if s.Barriers != 50 {
			t.Errorf("seed %d: %d barriers", seed, s.Barriers)
		}
		if _, _, err := shaped(t, pass, Shape{Grid: 2, Block: 1, Seed: seed, Resident: 2}, 2); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDynamicShared(t *testing.T) {
	text := strings.Replace(prelude, ".visible", ".extern .shared .align 16 .b8 more[];\n.visible", 1) + `
    .shared .align 4 .b8 odd[5];
    mov.u32 %r0, %tid.x;
    mov.u32 %r4, more;
    mad.lo.u32 %r1, %r0, 4, %r4;
    st.shared.u8 [odd], 1;
    st.shared.u32 [%r1], %r0;
    bar.sync 0;
    ld.shared.u32 %r2, [more+4];
    ld.shared.u8 %r3, [odd];
    add.u32 %r2, %r2, %r3;
    mov.u64 %d0, more;
    cvt.u64.u32 %d1, %r2;
    st.global.v2.u64 [%d15], {%d1, %d0};
    ret;
}`
	k := whole(t, text)
	out, _, err := shaped(t, k, Shape{Grid: 2, Block: 64, Shared: 256}, 2)
	if err != nil {
		t.Fatal(err)
	}
	// The declared bytes end at 256+5, the dynamic ones begin at the next multiple of 16.
	if sum, at := readBytes(out, 8), readBytes(out[8:], 8); sum != 2 || at != sharedBase+272 {
		t.Errorf("%d, dynamic memory at %d", sum, at)
	}
	_, _, err = shaped(t, k, Shape{Grid: 1, Block: 64, Shared: 252}, 2)
	wantError(t, err, OutOfBounds, 0, 31)
	_, _, err = shaped(t, k, Shape{Grid: 1, Block: 64, Shared: DefaultSharedLimit}, 2)
	wantError(t, err, BadLaunch, 0, -1)
	if _, err := Parse(strings.Replace(text, "more[]", "more[4]", 1)); err == nil {
		t.Error("an extern array with a size")
	}
}

func TestRedux(t *testing.T) {
	for op, f := range map[string]func(x, y uint32) uint32{
		"add.u32": func(x, y uint32) uint32 { return x + y },
		"add.s32": func(x, y uint32) uint32 { return x + y },
		"min.s32": func(x, y uint32) uint32 { return uint32(min(int32(x), int32(y))) },
		"max.s32": func(x, y uint32) uint32 { return uint32(max(int32(x), int32(y))) },
		"min.u32": func(x, y uint32) uint32 { return min(x, y) },
		"max.u32": func(x, y uint32) uint32 { return max(x, y) },
		"or.b32":  func(x, y uint32) uint32 { return x | y },
		"and.b32": func(x, y uint32) uint32 { return x & y },
		"xor.b32": func(x, y uint32) uint32 { return x ^ y },
	} {
		out, _ := run(t, threadAddr+`
mov.u32 %r0, %laneid;
mad.lo.u32 %r0, %r0, 0x9e3779b9, 0xdeadbee0;
redux.sync.`+op+` %r1, %r0, -1;
cvt.u64.u32 %d0, %r1;
st.global.u64 [%d14], %d0;
ret;`, 1, 32, 32)
		want := uint32(0xdeadbee0)
		for l := uint32(1); l < 32; l++ {
			want = f(want, l*0x9e3779b9+0xdeadbee0)
		}
		for l, v := range out {
			if v != uint64(want) {
				t.Errorf("%s: lane %d has %#x, want %#x", op, l, v, want)
				break
			}
		}
	}
	failing(t, "mov.u32 %r0, %laneid;\nsetp.lt.u32 %p0, %r0, 3;\n@%p0 redux.sync.add.u32 %r1, %r0, -1;\nret;", 1, 32, MissingLane, 3, 3)
}

// TestPlaced: made-up addresses, sectors beyond the bus, and who is told of what is touched.
func TestPlaced(t *testing.T) {
	dev := NewDevice()
	dev.Explain = func(addr uint64) string { return fmt.Sprintf("which is %#x and nowhere", addr) }
	near, far := make([]byte, 4096), make([]byte, 4096)
	if err := errors.Join(dev.Place(1<<40, near, false), dev.Place(2<<40, far, true)); err != nil {
		t.Fatal(err)
	}
	if err := dev.Place(1<<40+4000, far, false); err == nil {
		t.Error("memory overlaps")
	}
	if dev.Place(0, far, false) == nil || dev.Place(3<<40, nil, false) == nil || dev.Place(^uint64(7), far, false) == nil {
		t.Error("memory is at 0, or nothing, or goes round")
	}
	k := kernel(t, threadAddr+`
mov.u64 %d0, 0x20000000000;
mad.wide.u32 %d0, %r15, 16, %d0;
ld.global.nc.L1::no_allocate.v4.u32 {%r0, %r1, %r2, %r3}, [%d0];
st.global.v2.u64 [%d0], {%d0, %d0};
st.global.u64 [%d14], %d0;
ret;`)
	var touched []uint64
	shape := Shape{Grid: 1, Block: 64, Touch: func(base uint64) error { touched = append(touched, base); return nil }}
	s, err := dev.LaunchShape(context.Background(), k, shape, []uint64{1 << 40})
	if err != nil {
		t.Fatal(err)
	}
	if s.SectorsRead != 32 || s.SectorsWritten != 32+16 || s.SectorsHost != 64 {
		t.Errorf("%+v", s)
	}
	if !slices.Equal(touched, []uint64{2 << 40, 1 << 40}) {
		t.Errorf("touched %x", touched)
	}
	shape.Touch = func(base uint64) error { return errors.New("not yours") }
	_, err = dev.LaunchShape(context.Background(), k, shape, []uint64{1 << 40})
	if e := wantError(t, err, Unordered, 0, 0); !strings.Contains(e.Error(), "not yours") {
		t.Error(e)
	}
	shape.Touch = nil
	_, err = dev.LaunchShape(context.Background(), k, shape, []uint64{77 << 40})
	if e := wantError(t, err, OutOfBounds, 0, 0); !strings.Contains(e.Error(), "which is 0x4d0000000000 and nowhere") {
		t.Error(e)
	}
}
