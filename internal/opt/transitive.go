package opt

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/plan"
)

// classes are sets of columns that are equal in all rows of a block.
type classes struct {
	members [][]*plan.Ref
}

// equate notes that two columns are equal.
func (c *classes) equate(a, b *plan.Ref) {
	i, j := c.find(a.ID), c.find(b.ID)
	switch {
	case i < 0 && j < 0:
		c.members = append(c.members, []*plan.Ref{a, b})
	case i < 0:
		c.members[j] = append(c.members[j], a)
	case j < 0:
		c.members[i] = append(c.members[i], b)
	case i != j:
		c.members[i] = append(c.members[i], c.members[j]...)
		c.members = slices.Delete(c.members, j, j+1)
	}
}

// find is the class of a column, -1 if it has none.
func (c *classes) find(id plan.ColID) int {
	for i, m := range c.members {
		for _, r := range m {
			if r.ID == id {
				return i
			}
		}
	}
	return -1
}

// columnsEqual takes a = b apart for two plain columns whose values are hashed alike.
func columnsEqual(p plan.Expr) (a, b *plan.Ref, ok bool) {
	x, isCall := p.(*plan.Call)
	if !isCall || x.Op != plan.Eq {
		return nil, nil, false
	}
	a, ok1 := x.Args[0].(*plan.Ref)
	b, ok2 := x.Args[1].(*plan.Ref)
	return a, b, ok1 && ok2 && plan.SameKeyType(a.T, b.T)
}

// transitive derives predicates on single columns from those on columns that are equal to
// them: a = b and a < 5 give b < 5.
func (s *state) transitive(b *block) []plan.Expr {
	var cl classes
	for _, p := range b.preds {
		if x, y, ok := columnsEqual(p); ok && x.ID != y.ID {
			cl.equate(x, y)
		}
	}
	if len(cl.members) == 0 {
		return nil
	}
	var out []plan.Expr
	var all plan.ExprList
	for _, p := range b.preds {
		all.Add(p)
	}
	for _, p := range b.preds {
		id := singleColumn(p)
		if id == 0 {
			continue
		}
		k := cl.find(id)
		if k < 0 {
			continue
		}
		var from *plan.Ref
		for _, m := range cl.members[k] {
			if m.ID == id {
				from = m
			}
		}
		for _, to := range cl.members[k] {
			if to.ID == id {
				continue
			}
			q := transfer(p, from, to)
			if q != nil && all.Add(q) {
				out = append(out, q)
			}
		}
	}
	return out
}

// singleColumn is the only column that a predicate reads, 0 if there are none or several.
func singleColumn(p plan.Expr) plan.ColID {
	refs := plan.Refs(p)
	if refs.Len() != 1 {
		return 0
	}
	var id plan.ColID
	for c := range refs.All {
		id = c
	}
	return id
}

// deriveFromOrs finds conditions on single leaves in disjunctions over several: from
// (n1 = 'F' AND n2 = 'G') OR (n1 = 'G' AND n2 = 'F') follows n1 IN ('F', 'G'), and the same for n2. The
// disjunction itself stays.
func (s *state) deriveFromOrs(b *block) []plan.Expr {
	var out []plan.Expr
	for _, p := range b.preds {
		x, ok := p.(*plan.Call)
		if !ok || x.Op != plan.Or || b.leafOf(p) >= 0 {
			continue
		}
		parts := make([][]plan.Expr, len(x.Args))
		for i, a := range x.Args {
			parts[i] = plan.Conjuncts(nil, a)
		}
		for leaf := range b.leaves {
			if q := s.orOfLeaf(parts, &b.made[leaf]); q != nil {
				out = append(out, q)
			}
		}
	}
	return out
}

// orOfLeaf is the disjunction of what each disjunct says about a leaf; nil if one of them says nothing.
func (s *state) orOfLeaf(parts [][]plan.Expr, made *plan.ColSet) plan.Expr {
	ors := make([]plan.Expr, len(parts))
	for i, conj := range parts {
		var mine []plan.Expr
		for _, c := range conj {
			if refs := plan.Refs(c); !refs.Empty() && refs.SubsetOf(made) {
				mine = append(mine, c)
			}
		}
		if len(mine) == 0 {
			return nil
		}
		ors[i] = plan.AndOf(mine...)
	}
	return s.foldLogic(plan.OrOf(ors...).(*plan.Call))
}
