package exec

import (
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/exec/result"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// lateColumns are the columns of a result that its tuples have numbers of rows instead of.
type lateColumns struct {
	phys.Late
	segs []*catalog.Segment // by number
}

// columns says where a result's columns are.
func (l *lateColumns) columns(ids []plan.ColID, t *layout.Tuple) []result.Column {
	out := make([]result.Column, len(ids))
	for i, id := range ids {
		if ord, ok := l.Ordinal[id]; ok {
			out[i].Ordinal = ord
		} else {
			out[i].Field = t.Find(int32(id))
		}
	}
	return out
}
