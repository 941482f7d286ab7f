package simt

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"
)

const prelude = `.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<8>;
    .reg .b16 %h<8>;
    .reg .b32 %r<16>;
    .reg .b64 %d<16>;
    .reg .f32 %f<8>;
    .reg .f64 %g<8>;
    .shared .align 8 .b8 tile[256];
    ld.param.u64 %d15, [out];
`

// preludeLines is where a body's first line stands, less one.
var preludeLines = strings.Count(prelude, "\n")

// kernel wraps a body in declarations: %p %h %r %d %f %g registers by type, 256
// bytes of shared memory at tile, the address of the output in %d15.
func kernel(t testing.TB, body string) *Kernel {
	t.Helper()
	return whole(t, prelude+body+"\n}\n")
}

func whole(t testing.TB, text string) *Kernel {
	t.Helper()
	m, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return m.Kernels()[0]
}

// addrOf is the address of a buffer. Leaking it to a variable keeps it off the
// stack, where it would move.
func addrOf(b []uint64) uintptr {
	leaked = b
	return uintptr(unsafe.Pointer(unsafe.SliceData(b)))
}

var leaked []uint64

func launchOn(dev *Device, k *Kernel, grid, block int, out []uint64) (Stats, error) {
	if err := dev.Register(addrOf(out), 8*len(out), true); err != nil {
		return Stats{}, err
	}
	return dev.Launch(context.Background(), k, grid, block, []uint64{uint64(addrOf(out))})
}

// run launches a body and returns n words of output.
func run(t testing.TB, body string, grid, block, n int) ([]uint64, Stats) {
	t.Helper()
	out := make([]uint64, n)
	s, err := launchOn(NewDevice(), kernel(t, body), grid, block, out)
	if err != nil {
		t.Fatal(err)
	}
	return out, s
}

// threadAddr puts the address of the thread's output word into %d14 and its
// number in the grid into %r15.
const threadAddr = `
    mov.u32 %r14, %tid.x;
    mov.u32 %r13, %ctaid.x;
    mov.u32 %r12, %ntid.x;
    mad.lo.u32 %r15, %r13, %r12, %r14;
    mad.wide.u32 %d14, %r15, 8, %d15;
`

// failing launches a body and wants an error of a kind, in a line of the body
// (1-based; 0: any) and lane.
func failing(t *testing.T, body string, grid, block int, kind Kind, line, lane int) *Error {
	t.Helper()
	out := make([]uint64, 64)
	_, err := launchOn(NewDevice(), kernel(t, body), grid, block, out)
	return wantError(t, err, kind, line, lane)
}

func wantError(t *testing.T, err error, kind Kind, line, lane int) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v, want a *simt.Error", err)
	}
	if e.Kind != kind || e.Lane != lane || e.Kernel != "k" || line > 0 && e.Line != preludeLines+line {
		t.Fatalf("error %q (line %d, lane %d), want %v in line %d, lane %d", e, e.Line-preludeLines, e.Lane, kind, line, lane)
	}
	if e.Line > 0 && !strings.Contains(e.Error(), fmt.Sprintf("line %d", e.Line)) || !strings.Contains(e.Error(), "kernel k") {
		t.Fatalf("error %q does not name kernel and line", e)
	}
	return e
}
