package pipe

import "github.com/kelpiedb/kelpie/internal/plan"

// Carried is the place in the table of each column that comes unchanged from the scan through ops.
func Carried(t *Table, ops []Op) map[plan.ColID]int {
	from := map[plan.ColID]int{}
	for k, id := range t.Scan.Cols {
		from[id] = t.Scan.Ordinal[k]
	}
	same := func(to, of plan.ColID) {
		if ord, ok := from[of]; ok {
			from[to] = ord
		}
	}
	for _, op := range ops {
		switch op := op.(type) {
		case *Map:
			for i, x := range op.Exprs {
				if ref, ok := x.(*plan.Ref); ok {
					same(op.Cols[i], ref.ID)
				}
			}
		case *Rename:
			for i := range op.From {
				same(op.To[i], op.From[i])
			}
		}
	}
	return from
}
