package gpu

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/ir"
)

// Tuples come to the host through blocks that the device reaches quickly. What has to be changed in them there (addresses of texts, numbers of
// rows) is changed by all threads while the next block is on its way.

// visitor changes n tuples from an address on. Several threads call it, with different tuples.
type visitor func(first uintptr, n int) error

const (
	// fetchBytes is the size of a block through which tuples come, and from which on they come through blocks.
	fetchBytes = 8 << 20
	fetchLeast = 512 << 10
	// fetchBlocks is how many blocks there are at least where tuples come through blocks.
	fetchBlocks = 8
	// visitBytes is what a thread takes of a block.
	visitBytes = 128 << 10
)

// download copies tuples to the host, where their texts are those of the tables.
func (r *run) download(d deviceRows) (tuples.Rows, error) {
	d, err := r.settled(d)
	if err != nil {
		return tuples.Rows{}, err
	}
	return r.fetch(d, r.homing(d.tuple, nil))
}

// settled are tuples as an array, whose texts the host has.
func (r *run) settled(d deviceRows) (deviceRows, error) {
	d, err := r.gathered(d)
	if err != nil {
		return d, err
	}
	return d, r.bringTexts(d, nil)
}

// gathered are tuples as an array.
func (r *run) gathered(d deviceRows) (deviceRows, error) {
	if !d.indirect || d.n == 0 {
		return d, nil
	}
	size := d.tuple.Size
	a, err := r.alloc(d.n * int64(size))
	if err != nil {
		return d, err
	}
	if err := r.do(func() *ir.Func { return gatherTuples(size) }, d.n, uint64(d.addr), uint64(a)); err != nil {
		return d, err
	}
	d.addr, d.indirect = a, false
	return d, nil
}

// wire is how an array of tuples comes over the bus.
type wire struct {
	at   device.Addr
	size int // bytes of each there
	// put makes n tuples of the host of what came.
	put func(to uintptr, from []byte, n int) error
}

// plain is tuples of a size as they are.
func plain(at device.Addr, size int) wire {
	return wire{at, size, func(to uintptr, from []byte, n int) error { copy(mem.Bytes(to, n*size), from); return nil }}
}

// fetch copies an array of tuples to the host. Addresses are the device's, unless a visitor changes them.
func (r *run) fetch(d deviceRows, visit ...visitor) (tuples.Rows, error) {
	return r.fetchBy(d, plain(d.addr, d.tuple.Size), visit...)
}

// fetchBy is fetch of tuples that come in another form.
func (r *run) fetchBy(d deviceRows, w wire, visit ...visitor) (tuples.Rows, error) {
	out := tuples.Rows{Tuple: d.tuple}
	if d.n == 0 {
		return out, nil
	}
	n, size := int(d.n), d.tuple.Size
	host, err := r.mem.Take(n * size)
	if err != nil {
		return out, err
	}
	visit = slices.DeleteFunc(visit, func(v visitor) bool { return v == nil })
	if err := r.fetchTo(host, w, n, size, visit); err != nil {
		return out, err
	}
	out.Pieces = []tuples.Piece{{Addr: host, N: n}}
	return out, nil
}

// fetchTo copies n tuples of a size to an address of the host and lets visitors see them.
func (r *run) fetchTo(host uintptr, w wire, n, size int, visit []visitor) error {
	back := &r.store.back
	bytes, least := cmp.Or(r.store.Block, fetchBytes), cmp.Or(r.store.Block, fetchLeast)
	per := bytes / w.size   // tuples of a block
	if r.store.Block == 0 { // the host begins when the first block is there
		per = min(per, max((n+fetchBlocks-1)/fetchBlocks, fetchLeast/w.size))
	}
	if n*w.size >= least && per > 0 && back.mu.TryLock() {
		defer back.mu.Unlock()
		if back.open(r.dev, bytes) == nil { // else the machine has too little of such memory
			return r.fetchStaged(back, host, w, n, size, per, visit)
		}
	}
	from, direct := mem.Bytes(host, n*size)[:n*w.size], w.size == size
	if !direct {
		from = make([]byte, n*w.size)
	}
	if err := r.st.Download(from, w.at); err != nil {
		return r.failed(err)
	}
	if err := r.sync(); err != nil {
		return err
	}
	if !direct {
		put := func(to uintptr, k int) error {
			return w.put(to, from[int(to-host)/size*w.size:], k)
		}
		visit = append([]visitor{put}, visit...)
	}
	if len(visit) == 0 {
		return nil
	}
	step := max(visitBytes/size, 1)
	return r.team.Parallel((n+step-1)/step, func(i int) error {
		return each(visit, host+uintptr(i*step*size), min(step, n-i*step))
	})
}

// each lets visitors see n tuples.
func each(visit []visitor, first uintptr, n int) error {
	for _, v := range visit {
		if err := v(first, n); err != nil {
			return err
		}
	}
	return nil
}

// arriving is a block of tuples on its way.
type arriving struct {
	here chan struct{} // closed when it is there
	done chan struct{} // and when all its tuples are the host's
	left atomic.Int64  // pieces that are not
}

// fetchStaged is fetchTo through blocks of so many tuples. Threads take piece after piece, and wait for its block alone; a block is filled again
// when they are at the next.
func (r *run) fetchStaged(s *staging, host uintptr, w wire, n, size, per int, visit []visitor) (err error) {
	step := max(visitBytes/size, 1)
	pieces := (per + step - 1) / step // of a block
	blocks := make([]arriving, (n+per-1)/per)
	for i := range blocks {
		b := &blocks[i]
		b.here, b.done = make(chan struct{}), make(chan struct{})
		b.left.Store(int64((min(per, n-i*per) + step - 1) / step))
	}
	at := func(k int) *stagingBlock { return &s.blocks[k%len(s.blocks)] }
	queue := func(k int) error {
		if k >= len(blocks) {
			return nil
		}
		if err := r.st.Download(at(k).host.Bytes[:min(per, n-k*per)*w.size], w.at+device.Addr(k*per*w.size)); err != nil {
			return err
		}
		return r.st.Record(at(k).sent)
	}
	gone := make(chan struct{}) // nobody takes pieces any more
	broken := make(chan struct{})
	var taken error
	go func() {
		defer close(gone)
		taken = r.team.Parallel(len(blocks)*pieces, func(i int) error {
			k, lo := i/pieces, i%pieces*step
			b := &blocks[k]
			m := min(step, n-k*per-lo, per-lo)
			if m <= 0 { // the last block has fewer
				return nil
			}
			select {
			case <-b.here:
			case <-broken:
				return nil
			}
			to := host + uintptr((k*per+lo)*size)
			if err := w.put(to, at(k).host.Bytes[lo*w.size:], m); err != nil {
				return err
			}
			if err := each(visit, to, m); err != nil {
				return err
			}
			if b.left.Add(-1) == 0 {
				close(b.done)
			}
			return nil
		})
	}()
	bring := func() error {
		for k := range s.blocks {
			if err := queue(k); err != nil {
				return err
			}
		}
		for k := range blocks {
			if err := at(k).sent.Sync(); err != nil {
				return err
			}
			close(blocks[k].here)
			if k == 0 {
				continue
			}
			select {
			case <-blocks[k-1].done:
			case <-gone: // one has failed
				return nil
			}
			if err := queue(k - 1 + len(s.blocks)); err != nil {
				return err
			}
		}
		return nil
	}
	if err = r.failed(bring()); err != nil {
		close(broken)
	}
	<-gone
	if err = cmp.Or(err, taken); err != nil { // copies to the blocks may be on their way
		_ = r.st.Sync()
		return err
	}
	return r.sync()
}
