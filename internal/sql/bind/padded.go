package bind

import "github.com/kelpiedb/kelpie/internal/plan"

// paddedSide is an input of an outer join whose columns the join may fill with NULL. A row of NULLs that was there and one that was not look alike,
// so who wants whole rows gets another column below the join, which is true.
type paddedSide struct {
	input *plan.Node    // the join's
	over  *plan.Project // with the column, once somebody asked
	mark  plan.ColID
}

// rowThere is true in rows that a padded relation has, and NULL in those that an outer join made up.
func (b *binder) rowThere(r *rel) plan.Expr {
	side := r.sides[0]
	if side.over == nil {
		side.mark = b.cols.New(r.name+".*", plan.BoolConst(true).Type(), false)
		side.over = &plan.Project{Input: *side.input, Keep: plan.Produced(*side.input).Slice(), Exprs: []plan.Expr{plan.BoolConst(true)}, Cols: []plan.ColID{side.mark}}
		*side.input = side.over
		keep(r.sides[1:], side.mark)
	}
	return b.ref(side.mark)
}

// keep lets a column that came late through to the joins above.
func keep(sides []*paddedSide, id plan.ColID) {
	for _, s := range sides {
		if s.over != nil {
			s.over.Keep = append(s.over.Keep, id)
		}
	}
}
