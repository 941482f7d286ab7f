package kelpie

import (
	"errors"
	"fmt"

	"github.com/kelpiedb/kelpie/internal/device"
)

// Devices are the processors that can run queries in this process: "cpu", where there is a
// translator for it, and "simt", a GPU simulated in Go that runs everywhere, slowly. GPUs tells
// whether "gpu" is one, too.
func Devices() []string {
	if device.HasCPU() {
		return []string{"cpu", "simt"}
	}
	return []string{"simt"}
}

// GPU is a GPU of this machine.
type GPU struct {
	Name       string
	Memory     uint64 // bytes
	Capability string // compute capability, such as "9.0"
	Units      int    // multiprocessors
	Driver     string // such as "driver 580.95.05, CUDA 13.0"
}

// MayHaveGPU reports that the system has a driver for GPUs, without starting it.
func MayHaveGPU() bool { return device.MayHaveGPU() }

// GPUs lists the GPUs that queries can run on; the first serves the device "gpu". Where there is none,
// the error says in a sentence what is missing: the driver, a GPU, or a newer driver. Asking
// starts the driver, which takes a moment.
func GPUs() ([]GPU, error) {
	infos, err := device.GPUs()
	if err != nil {
		var e *device.Error
		if errors.As(err, &e) {
			err = e.Err
		}
		return nil, err
	}
	var out []GPU
	for _, i := range infos {
		out = append(out, GPU{Name: i.Name, Memory: i.Memory, Capability: fmt.Sprintf("%d.%d", i.Arch/10, i.Arch%10), Units: i.Units, Driver: i.Driver})
	}
	return out, nil
}

// Processor is the CPU in words: the kind of code that is generated for it.
func Processor() string {
	if !device.HasCPU() {
		return ""
	}
	switch device.SIMDAuto.Best() {
	case device.SIMDAVX512:
		return "x86-64 with AVX-512"
	case device.SIMDAVX2:
		return "x86-64 with AVX2"
	}
	return "x86-64"
}
