package device

import (
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/ptx"
)

// ListGPU is the PTX module of functions as text. It needs no GPU.
func ListGPU(fs ...*ir.Func) (string, error) { return ptx.Translate(fs...) }
