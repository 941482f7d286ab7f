package bind

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// byName orders the columns of the inputs of UNION BY NAME alike: those of the first, and then what others have besides. What an
// input has not is NULL there.
func (b *binder) byName(args []result, pos int) {
	var names []string
	for _, r := range args {
		for i, c := range r.cols {
			if slices.ContainsFunc(r.cols[:i], func(o outCol) bool { return o.name == c.name }) {
				fail(diag.AmbiguousColumn, pos, "UNION BY NAME of two columns of one name: %q", c.name)
			}
			if !slices.Contains(names, c.name) {
				names = append(names, c.name)
			}
		}
	}
	for i := range args {
		r := &args[i]
		p := b.project(r.node, len(names))
		cols := make([]outCol, len(names))
		for k, name := range names {
			if at := slices.IndexFunc(r.cols, func(o outCol) bool { return o.name == name }); at >= 0 {
				cols[k] = r.cols[at]
				p.col(b.ref(cols[k].id), name)
				continue
			}
			null := plan.NullConst(types.TUnknown)
			cols[k] = outCol{name: name, pos: pos, lit: null, id: p.col(b.settle(null), name)}
		}
		r.node, r.cols = p.done(), cols
	}
}
