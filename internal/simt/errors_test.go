package simt

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

func TestOutOfBounds(t *testing.T) {
	for _, c := range []struct{ code, msg string }{
		{"ld.global.u64 %d0, [%d15+512];", "0 bytes after the end of the buffer of 512 bytes"},
		{"st.global.u8 [%d15+-1], 0;", "1 bytes before the buffer of 512 bytes"},
		{"ld.global.u64 %d0, [8];", "before the buffer"},
		{"atom.global.add.u64 %d0, [%d15+4096], 1;", "3584 bytes after the end"},
		{"st.global.v2.u64 [%d15+1024], {%d15, %d15};", "16 bytes at"},
		{"ld.shared.u64 %d0, [tile+256];", "offset 256 of 256 bytes"},
		{"ld.shared.u64 %d0, [0];", "offset -1024"},
		{"st.shared.u8 [tile+-1], 0;", "offset -1 of"},
	} {
		e := failing(t, "\n"+c.code+"\nret;", 1, 32, OutOfBounds, 2, 0)
		if !strings.Contains(e.Error(), c.msg) || !strings.Contains(e.Error(), c.code) {
			t.Errorf("%s: error %q does not say %q", c.code, e, c.msg)
		}
	}
	// Only one lane goes too far: it is named.
	failing(t, threadAddr+"\nld.global.u64 %d0, [%d14+328];\nret;", 1, 32, OutOfBounds, 8, 23)
}

func TestEmptyDevice(t *testing.T) {
	_, err := NewDevice().Launch(context.Background(), kernel(t, "ld.global.u64 %d0, [%d15];"), 1, 1, []uint64{64})
	if e := wantError(t, err, OutOfBounds, 1, 0); !strings.Contains(e.Msg, "nothing is registered") {
		t.Error(e)
	}
}

func TestReadOnly(t *testing.T) {
	out := make([]uint64, 4)
	dev := NewDevice()
	if err := dev.Register(addrOf(out), 32, false); err != nil {
		t.Fatal(err)
	}
	for _, code := range []string{"st.global.u64 [%d15], 1;", "red.global.add.u64 [%d15], 1;"} {
		_, err := dev.Launch(context.Background(), kernel(t, "ld.global.u64 %d0, [%d15];\n"+code), 1, 1, []uint64{uint64(addrOf(out))})
		wantError(t, err, ReadOnly, 2, 0)
	}
}

func TestMisaligned(t *testing.T) {
	failing(t, "ld.global.u64 %d0, [%d15+4];", 1, 1, Misaligned, 1, 0)
	failing(t, "ld.global.u16 %r0, [%d15+1];", 1, 1, Misaligned, 1, 0)
	failing(t, "st.shared.u32 [tile+2], 1;", 1, 1, Misaligned, 1, 0)
	failing(t, "st.shared.v2.u64 [tile+8], {1, 2};", 1, 1, Misaligned, 1, 0)
	failing(t, "atom.global.add.u64 %d0, [%d15+4], 1;", 1, 1, Misaligned, 1, 0)
}

func TestUninitialised(t *testing.T) {
	for _, code := range []string{
		"add.s64 %d0, %d1, 1;", "mov.b64 %d0, %d1;", "ld.global.u64 %d0, [%d1];", "st.global.u64 [%d15], %d1;",
		"@%p0 mov.u64 %d0, 1;", "selp.b64 %d0, 1, 2, %p0;", "addc.u64 %d0, 1, 1;", "cvt.u32.u64 %r0, %d1;",
		"and.pred %p1, %p0, %p0;", "add.f64 %g0, %g1, 1.0;", "@%p0 bra END;\nEND:",
	} {
		failing(t, code+"\nret;", 1, 32, UninitRegister, 1, 0)
	}
	// Written by the even lanes only.
	e := failing(t, `mov.u32 %r0, %laneid;
and.b32 %r1, %r0, 1;
setp.eq.u32 %p0, %r1, 0;
@%p0 mov.u32 %r2, 1;
add.u32 %r2, %r2, 1;`, 1, 32, UninitRegister, 5, 1)
	if e.Msg != "%r2" {
		t.Errorf("the register is called %q", e.Msg)
	}
	// Registers do not survive from block to block.
	failing(t, `mov.u32 %r0, %ctaid.x;
setp.eq.u32 %p0, %r0, 0;
@%p0 mov.u32 %r2, 1;
add.u32 %r2, %r2, 1;`, 2, 32, UninitRegister, 4, 0)

	failing(t, "ld.shared.u64 %d0, [tile];", 1, 32, UninitShared, 1, 0)
	failing(t, "st.shared.u32 [tile], 1;\nld.shared.u64 %d0, [tile];", 1, 32, UninitShared, 2, 0)
	failing(t, "atom.shared.add.u64 %d0, [tile], 1;", 1, 32, UninitShared, 1, 0)
	failing(t, `mov.u32 %r0, %ctaid.x;
setp.eq.u32 %p0, %r0, 0;
@%p0 st.shared.u32 [tile], 1;
ld.shared.u32 %r1, [tile];`, 2, 32, UninitShared, 4, 0)
}

// TestLocalMemory: every lane has its own, which ends with its block.
func TestLocalMemory(t *testing.T) {
	failing(t, ".local .align 8 .b8 mine[8];\nld.local.u64 %d0, [mine];", 1, 32, UninitShared, 2, 0)
	failing(t, ".local .align 8 .b8 mine[8];\nst.local.u64 [mine+8], 1;", 1, 32, OutOfBounds, 2, 0)
	failing(t, ".local .align 8 .b8 mine[16];\nst.local.u64 [mine+4], 1;", 1, 32, Misaligned, 2, 0)
	failing(t, `.local .b32 mine;
mov.u32 %r0, %ctaid.x;
setp.eq.u32 %p0, %r0, 0;
@%p0 st.local.u32 [mine], 1;
ld.local.u32 %r1, [mine];`, 2, 32, UninitShared, 5, 0)
	const text = `.local .b8 few;
.local .b64 mine[2];
mov.u32 %r0, %laneid;
mov.u64 %d1, mine;
st.local.u32 [%d1+8], %r0;
st.local.u8 [few], 99;
ld.local.u32 %r1, [mine+8];
mul.wide.u32 %d2, %r0, 8;
add.u64 %d2, %d2, %d15;
cvt.u64.u32 %d3, %r1;
st.global.u64 [%d2], %d3;`
	out := make([]uint64, 32)
	stats, err := launchOn(NewDevice(), kernel(t, text), 1, 32, out)
	if err != nil {
		t.Fatal(err)
	}
	for lane, x := range out {
		if x != uint64(lane) {
			t.Errorf("lane %d has %d", lane, x)
		}
	}
	if stats.LocalBytes != 32*9 || stats.SharedBytes != 0 {
		t.Errorf("%d bytes of local memory, %d of shared", stats.LocalBytes, stats.SharedBytes)
	}
}

func TestDivideByZero(t *testing.T) {
	failing(t, "mov.u32 %r0, %laneid;\nsub.u32 %r0, %r0, 7;\ndiv.s32 %r1, 5, %r0;", 1, 32, DivideByZero, 3, 7)
	failing(t, "rem.u64 %d0, 5, 0;", 1, 32, DivideByZero, 1, 0)
	// A lane that does not take part may have a zero.
	run(t, "mov.u32 %r0, %laneid;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 div.s32 %r1, 5, %r0;", 1, 32, 1)
}

// lane0Only skips the rest of the body, up to L, for all lanes but 0.
const lane0Only = `mov.u32 %r0, %laneid;
setp.ne.u32 %p0, %r0, 0;
@%p0 bra L;
`

func TestMissingLanes(t *testing.T) {
	for _, code := range []string{
		"vote.sync.ballot.b32 %r1, %p0, 0xffffffff;", "vote.sync.any.pred %p1, %p0, -1;",
		"shfl.sync.idx.b32 %r1, %r0, 0, 31, 0xffffffff;", "match.any.sync.b32 %r1, %r0, 0xffffffff;",
		"bar.warp.sync 0xffffffff;",
	} {
		e := failing(t, lane0Only+code+"\nL:\nmov.u32 %r5, 1;\nret;", 1, 32, MissingLane, 4, 1)
		if !strings.Contains(e.Msg, fmt.Sprintf("stands at line %d", preludeLines+6)) {
			t.Errorf("%q does not say where the lane is", e.Msg)
		}
		// Alone in its mask it is fine.
		run(t, lane0Only+strings.NewReplacer("0xffffffff", "1", "-1", "1").Replace(code)+"\nL:\nret;", 1, 32, 1)
	}
	failing(t, "mov.u32 %r0, %lanemask_le;\nbar.warp.sync %r0;", 1, 32, MissingLane, 2, 1)
	failing(t, "bar.warp.sync 0xfffffffe;", 1, 32, MissingLane, 1, 0)
	// A shuffle that reads a lane outside its mask.
	failing(t, lane0Only+"shfl.sync.idx.b32 %r1, %r0, 3, 31, 1;\nL:", 1, 32, MissingLane, 4, 0)
}

// TestStrict: lanes that ended, or never were, are missing by default and
// excused without Strict, as PTX has it.
func TestStrict(t *testing.T) {
	ended := "mov.u32 %r0, %laneid;\nsetp.gt.u32 %p0, %r0, 3;\n@%p0 ret;\nvote.sync.ballot.b32 %r1, %p0, -1;\nbar.sync 0;\nret;"
	failing(t, ended, 1, 32, MissingLane, 4, 4)
	never := "setp.eq.u32 %p0, 1, 1;\nvote.sync.ballot.b32 %r1, %p0, -1;"
	failing(t, never, 1, 40, MissingLane, 2, 8)
	dev := NewDevice()
	dev.Strict = false
	for _, body := range []string{ended, never} {
		out := make([]uint64, 1)
		if _, err := launchOn(dev, kernel(t, body), 1, 40, out); err != nil {
			t.Error(err)
		}
		if err := dev.Unregister(addrOf(out)); err != nil {
			t.Error(err)
		}
	}
}

func TestBarrierErrors(t *testing.T) {
	e := failing(t, lane0Only+"bar.sync 0;\nL:\nret;", 1, 32, DivergentBarrier, 4, 1)
	if !strings.Contains(e.Msg, "stands at line") {
		t.Errorf("%q does not say where the lane is", e.Msg)
	}
	failing(t, "mov.u32 %r0, %laneid;\nsetp.eq.u32 %p0, %r0, 9;\n@%p0 ret;\nbar.sync 0;", 1, 32, DivergentBarrier, 4, 9)
	// Warp 1 never comes.
	failing(t, "mov.u32 %r0, %warpid;\nsetp.eq.u32 %p0, %r0, 1;\n@%p0 ret;\nbar.sync 0;", 1, 96, Deadlock, 4, -1)
	// Two barriers.
	failing(t, `mov.u32 %r0, %warpid;
setp.eq.u32 %p0, %r0, 0;
@%p0 bra A;
bar.sync 1;
ret;
A:
bar.sync 0;
ret;`, 1, 64, Deadlock, 7, -1)
	failing(t, "bar.sync 0, 96;", 1, 64, Deadlock, 1, -1)
}

func TestStepLimit(t *testing.T) {
	dev := NewDevice()
	dev.StepLimit = 10_000
	s, err := launchOn(dev, kernel(t, "L:\nmov.u32 %r0, 1;\nbra L;"), 1, 64, make([]uint64, 1))
	wantError(t, err, StepLimit, 0, -1)
	if s.WarpInstrs < 10_000 || s.WarpInstrs > 10_000+2*slice {
		t.Errorf("%d instructions, want about 10000", s.WarpInstrs)
	}
}

func TestCancellation(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	k := kernel(t, "L:\nbra L;")
	_, err := NewDevice().Launch(ctx, k, 1, 64, []uint64{0})
	wantError(t, err, Cancelled, 0, -1)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v is not the context's error", err)
	}
}

func TestTrap(t *testing.T) {
	failing(t, lane0Only+"trap;\nL:\nret;", 1, 32, Trap, 4, 0)
}

func TestBadLaunch(t *testing.T) {
	k := kernel(t, "ret;")
	dev := NewDevice()
	for _, c := range []struct {
		grid, block int
		params      []uint64
	}{{0, 1, []uint64{0}}, {1, 0, []uint64{0}}, {1, 1025, []uint64{0}}, {1 << 31, 1, []uint64{0}}, {1, 1, nil}, {1, 1, []uint64{1, 2}}} {
		_, err := dev.Launch(context.Background(), k, c.grid, c.block, c.params)
		wantError(t, err, BadLaunch, 0, -1)
	}
	if _, err := dev.Launch(context.Background(), k, 1, 1024, []uint64{0}); err != nil {
		t.Error(err)
	}
	k = whole(t, ".visible .entry k() .maxntid 64 { ret; }")
	_, err := dev.Launch(context.Background(), k, 1, 65, nil)
	wantError(t, err, BadLaunch, 0, -1)
	k = whole(t, ".visible .entry k() .reqntid 64, 1, 1 { ret; }")
	_, err = dev.Launch(context.Background(), k, 1, 32, nil)
	wantError(t, err, BadLaunch, 0, -1)
}

func TestRegister(t *testing.T) {
	dev := NewDevice()
	b := make([]uint64, 16)
	a := addrOf(b)
	for _, c := range []struct {
		addr uintptr
		size int
		ok   bool
	}{
		{0, 8, false}, {a, 0, false}, {a, -1, false}, {^uintptr(0) - 3, 8, false},
		{a + 32, 32, true}, {a + 32, 8, false}, {a + 24, 16, false}, {a + 56, 16, false}, {a + 24, 80, false},
		{a, 32, true}, {a + 64, 64, true},
	} {
		if err := dev.Register(c.addr, c.size, true); (err == nil) != c.ok {
			t.Errorf("Register(%#x, %d): %v", c.addr, c.size, err)
		}
	}
	if err := dev.Unregister(a + 8); err == nil {
		t.Error("nothing was registered there")
	}
	if err := dev.Unregister(a + 32); err != nil {
		t.Error(err)
	}
	// Neighbouring buffers are not one buffer.
	k := kernel(t, "ld.global.u64 %d0, [%d15+24];\nld.global.u64 %d0, [%d15+32];")
	_, err := dev.Launch(context.Background(), k, 1, 1, []uint64{uint64(a)})
	if e := wantError(t, err, OutOfBounds, 2, 0); !strings.Contains(e.Msg, "0 bytes after") {
		t.Error(e)
	}
	if err := dev.Register(a+32, 8, true); err != nil {
		t.Fatal(err)
	}
	if _, err = dev.Launch(context.Background(), k, 1, 1, []uint64{uint64(a)}); err != nil {
		t.Error(err)
	}
}

// TestVanishedMemory: memory that was unmapped while registered is the caller's
// fault, but takes no process down.
func TestVanishedMemory(t *testing.T) {
	mem, err := syscall.Mmap(-1, 0, 4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skip(err)
	}
	addr := uintptr(unsafe.Pointer(&mem[0]))
	dev := NewDevice()
	if err := dev.Register(addr, len(mem), true); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Munmap(mem); err != nil {
		t.Fatal(err)
	}
	_, err = dev.Launch(context.Background(), kernel(t, "ld.global.u64 %d0, [%d15];"), 1, 32, []uint64{uint64(addr)})
	wantError(t, err, Internal, 0, -1)
}
