package phys

import (
	"testing"

	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// lengths are runs of a table.
func lengths(all ...int64) *layout.Table {
	t := &layout.Table{Kind: layout.DenseBuckets}
	for _, n := range all {
		t.Rows += n
		t.Runs.Keys++
		t.Runs.Longest = max(t.Runs.Longest, n)
		t.Runs.Squares += float64(n * n)
	}
	return t
}

// TestChooseExpand: lanes keep what is even, and share what one of them would have too much of.
func TestChooseExpand(t *testing.T) {
	zipf := []int64{}
	for k := int64(1); k <= 1000; k++ {
		zipf = append(zipf, 2000/k)
	}
	unique := lengths(1, 1)
	unique.Kind = layout.Direct
	for _, c := range []struct {
		what string
		m    Matches
		want Expand
	}{
		{"unique keys", Matches{Table: unique, Walks: true, Share: 1, Wish: ExpandWarp}, ExpandLane},
		{"the first is a match", Matches{Table: lengths(9, 1, 1), Share: 1, Wish: ExpandWarp}, ExpandLane},
		{"somebody wants it", Matches{Table: lengths(1, 2), Walks: true, Share: 1, Wish: ExpandGroup}, ExpandGroup},
		{"nobody has counted", Matches{Table: &layout.Table{Kind: layout.Buckets, Rows: 100}, Walks: true, Share: 1}, ExpandLane},
		{"all the same", Matches{Table: lengths(8, 8, 8), Walks: true, Share: 1}, ExpandLane},
		{"even 1 to 8", Matches{Table: lengths(1, 2, 3, 4, 5, 6, 7, 8), Walks: true, Share: 1}, ExpandLane},
		{"1 to 7 for a twelfth", Matches{Table: lengths(1, 2, 3, 4, 5, 6, 7), Walks: true, Share: 1.0 / 12}, ExpandGroup},
		{"1 to 7 for a sixth", Matches{Table: lengths(1, 2, 3, 4, 5, 6, 7), Walks: true, Share: 1.0 / 6}, ExpandBalanced},
		{"1 to 9 for a twelfth", Matches{Table: lengths(1, 2, 3, 4, 5, 6, 7, 8, 9), Walks: true, Share: 1.0 / 12}, ExpandBalanced},
		{"1 to 29 for two of three", Matches{Table: lengths(1, 5, 10, 15, 20, 25, 29), Walks: true, Share: 0.67}, ExpandBalanced},
		{"one key has many", Matches{Table: lengths(1, 1, 1, 1, 1, 40), Walks: true, Share: 1}, ExpandBalanced},
		{"Zipf", Matches{Table: lengths(zipf...), Walks: true, Share: 1}, ExpandBalanced},
		{"one or two, and few have any", Matches{Table: lengths(1, 2), Walks: true, Share: 0.01}, ExpandLane},
	} {
		if got := ChooseExpand(c.m); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

// TestChooseQueue: only rows of inner joins that come to the join once, and of which a lane does not keep the matches, can be cut into pieces.
func TestChooseQueue(t *testing.T) {
	long, unique := lengths(1, 2049), lengths(1, 1)
	unique.Kind = layout.Direct
	for _, c := range []struct {
		what  string
		kind  pipe.ProbeKind
		table *layout.Table
		how   Expand
		alone bool
		own   *Queue
		want  Queue
	}{
		{"many", pipe.ProbeInner, long, ExpandBalanced, true, nil, Queue{4, 2048, 256, 1 << 20}},
		{"not so many", pipe.ProbeInner, lengths(2048), ExpandWarp, true, nil, Queue{}},
		{"somebody wants it", pipe.ProbeInner, lengths(3), ExpandGroup, true, &Queue{Heavy: 2, Piece: 5, Room: 6}, Queue{4, 2, 5, 6}},
		{"lanes keep them", pipe.ProbeInner, long, ExpandLane, true, nil, Queue{}},
		{"rows have come often", pipe.ProbeInner, long, ExpandBalanced, false, nil, Queue{}},
		{"an outer join", pipe.ProbeOuter, long, ExpandBalanced, true, nil, Queue{}},
		{"one is enough", pipe.ProbeSemi, long, ExpandBalanced, true, nil, Queue{}},
		{"unique", pipe.ProbeInner, unique, ExpandBalanced, true, &Queue{}, Queue{}},
	} {
		if got := ChooseQueue(3, c.kind, c.table, c.how, c.alone, c.own); got != c.want {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}
