package gpu

import (
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// What a fragment brings along besides its code: literal texts, and predicates over dictionaries that are worked out before.

// pool is a copy of a fragment's literal texts.
func (r *run) pool(f *emit.Fragment) (device.Addr, error) {
	n := len(f.Pool) + column.TextPad
	host, err := r.mem.Alloc(n)
	if err != nil {
		return 0, err
	}
	copy(mem.Bytes(host, n), f.Pool)
	a, err := r.upload(mem.Bytes(host, n))
	r.texts = append(r.texts, homes{a, n, host})
	return a, err
}

// luts makes a fragment's lookup tables, once: it may run over several parts of its source.
func (r *run) luts(f *emit.Fragment) ([]device.Addr, error) {
	var out []device.Addr
	for _, l := range f.Luts {
		if a, ok := r.looked[l]; ok {
			out = append(out, a)
			continue
		}
		fn, err := r.compile(l.Frag)
		if err != nil {
			return nil, err
		}
		a, err := r.allocZero(int64(l.Len) + 64)
		if err != nil {
			return nil, err
		}
		c := r.newContext(l.Frag)
		if err := r.fill(c, l.Frag, &source{}, nil); err != nil {
			return nil, err
		}
		c.set(layout.CtxCur, uint64(a))
		m, err := r.makesTexts(l.Frag, int64(l.Len), 0)
		if err != nil {
			return nil, err
		}
		for again := true; again; {
			m.toContext(c)
			if err := r.start(c, fn, int64(l.Len), false); err != nil {
				return nil, err
			}
			if err := r.finish(c, l.Frag); err != nil {
				return nil, err
			}
			if again, err = m.lacked(c); err != nil {
				return nil, err
			}
		}
		r.looked[l] = a
		out = append(out, a)
	}
	return out, nil
}
