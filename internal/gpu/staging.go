package gpu

import (
	"cmp"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kelpiedb/kelpie/internal/device"
)

// staging is host memory that the device reaches quickly, in blocks through which large copies go: while one is on its way, all
// processors fill the next. Copies from other memory are seven times slower on an H200, and filling takes a processor as long.
type staging struct {
	mu     sync.Mutex // held by the upload that uses it
	bytes  int        // of a block
	blocks []stagingBlock
}

type stagingBlock struct {
	host *device.Host
	sent device.Event // it may be filled again
	used bool
}

const (
	stagingBlocks = 4
	stagingBytes  = 16 << 20
)

// piece is a part of what is copied, next to the one before: n bytes, which fill writes.
type piece struct {
	n    int
	fill func(dst []byte)
}

// copies are pieces of host memory that go to the device as they are.
func copies(b []byte) (out []piece) {
	for part := range slices.Chunk(b, visitBytes) {
		out = append(out, piece{len(part), func(dst []byte) { copy(dst, part) }})
	}
	return out
}

// open makes the blocks, of so many bytes. mu is held.
func (s *staging) open(dev device.Device, bytes int) error {
	if len(s.blocks) > 0 {
		return nil
	}
	var blocks []stagingBlock
	for range stagingBlocks {
		host, err := dev.Pinned(bytes)
		if err != nil {
			return errors.Join(err, closeBlocks(blocks))
		}
		sent, err := dev.Event()
		if err != nil {
			return errors.Join(err, host.Free(), closeBlocks(blocks))
		}
		blocks = append(blocks, stagingBlock{host: host, sent: sent})
	}
	s.blocks, s.bytes = blocks, bytes
	return nil
}

// close gives the blocks back.
func (s *staging) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := closeBlocks(s.blocks)
	s.blocks = nil
	return err
}

func closeBlocks(blocks []stagingBlock) (err error) {
	for _, b := range blocks {
		err = errors.Join(err, b.sent.Close(), b.host.Free())
	}
	return err
}

// send copies pieces to an address of the device, one behind the other. They are there when the stream has been waited for.
func (s *staging) send(st device.Stream, to device.Addr, pieces []piece, threads func() int) error {
	for next := 0; len(pieces) > 0; next = (next + 1) % len(s.blocks) {
		b := &s.blocks[next]
		if b.used {
			if err := b.sent.Sync(); err != nil {
				return err
			}
		}
		n, bytes := 0, 0
		for n < len(pieces) && bytes+pieces[n].n <= s.bytes {
			bytes += pieces[n].n
			n++
		}
		fillAll(b.host.Bytes, pieces[:n], threads())
		if err := st.Upload(to, b.host.Bytes[:bytes]); err != nil {
			return err
		}
		if err := st.Record(b.sent); err != nil {
			return err
		}
		b.used = true
		to += device.Addr(bytes)
		pieces = pieces[n:]
	}
	return nil
}

// allProcessors is how many threads fill what somebody waits for.
func allProcessors() int { return runtime.GOMAXPROCS(0) }

// fillAll fills pieces one behind the other, by so many threads, or by this one.
func fillAll(dst []byte, pieces []piece, threads int) {
	ends := make([]int, len(pieces)+1)
	for i, p := range pieces {
		ends[i+1] = ends[i] + p.n
	}
	each(len(pieces), threads, func(i int) { pieces[i].fill(dst[ends[i]:ends[i+1]:ends[i+1]]) })
}

// each calls f for 0 … n-1, by so many threads.
func each(n, threads int, f func(i int)) {
	var next atomic.Int64
	some := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			f(i)
		}
	}
	var wg sync.WaitGroup
	for range min(threads, n) - 1 {
		wg.Go(some)
	}
	some()
	wg.Wait()
}

// send copies pieces to memory of the device, one behind the other, and waits for that.
func (r *run) send(to device.Addr, pieces []piece) error {
	n, largest := 0, 0
	for _, p := range pieces {
		n, largest = n+p.n, max(largest, p.n)
	}
	s, block := &r.store.staging, cmp.Or(r.store.Block, stagingBytes)
	if n > block/stagingBlocks && largest <= block && s.mu.TryLock() {
		defer s.mu.Unlock()
		if s.open(r.dev, block) == nil { // else the machine has too little of such memory
			err := s.send(r.st, to, pieces, allProcessors)
			return cmp.Or(r.failed(err), r.sync())
		}
	}
	b := make([]byte, n)
	fillAll(b, pieces, allProcessors())
	if err := r.st.Upload(to, b); err != nil {
		return r.failed(err)
	}
	return r.sync()
}
