package device

import (
	"errors"
	"os"

	"github.com/kelpiedb/kelpie/internal/cuda"
)

// KELPIE_GPU=simulated puts a simulated GPU in the place of a real one, so that programs can try on any machine what they would do on
// one with a GPU: slow, and exact. KELPIE_GPU=none is a machine without one.

// OpenGPU takes the machine's first GPU into use.
func OpenGPU() (Device, error) {
	switch os.Getenv("KELPIE_GPU") {
	case "simulated":
		return simulatedGPU(), nil
	case "none":
		return nil, errNoGPU
	}
	return OpenCUDA(0)
}

// driverSays is where the system tells of its driver for GPUs, if that is loaded.
const driverSays = "/proc/driver/nvidia/version"

// MayHaveGPU reports that OpenGPU may find something, without starting a driver.
func MayHaveGPU() bool {
	switch os.Getenv("KELPIE_GPU") {
	case "simulated":
		return true
	case "none":
		return false
	}
	_, err := os.Stat(driverSays)
	return err == nil && cuda.Built
}

// GPUs lists what OpenGPU could open. Where there is nothing, the error is of kind Missing and says what is.
func GPUs() ([]Info, error) {
	switch os.Getenv("KELPIE_GPU") {
	case "simulated":
		return []Info{simulatedGPU().Info()}, nil
	case "none":
		return nil, errNoGPU
	}
	return CUDADevices()
}

// Energy finds the meter of what OpenGPU opens: a reading is the joules that it has taken.
func Energy() (func() (float64, error), error) {
	if os.Getenv("KELPIE_GPU") != "" {
		return nil, &Error{Kind: Missing, Device: "cuda", Call: "meter", Err: errors.New("no real GPU is in use")}
	}
	d, err := cuda.Open()
	if err != nil {
		return nil, cudaError("cuda", "meter", err)
	}
	meter, err := d.Energy(0)
	return meter, cudaError("cuda", "meter", err)
}

func simulatedGPU() *Simulated { return NewSimulated(SimulatedOptions{Memory: 8 << 30}) }

var errNoGPU = &Error{Kind: Missing, Device: "cuda", Call: "open", Err: errors.New("KELPIE_GPU=none")}
