package phys

import (
	"testing"

	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// TestChooseLaunch: a device of 132 multiprocessors with 2048 threads each.
func TestChooseLaunch(t *testing.T) {
	grid := func(items int64, f func(*Grid)) Grid {
		g := Grid{Items: items, Units: 132, UnitThreads: 2048}
		f(&g)
		return g
	}
	holds := func(n int) func(*Grid) { // blocks, by their shared memory
		return func(g *Grid) { g.Resident = func(threads int) int { return min(n, 2048/threads) } }
	}
	for _, c := range []struct {
		grid Grid
		want string
	}{
		{grid(600e6, func(*Grid) {}), "2112 × 128 threads"},
		{grid(0, func(*Grid) {}), "1 × 128 threads"},
		{grid(128, func(*Grid) {}), "1 × 128 threads"},
		{grid(129, func(*Grid) {}), "2 × 128 threads"},
		{grid(600e6, func(g *Grid) { g.InOrder = true }), "1 × 32 threads"},
		{grid(600e6, holds(16)), "2112 × 128 threads"},
		{grid(600e6, holds(13)), "1716 × 128 threads"},
		{grid(600e6, holds(12)), "1056 × 256 threads"},
		{grid(600e6, holds(4)), "528 × 512 threads"},
		{grid(600e6, holds(3)), "264 × 1024 threads"},
		{grid(600e6, holds(2)), "264 × 1024 threads"},
		{grid(600e6, holds(1)), "132 × 1024 threads"},
		{grid(600e6, func(g *Grid) { g.MaxThreads = 512; holds(1)(g) }), "132 × 512 threads"},
		{grid(600e6, func(g *Grid) { g.Shared = muchShared; holds(16)(g) }), "264 × 1024 threads"},
		{grid(600e6, func(g *Grid) { g.Shared = muchShared - 1; holds(16)(g) }), "2112 × 128 threads"},
		{grid(600e6, func(g *Grid) { // registers for 1700 threads
			g.Shared, g.Resident = muchShared, func(n int) int { return 1700 / n }
		}), "396 × 512 threads"},
		{grid(132*128, holds(1)), "132 × 128 threads"},
		{grid(132*128+1, holds(1)), "17 × 1024 threads"},
		{grid(600e6, holds(0)), "2112 × 128 threads"},
		{grid(600, holds(3)), "5 × 128 threads"},
		{grid(600e6, func(g *Grid) { g.MaxThreads = 200 }), "2112 × 128 threads"},
		{grid(600e6, func(g *Grid) { g.MaxThreads = 31 }), "2112 × 128 threads"},
		{grid(600e6, func(g *Grid) { g.MaxThreads = 32 }), "2112 × 32 threads"},
		{grid(600e6, func(g *Grid) { g.Threads = 1024 }), "264 × 1024 threads"},
		{grid(600e6, func(g *Grid) { g.Threads, g.Blocks = 64, 7 }), "7 × 64 threads"},
		{grid(0, func(g *Grid) { g.Blocks, g.MaxThreads = 7, 128; holds(1)(g) }), "7 × 128 threads"},
		{Grid{Items: 1000}, "1 × 128 threads"},
		{grid(600e6, func(g *Grid) { g.Units, g.Resident = 0, func(threads int) int { return threads / 128 } }), "2 × 1024 threads"},
	} {
		if got := ChooseLaunch(c.grid); got.String() != c.want || got.Lanes() != int64(got.Blocks*got.Threads) {
			t.Errorf("%+v: %s, want %s", c.grid, got, c.want)
		}
	}
}

// TestKeepsOrder: what was sorted stays so on its way to a result, through stages as well.
func TestKeepsOrder(t *testing.T) {
	sorts := &pipe.Collect{Keys: []plan.SortKey{{}}}
	plain, cut, groups := &pipe.Collect{}, &pipe.Stage{}, &pipe.Aggregate{}
	inOrder := func(s pipe.Sink) bool { return s == pipe.Sink(cut) }
	for i, c := range []struct {
		from pipe.Source
		to   pipe.Sink
		want bool
	}{
		{&pipe.Buffer{Of: sorts}, plain, true},
		{&pipe.Buffer{Of: sorts}, cut, true},
		{&pipe.Buffer{Of: sorts}, sorts, false},
		{&pipe.Buffer{Of: sorts}, groups, false},
		{&pipe.Buffer{Of: plain}, plain, false},
		{&pipe.Buffer{Of: cut}, plain, true},
		{&pipe.Buffer{Of: groups}, plain, false},
		{cut, plain, true},
		{&pipe.Stage{}, plain, false},
		{&pipe.Table{}, plain, false},
	} {
		if got := KeepsOrder(&pipe.Pipeline{Source: c.from, Sink: c.to}, inOrder); got != c.want {
			t.Errorf("case %d: %t", i, got)
		}
	}
}

// TestRoom: warps take room for many tuples only where many come, or where somebody wants that.
func TestRoom(t *testing.T) {
	for _, c := range []struct {
		room   Room
		expect int64
		want   int64
	}{
		{Room{}, manyTuples, 64},
		{Room{}, manyTuples - 1, 0},
		{Room{}, veryMany - 1, 64},
		{Room{}, veryMany, 256},
		{Room{Own: 32}, 1, 32},
		{Room{Own: 32}, 0, 0},
		{Room{Own: 32, Off: true}, manyTuples, 0},
	} {
		if got := c.room.Takes(c.expect); got != c.want {
			t.Errorf("%+v for %d: %d, want %d", c.room, c.expect, got, c.want)
		}
	}
}

// TestMostLanes: a launch whose kernel is known has no more threads than one of which nothing is, or they have nothing to do.
func TestMostLanes(t *testing.T) {
	for _, items := range []int64{1, 100, 5000, 100_000, 600e6} {
		for _, blocks := range []int{0, 1, 3, 1000} {
			for _, threads := range []int{0, 32, 96, 1024} {
				for _, shared := range []int{0, muchShared} {
					for _, holds := range []int{1, 3, 16} {
						g := Grid{Items: items, Units: 132, UnitThreads: 2048, Blocks: blocks, Threads: threads}
						most := MostLanes(g)
						g.Shared, g.Resident = shared, func(n int) int { return min(holds, 2048/n) }
						if l := ChooseLaunch(g); min(l.Lanes(), max(items, int64(l.Threads*blocks))) > most {
							t.Errorf("%+v: %s, more than %d", g, l, most)
						}
					}
				}
			}
		}
	}
	if got := MostLanes(Grid{Items: 1, Units: 132, UnitThreads: 2048, Blocks: 3, Threads: 96}); got != 288 {
		t.Error(got)
	}
}
