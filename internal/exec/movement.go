package exec

import "time"

// Movement is an account of data movement, of a pipeline or of a query, in bytes.
type Movement struct {
	Bus    int64 // over the bus, both ways
	Memory int64 // between the device's memory and its chip
	Chip   int64 // that stayed on the chip
	// Once is what has to cross the bus at least if nothing is on the device: columns and result.
	Once  int64
	Exact bool // counted, not reckoned
}

// Movement is a pipeline's account.
func (d *DeviceStats) Movement() Movement {
	m := Movement{Bus: d.Up + d.Down + d.Host, Memory: d.Memory, Chip: d.Shared + d.Cached, Once: d.Columns, Exact: d.Exact}
	if !d.Exact {
		m.Memory, m.Chip = d.Reckoned, d.ReckonedChip
		m.Bus += d.ReckonedHost
	}
	return m
}

// Movement is the account of all pipelines; ok: some ran on a device.
func (s *Stats) Movement() (m Movement, ok bool) {
	m.Exact = true
	for i := range s.Pipelines {
		d := &s.Pipelines[i].Device
		if *d == (DeviceStats{}) {
			continue
		}
		p := d.Movement()
		m.Bus += p.Bus
		m.Memory += p.Memory
		m.Chip += p.Chip
		m.Once += p.Once
		m.Exact = m.Exact && p.Exact
		ok = true
		if i == len(s.Pipelines)-1 {
			m.Once += d.Down
		}
	}
	return m, ok
}

// Passes is how often the data goes through the device's memory: what moved there for each byte that has to cross the bus when
// nothing is on the device; 0 if none has.
func (m Movement) Passes() float64 {
	if m.Once == 0 {
		return 0
	}
	return float64(m.Memory) / float64(m.Once)
}

// bus is how many bytes copies carry in a second from memory that is made for it: 55.6 GB/s were measured with PCIe 5 on an H200.
const bus = 55.6e9

// Bounds are the least times that the bus, for what crossed it, and the device's memory of a speed need; 0: not known.
func (m Movement) Bounds(bandwidth float64) (overBus, memory time.Duration) {
	overBus = time.Duration(float64(m.Bus) / bus * 1e9)
	if bandwidth > 0 {
		memory = time.Duration(float64(m.Memory) / bandwidth * 1e9)
	}
	return overBus, memory
}
