// Package cuda is NVIDIA's driver API as far as Kelpie needs it, reached through libcuda.so.1 alone:
// no cgo, no toolkit. Open finds the driver, Driver.Devices lists what it has, Driver.Context gives a
// device's primary context, and from there come streams, memory and code.
//
// A call may be made from any goroutine: each one locks its thread for its duration and makes the
// context current there (the driver keeps that per thread). Nothing here imports the rest of Kelpie.
// Read library.go for the functions that are used, context.go for how calls are made, code.go and
// cache.go for how PTX becomes something that can be launched.
//
// The build tag nogpu leaves the loader out: such a binary is fully static, and Open says why it
// finds nothing.
package cuda
