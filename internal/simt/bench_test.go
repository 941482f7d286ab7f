package simt

import (
	"context"
	"testing"
)

// benchmark reports simulated lane instructions per second.
func benchmark(b *testing.B, body string, grid, block, words int) {
	out := make([]uint64, words)
	dev := NewDevice()
	if err := dev.Register(addrOf(out), 8*len(out), true); err != nil {
		b.Fatal(err)
	}
	k := kernel(b, body)
	params := []uint64{uint64(addrOf(out))}
	lanes := uint64(0)
	for b.Loop() {
		s, err := dev.Launch(context.Background(), k, grid, block, params)
		if err != nil {
			b.Fatal(err)
		}
		lanes += s.LaneInstrs
	}
	b.ReportMetric(float64(lanes)/b.Elapsed().Seconds()/1e6, "Mlanes/s")
}

// BenchmarkArithmetic is a loop of integer instructions, all lanes active.
func BenchmarkArithmetic(b *testing.B) {
	benchmark(b, `
mov.u32 %r1, 0;
mov.u64 %d0, 1;
LOOP:
mad.lo.s64 %d1, %d0, 3, %d15;
xor.b64 %d1, %d1, %d0;
shr.u64 %d2, %d1, 7;
add.s64 %d0, %d0, %d2;
add.u32 %r1, %r1, 1;
setp.lt.u32 %p0, %r1, 1000;
@%p0 bra LOOP;
ret;`, 4, 128, 1)
}

// BenchmarkStream reads and filters a column, as a scan does.
func BenchmarkStream(b *testing.B) {
	benchmark(b, threadAddr+`
mov.u32 %r0, %nctaid.x;
mul.lo.u32 %r0, %r0, %r12;
mov.u64 %d0, 0;
LOOP:
ld.global.u64 %d1, [%d14];
setp.ne.u64 %p0, %d1, 0;
@%p0 bra NEXT;
add.u64 %d0, %d0, %d1;
NEXT:
mad.wide.u32 %d14, %r0, 8, %d14;
add.u32 %r15, %r15, %r0;
setp.lt.u32 %p1, %r15, 65536;
@%p1 bra LOOP;
ret;`, 8, 128, 65536)
}

// BenchmarkDivergent keeps one lane of 32 active.
func BenchmarkDivergent(b *testing.B) {
	benchmark(b, `
mov.u32 %r0, %laneid;
setp.ne.u32 %p0, %r0, 5;
@%p0 ret;
mov.u32 %r1, 0;
LOOP:
xor.b32 %r2, %r1, 77;
add.u32 %r1, %r1, 1;
setp.lt.u32 %p0, %r1, 1000;
@%p0 bra LOOP;
ret;`, 4, 128, 1)
}

// BenchmarkSmallLaunch is the cost of a launch itself.
func BenchmarkSmallLaunch(b *testing.B) { benchmark(b, "ret;", 1, 256, 1) }
