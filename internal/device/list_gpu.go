package device

import (
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/ptx"
)

// ListGPU is the PTX module of a function as text. It needs no GPU.
func ListGPU(f *ir.Func) (string, error) { return ptx.Translate(f) }
