package gpu

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// A LIKE filter over a column of long texts that is in the device's memory as a whole can be searched for by a kernel of its own, before the pipeline that has it:
// see emit.Search. What it leaves is a column of one bit, packed as others are, which lasts as long as the query.

// searched is the program with scans of which a filter is searched for before.
func (l *lease) searched(prog *pipe.Program, opts *exec.Options) *pipe.Program {
	return searched(prog, opts, l.pass, func(t *pipe.Table, ord int) bool { return l.parts[keyOf(t.Scan.Snap, ord)] == 0 })
}

// Searched is the program as EXPLAIN knows it, before anybody has looked for room.
func Searched(prog *pipe.Program, opts *exec.Options) *pipe.Program {
	return searched(prog, opts, false, func(*pipe.Table, int) bool { return opts.Feed.Whole() })
}

func searched(prog *pipe.Program, opts *exec.Options, shared bool, here func(t *pipe.Table, ord int) bool) *pipe.Program {
	return prog.Search(func(p *pipe.Pipeline, t *pipe.Table, s *pipe.Search) bool {
		word := emit.FlatWord(s.Pattern)
		if word == "" || isFile(t.Scan.Snap) || !liesInOrder(t.Scan.Snap, s.Ordinal) || !here(t, s.Ordinal) {
			return false
		}
		return opts.Search.At(t.Scan).Choose(phys.Searchable{Rows: t.Scan.Snap.Rows, Length: t.Scan.Snap.Stats[s.Ordinal].AvgLen, Word: len(word),
			Others: len(t.Filter) > 1 || len(t.Reduce) > 0, LooksUp: looksUp(p), Shared: shared})
	})
}

// looksUp reports a pipeline whose rows look for something in the device's memory, each somewhere else.
func looksUp(p *pipe.Pipeline) bool {
	agg, ok := p.Sink.(*pipe.Aggregate)
	return ok && len(agg.Group.Keys) > 0 || slices.ContainsFunc(p.Ops, func(op pipe.Op) bool { _, ok := op.(*pipe.Probe); return ok })
}

// liesInOrder reports a column whose long texts lie in the order of its rows, each once: so chunks have them that are not coded.
func liesInOrder(snap *catalog.Snapshot, ord int) bool {
	sh, _ := shapeOf(snap, ord)
	return sh.Enc == column.EncStr && !slices.ContainsFunc(snap.Segments, func(seg *catalog.Segment) bool { return seg.Chunks[ord].Enc != column.EncStr })
}

// search is a filter that is searched for, over the column with the texts, and where its bits go.
type search struct {
	t    *pipe.Table
	text *deviceColumn
	bits *deviceColumn
}

// newSearch brings the column that a scan's search needs. Its bits come later, if anybody reads them.
func (r *run) newSearch(t *pipe.Table) (*search, carried, error) {
	snap := t.Scan.Snap
	c, carried, err := r.lease.column(snap, t.Search.Ordinal)
	bits := testedColumn()
	bits.streamed, bits.bytes = false, testedBytes(snap.Rows)
	return &search{t, c, bits}, carried, err
}

// searchCode is the function of a scan's search, if its column is packed in so many bits.
func (r *run) searchCode(t *pipe.Table, bits int) (*emit.Fragment, error) {
	s, snap := t.Search, t.Scan.Snap
	sh, _ := shapeOf(snap, s.Ordinal)
	scan := &plan.Scan{Table: t.Scan.Table, Snap: snap, Cols: []plan.ColID{s.Col}, Ordinal: []int{s.Ordinal}}
	req := emit.Request{Name: "search", Cols: r.prog.Query.Cols, Target: ir.GPU, Device: r.Device, Check: r.Verify, Verbose: r.Listing}
	return emit.Search(req, emit.TextSearch{Search: s, Scan: scan, Shape: onDevice(sh, bits)})
}

// search fills the column of bits.
func (r *run) search(s *search, st *exec.PipelineStats) error {
	rows := s.t.Scan.Snap.Rows
	if rows == 0 {
		return nil
	}
	f, err := r.searchCode(s.t, s.text.bits)
	if err != nil {
		return err
	}
	fn, err := r.compile(f)
	if err != nil {
		return err
	}
	if s.bits.data, err = r.alloc(testedBytes(rows + max(emit.SearchPad, emit.ArrayPad))); err != nil {
		return err
	}
	c := r.newContext(f)
	src := &source{scan: &tableScan{cols: []*deviceColumn{s.text}}}
	if err := r.fill(c, f, src, nil); err != nil {
		return err
	}
	if err := (&feed{src: src, spans: []rowSpan{{0, rows}}}).toContext(c, f, 0); err != nil {
		return err
	}
	c.set(layout.CtxCur, uint64(s.bits.data))
	if err := r.start(c, fn, rows, false); err != nil {
		return err
	}
	if r.Count {
		st.Device.Reckoned += s.text.bytes + s.bits.bytes
	}
	if r.Listing {
		st.Fragments = append(st.Fragments, f)
	}
	return nil
}
