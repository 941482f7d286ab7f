// Package kernels is the device library: what queries need of an accelerator beside their own
// pipelines, written in our IR, so that the simulated device tests it: filling, sorting, the first items of an order, bringing
// items into the order of counters.
//
// In: addresses on a device and a stream to queue on, and for items that only the caller knows, functions that write code for one. Out: one launch, whatever
// the number of values. Nothing waits for the host; temporary memory comes from the stream and goes back to it.
//
// library.go has what others call. Each other file writes the kernels of one idea; writer.go has what
// they share. Blocks work on tiles of contiguous values; where all must be done with one step before the next begins, they draw tiles in the
// order of the steps and wait for those that were drawn before (phases.go, steps.go), so that any number of them may run at a time.
package kernels
