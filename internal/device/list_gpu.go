package device

import (
	"github.com/kelpiedb/kelpie/internal/cuda"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/ptx"
)

// ListGPU is the PTX module of functions as text, for any GPU. It needs none.
func ListGPU(fs ...*ir.Func) (string, error) { return ptx.Translate(fs...) }

// AnyGPU is the architecture that ListGPU writes for.
const AnyGPU = ptx.Oldest

// ModuleGPU is the PTX module of functions for GPUs of an architecture (Info.Arch): what Device.Load
// takes.
func ModuleGPU(arch int, fs ...*ir.Func) (string, error) { return ptx.TranslateFor(arch, fs...) }

// Bound is how many registers of a module's kernels are worth having, as it says; 0: as many as its compiler likes; cuda.AsItIs: it shall not be optimized.
func Bound(text string) int { return ptx.Bound(text) }

// MostRegisters is how many a kernel has at the most, unless it would spill some.
const MostRegisters = cuda.MostRegisters
