// Package device hides processors.
//
// The CPU runs a Kernel: an ir.Func becomes machine code, called with a context block; see cpu.go.
// An accelerator is a Device: one interface for memory, streams, code and launches (device.go), and
// two that implement it: Simulated, a GPU in pure Go that finds every use of a wrong address
// (simulated.go), and the GPUs of NVIDIA (cuda.go). Functions become PTX text by ModuleGPU, and that
// is what a Device loads.
package device
