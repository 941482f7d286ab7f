package phys

import (
	"testing"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// TestChooseQuick: the rows of all scans count.
func TestChooseQuick(t *testing.T) {
	scan := func(rows int64) *pipe.Pipeline {
		return &pipe.Pipeline{Source: &pipe.Table{Scan: &plan.Scan{Snap: &catalog.Snapshot{Rows: rows}}}}
	}
	for _, c := range []struct {
		pipelines []*pipe.Pipeline
		want      bool
	}{
		{nil, true},
		{[]*pipe.Pipeline{scan(quickRows)}, true},
		{[]*pipe.Pipeline{scan(quickRows), scan(1)}, false},
		{[]*pipe.Pipeline{scan(quickRows / 2), {Source: &pipe.Series{Node: &plan.Series{N: quickRows}}}}, false},
	} {
		if got := ChooseQuick(&pipe.Program{Pipelines: c.pipelines}); got != c.want {
			t.Errorf("%d pipelines: %v", len(c.pipelines), got)
		}
	}
}
