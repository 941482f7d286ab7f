package phys

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Partition is whether the rows of a grouping on a GPU are first written side by side with those that go to the same part of the table of groups, and grouped part after part. Else
// each row changes a group anywhere in the table, which takes many times as long if that is not in the cache. A number is how many parts.
type Partition int

const (
	PartitionAuto Partition = 0 // where it pays
	PartitionOff  Partition = -1
	PartitionOn   Partition = 1 // wherever it can be done, into as many parts as pay
)

const (
	// MostParts is how many there can be: blocks of a launch keep three words of shared memory for each, beside a stage of 96 KB, and an H200 has room for two of them.
	MostParts  = 1280
	leastParts = 16
	// manyParts is how many there are by wish, or to stay in the cache.
	manyParts = 512
)

func (x Partition) String() string {
	switch x {
	case PartitionAuto:
		return "auto"
	case PartitionOff:
		return "off"
	case PartitionOn:
		return "on"
	}
	return strconv.Itoa(int(x))
}

// ParsePartition finds a way by its name, or takes a number of parts.
func ParsePartition(name string) (Partition, error) {
	for _, x := range []Partition{PartitionAuto, PartitionOff, PartitionOn} {
		if name == x.String() {
			return x, nil
		}
	}
	n, err := strconv.Atoi(name)
	if err != nil || n < 2 || n > manyParts || bits.OnesCount(uint(n)) != 1 {
		return 0, fmt.Errorf("%q is none of auto, off, on, and no power of two from 2 to %d", name, manyParts)
	}
	return Partition(n), nil
}

// At is whether the rows of a group are partitioned.
func (x Partition) At(g *plan.Group) Partition { return switchAt(g, "partition", ParsePartition, x) }

// What a row of a grouping costs, in ns. The figures are an H200's: 600 million rows in 20 million random groups took 50.9 ms
// (lab/results/2026-11-16-search-runs.md), in a million, which stay in the cache, 6.3 for each word that is changed (shared/notes: few groups).
const (
	// nearAccess is an access to what is in the cache.
	nearAccess = 0.0105
	// farRow is what a row takes beside that if its group is not there.
	farRow = 0.064
	// partBandwidth is how many bytes a ns partitioning writes and reads, as long as they lie side by side.
	partBandwidth = 4000
	// partsInCache is how many parts of a table the cache has room for: rows of two are on their way at a time, and beside them the rows themselves pass through it.
	partsInCache = 8
	// leastRows is from how many rows on it is looked at: fewer take no longer than the launches.
	leastRows = 16e6
	// defaultCache is the cache of a device that is not known yet.
	defaultCache = 50 << 20
)

// Scattered is what is known of a grouping whose rows could be partitioned.
type Scattered struct {
	Rows, Groups int64  // estimated
	Keys, Aggs   int64  // how many there are
	Width        int64  // bytes of a row
	InOrder      string // a key in whose order rows come; "": none, as far as known
	Cache        int64  // bytes of the device's cache; 0: not known
	Memory       int64  // bytes of its memory that may be taken for rows; 0: not known
}

// table is about how many bytes the groups take, with a directory that is half full.
func (s *Scattered) table() int64 { return s.Groups * (16 + 8 + 8*s.Keys + 8*s.Aggs) }

func (s *Scattered) cache() int64 {
	if s.Cache == 0 {
		return defaultCache
	}
	return s.Cache
}

// gain is the time in ns that partitioning saves. A row is written and read, and once more its columns are read, to count the rows of each part; and it takes a place in its part. Whatever
// is done, its group is found and changed; but if that may lie anywhere, the cache has as much of the table as there is room for.
func (s *Scattered) gain() float64 {
	far := 1 - float64(s.cache())/float64(s.table())
	moved := float64(3*s.Width)/partBandwidth + nearAccess
	return float64(s.Rows)*(far*farRow-moved) - 2*float64(gpuPipeline)
}

// parts is as many as let one of them take a small part of the cache.
func (s *Scattered) parts() int {
	n := leastParts
	for n < manyParts && s.table()/int64(n) > s.cache()/partsInCache {
		n *= 2
	}
	return n
}

// Choose decides it: the number of parts, or 0 and why not, if that is worth to be told.
func (x Partition) Choose(s Scattered) (parts int, why string) {
	switch {
	case x == PartitionOff:
		return 0, ""
	case x == PartitionOn:
		return s.parts(), ""
	case x != PartitionAuto:
		return int(x), ""
	case s.Rows < leastRows || s.table() <= s.cache():
		return 0, ""
	case s.InOrder != "":
		return 0, "rows come in the order of " + s.InOrder
	case s.Memory > 0 && s.Rows*s.Width > s.Memory:
		return 0, "there is no room for the rows"
	case s.gain() <= 0:
		return 0, "to move the rows would take longer"
	}
	return s.parts(), ""
}

// Parted is why rows are partitioned.
type Parted struct {
	Parts int
	Table int64 // bytes of the table of groups, estimated
	Cache int64
	Wish  bool // somebody wants it so
}

func (p Parted) String() string {
	text := fmt.Sprintf("rows in %d parts by group: counted, prefix sum, written", p.Parts)
	if p.Wish {
		return text
	}
	return text + fmt.Sprintf("; a table of %d MB is larger than a cache of %d", p.Table>>20, p.Cache>>20)
}

// In is the same with the number of parts that there are in the end.
func (p Parted) In(parts int) Parted {
	p.Parts = parts
	return p
}

// PartitionPlace is what the decision needs to know of the device.
type PartitionPlace struct {
	Cache, Memory int64 // as Scattered has them
	// Emits reports an operation for which there is code.
	Emits func(*plan.Call) bool
}

// Apply cuts the pipelines of a program whose rows are partitioned.
func (x Partition) Apply(prog *pipe.Program, on PartitionPlace) {
	prog.Part(func(p *pipe.Pipeline) *pipe.Parts {
		s, ok := p.Sink.(*pipe.Aggregate)
		if !ok || len(s.Group.Keys) == 0 {
			return nil
		}
		facts := Scattered{Rows: rowsTo(p), Groups: Expected(s.Group), Keys: int64(len(s.Group.Keys)), Aggs: int64(len(s.Group.Aggs)),
			Width: int64(p.Width(len(p.Ops), prog.Query.Cols)), InOrder: inOrder(p, s.Group, prog.Query.Cols), Cache: on.Cache, Memory: on.Memory}
		wish := x.At(s.Group)
		parts, why := wish.Choose(facts)
		if parts > 0 && wish == PartitionAuto && slices.ContainsFunc(s.Group.Keys, func(k plan.Expr) bool { return k.Type().Phys() == types.PhysStr }) {
			parts, why = 0, "a key is a text" // which nobody has measured
		}
		if parts > 0 {
			if why = unparted(p, s.Group, facts.Width, on.Emits); why == "" {
				return &pipe.Parts{Group: s.Group, Count: parts, Plain: plainAggregates(s.Group, on.Emits), Why: Parted{parts, facts.table(), facts.cache(), wish != PartitionAuto}}
			}
		}
		s.Unparted = why
		return nil
	})
}

// rowsTo is how many rows come to a pipeline's sink, estimated.
func rowsTo(p *pipe.Pipeline) int64 {
	rows := Expected(pipe.SourceNode(p.Source))
	for _, op := range p.Ops {
		if n := pipe.OpNode(op); n != nil {
			rows = Expected(n)
		}
	}
	return rows
}

// unparted is why rows cannot be partitioned by the keys of a group; "": they can.
func unparted(p *pipe.Pipeline, g *plan.Group, width int64, emits func(*plan.Call) bool) string {
	switch {
	case p.Loop != nil:
		return "they come in rounds of a recursion"
	case width == 0:
		return "they have no columns"
	}
	why := ""
	for _, k := range g.Keys {
		if _, ref := k.(*plan.Ref); !ref && k.Type().Phys() == types.PhysStr {
			return "a key is a text that is made"
		}
		plan.WalkExpr(k, func(x plan.Expr) bool {
			if c, ok := x.(*plan.Call); ok && !emits(c) {
				why = "Go computes a key"
			}
			return true
		})
	}
	return why
}

// plainAggregates reports that there is code for all that aggregates are made of.
func plainAggregates(g *plan.Group, emits func(*plan.Call) bool) bool {
	plain := true
	for _, a := range g.Aggs {
		for _, x := range []plan.Expr{a.Arg, a.Filter} {
			if x == nil {
				continue
			}
			plan.WalkExpr(x, func(x plan.Expr) bool {
				if c, ok := x.(*plan.Call); ok && !emits(c) {
					plain = false
				}
				return true
			})
		}
	}
	return plain
}

// inOrder is the name of a key in whose order a table's rows come to their groups, so that those of one part of the table of groups come one after the other anyway. A key that a
// join found equal to such a column is as good.
func inOrder(p *pipe.Pipeline, g *plan.Group, cols *plan.Columns) string {
	t, ok := p.Source.(*pipe.Table)
	if !ok {
		return ""
	}
	var sorted plan.ColSet
	for i, ord := range t.Scan.Ordinal {
		if t.Scan.Snap.Stats[ord].Sorted {
			sorted.Add(t.Scan.Cols[i])
		}
	}
	is := func(x plan.Expr) bool {
		for {
			c, ok := x.(*plan.Call)
			if !ok || c.Op != plan.Cast {
				break
			}
			x = c.Args[0]
		}
		r, ok := x.(*plan.Ref)
		return ok && sorted.Has(r.ID)
	}
	for _, op := range p.Ops {
		switch op := op.(type) {
		case *pipe.Probe:
			for i, k := range op.Keys {
				if is(k) {
					sorted.Add(op.Build.KeyCols[i])
				}
			}
		case *pipe.Map:
			for i, x := range op.Exprs {
				if is(x) {
					sorted.Add(op.Cols[i])
				}
			}
		case *pipe.Rename:
			for i, from := range op.From {
				if sorted.Has(from) {
					sorted.Add(op.To[i])
				}
			}
		}
	}
	for _, k := range g.Keys {
		if is(k) {
			return cols.Short().Expr(k)
		}
	}
	return ""
}
