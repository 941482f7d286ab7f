// Package device hides processors behind one idea: an ir.Func becomes a Kernel that can
// be run.
//
// In: ir.Func. Out: Kernel. The CPU's kernels are machine code, called with a context block;
// see cpu.go. Those of the simulated GPU are launched over a grid of threads, on a context block
// and on memory that was shown to the device before; see simt.go.
package device
