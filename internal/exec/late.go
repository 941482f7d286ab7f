package exec

import (
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// lateColumns are the columns of a result that its tuples have numbers of rows instead of.
type lateColumns struct {
	phys.Late
	segs []*catalog.Segment // by number
}
