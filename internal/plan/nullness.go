package plan

import "github.com/kelpiedb/kelpie/internal/types"

// NotNullExpr reports that e cannot be NULL when the columns in notNull are not.
func NotNullExpr(e Expr, notNull *ColSet) bool {
	switch x := e.(type) {
	case *Const:
		return !x.V.Null
	case *Ref:
		return notNull.Has(x.ID)
	case *Subquery:
		return x.Kind == Exists
	case *Call:
		switch {
		case ops[x.Op].total:
			return true
		case x.Op == NullIf, x.Op == Apply && x.Fn.NullOut, infiniteNull(x):
			return false
		case x.Op == Case:
			if len(x.Args)%2 == 0 {
				return false // no ELSE
			}
			for i := 1; i < len(x.Args); i += 2 {
				if !NotNullExpr(x.Args[i], notNull) {
					return false
				}
			}
			return NotNullExpr(x.Args[len(x.Args)-1], notNull)
		case x.Op == Coalesce, x.Op == Greatest, x.Op == Least:
			for _, a := range x.Args {
				if NotNullExpr(a, notNull) {
					return true
				}
			}
			return false
		}
		for _, a := range x.Args {
			if !NotNullExpr(a, notNull) {
				return false
			}
		}
		return true
	}
	return false
}

// infiniteNull reports an operation that is NULL for infinite dates and timestamps: they have no fields and no clock.
func infiniteNull(x *Call) bool {
	switch x.Op {
	case Extract:
		return x.Args[1].Type().IsCalendar()
	case Cast:
		return (x.T.Kind == types.Time || x.T.Kind == types.TimeTZ) && x.Args[0].Type().IsCalendar()
	}
	return false
}

// NullRejecting reports that a predicate is not true when all columns in cols are NULL: a row
// that an outer join padded with NULLs does not pass it.
func NullRejecting(e Expr, cols *ColSet) bool {
	x, ok := e.(*Call)
	if !ok {
		return nullWhen(e, cols)
	}
	switch x.Op {
	case And:
		for _, a := range x.Args {
			if NullRejecting(a, cols) {
				return true
			}
		}
		return false
	case Or:
		for _, a := range x.Args {
			if !NullRejecting(a, cols) {
				return false
			}
		}
		return true
	case IsTrue:
		return NullRejecting(x.Args[0], cols)
	case Not:
		if in, ok := x.Args[0].(*Call); ok && in.Op == IsNull {
			return nullWhen(in.Args[0], cols)
		}
	}
	return nullWhen(e, cols)
}

// nullWhen reports that e is certainly NULL when all columns in cols are.
func nullWhen(e Expr, cols *ColSet) bool {
	switch x := e.(type) {
	case *Const:
		return x.V.Null
	case *Ref:
		return cols.Has(x.ID)
	case *Call:
		if x.Op == InList || x.Op == NullIf {
			return nullWhen(x.Args[0], cols)
		}
		all := x.Op == And || x.Op == Or || x.Op == Coalesce || x.Op == Greatest || x.Op == Least
		if !all && !x.Strict() {
			return false
		}
		for _, a := range x.Args {
			if nullWhen(a, cols) != all {
				return !all
			}
		}
		return all && len(x.Args) > 0
	}
	return false
}

// NotNullCols is the set of columns that are never NULL in the rows that n produces. Col.NotNull
// holds where a column is made; outer joins above may pad it with NULLs, and
// filters may remove the NULLs, which this takes into account.
func NotNullCols(q *Query, n Node) ColSet {
	switch x := n.(type) {
	case *Filter:
		s := NotNullCols(q, x.Input)
		addNonNullFrom(&s, x.Preds)
		return s
	case *Sort:
		return NotNullCols(q, x.Input)
	case *Window:
		s := NotNullCols(q, x.Input)
		for i := range x.Funcs {
			if f := &x.Funcs[i]; f.NeverNull() {
				s.Add(f.Col)
			}
		}
		return s
	case *Project:
		in := NotNullCols(q, x.Input)
		var s ColSet
		for _, id := range x.Keep {
			if in.Has(id) {
				s.Add(id)
			}
		}
		for i, e := range x.Exprs {
			if NotNullExpr(e, &in) {
				s.Add(x.Cols[i])
			}
		}
		return s
	case *Repeat:
		s := NotNullCols(q, x.Input)
		s.Add(x.Col)
		return s
	case *Join:
		return joinNotNull(q, x)
	case *Group:
		return groupNotNull(q, x)
	case *Scan:
		s := declaredNotNull(q, n)
		if x.Snap != nil {
			for i, id := range x.Cols {
				if o := x.Ordinal[i]; o < len(x.Snap.Stats) && x.Snap.Stats[o].NullCount == 0 && x.Snap.Rows > 0 {
					s.Add(id)
				}
			}
		}
		addNonNullFrom(&s, x.Filter)
		return s
	case *SharedScan:
		var s ColSet
		if x.Index >= len(q.Shared) || q.Shared[x.Index] == nil {
			return s
		}
		in := NotNullCols(q, q.Shared[x.Index].Plan)
		for i, id := range x.Source {
			if in.Has(id) {
				s.Add(x.Cols[i])
			}
		}
		return s
	case *SetOp:
		var s ColSet
		ins := make([]ColSet, len(x.Args))
		for i, a := range x.Args {
			ins[i] = NotNullCols(q, a)
		}
		for k, id := range x.Cols {
			ok := true
			for i := range x.Args {
				ok = ok && ins[i].Has(x.InCols[i][k])
			}
			if ok {
				s.Add(id)
			}
		}
		return s
	case *Values:
		var s, none ColSet
		for k, id := range x.Cols {
			ok := true
			for _, r := range x.Rows {
				ok = ok && NotNullExpr(r[k], &none)
			}
			if ok {
				s.Add(id)
			}
		}
		return s
	case *Series:
		return MakeColSet(x.Col)
	}
	return ColSet{}
}

func declaredNotNull(q *Query, n Node) ColSet {
	s := Produced(n)
	for id := range s.All {
		if !q.Cols.Get(id).NotNull {
			s.Remove(id)
		}
	}
	return s
}

// addNonNullFrom adds the columns that true predicates show to be not NULL: plain operands of
// comparisons.
func addNonNullFrom(s *ColSet, preds []Expr) {
	for _, e := range preds {
		x, ok := e.(*Call)
		if !ok {
			if r, ok := e.(*Ref); ok {
				s.Add(r.ID)
			}
			continue
		}
		switch {
		case x.Op.IsComparison(), x.Op == Like, x.Op == InList:
			for _, a := range x.Args {
				addStrictRefs(s, a)
			}
		case x.Op == Not:
			if in, ok := x.Args[0].(*Call); ok && in.Op == IsNull {
				addStrictRefs(s, in.Args[0])
			} else if ok && (in.Op == Like || in.Op == InList) {
				addStrictRefs(s, in.Args[0])
			}
		case x.Op == And:
			addNonNullFrom(s, x.Args)
		}
	}
}

// addStrictRefs adds the columns without which e would be NULL.
func addStrictRefs(s *ColSet, e Expr) {
	switch x := e.(type) {
	case *Ref:
		s.Add(x.ID)
	case *Call:
		if x.Strict() {
			for _, a := range x.Args {
				addStrictRefs(s, a)
			}
		}
	}
}

func joinNotNull(q *Query, x *Join) ColSet {
	l := NotNullCols(q, x.Left)
	matched := func(s *ColSet, keys []Expr) {
		for i, k := range keys {
			if x.NullSafe == nil || !x.NullSafe[i] {
				addStrictRefs(s, k)
			}
		}
	}
	switch x.Kind {
	case Inner:
		l.Union(NotNullCols(q, x.Right))
		matched(&l, x.LKeys)
		matched(&l, x.RKeys)
		addNonNullFrom(&l, x.On)
	case Semi:
		made := Produced(x.Left)
		matched(&l, x.LKeys)
		addNonNullFrom(&l, x.On)
		l.Intersect(made)
	case Full:
		return ColSet{}
	case Mark:
		if markNeverNull(q, x, &l) {
			l.Add(x.MarkCol)
		}
	}
	return l
}

// markNeverNull: a mark join tells NULL from false only if it has a single key, which is not
// NULL-safe, and no other condition; and then not when neither side can be NULL.
func markNeverNull(q *Query, x *Join, l *ColSet) bool {
	if len(x.LKeys) != 1 || len(x.On) > 0 || x.NullSafe != nil && x.NullSafe[0] {
		return true
	}
	r := NotNullCols(q, x.Right)
	return NotNullExpr(x.LKeys[0], l) && NotNullExpr(x.RKeys[0], &r)
}

func groupNotNull(q *Query, x *Group) ColSet {
	in := NotNullCols(q, x.Input)
	var s ColSet
	for i, k := range x.Keys {
		if NotNullExpr(k, &in) {
			s.Add(x.KeyCols[i])
		}
	}
	for _, a := range x.Aggs {
		switch a.Func {
		case CountStar, Count, Spread:
			s.Add(a.Col)
		case StddevSamp, VarSamp, Folded: // may be NULL for one row
		default:
			// A group has at least one row, unless there are no keys.
			if len(x.Keys) > 0 && a.Filter == nil && NotNullExpr(a.Arg, &in) {
				s.Add(a.Col)
			}
		}
	}
	return s
}
