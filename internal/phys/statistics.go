package phys

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Expected is the estimate of an operator's rows.
func Expected(n plan.Node) int64 {
	if n == nil {
		return 1
	}
	return int64(min(max(math.Round(n.Props().Rows), 1), 1<<40))
}

// BelievedKeys is what statistics say of the keys of a build side whose tuples look like that.
func BelievedKeys(b *pipe.Build, tuple *layout.Tuple) KeyFacts {
	return believed{tuple, b.Join.AtMostOne && !b.Join.BuildLeft || uniqueKeys(b.Side(), b.Keys)}
}

type believed struct {
	tuple  *layout.Tuple
	unique bool
}

func (b believed) Range() (lo, hi int64, known bool, err error) {
	r := b.tuple.Fields[0].Desc.Range
	return int64(r.Lo.Lo), int64(r.Hi.Lo), r.Fits64(), nil
}

func (b believed) Unique(Table) (bool, error) { return b.unique, nil }

// uniqueKeys reports that no two rows of n agree on keys, as far as tables and groups tell.
func uniqueKeys(n plan.Node, keys []plan.Expr) bool {
	var cols plan.ColSet
	for _, k := range keys {
		if r, ok := k.(*plan.Ref); ok {
			cols.Add(r.ID)
		}
	}
	return uniqueOn(n, cols)
}

// nearlyAll is the share of distinct values from which on all may be different: they are counted by a sketch.
const nearlyAll = 0.9

func uniqueOn(n plan.Node, cols plan.ColSet) bool {
	switch x := n.(type) {
	case *plan.Scan:
		for _, key := range x.Table.Keys {
			have := 0
			for _, ord := range key {
				for k, o := range x.Ordinal {
					if o == ord && cols.Has(x.Cols[k]) {
						have++
						break
					}
				}
			}
			if have == len(key) && have > 0 {
				return true
			}
		}
		for k, ord := range x.Ordinal {
			if cols.Has(x.Cols[k]) && x.Snap != nil && x.Snap.Rows > 0 && x.Snap.Stats[ord].Distinct >= nearlyAll*float64(x.Snap.Rows) {
				return true
			}
		}
	case *plan.Series:
		return cols.Has(x.Col)
	case *plan.Filter:
		return uniqueOn(x.Input, cols)
	case *plan.Sort:
		return uniqueOn(x.Input, cols)
	case *plan.Window:
		return uniqueOn(x.Input, cols)
	case *plan.Project:
		for i, e := range x.Exprs {
			if r, ok := e.(*plan.Ref); ok && cols.Has(x.Cols[i]) {
				cols.Add(r.ID)
			}
		}
		return uniqueOn(x.Input, cols)
	case *plan.Group:
		return len(x.KeyCols) == 0 || cols.HasAll(x.KeyCols)
	case *plan.Join:
		switch x.Kind {
		case plan.Semi, plan.Anti, plan.Mark, plan.Single:
			return uniqueOn(x.Left, cols)
		case plan.Left:
			return x.AtMostOne && uniqueOn(x.Left, cols)
		case plan.Inner:
			return x.AtMostOne && uniqueOn(x.Left, cols) || uniqueKeys(x.Left, x.LKeys) && uniqueOn(x.Right, cols)
		}
	}
	return false
}
