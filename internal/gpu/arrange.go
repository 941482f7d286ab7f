package gpu

import (
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/kernels"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// Tables of keys that are not unique have the tuples of a key, or of a bucket, side by side: each finds how many of its kind came before it, the
// counts become places, and it goes there, all in one launch.

// byKey arranges tuples by keys that lie close together: slots, tuples, smallest key, ranks, out.
func byKey(t *layout.Tuple) *kernels.Arrangement {
	slotOf := func(k *kernel, p []ir.Reg) (tuple, slot ir.Reg) {
		tuple = k.tupleOf(p[1], t.Size)
		slot = k.keyOf(tuple, &t.Fields[0])
		k.Op2(ir.Sub, slot, slot.V(), p[2].V())
		return tuple, slot
	}
	return &kernels.Arrangement{Name: "keys_" + layoutName(t), Params: 5, Width: 4,
		Count: func(b *ir.Builder, p []ir.Reg, item ir.Reg) {
			k := &kernel{b, item}
			a, slot := slotOf(k, p)
			rank := k.Vreg("rank", ir.I32)
			k.Atom4(ir.AtomAdd, rank, ir.AtIndex(p[0], slot, 4, 0), ir.K(1), ir.Val{})
			k.Store(ir.AtIndex(p[3], item, 4, 0), rank.V(), 4)
			k.Clear(a, slot, rank)
		},
		Move: func(b *ir.Builder, p []ir.Reg, item ir.Reg) {
			k := &kernel{b, item}
			a, slot := slotOf(k, p)
			rank, at := k.Vreg("rank", ir.I32), k.Vreg("at", ir.I32)
			k.Load(rank, ir.AtIndex(p[3], item, 4, 0), 4, false)
			k.Load(at, ir.AtIndex(p[0], slot, 4, 0), 4, false)
			k.Op2(ir.Add, at, at.V(), rank.V())
			k.Op2(ir.MulWU, slot, at.V(), ir.K(int64(t.Size)))
			k.Op2(ir.Add, slot, slot.V(), p[4].V())
			k.copyTuple(slot, a, t.Size)
			k.Clear(a, slot, rank, at)
		}}
}

// byBucket arranges tuples by the top bits of their hashes. An entry of the directory has 16 bits that filter below the count, and then below the
// address where its bucket ends: directory behind its first entry, tuples, shift, out.
func byBucket(t *layout.Tuple) *kernels.Arrangement {
	bucketOf := func(k *kernel, p []ir.Reg) (tuple, hash, bucket ir.Reg) {
		tuple = k.tupleOf(p[1], t.Size)
		hash, bucket = k.hashOf(tuple, t), k.Vreg("bucket", ir.I64)
		k.Op2(ir.Shr, bucket, hash.V(), p[2].V())
		return tuple, hash, bucket
	}
	return &kernels.Arrangement{Name: "buckets_" + layoutName(t), Params: 4, Width: 8,
		Count: func(b *ir.Builder, p []ir.Reg, item ir.Reg) {
			k := &kernel{b, item}
			a, h, x := bucketOf(k, p)
			k.Atom(ir.AtomAdd, a, ir.AtIndex(p[0], x, 8, 0), ir.K(1<<16), ir.Val{})
			k.Op2(ir.Shr, h, h.V(), ir.K(layout.FilterShift))
			k.Op2(ir.And, h, h.V(), ir.K(15))
			k.Op2(ir.Shl, h, ir.K(1), h.V())
			k.Atom(ir.AtomOr, a, ir.AtIndex(p[0], x, 8, 0), h.V(), ir.Val{})
			k.Clear(a, h, x)
		},
		Items: func(b *ir.Builder, p []ir.Reg, x, _ ir.Reg) { b.Op2(ir.Shr, x, x.V(), ir.K(16)) },
		Begin: func(b *ir.Builder, p []ir.Reg, x, before ir.Reg) {
			b.Op2(ir.And, x, x.V(), ir.K(0xffff))
			b.Op2(ir.Mul, before, before.V(), ir.K(int64(t.Size)))
			b.Op2(ir.Add, before, before.V(), p[3].V())
			b.Op2(ir.Shl, before, before.V(), ir.K(16))
			b.Op2(ir.Or, before, before.V(), x.V())
		},
		Move: func(b *ir.Builder, p []ir.Reg, item ir.Reg) { // its begin becomes its end
			k := &kernel{b, item}
			a, h, x := bucketOf(k, p)
			k.Atom(ir.AtomAdd, x, ir.AtIndex(p[0], x, 8, 0), ir.K(int64(t.Size)<<16), ir.Val{})
			k.Op2(ir.Shr, x, x.V(), ir.K(16))
			k.copyTuple(x, a, t.Size)
			k.Clear(a, h, x)
		}}
}

// arranged moves the tuples of a build side into the order of their counters, of which there are count.
func (s *buildSink) arranged(a *kernels.Arrangement, counters device.Addr, count int64, own ...uint64) error {
	r := s.r
	if max(count, s.n) > maxListed {
		return r.lacks("a table of %d rows", max(count, s.n))
	}
	lib := r.loader.kernels()
	fn, err := r.function(a.Kernel())
	if err != nil {
		return err
	}
	if fn.Usage().MaxThreads < kernels.Threads {
		return r.lacks("a kernel of %d threads", kernels.Threads)
	}
	w := kernels.Work{Items: int(s.n), Counters: counters, Count: int(count)}
	if w.Ticket, err = r.counter(); err != nil {
		return err
	}
	if w.Done, err = r.counter(); err != nil {
		return err
	}
	if w.Sums, err = r.alloc(int64(lib.SumBytes(int(count)))); err != nil {
		return err
	}
	defer r.free(w.Sums)
	return r.failed(lib.Arrange(r.st, fn, w, own...))
}
