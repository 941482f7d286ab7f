package cuda

import (
	"time"
	"unsafe"
)

// Stream is a queue of work: what is put into one runs in order.
type Stream struct {
	c      *Context
	handle uintptr
}

// Stream makes a stream that waits for no other.
func (c *Context) Stream() (*Stream, error) {
	const nonBlocking = 1
	s := &Stream{c: c}
	err := c.call("cuStreamCreate", func(l *library) Code { return l.streamCreate(&s.handle, nonBlocking) })
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Close ends the stream once its work is done.
func (s *Stream) Close() error {
	return s.c.call("cuStreamDestroy", func(l *library) Code { return l.streamDestroy(s.handle) })
}

// Sync waits for the stream's work.
func (s *Stream) Sync() error {
	return s.c.call("cuStreamSynchronize", func(l *library) Code { return l.streamSync(s.handle) })
}

// Alloc takes memory from the pool; what follows in the stream may use it.
func (s *Stream) Alloc(bytes uint64) (Ptr, error) {
	var p Ptr
	err := s.c.call("cuMemAllocAsync", func(l *library) Code { return l.allocAsync(&p, bytes, s.handle) })
	return p, err
}

// Free gives memory back once the stream's work so far is done.
func (s *Stream) Free(p Ptr) error {
	return s.c.call("cuMemFreeAsync", func(l *library) Code { return l.freeAsync(p, s.handle) })
}

// Upload copies host memory to the device. It returns at once if the memory is pinned, which has to
// stay as it is until the copy is done; other memory is copied before it returns.
func (s *Stream) Upload(dst Ptr, src unsafe.Pointer, bytes int) error {
	return s.c.call("cuMemcpyHtoDAsync", func(l *library) Code { return l.copyUp(dst, src, uint64(bytes), s.handle) })
}

// Download copies device memory to the host, likewise.
func (s *Stream) Download(dst unsafe.Pointer, src Ptr, bytes int) error {
	return s.c.call("cuMemcpyDtoHAsync", func(l *library) Code { return l.copyDown(dst, src, uint64(bytes), s.handle) })
}

// Copy copies within the device.
func (s *Stream) Copy(dst, src Ptr, bytes uint64) error {
	return s.c.call("cuMemcpyDtoDAsync", func(l *library) Code { return l.copyDevice(dst, src, bytes, s.handle) })
}

// Fill sets n bytes.
func (s *Stream) Fill(dst Ptr, value byte, n uint64) error {
	return s.c.call("cuMemsetD8Async", func(l *library) Code { return l.fill8(dst, value, n, s.handle) })
}

// Event is a mark in a stream.
type Event struct {
	c      *Context
	handle uintptr
}

// Event makes a mark that remembers when it was reached.
func (c *Context) Event() (*Event, error) {
	e := &Event{c: c}
	err := c.call("cuEventCreate", func(l *library) Code { return l.eventCreate(&e.handle, 0) })
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Close destroys the mark.
func (e *Event) Close() error {
	return e.c.call("cuEventDestroy", func(l *library) Code { return l.eventDestroy(e.handle) })
}

// Record puts the mark behind the stream's work so far.
func (s *Stream) Record(e *Event) error {
	return s.c.call("cuEventRecord", func(l *library) Code { return l.eventRecord(e.handle, s.handle) })
}

// Wait makes what follows in the stream wait for the mark.
func (s *Stream) Wait(e *Event) error {
	return s.c.call("cuStreamWaitEvent", func(l *library) Code { return l.streamWait(s.handle, e.handle, 0) })
}

// Sync waits for the mark.
func (e *Event) Sync() error {
	return e.c.call("cuEventSynchronize", func(l *library) Code { return l.eventSync(e.handle) })
}

// Since is the device's time from another mark to this one; both were reached.
func (e *Event) Since(from *Event) (time.Duration, error) {
	var ms float32
	err := e.c.call("cuEventElapsedTime", func(l *library) Code { return l.eventElapsed(&ms, from.handle, e.handle) })
	return time.Duration(float64(ms) * float64(time.Millisecond)), err
}
