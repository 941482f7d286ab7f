package exec

import (
	"math"
	"runtime"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/emit/scanned"
	"github.com/kelpiedb/kelpie/internal/exec/load"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Code is compiled late: a probe is emitted when its hash table is finished, and depends on
// what was found in it. EXPLAIN shows code without running anything, so it predicts: the
// pipelines are emitted in their order, their sinks tell the layouts of tuples, and
// statistics stand for the facts. Decisions themselves are those of phys.

// Listing is the function of a pipeline, or of one of its stages, as it will probably be
// compiled.
type Listing struct {
	Pipeline *pipe.Pipeline
	Fragment *emit.Fragment
	Err      error // why there is none for the target
}

// Site is where pipelines are to run, as far as code depends on it.
type Site struct {
	Target ir.Target
	// Shapes are those of a scan's columns where a device has copies of them; nil: they are read as they are stored, and what
	// makes that cheaper is used.
	Shapes func(*plan.Scan) []scanned.Shape
}

// Explain emits every pipeline of a program for a site, without running any.
func Explain(prog *pipe.Program, opts Options, site Site) []Listing {
	if opts.Threads <= 0 {
		opts.Threads = runtime.GOMAXPROCS(0)
	}
	p := &predictor{Options: opts, Site: site, prog: prog, left: map[pipe.Sink]int{}, makers: map[pipe.Sink]int{},
		sinks: map[pipe.Sink]*prediction{}, tables: map[*pipe.Build]*layout.Table{}, unions: map[pipe.Sink][]layout.Field{}}
	for _, q := range prog.Pipelines {
		p.makers[q.Sink]++
		p.left[q.Sink]++
	}
	var out []Listing
	for _, q := range prog.Pipelines {
		parts := q.Stages // between which Go computes something
		if len(parts) == 0 {
			parts = []*pipe.Pipeline{q}
		}
		for _, part := range parts {
			out = append(out, p.pipeline(part))
		}
	}
	return out
}

// predictor is the state of an explanation, as run is that of an execution.
type predictor struct {
	Options
	Site
	prog   *pipe.Program
	makers map[pipe.Sink]int
	left   map[pipe.Sink]int
	sinks  map[pipe.Sink]*prediction
	tables map[*pipe.Build]*layout.Table
	unions map[pipe.Sink][]layout.Field
	texts  textMaps
}

// prediction is what is believed of a sink.
type prediction struct {
	tuple *layout.Tuple
	group *emit.GroupPlan
	rows  int64
}

func (p *predictor) pipeline(q *pipe.Pipeline) Listing {
	out := Listing{Pipeline: q}
	req := emit.Request{Name: q.Name(), Cols: p.prog.Query.Cols, Pipeline: q, Tables: p.tables,
		Count: p.Count, Verbose: true, Off: p.Off}
	inPlace := p.Shapes == nil
	if inPlace {
		p.request(&req)
		req.Map = p.texts.of
		req.TopN = p.chooseTop(q.Sink, phys.LeastTuple).Room > 0
		req.Late = p.late(p.prog, q).Cols()
	}
	if req.Target = p.Target; !inPlace {
		req.Device = p.Target.String()
	}
	if s := p.sinks[q.Sink]; s != nil {
		req.Sink, req.Group = s.tuple, s.group
	}
	if err := p.source(q, &req); err != nil {
		out.Err = err
		return out
	}
	if p.makers[q.Sink] > 1 {
		if inPlace {
			req.United = p.united(q.Sink)
		}
		req.Generic = req.United == nil
	}
	f, err := emit.Pipeline(req)
	if err == nil {
		p.note(q, f)
		if err = ir.Verify(f.Func); err == nil {
			out.Fragment = f
		}
	} else if p.Target != ir.CPU { // what comes after it needs to know its layout all the same
		req.Target = ir.CPU
		if f, err := emit.Pipeline(req); err == nil {
			p.note(q, f)
		}
	}
	out.Err = err
	return out
}

// united is what run.united will probably find.
func (p *predictor) united(s pipe.Sink) []layout.Field {
	fs, ok := p.unions[s]
	if ok || p.Off.SharedSinks {
		return fs
	}
	fs = unite(s, p.prog, func(q *pipe.Pipeline) *emit.Fragment {
		req := emit.Request{Name: q.Name(), Cols: p.prog.Query.Cols, Pipeline: q, Target: ir.CPU, Tables: p.tables, Map: p.texts.of, Off: p.Off}
		if p.source(q, &req) != nil {
			return nil
		}
		f, err := emit.Pipeline(req)
		if err != nil {
			return nil
		}
		return f
	})
	p.unions[s] = fs
	return fs
}

// source predicts what the pipeline reads. The error says that something which it builds
// on could not be emitted.
func (p *predictor) source(q *pipe.Pipeline, req *emit.Request) error {
	missing := func(s pipe.Sink) error {
		return diag.Errorf(diag.FeatureNotSupported, -1, "it reads %s, which is not compiled", p.prog.SinkName(s))
	}
	for _, op := range q.Ops {
		if pr, ok := op.(*pipe.Probe); ok && p.tables[pr.Build] == nil {
			return missing(pr.Build)
		}
	}
	switch src := q.Source.(type) {
	case *pipe.Table:
		req.Rows = src.Scan.Snap.Rows
		if p.Shapes != nil && !load.InFiles(src.Scan) {
			req.Shapes, req.Arrays = p.Shapes(src.Scan), true
			break
		}
		p.filters(src, req)
		req.Shapes = load.FirstShapes(src.Scan, req.Filters)
	case *pipe.Stage:
		s := p.sinks[src]
		if s == nil {
			return missing(src)
		}
		req.Tuple, req.Rows = s.tuple, s.rows
	case *pipe.Series:
		req.Rows = src.Node.N
	case *pipe.Constants:
		req.Tuple, req.Rows = constantsTuple(p.prog.Query.Cols, src), int64(len(src.Rows))
	case *pipe.Buffer:
		s := p.sinks[src.Of]
		if s == nil {
			return missing(src.Of)
		}
		req.Tuple, req.Rows = s.tuple, s.rows
		switch of := src.Of.(type) {
		case *pipe.Collect:
			req.Indirect = len(of.Keys) > 0
		case *pipe.Aggregate:
			req.Indirect = s.group.Mode == phys.ArrayGroups
		}
	}
	return nil
}

// filters predicts which semi-join filters will be worth applying.
func (p *predictor) filters(t *pipe.Table, req *emit.Request) {
	if p.Off.SemiJoins {
		return
	}
	for _, rd := range t.Reduce {
		table := p.tables[rd.Build]
		if table == nil || !phys.CanReduce(t, rd, table.Tuple) {
			continue
		}
		rng, count := table.Tuple.Fields[rd.Key].Desc.Range, table.Rows
		if !rng.Fits64() {
			continue
		}
		set := phys.ChooseKeySet(count, int64(rng.Lo.Lo), int64(rng.Hi.Lo))
		if set.Kind == layout.Bitmap {
			count = min(count, rng.Span(math.MaxInt64))
		}
		sf := scanned.Filter{Col: rd.Col, Range: rng, Kind: set.Kind, Bits: set.Bits, Index: len(req.Filters), Build: rd.Build, Key: rd.Key}
		var worth bool
		if sf.Share, worth = phys.WorthReducing(count, t.Scan, rd.Col); !worth {
			continue
		}
		req.Filters = append(req.Filters, sf)
	}
}

// note remembers the sink's layout; when it was the last pipeline that ends there, the
// sink's table can be predicted.
func (p *predictor) note(q *pipe.Pipeline, f *emit.Fragment) {
	s := p.sinks[q.Sink]
	if s == nil {
		s = &prediction{tuple: f.Sink, group: f.Group}
		p.sinks[q.Sink] = s
	}
	p.left[q.Sink]--
	if p.left[q.Sink] > 0 {
		return
	}
	switch k := q.Sink.(type) {
	case *pipe.Stage:
		s.rows = f.MaxRows
	case *pipe.Collect:
		s.rows = expected(k.Node)
	case *pipe.Aggregate:
		s.rows = expected(k.Group)
	case *pipe.Build:
		t := p.predictTable(k, s.tuple)
		s.rows = t.Rows
		p.tables[k] = t
	}
}

// expected is the estimate of an operator's rows.
func expected(n plan.Node) int64 {
	if n == nil {
		return 1
	}
	return int64(min(max(math.Round(n.Props().Rows), 1), 1<<40))
}

// predictTable says how a build side will be organized if the statistics are right.
func (p *predictor) predictTable(b *pipe.Build, tuple *layout.Tuple) *layout.Table {
	side := b.Join.Right
	if b.Join.BuildLeft {
		side = b.Join.Left
	}
	t := &layout.Table{Tuple: tuple, Rows: expected(side)}
	unique := b.Join.AtMostOne && !b.Join.BuildLeft || uniqueKeys(side, b.Keys)
	d, _ := phys.ChooseTable(phys.BuildSide{Tuple: tuple, Keys: len(b.Keys), Rows: t.Rows, NoDirect: p.Off.DirectTables}, believed{tuple, unique})
	t.Kind, t.Min, t.Span, t.Bits = d.Kind, d.Min, d.Span, d.Bits
	return t
}

// believed is what statistics say of the keys of a build side.
type believed struct {
	tuple  *layout.Tuple
	unique bool
}

func (b believed) Range() (lo, hi int64, known bool, err error) {
	r := b.tuple.Fields[0].Desc.Range
	return int64(r.Lo.Lo), int64(r.Hi.Lo), r.Fits64(), nil
}

func (b believed) Unique(phys.Table) (bool, error) { return b.unique, nil }

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
	case *plan.Series:
		return cols.Has(x.Col)
	case *plan.Filter:
		return uniqueOn(x.Input, cols)
	case *plan.Sort:
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
		case plan.Inner, plan.Left:
			return x.AtMostOne && uniqueOn(x.Left, cols)
		}
	}
	return false
}
