package device

import "os"

// simulate reports that a simulated GPU takes the place of a real one. KELPIE_GPU=simulated lets programs try on any machine what they
// would do on one with a GPU: slow, and exact.
func simulate() bool { return os.Getenv("KELPIE_GPU") == "simulated" }

// OpenGPU takes the machine's first GPU into use.
func OpenGPU() (Device, error) {
	if simulate() {
		return NewSimulated(SimulatedOptions{Memory: 8 << 30}), nil
	}
	return OpenCUDA(0)
}

// GPUs lists what OpenGPU could open. Where there is nothing, the error is of kind Missing and says what is.
func GPUs() ([]Info, error) {
	if simulate() {
		return []Info{NewSimulated(SimulatedOptions{Memory: 8 << 30}).Info()}, nil
	}
	return CUDADevices()
}
