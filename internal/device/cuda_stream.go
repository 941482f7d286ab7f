package device

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/cuda"
)

type cudaStream struct {
	d      *cudaDevice
	ctx    context.Context
	s      *cuda.Stream
	counts Counts
}

func (s *cudaStream) count(f func(c *Counts)) {
	f(&s.counts)
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	f(&s.d.counts)
}

// Alloc asks again when memory is short: what the pool keeps in pieces may fit as a whole.
func (s *cudaStream) Alloc(bytes int) (Addr, error) {
	call := fmt.Sprintf("alloc %d bytes", bytes)
	if bytes < 0 {
		return 0, s.d.errorf(call, "less than nothing")
	}
	p, err := s.s.Alloc(uint64(max(bytes, 1)))
	if cuda.IsOutOfMemory(err) && s.d.c.Sync() == nil && s.d.c.Trim(0) == nil {
		p, err = s.s.Alloc(uint64(max(bytes, 1)))
	}
	return Addr(p), s.d.wrap(call, err)
}

func (s *cudaStream) Free(a Addr) error {
	return s.d.wrap(fmt.Sprintf("free %#x", a), s.s.Free(cuda.Ptr(a)))
}

func (s *cudaStream) Upload(dst Addr, src []byte) error {
	if len(src) == 0 {
		return nil
	}
	s.count(func(c *Counts) { c.Uploads, c.UploadBytes = c.Uploads+1, c.UploadBytes+int64(len(src)) })
	return s.d.wrap(fmt.Sprintf("upload %d bytes", len(src)), s.s.Upload(cuda.Ptr(dst), unsafe.Pointer(unsafe.SliceData(src)), len(src)))
}

func (s *cudaStream) Download(dst []byte, src Addr) error {
	if len(dst) == 0 {
		return nil
	}
	s.count(func(c *Counts) { c.Downloads, c.DownloadBytes = c.Downloads+1, c.DownloadBytes+int64(len(dst)) })
	return s.d.wrap(fmt.Sprintf("download %d bytes", len(dst)), s.s.Download(unsafe.Pointer(unsafe.SliceData(dst)), cuda.Ptr(src), len(dst)))
}

func (s *cudaStream) Copy(dst, src Addr, bytes int) error {
	if bytes == 0 {
		return nil
	}
	s.count(func(c *Counts) { c.CopyBytes += int64(bytes) })
	return s.d.wrap(fmt.Sprintf("copy %d bytes", bytes), s.s.Copy(cuda.Ptr(dst), cuda.Ptr(src), uint64(bytes)))
}

func (s *cudaStream) Fill(dst Addr, value byte, bytes int) error {
	if bytes == 0 {
		return nil
	}
	s.count(func(c *Counts) { c.FillBytes += int64(bytes) })
	return s.d.wrap(fmt.Sprintf("fill %d bytes", bytes), s.s.Fill(cuda.Ptr(dst), value, uint64(bytes)))
}

func (s *cudaStream) Launch(fn Function, shape Shape, params ...uint64) error {
	f, ok := fn.(*cudaFunction)
	if !ok || f.d != s.d {
		return s.d.errorf("launch", "a function of another device")
	}
	if err := s.ctx.Err(); err != nil {
		return err
	}
	err := f.allow(shape.Shared)
	if err == nil {
		err = s.s.Launch(f.f, cuda.Shape(shape), params)
	}
	s.count(func(c *Counts) { c.Launches++ })
	return s.d.wrap("launch "+f.name, err)
}

func (s *cudaStream) Record(ev Event) error {
	e, ok := ev.(*cudaEvent)
	if !ok {
		return s.d.errorf("record an event", "it is another device's")
	}
	return s.d.wrap("record an event", s.s.Record(e.e))
}

func (s *cudaStream) Wait(ev Event) error {
	e, ok := ev.(*cudaEvent)
	if !ok {
		return s.d.errorf("wait for an event", "it is another device's")
	}
	return s.d.wrap("wait for an event", s.s.Wait(e.e))
}

// Sync waits for what is queued even when nobody wants it any more: its memory is about to be freed.
func (s *cudaStream) Sync() error {
	if err := s.s.Sync(); err != nil {
		return s.d.wrap("sync", err)
	}
	return s.ctx.Err()
}

func (s *cudaStream) Counts() Counts { return s.counts }
func (s *cudaStream) Close() error   { return s.d.wrap("close a stream", s.s.Close()) }
