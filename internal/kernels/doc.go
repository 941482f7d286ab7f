// Package kernels is the device library: what queries need of an accelerator beside their own
// pipelines, written in our IR, so that the simulated device tests it: filling, prefix sums,
// compaction, sorting, histograms.
//
// In: addresses on a device and a stream to queue on. Out: launches, a handful whatever the number of
// values. Nothing waits for the host; temporary memory comes from the stream and goes back to it.
//
// library.go has what others call. Each other file writes the kernels of one idea; writer.go has what
// they share. All work on blocks of contiguous values, one after the other, with 16-byte accesses where
// values are read once; blocks meet only between launches.
package kernels
