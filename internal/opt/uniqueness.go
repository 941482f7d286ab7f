package opt

import (
	"github.com/kelpiedb/kelpie/internal/plan"
)

// uniqueOn reports that no two rows of n agree on cols, all of them not NULL. If
// strict, rows with NULLs in them are unique as well (IS NOT DISTINCT FROM).
func (s *state) uniqueOn(n plan.Node, cols plan.ColSet, strict bool) bool {
	switch x := n.(type) {
	case *plan.Scan:
		return scanUnique(x, cols, strict)
	case *plan.Filter:
		addPinned(&cols, x.Preds)
		return s.uniqueOn(x.Input, cols, strict)
	case *plan.Project:
		for i, e := range x.Exprs {
			if r, ok := e.(*plan.Ref); ok && cols.Has(x.Cols[i]) {
				cols.Add(r.ID)
			}
		}
		return s.uniqueOn(x.Input, cols, strict)
	case *plan.Recursive:
		return x.Distinct && cols.HasAll(x.Cols)
	case *plan.Repeat:
		return cols.Has(x.Col) && s.uniqueOn(x.Input, cols, strict)
	case *plan.Window:
		return s.uniqueOn(x.Input, cols, strict)
	case *plan.Sort:
		return x.Limit == 1 || s.uniqueOn(x.Input, cols, strict)
	case *plan.Group:
		return cols.HasAll(x.KeyCols)
	case *plan.Values:
		return len(x.Rows) <= 1
	case *plan.Series:
		return x.N == 1 || cols.Has(x.Col)
	case *plan.SharedScan:
		if x.Index >= len(s.q.Shared) || s.q.Shared[x.Index] == nil {
			return false
		}
		for i, id := range x.Cols {
			if cols.Has(id) {
				cols.Add(x.Source[i])
			}
		}
		return s.uniqueOn(s.q.Shared[x.Index].Plan, cols, strict)
	case *plan.Join:
		return s.joinUnique(x, cols, strict)
	}
	return false
}

func (s *state) joinUnique(x *plan.Join, cols plan.ColSet, strict bool) bool {
	switch x.Kind {
	case plan.Semi, plan.Anti, plan.Mark, plan.Single:
		return s.uniqueOn(x.Left, cols, strict)
	case plan.Full:
		return false
	}
	lk, rk := s.keyCols(x)
	if x.Kind == plan.Left {
		return s.uniqueOn(x.Left, cols, strict) && s.uniqueOn(x.Right, rk, x.NullSafe != nil)
	}
	// What equals a given column is given too.
	for i := range x.LKeys {
		l, lok := x.LKeys[i].(*plan.Ref)
		r, rok := x.RKeys[i].(*plan.Ref)
		if lok && rok && (cols.Has(l.ID) || cols.Has(r.ID)) {
			cols.Add(l.ID)
			cols.Add(r.ID)
		}
	}
	lu, ru := cols, cols
	lu.Union(lk)
	ru.Union(rk)
	nullSafe := x.NullSafe != nil
	return s.uniqueOn(x.Left, cols, strict) && s.uniqueOn(x.Right, ru, nullSafe) ||
		s.uniqueOn(x.Right, cols, strict) && s.uniqueOn(x.Left, lu, nullSafe)
}

// keyCols are the plain columns among a join's keys, those still in On included.
func (s *state) keyCols(x *plan.Join) (l, r plan.ColSet) {
	for i := range x.LKeys {
		if k, ok := x.LKeys[i].(*plan.Ref); ok {
			l.Add(k.ID)
		}
		if k, ok := x.RKeys[i].(*plan.Ref); ok {
			r.Add(k.ID)
		}
	}
	if len(x.On) > 0 {
		left, right := plan.Produced(x.Left), plan.Produced(x.Right)
		for _, e := range x.On {
			le, re, ok := plan.EquiSides(e, &left, &right)
			if !ok || e.(*plan.Call).Op != plan.Eq {
				continue
			}
			if k, ok := le.(*plan.Ref); ok {
				l.Add(k.ID)
			}
			if k, ok := re.(*plan.Ref); ok {
				r.Add(k.ID)
			}
		}
	}
	return l, r
}

func scanUnique(x *plan.Scan, cols plan.ColSet, strict bool) bool {
	addPinned(&cols, x.Filter)
	list, found := keysOf(x)
	for _, key := range list {
		ok := len(key) > 0
		for _, o := range key {
			ok = ok && hasOrdinal(x, cols, o) && (!strict || found || x.Table.Columns[o].NotNull)
		}
		if ok {
			return true
		}
	}
	return false
}

// keysOf are the keys of a scanned table: declared, or found in the rows of files, which then have no NULL.
func keysOf(x *plan.Scan) (list [][]int, found bool) {
	switch {
	case x.Table == nil:
		return nil, false
	case x.Snap != nil && x.Snap.External != nil:
		return x.Snap.External.Keys(), true
	}
	return x.Table.Keys, false
}

// hasOrdinal reports that the scan produces a column of the table as one of cols.
func hasOrdinal(x *plan.Scan, cols plan.ColSet, ordinal int) bool {
	for i, o := range x.Ordinal {
		if o == ordinal && cols.Has(x.Cols[i]) {
			return true
		}
	}
	return false
}

// addPinned adds the columns that predicates hold at one value.
func addPinned(cols *plan.ColSet, preds []plan.Expr) {
	for _, p := range preds {
		if x, ok := p.(*plan.Call); ok && x.Op == plan.Eq {
			if r, ok := x.Args[0].(*plan.Ref); ok && plan.IsConst(x.Args[1]) {
				cols.Add(r.ID)
			}
		}
	}
}

// dependency says that lhs determines rhs.
type dependency struct{ lhs, rhs plan.ColSet }

// dependencies collects the functional dependencies that hold for the rows of n. padded:
// an outer join above may replace the rows by NULLs, so that only dependencies that start from
// columns that are else never NULL hold.
func (s *state) dependencies(dst []dependency, n plan.Node, padded bool) []dependency {
	equal := func(a, b plan.Expr) {
		l, ok1 := a.(*plan.Ref)
		r, ok2 := b.(*plan.Ref)
		if ok1 && ok2 {
			dst = append(dst, dependency{plan.MakeColSet(l.ID), plan.MakeColSet(r.ID)},
				dependency{plan.MakeColSet(r.ID), plan.MakeColSet(l.ID)})
		}
	}
	preds := func(list []plan.Expr) {
		for _, p := range list {
			if x, ok := p.(*plan.Call); ok && x.Op == plan.Eq {
				equal(x.Args[0], x.Args[1])
				if r, ok := x.Args[0].(*plan.Ref); ok && plan.IsConst(x.Args[1]) && !padded {
					dst = append(dst, dependency{rhs: plan.MakeColSet(r.ID)})
				}
			}
		}
	}
	switch x := n.(type) {
	case *plan.Scan:
		if x.Table == nil {
			return dst
		}
		preds(x.Filter)
		list, found := keysOf(x)
		for _, key := range list {
			var lhs plan.ColSet
			for _, o := range key {
				for i := range x.Ordinal {
					if x.Ordinal[i] == o && (found || x.Table.Columns[o].NotNull) {
						lhs.Add(x.Cols[i])
					}
				}
			}
			if len(key) > 0 && lhs.Len() == len(key) {
				dst = append(dst, dependency{lhs, plan.Produced(x)})
			}
		}
	case *plan.Filter:
		preds(x.Preds)
		return s.dependencies(dst, x.Input, padded)
	case *plan.Sort:
		return s.dependencies(dst, x.Input, padded)
	case *plan.Repeat:
		return s.dependencies(dst, x.Input, padded)
	case *plan.Window:
		return s.dependencies(dst, x.Input, padded)
	case *plan.Project:
		if !padded {
			for i, e := range x.Exprs {
				dst = append(dst, dependency{plan.Refs(e), plan.MakeColSet(x.Cols[i])})
				if r, ok := e.(*plan.Ref); ok {
					dst = append(dst, dependency{plan.MakeColSet(x.Cols[i]), plan.MakeColSet(r.ID)})
				}
			}
		}
		return s.dependencies(dst, x.Input, padded)
	case *plan.Group:
		if !padded {
			dst = append(dst, dependency{plan.MakeColSet(x.KeyCols...), plan.Produced(x)})
		}
	case *plan.Join:
		switch x.Kind {
		case plan.Inner:
			for i := range x.LKeys {
				equal(x.LKeys[i], x.RKeys[i])
			}
			preds(x.On)
			dst = s.dependencies(dst, x.Right, padded)
		case plan.Left, plan.Single:
			dst = s.dependencies(dst, x.Right, true)
		case plan.Full:
			return dst
		}
		return s.dependencies(dst, x.Left, padded)
	}
	return dst
}

// closure adds to cols all columns that they determine.
func closure(cols plan.ColSet, deps []dependency) plan.ColSet {
	for changed := true; changed; {
		changed = false
		for i := range deps {
			d := &deps[i]
			if d.lhs.SubsetOf(&cols) && !d.rhs.SubsetOf(&cols) {
				cols.Union(d.rhs)
				changed = true
			}
		}
	}
	return cols
}
