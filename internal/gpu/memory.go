package gpu

import (
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/device"
)

// What a query has of the device's memory: until its end, or until it is given back.

// alloc takes memory of the device until the end of the query.
func (r *run) alloc(bytes int64) (device.Addr, error) {
	n := max(bytes, 16)
	a, err := r.st.Alloc(int(n))
	if device.KindOf(err) == device.OutOfMemory && r.store.shrink(n) { // columns that nobody uses now were in the way
		a, err = r.st.Alloc(int(n))
	}
	if err == nil {
		r.owned[a] = n
		r.held += n
		r.stats.DevicePeak = max(r.stats.DevicePeak, r.held)
	}
	return a, err
}

// allocZero is alloc with zeros.
func (r *run) allocZero(bytes int64) (device.Addr, error) {
	a, err := r.alloc(bytes)
	if err == nil {
		err = r.st.Fill(a, 0, int(max(bytes, 16)))
	}
	return a, err
}

func (r *run) free(a device.Addr) {
	if n, ok := r.owned[a]; ok {
		delete(r.owned, a)
		r.held -= n
		_ = r.st.Free(a)
	}
}

// upload is a copy of host bytes on the device until the end of the query.
func (r *run) upload(b []byte) (device.Addr, error) {
	a, err := r.alloc(int64(len(b)))
	if err == nil && len(b) > 0 {
		err = r.st.Upload(a, b)
		r.reading = append(r.reading, b)
	}
	return a, err
}

// zeros is where there is nothing: tuples of NULLs, texts without bytes.
func (r *run) zeros() (device.Addr, error) {
	if r.zero == 0 {
		a, err := r.allocZero(4096)
		if err != nil {
			return 0, err
		}
		r.zero = a
	}
	return r.zero, nil
}

// dict is a dictionary on the device.
func (r *run) dict(d *column.Dict) (*residentDict, error) {
	if x := r.dicts[d]; x != nil {
		return x, nil
	}
	x, _, err := r.lease.dict(d)
	if err == nil {
		r.dicts[d] = x
		r.texts = append(r.texts, x.texts...)
	}
	return x, err
}
