package file

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/types"
)

// TestNoTimes: what is between the last day and infinity is no date, in whatever way it is stored.
func TestNoTimes(t *testing.T) {
	for _, c := range []struct {
		cols  string
		good  []int64
		wrong []int64
	}{
		{"d DATE", []int64{types.MinDate, types.MaxDate, types.InfiniteDate, -types.InfiniteDate},
			[]int64{types.MinDate - 1, types.MaxDate + 1, types.InfiniteDate - 1, 1 - types.InfiniteDate, math.MinInt32}},
		{"d TIMESTAMP", []int64{types.MinTimestamp, types.MaxTimestamp, types.InfiniteTimestamp, -types.InfiniteTimestamp},
			[]int64{types.MinTimestamp - 1, types.MaxTimestamp + 1, types.InfiniteTimestamp - 1, 1 - types.InfiniteTimestamp, math.MinInt64}},
	} {
		cols := defs(t, c.cols)
		for _, rows := range []int64{1, 5000} { // plain, and as differences
			for i, last := range append(c.good, c.wrong...) {
				table := newTable(cols)
				a := table.NewAppender()
				for k := range rows {
					if err := a.AppendRow(types.IntValue(cols[0].Type, k)); err != nil {
						t.Fatal(err)
					}
				}
				if err := a.AppendRow(types.IntValue(cols[0].Type, last)); err != nil {
					t.Fatal(err)
				}
				if err := a.Close(); err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(t.TempDir(), "x.parquet")
				if err := save(table, path, Options{}); err != nil {
					t.Fatal(err)
				}
				_, err := loadFile(path, Options{}, nil, nil, 2)
				wrong := i >= len(c.good)
				if wrong != outOfRange(err) {
					t.Errorf("%s of %d after %d rows: %v", c.cols, last, rows, err)
				}
				for _, w := range scanWays {
					if _, err := scanFile(path, w); wrong != outOfRange(err) {
						t.Errorf("%s of %d after %d rows, scanned %+v: %v", c.cols, last, rows, w, err)
					}
				}
			}
		}
	}
}

func outOfRange(err error) bool { return err != nil && strings.Contains(err.Error(), "out of range") }
