package exec

import (
	"github.com/kelpiedb/kelpie/internal/compile"
	"github.com/kelpiedb/kelpie/internal/exec/folds"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// foldSink keeps all rows, of which Go then makes groups.
type foldSink struct {
	*collectSink
	group  *plan.Group
	groups tuples.Rows
}

func (s *foldSink) finish() error {
	if err := s.collectSink.finish(); err != nil {
		return err
	}
	r := s.r
	var err error
	s.groups, err = folds.Groups(s.out, s.group, compile.FoldTuple(r.prog.Query.Cols, s.group), folds.Options{
		Team: r.team, Mem: r.mem, View: r.view, Zero: r.zero, NoRadix: r.Off.RadixSort, NoBare: r.Off.BareSort})
	return err
}

func (s *foldSink) note() string { return plural(s.groups.Len(), "group") }
