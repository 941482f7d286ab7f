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

// CompileCPU translates a function to machine code.
func CompileCPU(f *ir.Func) (Kernel, error) {
	c, err := x64.Translate(f)
	if err != nil {
		return nil, cpuError(err)
	}
	return c, nil
}

// ListCPU is the machine code of a function as text.
func ListCPU(f *ir.Func) (string, error) {
	c, err := x64.TranslateWith(f, x64.Options{Listing: true})
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
