package gpu

import (
	"cmp"
	"slices"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/ir"
)

// Tuples come to memory of the host that the device reaches quickly (landing.go), or else through blocks of such. What has to be changed in them there
// (addresses of texts, numbers of rows) is changed by all threads while the next block is on its way.

// visitor changes n tuples from an address on. Several threads call it, with different tuples.
type visitor func(first uintptr, n int) error

const (
	// fetchBytes is the size of a block through which tuples come, and from which on they come through blocks.
	fetchBytes = 8 << 20
	fetchLeast = 512 << 10
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

// fetch copies an array of tuples to the host. Addresses are the device's, unless a visitor changes them.
func (r *run) fetch(d deviceRows, visit ...visitor) (tuples.Rows, error) {
	out := tuples.Rows{Tuple: d.tuple}
	if d.n == 0 {
		return out, nil
	}
	n, size := int(d.n), d.tuple.Size
	visit = slices.DeleteFunc(visit, func(v visitor) bool { return v == nil })
	host, err := r.landed(d.addr, n, size, visit)
	if host == 0 && err == nil {
		if host, err = r.mem.Take(n * size); err == nil {
			err = r.fetchTo(host, d.addr, n, size, visit)
		}
	}
	if err != nil {
		return out, err
	}
	out.Pieces = []tuples.Piece{{Addr: host, N: n}}
	return out, nil
}

// fetchTo copies n tuples of a size to an address of the host and lets visitors see them.
func (r *run) fetchTo(host uintptr, from device.Addr, n, size int, visit []visitor) error {
	back := &r.store.back
	bytes, least := cmp.Or(r.store.Block, fetchBytes), cmp.Or(r.store.Block, fetchLeast)
	per := bytes / size // tuples of a block
	if n*size >= least && per > 0 && back.mu.TryLock() {
		defer back.mu.Unlock()
		if back.open(r.dev, bytes) == nil { // else the machine has too little of such memory
			return r.fetchStaged(back, host, from, n, size, per, visit)
		}
	}
	if err := r.st.Download(mem.Bytes(host, n*size), from); err != nil {
		return r.failed(err)
	}
	if err := r.sync(); err != nil {
		return err
	}
	return r.visitAll(host, 0, n, size, visit)
}

// fetchStaged is fetchTo through blocks of so many tuples.
func (r *run) fetchStaged(s *staging, host uintptr, from device.Addr, n, size, per int, visit []visitor) (err error) {
	defer func() {
		if err != nil { // copies to the blocks may be on their way
			_ = r.st.Sync()
			return
		}
		err = r.sync()
	}()
	queue := func(lo int) error {
		if lo >= n {
			return nil
		}
		b := &s.blocks[lo/per%len(s.blocks)]
		k := min(per, n-lo)
		if err := r.st.Download(b.host.Bytes[:k*size], from+device.Addr(lo*size)); err != nil {
			return err
		}
		return r.st.Record(b.sent)
	}
	for k := range s.blocks {
		if err := queue(k * per); err != nil {
			return r.failed(err)
		}
	}
	for lo := 0; lo < n; lo += per {
		b := &s.blocks[lo/per%len(s.blocks)]
		if err := b.sent.Sync(); err != nil {
			return r.failed(err)
		}
		copyOut := func(first uintptr, n int) error {
			at := int(first-host) - lo*size
			copy(mem.Bytes(first, n*size), b.host.Bytes[at:])
			return nil
		}
		if err := r.visitAll(host, lo, min(lo+per, n), size, append([]visitor{copyOut}, visit...)); err != nil {
			return err
		}
		if err := queue(lo + per*len(s.blocks)); err != nil {
			return r.failed(err)
		}
	}
	return nil
}

// visitAll lets visitors see the tuples from lo up to hi of an array, on all threads.
func (r *run) visitAll(array uintptr, lo, hi, size int, visit []visitor) error {
	if len(visit) == 0 {
		return nil
	}
	step := max(visitBytes/size, 1)
	return r.team.Parallel((hi-lo+step-1)/step, func(i int) error {
		from := lo + i*step
		for _, v := range visit {
			if err := v(array+uintptr(from*size), min(step, hi-from)); err != nil {
				return err
			}
		}
		return nil
	})
}
