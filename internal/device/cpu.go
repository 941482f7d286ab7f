package device

import (
	"errors"
	"runtime"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/x64"
)

// Kernel is compiled code for a range of rows.
type Kernel interface {
	// Call runs it on a context block and returns its exit status.
	Call(ctx unsafe.Pointer) int64
	// SaveBytes is the size of the area in which it saves registers when it yields.
	SaveBytes() int
	Free()
}

// SIMD is a level of vector instructions, of those that this processor has.
type SIMD = x64.Level

// The levels: SIMDAuto is the best, SIMDOff none.
const (
	SIMDAuto   = x64.LevelAuto
	SIMDOff    = x64.LevelNone
	SIMDAVX2   = x64.LevelAVX2
	SIMDAVX512 = x64.LevelAVX512
)

// ParseSIMD reads a level's name: auto, avx512, avx2 or off.
func ParseSIMD(name string) (SIMD, bool) { return x64.ParseLevel(name) }

// CPU says how functions are translated for the CPU.
type CPU struct {
	SIMD  SIMD
	Spill bool // all virtual registers in memory
	Plain bool // operations are not fused
	Tally bool // count executed instructions
}

// Tally counts executed instructions.
type Tally = x64.Tally

// TallyOf is what a kernel has executed, if it was compiled to count that.
func TallyOf(k Kernel) Tally {
	if c, ok := k.(*x64.Code); ok {
		return c.Tally()
	}
	return Tally{}
}

// CompileCPU translates a function to machine code.
func CompileCPU(f *ir.Func, cpu CPU) (Kernel, error) {
	c, err := x64.TranslateWith(f, x64.Options{SIMD: cpu.SIMD, Spill: cpu.Spill, Plain: cpu.Plain, Tally: cpu.Tally})
	if err != nil {
		return nil, cpuError(err)
	}
	return c, nil
}

// ListCPU is the machine code of a function as text, at a level of vector instructions
// that this processor need not have.
func ListCPU(f *ir.Func, cpu CPU) (string, error) {
	c, err := x64.TranslateWith(f, x64.Options{Listing: true, SIMD: cpu.SIMD, Spill: cpu.Spill, Plain: cpu.Plain, Foreign: true})
	if err != nil {
		return "", cpuError(err)
	}
	defer c.Free()
	return c.Listing(), nil
}

// HasCPU reports that this machine can run generated CPU code.
func HasCPU() bool { return x64.Supported() }

func cpuError(err error) error {
	if !x64.Supported() || errors.Is(err, x64.ErrUnsupported) {
		return diag.Errorf(diag.FeatureNotSupported, -1, "no CPU translator for %s/%s: %v", runtime.GOOS, runtime.GOARCH, err).
			WithHint("the simulated device can serve: --device simt")
	}
	return err
}
