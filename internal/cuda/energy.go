package cuda

import (
	"fmt"
	"sync"
)

// manager holds the functions of NVML, the library by which NVIDIA's tools watch a GPU: it counts the energy that one has taken, which the driver's own
// library does not tell.
type manager struct {
	init   func() Code
	device func(bus *byte, device *uintptr) Code
	energy func(device uintptr, millijoules *uint64) Code
}

func (m *manager) functions() []function {
	return []function{{"nvmlInit_v2", &m.init}, {"nvmlDeviceGetHandleByPciBusId_v2", &m.device}, {"nvmlDeviceGetTotalEnergyConsumption", &m.energy}}
}

var manage = sync.OnceValues(func() (*manager, error) {
	m := &manager{}
	if err := bind("libnvidia-ml.so.1", m.functions()); err != nil {
		return nil, err
	}
	if code := m.init(); code != success {
		return nil, &Unavailable{Why: fmt.Sprintf("NVML does not start (error %d)", code)}
	}
	return m, nil
})

// Energy finds the meter of a device. What this returns reads the joules that it has taken since the driver was loaded; a reading is renewed some times a
// second.
func (d *Driver) Energy(ordinal int32) (func() (float64, error), error) {
	m, err := manage()
	if err != nil {
		return nil, err
	}
	// NVML numbers devices in another order than the driver: both know their place on the bus.
	bus := make([]byte, 32)
	if code := d.lib.deviceBus(&bus[0], int32(len(bus)), ordinal); code != success {
		return nil, d.failure("cuDeviceGetPCIBusId", code)
	}
	var device uintptr
	if code := m.device(&bus[0], &device); code != success {
		return nil, &Unavailable{Why: fmt.Sprintf("NVML knows no device %s (error %d)", text(&bus[0]), code)}
	}
	return func() (float64, error) {
		var mj uint64
		if code := m.energy(device, &mj); code != success {
			return 0, &Unavailable{Why: fmt.Sprintf("the GPU does not tell the energy that it takes (NVML error %d)", code)}
		}
		return float64(mj) / 1000, nil
	}, nil
}
