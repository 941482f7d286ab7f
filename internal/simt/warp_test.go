package simt

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"testing"
)

// activity reads how often and with how many lanes the marked lines ran: a line
// is marked by a trailing comment //=name.
func activity(t *testing.T, body string, block int) map[string]LineStats {
	t.Helper()
	_, s := run(t, body, 1, block, 1024)
	got := map[string]LineStats{}
	line := preludeLines
	start := 0
	for i := 0; i <= len(body); i++ {
		if i < len(body) && body[i] != '\n' {
			continue
		}
		line++
		var name string
		text := body[start:i]
		for k := range text {
			if _, err := fmt.Sscanf(text[k:], "//=%s", &name); err == nil {
				got[name] = s.Lines[line]
			}
		}
		start = i + 1
	}
	return got
}

func wantActivity(t *testing.T, body string, block int, want map[string]LineStats) {
	t.Helper()
	if got := activity(t, body, block); !reflect.DeepEqual(got, want) {
		t.Errorf("lines ran %v, want %v", got, want)
	}
}

func TestIfElse(t *testing.T) {
	wantActivity(t, `
mov.u32 %r0, %laneid;
setp.lt.u32 %p0, %r0, 10;
@%p0 bra THEN;
mov.u32 %r1, 1; //=else
bra END;
THEN:
mov.u32 %r1, 2; //=then
END:
mov.u32 %r2, %r1; //=after
ret;`, 32, map[string]LineStats{"else": {1, 22}, "then": {1, 10}, "after": {1, 32}})
}

// TestOutOfLine: a block that lies behind the meeting place in the text; the
// order of the text alone would let the others run ahead.
func TestOutOfLine(t *testing.T) {
	wantActivity(t, `
mov.u32 %r0, %laneid;
setp.lt.u32 %p0, %r0, 10;
@%p0 bra SLOW;
mov.u32 %r1, 1; //=fast
JOIN:
mov.u32 %r2, %r1; //=join
ret;
SLOW:
mov.u32 %r1, 2; //=slow
bra JOIN;`, 32, map[string]LineStats{"fast": {1, 22}, "slow": {1, 10}, "join": {1, 32}})
}

// TestLoopTrips: lane n runs the loop n+1 times; the last iterations are lonely.
func TestLoopTrips(t *testing.T) {
	wantActivity(t, `
mov.u32 %r0, %laneid;
LOOP:
setp.gt.u32 %p0, %r0, 0; //=loop
sub.u32 %r0, %r0, 1;
@%p0 bra LOOP;
mov.u32 %r1, 0; //=after
ret;`, 32, map[string]LineStats{"loop": {32, 32 * 33 / 2}, "after": {1, 32}})
}

// TestBreakInsideIf: the lanes that do not break meet the others at the end of
// the if, in every iteration.
func TestBreakInsideIf(t *testing.T) {
	wantActivity(t, `
mov.u32 %r0, %laneid;
and.b32 %r1, %r0, 1;
setp.eq.u32 %p0, %r1, 0;
mov.u32 %r2, 0;
LOOP:
@%p0 bra ENDIF;
setp.gt.u32 %p1, %r2, %r0; //=if
@%p1 bra DONE;
ENDIF:
add.u32 %r2, %r2, 1; //=all
setp.lt.u32 %p2, %r2, 4;
@%p2 bra LOOP;
DONE:
mov.u32 %r3, 0; //=after
ret;`, 32, map[string]LineStats{
		// Lane 1 leaves when %r2 is 2, and no other does before the end.
		"if": {4, 16 + 16 + 16 + 15}, "all": {4, 32 + 32 + 31 + 31}, "after": {1, 32}})
}

// TestReturnInsideIf: lanes that leave do not keep the others apart.
func TestReturnInsideIf(t *testing.T) {
	for _, leave := range []string{"@%p1 ret;", "@!%p1 bra STAY;\nret;\nSTAY:"} {
		wantActivity(t, `
mov.u32 %r0, %laneid;
setp.lt.u32 %p0, %r0, 16;
@%p0 bra ENDIF;
setp.gt.u32 %p1, %r0, 20;
`+leave+`
mov.u32 %r1, 0; //=stayed
ENDIF:
mov.u32 %r2, 0; //=after
ret;`, 32, map[string]LineStats{"stayed": {1, 5}, "after": {1, 21}})
	}
}

func TestNeverEndingBranches(t *testing.T) {
	// No path from the loop to the end: half the lanes end, half run on.
	dev := NewDevice()
	dev.StepLimit = 5000
	_, err := launchOn(dev, kernel(t, `
mov.u32 %r0, %laneid;
setp.lt.u32 %p0, %r0, 16;
@%p0 bra LOOP;
st.global.u64 [%d15], 7;
ret;
LOOP:
setp.lt.u32 %p1, %r0, 8;
@%p1 bra LOOP;
bra LOOP;`), 1, 32, make([]uint64, 1))
	wantError(t, err, StepLimit, 0, -1)
}

// TestBarrier passes values around all warps of a block, several times.
func TestBarrier(t *testing.T) {
	out, s := run(t, threadAddr+`
.shared .u32 ring[128];
mov.u64 %d0, ring;
mad.wide.u32 %d1, %r14, 4, %d0;
add.u32 %r0, %r14, 1;
and.b32 %r0, %r0, 127;
mad.wide.u32 %d2, %r0, 4, %d0;
mov.u32 %r1, %r15;
mov.u32 %r2, 0;
LOOP:
st.shared.u32 [%d1], %r1;
bar.sync 0;
ld.shared.u32 %r1, [%d2];
barrier.sync.aligned 0;
add.u32 %r2, %r2, 1;
setp.lt.u32 %p0, %r2, 5;
@%p0 bra LOOP;
cvt.u64.u32 %d3, %r1;
st.global.u64 [%d14], %d3;
ret;`, 3, 128, 384)
	for i, v := range out {
		if want := i/128*128 + (i%128+5)%128; v != uint64(want) {
			t.Fatalf("thread %d has %d, want %d", i, v, want)
		}
	}
	if s.Barriers != 3*10 {
		t.Errorf("%d barriers, want 30", s.Barriers)
	}
}

// TestNamedBarriers: two warps meet at barrier 1, two at barrier 2, then all.
func TestNamedBarriers(t *testing.T) {
	_, s := run(t, `
mov.u32 %r0, %warpid;
setp.lt.u32 %p0, %r0, 2;
@%p0 bar.sync 1, 64;
@!%p0 bar.sync 2, 64;
bar.sync 0;
ret;`, 1, 128, 1)
	if s.Barriers != 3 {
		t.Errorf("%d barriers, want 3", s.Barriers)
	}
}

// TestSpinBetweenWarps: warp 0 waits in a loop for what warp 1 writes.
func TestSpinBetweenWarps(t *testing.T) {
	run(t, `
mov.u32 %r0, %warpid;
setp.eq.u32 %p0, %r0, 1;
@%p0 bra WRITER;
LOOP:
ld.volatile.global.u64 %d0, [%d15];
setp.eq.u64 %p1, %d0, 0;
@%p1 bra LOOP;
ret;
WRITER:
st.global.u64 [%d15], 1;
ret;`, 1, 64, 1)
}

func TestLaneIntrinsics(t *testing.T) {
	for _, c := range []struct {
		code string // from lane number %r0 to %r1
		want func(l uint32) uint32
	}{
		{"shfl.sync.up.b32 %r1|%p1, %r0, 3, 0, -1;", func(l uint32) uint32 {
			if l < 3 {
				return l
			}
			return l - 3
		}},
		{"shfl.sync.up.b32 %r2|%p1, %r0, 3, 0, -1; selp.u32 %r1, 1, 0, %p1;", func(l uint32) uint32 { return b2i(l >= 3) }},
		{"shfl.sync.down.b32 %r2|%p1, %r0, 3, 31, -1; selp.u32 %r1, 1, 0, %p1;", func(l uint32) uint32 { return b2i(l <= 28) }},
		// Segments of 8 lanes: mask 0x18 in bits 8 to 12.
		{"shfl.sync.down.b32 %r1, %r0, 3, 0x181f, -1;", func(l uint32) uint32 {
			if l%8 > 4 {
				return l
			}
			return l + 3
		}},
		{"shfl.sync.idx.b32 %r1, %r0, 2, 0x181f, -1;", func(l uint32) uint32 { return l/8*8 + 2 }},
		{"shfl.sync.bfly.b32 %r1, %r0, 5, 31, -1;", func(l uint32) uint32 { return l ^ 5 }},
		{"and.b32 %r2, %r0, 3; match.any.sync.b32 %r1, %r2, -1;", func(l uint32) uint32 { return 0x11111111 << (l % 4) }},
		{"and.b32 %r0, %r0, 3; match.any.sync.b32 %r0, %r0, -1; mov.u32 %r1, %r0;", func(l uint32) uint32 { return 0x11111111 << (l % 4) }},
		{"match.all.sync.b32 %r1|%p1, %r0, -1;", func(l uint32) uint32 { return 0 }},
		{"match.all.sync.b64 %r1|%p1, 7, -1;", func(l uint32) uint32 { return fullMask }},
		{"setp.lt.u32 %p1, %r0, 5; vote.sync.ballot.b32 %r1, !%p1, -1;", func(l uint32) uint32 { return ^uint32(31) }},
		{"setp.lt.u32 %p1, %r0, 5; vote.sync.all.pred %p2, %p1, -1; selp.u32 %r1, 1, 0, %p2;", func(l uint32) uint32 { return 0 }},
		{"setp.lt.u32 %p1, %r0, 5; vote.sync.any.pred %p2, %p1, -1; selp.u32 %r1, 1, 0, %p2;", func(l uint32) uint32 { return 1 }},
		{"setp.lt.u32 %p1, %r0, 50; vote.sync.uni.pred %p2, %p1, -1; selp.u32 %r1, 1, 0, %p2;", func(l uint32) uint32 { return 1 }},
		{"setp.lt.u32 %p1, %r0, 5; mov.u32 %r1, 0; @%p1 activemask.b32 %r1;", func(l uint32) uint32 {
			if l < 5 {
				return 31
			}
			return 0
		}},
		{"mov.u32 %r1, %lanemask_lt;", func(l uint32) uint32 { return 1<<l - 1 }},
		{"mov.u32 %r1, %lanemask_gt;", func(l uint32) uint32 { return ^(1<<l - 1) &^ (1 << l) }},
		{"mov.u32 %r1, %lanemask_le;", func(l uint32) uint32 { return 1<<l - 1 | 1<<l }},
		{"mov.u32 %r1, %lanemask_eq;", func(l uint32) uint32 { return 1 << l }},
	} {
		out, _ := run(t, threadAddr+"mov.u32 %r0, %laneid;\n"+c.code+"\ncvt.u64.u32 %d0, %r1; st.global.u64 [%d14], %d0; ret;", 1, 32, 32)
		for l, got := range out {
			if want := c.want(uint32(l)); uint32(got) != want {
				t.Errorf("%s: lane %d has %#x, want %#x", c.code, l, got, want)
				break
			}
		}
	}
}

func b2i(b bool) uint32 { return bit(b) }

func TestStats(t *testing.T) {
	// 8-byte words in a row: a warp reads 8 sectors; every fourth word: 32.
	_, s := run(t, threadAddr+`
ld.global.u64 %d0, [%d14];
mad.wide.u32 %d1, %r15, 32, %d15;
st.global.u8 [%d1], 1;
red.global.add.u64 [%d15], 1;
ld.global.u64 %d0, [%d15];
ret;`, 1, 64, 256)
	if s.SectorsRead != 2*8+2 || s.SectorsWritten != 64 || s.Atomics != 64 || s.SharedAtomics != 0 {
		t.Errorf("%+v", s)
	}
	if s.WarpInstrs != 2*12 || s.LaneInstrs != 64*12 || s.Activity() != 1 || s.Active[32] != 24 {
		t.Errorf("%d instructions of %d lanes, histogram %v", s.WarpInstrs, s.LaneInstrs, s.Active)
	}
	// A warp of 8 lanes is a quarter active.
	_, u := run(t, "ret;", 1, 8, 1)
	if u.Activity() != 0.25 || u.Active[8] != 2 {
		t.Errorf("activity %v, histogram %v", u.Activity(), u.Active)
	}
	sum := s
	sum.Lines = nil
	sum.Add(&s)
	if sum.WarpInstrs != 2*s.WarpInstrs || sum.Active[32] != 48 || len(sum.Lines) != len(s.Lines) {
		t.Errorf("sum %+v", sum)
	}
	if (&Stats{}).Activity() != 0 {
		t.Error("activity of nothing")
	}
	_, d := run(t, "mov.u32 %r0, %laneid; setp.eq.u32 %p0, %r0, 3; @%p0 bra L; L: ret;", 1, 32, 1)
	if d.Divergences != 1 {
		t.Errorf("%d divergences", d.Divergences)
	}
}

// TestConcurrentLaunches: atomics are atomic between launches too (run with -race).
func TestConcurrentLaunches(t *testing.T) {
	dev := NewDevice()
	out := make([]uint64, 1)
	if err := dev.Register(addrOf(out), 8, true); err != nil {
		t.Fatal(err)
	}
	at := uint64(addrOf(out))
	k := kernel(t, "red.global.add.u64 [%d15], 1; ret;")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := dev.Launch(context.Background(), k, 10, 64, []uint64{at}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if out[0] != 4*640 {
		t.Errorf("%d, want %d", out[0], 4*640)
	}
}
