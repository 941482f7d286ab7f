package phys

import "testing"

// TestReadOverBus: what counts is how many sectors of a column rows touch, not how many rows there are.
func TestReadOverBus(t *testing.T) {
	for _, c := range []struct {
		share float64
		width int
		want  bool
	}{
		{0, 4, true}, {0.02, 4, true}, {0.08, 4, true}, {0.09, 4, false}, {1, 4, false},
		{0.02, 1, true}, {0.03, 1, false}, {0.04, 2, true}, {0.05, 2, false},
		{0.49, 32, true}, {0.51, 64, false}, {0.5, 32, true}, {1.5, 16, false}, {0.02, 0, true},
	} {
		if got := ReadOverBus(c.share, c.width); got != c.want {
			t.Errorf("%v of rows of %d bytes: %v", c.share, c.width, got)
		}
	}
}

// TestFeed: a way is found by its name, and says what stays.
func TestFeed(t *testing.T) {
	for x := FeedResident; x <= FeedBatch; x++ {
		if got, err := ParseFeed(x.String()); err != nil || got != x {
			t.Errorf("%s is %s, %v", x, got, err)
		}
		if x.Keeps() != (x == FeedResident) || x.Whole() != (x <= FeedRunToFinish) {
			t.Errorf("%s keeps: %v, whole: %v", x, x.Keeps(), x.Whole())
		}
	}
	if _, err := ParseFeed(""); err == nil {
		t.Error("a way without a name")
	}
	for want, s := range map[string]Stream{
		"streams 1 chunk of 256 rows": {Chunks: 1, Rows: 256, Overlap: true},
		"streams 3 chunks of 512 rows, each before its kernel, 2 columns packed, 1 column over the bus row by row": {Chunks: 3, Rows: 512, Over: 1, Packed: 2},
	} {
		if got := s.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
