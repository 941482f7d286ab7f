package device

import (
	"context"
	"errors"
	"time"
)

// busBytes is how much one copy brings when the bus is measured: from there on it is as fast as it gets.
const busBytes = 32 << 20

// Bus takes the best of some copies: whatever else is on its way can only make one slower.
func (d *cudaDevice) Bus() (float64, error) {
	d.busOnce.Do(func() { d.bus, d.busErr = measureBus(d) })
	return d.bus, d.busErr
}

func measureBus(d Device) (best float64, err error) {
	host, err := d.Pinned(busBytes)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, host.Free()) }()
	st, err := d.Stream(context.Background())
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	a, err := st.Alloc(busBytes)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, st.Free(a)) }()
	for range 5 {
		took, err := timeOn(d, st, func() error { return st.Upload(a, host.Bytes) })
		if err != nil {
			return 0, err
		}
		best = max(best, busBytes/took.Seconds())
	}
	return best, nil
}

// timeOn is the device's time for what do queues on a stream.
func timeOn(d Device, st Stream, do func() error) (took time.Duration, err error) {
	from, err := d.Event()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := d.Event()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	for _, step := range []func() error{func() error { return st.Record(from) }, do, func() error { return st.Record(to) }, st.Sync} {
		if err := step(); err != nil {
			return 0, err
		}
	}
	return to.Since(from)
}
