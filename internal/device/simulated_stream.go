package device

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kelpiedb/kelpie/internal/simt"
)

// simulatedStream does its work when it is queued.
type simulatedStream struct {
	d      *Simulated
	ctx    context.Context
	queue  queue
	counts Counts
	closed bool
}

// begin is the start of each call that takes a place in the stream; d.mu is held.
func (s *simulatedStream) begin(call string) (moment, error) {
	if s.closed {
		return moment{}, s.d.errorf(Refused, call, "the stream is closed")
	}
	if err := s.d.check(call); err != nil {
		return moment{}, err
	}
	return s.d.order.call(&s.queue), nil
}

// touch finds memory that the call uses; d.mu is held.
func (s *simulatedStream) touch(call string, m moment, a Addr, bytes int) (*memBlock, error) {
	b, err := s.d.find(a, bytes)
	if err == nil {
		err = s.d.order.use(&b.uses, &s.queue, m)
	}
	if err != nil {
		// A real device finds this out as its kernels do: by a fault.
		return nil, s.d.faulted(call, err)
	}
	return b, nil
}

// faulted loses the device; d.mu is held.
func (d *Simulated) faulted(call string, err error) error {
	e := &Error{Kind: Faulted, Device: d.name, Call: call, Err: err}
	d.lost = e
	return e
}

func (s *simulatedStream) count(f func(c *Counts)) {
	f(&s.counts)
	f(&s.d.counts)
}

func (s *simulatedStream) who() string { return fmt.Sprintf("stream %d", s.queue.stream) }

func (s *simulatedStream) Alloc(bytes int) (Addr, error) {
	d := s.d
	d.mu.Lock()
	defer d.mu.Unlock()
	call := fmt.Sprintf("alloc %d bytes", bytes)
	m, err := s.begin(call)
	if err != nil {
		return 0, err
	}
	if bytes < 0 {
		return 0, d.errorf(Refused, call, "less than nothing")
	}
	size := roundUp(uint64(bytes))
	if size > d.opt.Memory-d.used {
		return 0, d.errorf(OutOfMemory, call, "%d of %d bytes are in use", d.used, d.opt.Memory)
	}
	data := words(max(bytes, 1))
	for i := range data {
		if i%3 != 0 { // bytes that are 0 are rubbish, too: a flag that is not set by chance
			data[i] = rubbish
		}
	}
	b, err := d.place(data, false)
	if err != nil {
		return 0, d.errorf(OutOfMemory, call, "%w", err)
	}
	b.uses.born = m
	d.used += size
	return Addr(b.base), nil
}

// roundUp is what an allocation takes of the memory.
func roundUp(bytes uint64) uint64 { return (max(bytes, 1) + memAlign - 1) &^ (memAlign - 1) }

func (s *simulatedStream) Free(a Addr) error {
	d := s.d
	d.mu.Lock()
	defer d.mu.Unlock()
	call := fmt.Sprintf("free %#x", a)
	if _, err := s.begin(call); err != nil {
		return err
	}
	b, err := d.find(a, 0)
	switch {
	case err != nil:
	case b.base != uint64(a) || b.host:
		err = fmt.Errorf("not the address of an allocation")
	default:
		err = d.order.over(&b.uses, s.queue.clock, s.who())
	}
	if err != nil {
		return d.errorf(Refused, call, "%w", err)
	}
	d.used -= roundUp(b.size)
	return d.remove(b, s.who())
}

func (s *simulatedStream) Upload(dst Addr, src []byte) error {
	d := s.d
	d.mu.Lock()
	defer d.mu.Unlock()
	call := fmt.Sprintf("upload %d bytes", len(src))
	m, err := s.begin(call)
	if err != nil || len(src) == 0 {
		return err
	}
	b, err := s.touch(call, m, dst, len(src))
	if err != nil {
		return err
	}
	copy(b.at(dst, len(src)), src)
	s.count(func(c *Counts) { c.Uploads, c.UploadBytes = c.Uploads+1, c.UploadBytes+int64(len(src)) })
	return nil
}

func (s *simulatedStream) Download(dst []byte, src Addr) error {
	d := s.d
	d.mu.Lock()
	defer d.mu.Unlock()
	call := fmt.Sprintf("download %d bytes", len(dst))
	m, err := s.begin(call)
	if err != nil || len(dst) == 0 {
		return err
	}
	b, err := s.touch(call, m, src, len(dst))
	if err != nil {
		return err
	}
	d.arrivals = append(d.arrivals, arrival{m, dst, slices.Clone(b.at(src, len(dst)))})
	for i := range dst {
		dst[i] = rubbish
	}
	s.count(func(c *Counts) { c.Downloads, c.DownloadBytes = c.Downloads+1, c.DownloadBytes+int64(len(dst)) })
	return nil
}

func (s *simulatedStream) Copy(dst, src Addr, bytes int) error {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	call := fmt.Sprintf("copy %d bytes", bytes)
	m, err := s.begin(call)
	if err != nil || bytes == 0 {
		return err
	}
	to, err := s.touch(call, m, dst, bytes)
	if err != nil {
		return err
	}
	from, err := s.touch(call, m, src, bytes)
	if err != nil {
		return err
	}
	if dst < src+Addr(bytes) && src < dst+Addr(bytes) {
		return s.d.errorf(Refused, call, "source and destination overlap")
	}
	copy(to.at(dst, bytes), from.at(src, bytes))
	s.count(func(c *Counts) { c.CopyBytes += int64(bytes) })
	return nil
}

func (s *simulatedStream) Fill(dst Addr, value byte, bytes int) error {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	call := fmt.Sprintf("fill %d bytes", bytes)
	m, err := s.begin(call)
	if err != nil || bytes == 0 {
		return err
	}
	b, err := s.touch(call, m, dst, bytes)
	if err != nil {
		return err
	}
	data := b.at(dst, bytes)
	for i := range data {
		data[i] = value
	}
	s.count(func(c *Counts) { c.FillBytes += int64(bytes) })
	return nil
}

// Launch runs the kernel here and now, without the lock: launches of other streams go on.
func (s *simulatedStream) Launch(fn Function, shape Shape, params ...uint64) error {
	d := s.d
	f, ok := fn.(*simulatedFunction)
	if !ok || f.d != d {
		return d.errorf(Refused, "launch", "a function of another device")
	}
	call := "launch " + f.k.Name
	d.mu.Lock()
	m, err := s.begin(call)
	dev := d.dev
	d.mu.Unlock()
	if err != nil {
		return err
	}
	how := simt.Shape{Grid: shape.Blocks, Block: shape.Threads, Shared: shape.Shared, Resident: 2 * d.opt.Units,
		Touch: func(base uint64) error {
			d.mu.Lock()
			defer d.mu.Unlock()
			b, err := d.find(Addr(base), 0)
			if err == nil {
				err = d.order.use(&b.uses, &s.queue, m)
			}
			return err
		}}
	if d.opt.Seed != 0 {
		how.Seed = d.opt.Seed + d.launches.Add(1)<<32
	}
	stats, err := dev.LaunchShape(s.ctx, f.k, how, params)
	stats.Lines = nil // of this text; the counts are of all
	d.mu.Lock()
	defer d.mu.Unlock()
	s.count(func(c *Counts) {
		c.Launches++
		c.Lanes.Add(&stats)
	})
	var e *simt.Error
	switch {
	case err == nil:
		return nil
	case s.ctx.Err() != nil:
		return s.ctx.Err()
	case errors.As(err, &e) && e.Kind == simt.BadLaunch:
		return d.errorf(Refused, call, "%w", err)
	}
	return d.faulted(call, err)
}

func (s *simulatedStream) Record(ev Event) error {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if _, err := s.begin("record an event"); err != nil {
		return err
	}
	e, ok := ev.(*simulatedEvent)
	if !ok || e.d != s.d {
		return s.d.errorf(Refused, "record an event", "it is another device's")
	}
	e.at, e.when = slices.Clone(s.queue.clock), time.Now()
	return nil
}

func (s *simulatedStream) Wait(ev Event) error {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if _, err := s.begin("wait for an event"); err != nil {
		return err
	}
	e, ok := ev.(*simulatedEvent)
	if !ok || e.d != s.d || e.at == nil {
		return s.d.errorf(Refused, "wait for an event", "no stream of this device has set it")
	}
	s.queue.clock.join(e.at)
	return nil
}

func (s *simulatedStream) Sync() error {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if _, err := s.begin("sync"); err != nil {
		return err
	}
	s.d.seen(s.queue.clock)
	return s.ctx.Err()
}

func (s *simulatedStream) Counts() Counts {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	return s.counts
}

func (s *simulatedStream) Close() error {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if s.closed {
		return s.d.errorf(Refused, "close a stream", "it is closed already")
	}
	s.closed = true
	s.d.order.close(&s.queue)
	return nil
}
