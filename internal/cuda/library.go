//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"fmt"

	"github.com/ebitengine/purego"
)

// Built reports that this build can use GPUs.
const Built = true

// bind opens a library of the driver and finds its functions.
func bind(file string, functions []function) error {
	handle, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return &Unavailable{Why: fmt.Sprintf("no NVIDIA driver: %s cannot be loaded", file)}
	}
	for _, f := range functions {
		addr, err := purego.Dlsym(handle, f.name)
		if err != nil {
			return &Unavailable{Why: fmt.Sprintf("the NVIDIA driver is too old: it has no %s; 11.4 or newer is needed", f.name)}
		}
		purego.RegisterFunc(f.to, addr)
	}
	return nil
}
