package gpu

import (
	"time"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/exec"
)

// meter is a stream that measures, by marks of the device before and after, how long kernels and copies take. That costs a few
// microseconds for each, so that it is there only where times were asked for.
type meter struct {
	device.Stream
	dev            device.Device
	spans          []span // that have not been seen to end
	unused         []device.Event
	kernel, copies time.Duration
}

type span struct {
	from, to device.Event
	kernel   bool
}

func (m *meter) event() (device.Event, error) {
	if n := len(m.unused); n > 0 {
		e := m.unused[n-1]
		m.unused = m.unused[:n-1]
		return e, nil
	}
	return m.dev.Event()
}

// mark puts a mark behind the work so far.
func (m *meter) mark() (device.Event, error) {
	e, err := m.event()
	if err == nil {
		err = m.Stream.Record(e)
	}
	return e, err
}

// measure does something between two marks.
func (m *meter) measure(kernel bool, do func() error) error {
	from, err := m.mark()
	if err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	to, err := m.mark()
	if err != nil {
		return err
	}
	m.spans = append(m.spans, span{from, to, kernel})
	return nil
}

func (m *meter) Launch(f device.Function, shape device.Shape, params ...uint64) error {
	return m.measure(true, func() error { return m.Stream.Launch(f, shape, params...) })
}

func (m *meter) Upload(dst device.Addr, src []byte) error {
	return m.measure(false, func() error { return m.Stream.Upload(dst, src) })
}

func (m *meter) Download(dst []byte, src device.Addr) error {
	return m.measure(false, func() error { return m.Stream.Download(dst, src) })
}

func (m *meter) Sync() error {
	if err := m.Stream.Sync(); err != nil {
		return err
	}
	for _, s := range m.spans {
		took, err := s.to.Since(s.from)
		if err != nil {
			return err
		}
		if s.kernel {
			m.kernel += took
		} else {
			m.copies += took
		}
		m.unused = append(m.unused, s.from, s.to)
	}
	m.spans = m.spans[:0]
	return nil
}

func (m *meter) Close() error {
	for _, s := range m.spans {
		m.unused = append(m.unused, s.from, s.to)
	}
	for _, e := range m.unused {
		_ = e.Close()
	}
	m.spans, m.unused = nil, nil
	return m.Stream.Close()
}

// spent is what a query has done on the device.
type spent struct {
	counts         device.Counts
	kernel, copies time.Duration
}

// spent waits for all that is queued, where its time was asked for.
func (r *run) spent() (spent, error) {
	var out spent
	if m, ok := r.st.(*meter); ok {
		if err := r.sync(); err != nil {
			return out, err
		}
		out.kernel, out.copies = m.kernel, m.copies
	}
	out.counts = r.st.Counts()
	return out, nil
}

// charge counts what was done since the last time for a pipeline. Lanes are those of its own kernels, not of those that finish
// its sink: they tell how well its loop over rows is shaped.
func (r *run) charge(st *exec.PipelineStats, finishing bool) error {
	now, err := r.spent()
	if err != nil {
		return err
	}
	c, b := &now.counts, &r.charged.counts
	st.Launches += int64(c.Launches - b.Launches)
	d := &st.Device
	d.Up += c.UploadBytes - b.UploadBytes
	d.Down += c.DownloadBytes - b.DownloadBytes
	d.Host += sector * int64(c.Lanes.SectorsHost-b.Lanes.SectorsHost)
	moved := c.FillBytes - b.FillBytes + 2*(c.CopyBytes-b.CopyBytes)
	if d.Exact = c.Lanes.WarpInstrs > 0; d.Exact {
		touched := c.Lanes.TouchedRead + c.Lanes.TouchedWritten - b.Lanes.TouchedRead - b.Lanes.TouchedWritten
		asked := c.Lanes.SectorsRead + c.Lanes.SectorsWritten - c.Lanes.SectorsHost - b.Lanes.SectorsRead - b.Lanes.SectorsWritten + b.Lanes.SectorsHost
		d.Memory += sector*int64(touched) + moved
		d.Shared += int64(c.Lanes.SharedBytes - b.Lanes.SharedBytes)
		d.Cached += max(sector*(int64(asked)-int64(touched)), 0) // atomics touch sectors that nobody asked for
	} else {
		d.Memory += moved
	}
	d.Reckoned += moved
	d.Kernel += now.kernel - r.charged.kernel
	d.Copies += now.copies - r.charged.copies
	if !finishing {
		st.Lanes.Add(&c.Lanes)
		st.Lanes.Sub(&b.Lanes)
	}
	r.charged = now
	return nil
}
