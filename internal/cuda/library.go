//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"fmt"

	"github.com/ebitengine/purego"
)

// Built reports that this build can use GPUs.
const Built = true

// load opens the driver's library and binds the functions.
func load(l *library) error {
	handle, err := purego.Dlopen("libcuda.so.1", purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return &Unavailable{Why: "no NVIDIA driver: libcuda.so.1 cannot be loaded"}
	}
	for _, f := range l.functions() {
		addr, err := purego.Dlsym(handle, f.name)
		if err != nil {
			return &Unavailable{Why: fmt.Sprintf("the NVIDIA driver is too old: it has no %s; 11.4 or newer is needed", f.name)}
		}
		purego.RegisterFunc(f.to, addr)
	}
	return nil
}
