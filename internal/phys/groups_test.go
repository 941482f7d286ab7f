package phys

import (
	"math"
	"testing"
)

// TestChooseGroups holds decisions to what they print, at the edges of each.
func TestChooseGroups(t *testing.T) {
	key := func(span int64) Domain { return Domain{Lo: -3, Span: span} }
	one := func(span, expect int64) Grouping {
		return Grouping{Domains: []Domain{key(span)}, Plain: true, Expect: expect}
	}
	several := func(expect int64, spans ...int64) Grouping {
		g := Grouping{Expect: expect}
		for _, s := range spans {
			g.Domains = append(g.Domains, key(s))
		}
		return g
	}
	with := func(g Grouping, f func(*Grouping)) Grouping {
		f(&g)
		return g
	}
	noArray, noDirect := func(g *Grouping) { g.NoArray = true }, func(g *Grouping) { g.NoDirect = true }
	oneTable := func(g *Grouping) { g.OneTable = true }
	noPacked := func(g *Grouping) { g.NoPacked = true }
	sorted := func(g *Grouping) { g.Sorted = true }
	nullable := func(g *Grouping) { g.Domains[0].Null = true }
	for _, c := range []struct {
		name  string
		facts Grouping
		want  string
	}{
		{"no key", Grouping{Expect: 1}, "one group"},
		{"no key, nothing direct", Grouping{NoDirect: true, NoArray: true}, "one group"},
		{"the largest array", one(maxArraySlots, 1), "array of 8192 slots"},
		{"NULL needs a slot", with(several(1, maxArraySlots-1), nullable), "array of 8192 slots"},
		{"and there is none left", with(several(10, maxArraySlots), nullable), "hash table by packed keys"},
		{"an array that lanes cannot share", with(one(6, 6), noArray), "hash table"},
		{"no array wanted", with(one(6, 6), noDirect), "hash table"},
		{"sorted rows", with(one(maxArraySlots+1, 1000), sorted), "runs of sorted rows"},
		{"however few groups", with(one(1<<40, 1), sorted), "runs of sorted rows"},
		{"an array is better", with(one(maxArraySlots, 1000), sorted), "array of 8192 slots"},
		{"but for one that lanes cannot share", with(with(one(6, 6), sorted), noArray), "runs of sorted rows"},
		{"several keys", several(4, 2, 3), "array of 6 slots"},
		{"a directory for few groups", one(16*1000+maxArraySlots, 1000), "dense directory of 24192 slots"},
		{"too wide for few groups", one(16*1000+maxArraySlots+1, 1000), "hash table"},
		{"wide directories", one(6*10e6, 10e6), "dense directory of 60000000 slots"},
		{"must be filled better", one(6*10e6+1, 10e6), "hash table"},
		{"up to a bound", one(wideDense, 1<<21), "dense directory of 16777216 slots"},
		{"which many groups raise", one(wideDense+1, 1<<21), "hash table"},
		{"the widest directory", one(maxDense, math.MaxInt64/32), "dense directory of 268435456 slots"},
		{"beyond it", one(maxDense+1, math.MaxInt64/32), "hash table"},
		{"one for all", with(one(sharedDense, math.MaxInt64/32), oneTable), "dense directory of 1073741824 slots"},
		{"which has a bound, too", with(one(sharedDense+1, math.MaxInt64/32), oneTable), "hash table"},
		{"and must be filled", with(one(6*100e6+1, 100e6), oneTable), "hash table"},
		{"any integer", one(1<<62, 1000), "hash table"},
		{"several keys of a directory", several(1<<20, 1<<10, 1<<10), "dense directory of 1048576 slots"},
		{"one more", several(1<<20, 1<<10, 1<<10+1), "hash table by packed keys"},
		{"a quarter of the span", several(1000, 2, (16*1000+maxArraySlots)/8), "array of 6048 slots"},
		{"a quarter of a larger span", several(4000, 2, (16*4000+maxArraySlots)/8), "dense directory of 18048 slots"},
		{"and no more", several(4000, 2, (16*4000+maxArraySlots)/8+1), "hash table by packed keys"},
		{"64 bits", several(10, 1<<32, 1<<32), "hash table by packed keys"},
		{"65 bits", several(10, 1<<32, 1<<32+1), "hash table"},
		{"a key that is no integer", several(10, 5, 0), "hash table"},
		{"packed keys switched off", with(several(1<<20, 1<<10, 1<<10), noPacked), "hash table"},
		{"which one key does not mind", with(one(1<<20, 1<<20), noPacked), "dense directory of 1048576 slots"},
		{"direct tables switched off", with(several(1<<20, 1<<10, 1<<10), noDirect), "hash table by packed keys"},
		{"many keys do not overflow", several(10, 1<<28, 1<<28, 1<<28, 1<<28), "hash table"},
	} {
		if got := ChooseGroups(c.facts).String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestDomain: NULL is one more value.
func TestDomain(t *testing.T) {
	for _, c := range []struct {
		d          Domain
		size, bits int64
	}{
		{Domain{Span: 1}, 1, 0}, {Domain{Span: 1, Null: true}, 2, 1}, {Domain{Span: 2}, 2, 1}, {Domain{Span: 4}, 4, 2},
		{Domain{Span: 4, Null: true}, 5, 3}, {Domain{Lo: 7, Span: 1 << 32}, 1 << 32, 32},
	} {
		if c.d.Size() != c.size || c.d.Bits() != c.bits {
			t.Errorf("%+v: %d values, %d bits", c.d, c.d.Size(), c.d.Bits())
		}
	}
}

// TestChooseBlock: as many copies as leave room for all threads, and none where one does not fit.
func TestChooseBlock(t *testing.T) {
	for _, c := range []struct {
		slots, bytes int64
		want         string
	}{
		{1, 48 << 10, "in shared memory"},
		{1, 48<<10 + 1, "in device memory"},
		{6, 28, "in shared memory, 32 copies"},
		{32, 24, "in shared memory, 32 copies"},
		{32, 25, "in shared memory, 16 copies"},
		{33, 24, "in shared memory, 8 copies"},
		{1, 12 << 10, "in shared memory, 2 copies"},
		{1, 12<<10 + 1, "in shared memory"},
		{8192, 4, "in shared memory"},
		{8192, 8, "in device memory"},
	} {
		if got := ChooseBlock(c.slots, c.bytes).String(); got != c.want {
			t.Errorf("%d slots of %d bytes: %s, want %s", c.slots, c.bytes, got, c.want)
		}
	}
}

// TestChooseCache: as many slots as fit, copies where groups are few, and none where they are many or large.
func TestChooseCache(t *testing.T) {
	for _, c := range []struct {
		expect, bytes int64
		want          Block
	}{
		{1, 24, Block{Slots: 2048, Copies: 8, Cache: true}},
		{0, 24, Block{Slots: 2048, Copies: 8, Cache: true}},
		{64, 24, Block{Slots: 2048, Copies: 8, Cache: true}},
		{65, 24, Block{Slots: 2048, Copies: 4, Cache: true}},
		{257, 24, Block{Slots: 2048, Copies: 1, Cache: true}},
		{256, 24, Block{Slots: 2048, Copies: 2, Cache: true}},
		{256, 25, Block{Slots: 1024, Copies: 1, Cache: true}},
		{maxCached, 24, Block{Slots: 2048, Copies: 1, Cache: true}},
		{maxCached + 1, 24, Block{}},
		{100, 48 << 10 / 64, Block{Slots: 64, Copies: 1, Cache: true}},
		{100, 48<<10/64 + 1, Block{}},
	} {
		if got := ChooseCache(c.expect, c.bytes); got != c.want {
			t.Errorf("%d groups of %d bytes: %+v, want %+v", c.expect, c.bytes, got, c.want)
		}
	}
}
