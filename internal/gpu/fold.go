package gpu

import (
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/compile"
	"github.com/kelpiedb/kelpie/internal/exec/folds"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// foldSink keeps all rows, of which Go makes groups: the rows come to the host, and the groups go back.
type foldSink struct {
	tupleSink
	group *plan.Group
	out   deviceRows
}

func (s *foldSink) rows() deviceRows { return s.out }
func (s *foldSink) empty() bool      { return s.out.n == 0 }

func (s *foldSink) finish() error {
	r := s.r
	host, err := r.download(s.tupleSink.rows())
	if err != nil {
		return err
	}
	zero, err := r.mem.Alloc(column.TextPad)
	if err != nil {
		return err
	}
	view := func(d *column.Dict) column.DictView { return d.View() }
	groups, err := folds.Groups(host, s.group, compile.FoldTuple(r.prog.Query.Cols, s.group), folds.Options{
		Team: r.team, Mem: r.mem, View: view, Zero: zero, NoRadix: r.Off.RadixSort, NoBare: r.Off.BareSort})
	if err != nil {
		return err
	}
	s.out = deviceRows{tuple: groups.Tuple, n: groups.Len()}
	s.out.addr, err = r.uploadTuples(groups)
	return err
}
