package simt

import (
	"context"
	"errors"
	"os"
	"testing"
)

// FuzzParse: no text makes the parser panic, and what parses runs without a
// crash: to its end, to an *Error, or to the step limit.
func FuzzParse(f *testing.F) {
	f.Add(prelude + threadAddr + "LOOP: st.global.u64 [%d14], 1; bar.sync 0; @%p1 bra LOOP; ret; }")
	f.Add(prelude + "mov.b64 {%r0, %r1}, 5; shfl.sync.idx.b32 %r1|%p0, %r0, 1, 31, -1; atom.global.cas.b64 _, [%d15], 0, 1; }")
	f.Add(prelude + "cvt.rni.s64.f64 %d0, 1.5e3; setp.ltu.f64 %p0|%p1, 0d7FF8000000000000, 1.0; st.shared.v2.u64 [tile+16], {1, 2}; }")
	f.Add(".entry k(.param .u32 a, .param .u64 b) .maxntid 32 { .reg .b32 %r<99999999>; ld.param.u32 %r99999998, [a]; }")
	for _, name := range []string{"../ptx/testdata/q6_pipe0.ptx"} {
		if text, err := os.ReadFile(name); err == nil {
			f.Add(string(text))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Parse(text)
		if err != nil {
			var e *ParseError
			if !errors.As(err, &e) || e.Line < 1 {
				t.Fatalf("error %v has no line", err)
			}
			return
		}
		out := make([]uint64, 64)
		dev := NewDevice()
		dev.StepLimit = 2000
		if err := dev.Register(addrOf(out), 8*len(out), true); err != nil {
			t.Fatal(err)
		}
		for _, k := range m.Kernels() {
			params := make([]uint64, len(k.Params))
			for i := range params {
				params[i] = uint64(addrOf(out))
			}
			_, err := dev.Launch(context.Background(), k, 2, 48, params)
			var e *Error
			if err != nil && !errors.As(err, &e) || e != nil && e.Kind == Internal {
				t.Fatalf("launch: %v", err)
			}
		}
	})
}
