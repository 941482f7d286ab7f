package tables

import (
	"context"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/exec/work"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/types"
)

// buildOf is a build side with the given keys, not organized yet, each with its number as payload. Two keys are hashed by
// the sink, as generated code would.
func buildOf(t testing.TB, threads, keys int, list []int64) *Builder {
	o := Options{Team: work.NewTeam(context.Background(), threads), Mem: mem.New(nil, false, false), Keys: keys}
	fields := make([]layout.Field, keys+1)
	for i := range fields {
		fields[i].Desc = layout.Desc{Type: types.TInt64, Range: layout.Between(-1<<40, 1<<40)}
	}
	fields[keys].Desc.Range = layout.Between(0, 1<<31)
	o.Tuple = layout.NarrowTuple(keys > 1, false, fields)
	b := tuples.NewBuffer(o.Mem, o.Tuple.Size)
	for i, k := range list {
		if b.Cur >= b.End {
			if err := b.Grow(b.Cur); err != nil {
				t.Fatal(err)
			}
		}
		if keys > 1 {
			mem.Store64(b.Cur, layout.HashInt(k))
		}
		for f := range keys {
			mem.Store64(b.Cur+uintptr(fields[f].Off), uint64(k))
		}
		mem.Halves(b.Cur+uintptr(fields[keys].Off), 1)[0] = uint32(i)
		b.Cur += uintptr(o.Tuple.Size)
	}
	b.Cut(b.Cur)
	return newBuilder(o, []*tuples.Buffer{&b, nil})
}

// keysOf makes n keys: dense or sparse ones, in disorder, each twice if asked for.
func keysOf(n int, sparse, twice bool) []int64 {
	rng := rand.New(rand.NewPCG(1, 2))
	out := make([]int64, n)
	for i, x := range rng.Perm(n) {
		k := int64(x)
		if twice {
			k /= 2
		}
		if sparse {
			k = k*1_000_003 - 1<<39
		}
		out[i] = k
	}
	return out
}

// find lists the payloads that the table has for key k.
func (s *Builder) find(k int64) (out []uint32) {
	t := s.Table
	f := s.keyOf(0)
	payload := uintptr(s.Tuple.Fields[len(s.Tuple.Fields)-1].Off)
	add := func(a uintptr) {
		if int64(mem.Load64(a+f.off)) == k {
			out = append(out, mem.Halves(a+payload, 1)[0])
		}
	}
	size, h := uintptr(s.Tuple.Size), layout.HashInt(k)
	switch t.Kind {
	case layout.Direct:
		if d := uint64(k - t.Min); d < uint64(t.Span) {
			if x := mem.Halves(t.Slots, int(t.Span))[d]; x != 0 {
				add(t.Tuples + uintptr(x)*8)
			}
		}
	case layout.DenseBuckets:
		if d := uint64(k - t.Min); d < uint64(t.Span) {
			x := mem.Halves(t.Slots, int(t.Span)+1)[d:]
			for i := x[0]; i < x[1]; i++ {
				add(t.Tuples + uintptr(i)*size)
			}
		}
	case layout.Open:
		dir := mem.Words(t.Slots, 1<<t.Bits)
		for i := h; dir[i&uint64(len(dir)-1)] != 0; i++ {
			if e := dir[i&uint64(len(dir)-1)]; e>>layout.TagShift == h>>layout.TagShift {
				add(uintptr(e & layout.AddrMask))
			}
		}
	case layout.Buckets:
		dir := mem.Words(t.Slots, 1<<t.Bits+1)[h>>(64-t.Bits):]
		if dir[1]>>(h>>layout.FilterShift&15)&1 != 0 {
			for a := uintptr(dir[0] >> 16); a < uintptr(dir[1]>>16); a += size {
				add(a)
			}
		}
	}
	return out
}

// TestLostTuples enters tuples that are missing in an open table, and sees a key that is there twice.
func TestLostTuples(t *testing.T) {
	list := keysOf(20_000, true, false)
	s := buildOf(t, 1, 1, list)
	if err := s.organize(); err != nil || s.Table.Kind != layout.Open {
		t.Fatal(s.Table.Kind, err)
	}
	o := &opening{dir: mem.Words(s.Table.Slots, 1<<s.Table.Bits), key: s.hashOf()}
	clear(o.dir)
	for i, task := range s.tasks() {
		if i%2 == 0 && !o.key.batches(task, o.enter) {
			t.Fatal("a key twice")
		}
	}
	for _, task := range s.tasks() {
		if !o.key.batches(task, o.enterLost) {
			t.Fatal("a key twice")
		}
	}
	if n := occupied(s, o.dir); n != int64(len(list)) {
		t.Errorf("%d tuples of %d", n, len(list))
	}
	for i, k := range list {
		if got := s.find(k); len(got) != 1 || got[0] != uint32(i) {
			t.Fatalf("key %d: %v, want %d", k, got, i)
		}
	}
	tuples.Copy(s.Rows.Pieces[0].Addr+o.key.size, s.Rows.Pieces[0].Addr, int(o.key.size))
	if o.key.batches(s.Rows.Pieces[0], o.enterLost) {
		t.Error("a key that is there twice is not seen")
	}
}

// TestBuild finds every key again in tables of all kinds and sizes, made by one thread and by several.
func TestBuild(t *testing.T) {
	defer func(x uintptr) { reach = x }(reach)
	for _, n := range []int{0, 1, 2, 100, 5000, 1 << 16, 300_000} {
		for _, threads := range []int{1, 3} {
			for _, keys := range []int{1, 2} {
				for kind := range 4 {
					sparse, twice := kind&1 != 0, kind&2 != 0
					reach = 8 << 32
					if keys == 1 && threads == 1 {
						reach = 1 << 20 // tuples that lie farther apart move together
					}
					list := keysOf(n, sparse, twice)
					s := buildOf(t, threads, keys, list)
					if err := s.organize(); err != nil {
						t.Fatal(err)
					}
					name := fmt.Sprintf("%d rows, %d threads, %d keys, %s", n, threads, keys, s.Table.Kind)
					if n > 2 {
						want := layout.Open
						if keys == 1 && !sparse {
							want = layout.Direct
						}
						if twice {
							want = map[layout.TableKind]layout.TableKind{layout.Open: layout.Buckets, layout.Direct: layout.DenseBuckets}[want]
						}
						if s.Table.Kind != want {
							t.Errorf("%s, want %s", name, want)
						}
					}
					for i, k := range list {
						got := s.find(k)
						ok := len(got) == 1 || twice && len(got) == 2
						if ok = ok && (got[0] == uint32(i) || len(got) == 2 && got[1] == uint32(i)); !ok {
							t.Fatalf("%s: key %d of row %d is found at %d", name, k, i, got)
						}
					}
					if got := s.find(-1 << 40); got != nil {
						t.Errorf("%s: a key that is not there is found at %d", name, got)
					}
					if sum := s.Rows.Len(); sum != int64(n) {
						t.Errorf("%s: %d rows are left", name, sum)
					}
					s.Mem.Close()
				}
			}
		}
	}
}

// BenchmarkBuild organizes build sides; cpu-ns/row is what counts on a busy machine.
func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{10_000, 150_000, 1_500_000} {
		for _, threads := range []int{1, 2} {
			for kind := range 4 {
				sparse, twice := kind&1 != 0, kind&2 != 0
				list := keysOf(n, sparse, twice)
				name := [...]string{"direct", "open", "dense-buckets", "buckets"}[kind]
				b.Run(fmt.Sprintf("%s/%d/threads-%d", name, n, threads), func(b *testing.B) {
					best := time.Duration(1 << 60)
					for range b.N {
						b.StopTimer()
						s := buildOf(b, threads, 1, list)
						start := cpuTime()
						b.StartTimer()
						if err := s.organize(); err != nil {
							b.Fatal(err)
						}
						b.StopTimer()
						best = min(best, cpuTime()-start)
						s.Mem.Close()
					}
					b.ReportMetric(float64(best.Nanoseconds())/float64(n), "cpu-ns/row")
				})
			}
		}
	}
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(0, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
