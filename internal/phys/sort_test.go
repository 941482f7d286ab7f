package phys

import (
	"math"
	"testing"

	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

func collect(keys int, limit, offset int64) *pipe.Collect {
	return &pipe.Collect{Keys: make([]plan.SortKey, keys), Limit: limit, Offset: offset}
}

func TestWanted(t *testing.T) {
	for _, c := range []struct{ limit, offset, rows, want int64 }{
		{-1, 0, 10, 10}, {3, 0, 10, 3}, {3, 4, 10, 7}, {7, 4, 10, 10}, {6, 4, 10, 10}, {5, 4, 10, 9}, {0, 0, 10, 0},
		{math.MaxInt64, 5, 10, 10}, {3, math.MaxInt64, 10, 10},
	} {
		if got := Wanted(collect(1, c.limit, c.offset), c.rows); got != c.want {
			t.Errorf("limit %d offset %d of %d rows: %d", c.limit, c.offset, c.rows, got)
		}
	}
}

// TestChooseTop: few rows in order.
func TestChooseTop(t *testing.T) {
	for _, c := range []struct {
		sink *pipe.Collect
		size int
		want string
	}{
		{collect(1, 10, 0), 8, "the first 10, 2048 at a time"},
		{collect(1, 0, 0), 8, "the first 0, 2048 at a time"},
		{collect(2, 500, 13), 8, "the first 513, 2052 at a time"},
		{collect(0, 10, 0), 8, "all rows"},
		{collect(1, -1, 0), 8, "all rows"},
		{collect(1, math.MaxInt64, 1), 8, "all rows"},
		{collect(1, math.MaxInt64/4, 0), 8, "all rows"},
		{collect(1, 1<<20, 0), 8, "the first 1048576, 4194304 at a time"},
		{collect(1, 1<<20+1, 0), 8, "all rows"},
		{collect(1, 1<<17, 0), 64, "the first 131072, 524288 at a time"},
		{collect(1, 1<<17, 0), 72, "all rows"},
	} {
		if got := ChooseTop(c.sink, c.size).String(); got != c.want {
			t.Errorf("limit %d offset %d, %d keys, tuples of %d: %s, want %s", c.sink.Limit, c.sink.Offset, len(c.sink.Keys), c.size, got, c.want)
		}
	}
}

// TestChooseSort: who sorts what lies on a device.
func TestChooseSort(t *testing.T) {
	const host, here, top = "sorted by the host", "sorted by the device", "sorted by the device, the first rows only"
	for _, c := range []struct {
		rows Unsorted
		want string
	}{
		{Unsorted{Rows: 8192, Wanted: 8192, Size: 8, Most: 1e9}, here},
		{Unsorted{Rows: 8191, Wanted: 8191, Size: 8, Most: 1e9}, host},
		{Unsorted{Rows: 8192, Wanted: 4096, Size: 8, Most: 1e9}, here},
		{Unsorted{Rows: 8192, Wanted: 4095, Size: 8, Most: 1e9}, top},
		{Unsorted{Rows: 1024, Wanted: 10, Size: 48, Most: 1e9}, host},
		{Unsorted{Rows: 1024, Wanted: 10, Size: 56, Most: 1e9}, top},
		{Unsorted{Rows: 1024, Wanted: 512, Size: 56, Most: 1e9}, host},
		{Unsorted{Rows: 1e9, Wanted: 10, Size: 8, Most: 1e9}, top},
		{Unsorted{Rows: 1e9 + 1, Wanted: 10, Size: 8, Most: 1e9}, host},
		{Unsorted{Rows: 2, Wanted: 2, Size: 8, Most: 1e9, Least: 2}, here},
		{Unsorted{Rows: 2, Wanted: 0, Size: 8, Most: 1e9, Least: 2}, top},
		{Unsorted{Rows: 1, Wanted: 1, Size: 8, Most: 1e9, Least: 1}, host},
		{Unsorted{Rows: 1e6, Wanted: 1, Size: 8, Most: 1e9, Least: 1e7}, host},
	} {
		if got := ChooseSort(c.rows).String(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.rows, got, c.want)
		}
	}
	for _, c := range []struct {
		rows Unsorted
		few  bool
	}{
		{Unsorted{Rows: 8192, Wanted: 8192, Expected: 1 << 20}, true},
		{Unsorted{Rows: 8192, Wanted: 8192, Expected: 1<<20 + 1}, false}, // what is compiled by now
		{Unsorted{Rows: 16 << 20, Wanted: 16 << 20, Expected: 8192}, true},
		{Unsorted{Rows: 16<<20 + 1, Wanted: 16<<20 + 1, Expected: 8192}, false},
		{Unsorted{Rows: 1e9, Wanted: 1 << 20, Expected: 1e9}, true},
		{Unsorted{Rows: 1e9, Wanted: 1<<20 + 1, Expected: 8192}, false},
		{Unsorted{Rows: 8191, Wanted: 8191}, false},
	} {
		c.rows.Size, c.rows.Most = 8, 1e9
		if got := ChooseSort(c.rows).Few; got != c.few {
			t.Errorf("%+v: few %v, want %v", c.rows, got, c.few)
		}
	}
}
