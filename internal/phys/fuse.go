package phys

import (
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Fuse is how much of a query one kernel of a GPU does: the execution models of HorseQC.
type Fuse uint8

const (
	FuseAuto      Fuse = iota // as it pays: compound, unless a kernel would be too large
	FuseCompound              // a pipeline is one kernel, whose rows find their places in the sink by themselves
	FuseMultipass             // a pipeline counts its rows, adds the counts up, and runs again to write them; aggregation reads what was written
	FuseOperator              // likewise each operator
)

var fuseNames = []string{"auto", "compound", "multipass", "operator"}

func (f Fuse) String() string { return fuseNames[f] }

// ParseFuse finds one by its name.
func ParseFuse(name string) (Fuse, error) { return parseChoice[Fuse](name, fuseNames) }

// InPasses: rows that are kept are counted before they are written.
func (f Fuse) InPasses() bool { return f == FuseMultipass || f == FuseOperator }

// CutsBefore reports that a pipeline is cut before operator i, or before its sink where i is the number of operators.
func (f Fuse) CutsBefore(p *pipe.Pipeline, i int) bool {
	switch f {
	case FuseMultipass: // a reduction reads what was written
		_, reduces := p.Sink.(*pipe.Aggregate)
		return reduces && i == len(p.Ops) && (i > 0 || drops(p.Source))
	case FuseOperator:
		if i == len(p.Ops) {
			if _, ok := p.Sink.(*pipe.Collect); ok { // the last operator writes to it
				return false
			}
		}
		if i == 0 {
			return drops(p.Source)
		}
		return ends(p.Ops[i-1], p.Ops[i:])
	}
	return false
}

// Apply cuts the pipelines of a program as the model wants them.
func (f Fuse) Apply(prog *pipe.Program) {
	prog.Spread(func(p *pipe.Pipeline) bool { return f.At(p) == FuseOperator })
	prog.Unfuse(func(p *pipe.Pipeline, i int) bool { return f.At(p).CutsBefore(p, i) })
}

// drops reports a source that does not hand on all rows that it has.
func drops(s pipe.Source) bool {
	switch s := s.(type) {
	case *pipe.Table:
		return len(s.Filter)+len(s.Reduce) > 0
	case *pipe.Buffer:
		return s.Flag != pipe.AllTuples
	}
	return false
}

// ends reports an operator that does something of its own. What may fail is left to whoever wants it: an operator behind it may drop the row.
func ends(op pipe.Op, after []pipe.Op) bool {
	switch op := op.(type) {
	case *pipe.Rename, *pipe.Nulls:
		return false
	case *pipe.Map:
		computes := false
		for _, x := range op.Exprs {
			if _, ref := x.(*plan.Ref); !ref {
				computes = true
			}
			if pipe.MayFail(x) && !keepsRows(after) {
				return false
			}
		}
		return computes
	}
	return true
}

// keepsRows reports operators that make one row of each.
func keepsRows(ops []pipe.Op) bool {
	for _, op := range ops {
		switch op.(type) {
		case *pipe.Map, *pipe.Rename, *pipe.Nulls:
		default:
			return false
		}
	}
	return true
}

// Writing is how rows find their places in a sink that keeps them.
type Writing uint8

const (
	WriteClaimed Writing = iota // warps take places from a counter of the sink
	WriteCounted                // a kernel counts the rows that each row of the source makes; where those of one begin is the sum of the counts before
	WriteInPlace                // each row of the source makes one
	WriteParted                 // a launch counts the rows of each part that each of its blocks has; where those of a block and part begin is the sum of the counts before
)

// ChooseWriting decides how rows of a pipeline find their places.
func ChooseWriting(f Fuse, p *pipe.Pipeline) Writing {
	if c, ok := p.Sink.(*pipe.Collect); ok && c.Parts != nil {
		return WriteParted
	}
	if !f.InPasses() {
		return WriteClaimed
	}
	switch p.Sink.(type) {
	case *pipe.Build: // which drops NULLs
		return WriteCounted
	case *pipe.Collect, *pipe.Fold, *pipe.Stage:
		if !drops(p.Source) && keepsRows(p.Ops) {
			return WriteInPlace
		}
		return WriteCounted
	}
	return WriteClaimed
}

// passes tells what a pipeline does under a model that is not the usual one.
func (d Decision) passes() string {
	text := ""
	switch d.Writing {
	case WriteCounted:
		text = "counts, prefix sum, writes"
	case WriteInPlace:
		text = "writes in place"
	}
	switch {
	case d.Fuse == FuseOperator && text != "":
		return "operator at a time: " + text
	case d.Fuse == FuseOperator:
		return "operator at a time"
	case d.Fuse == FuseMultipass && text != "":
		return "multi-pass: " + text
	case d.Fuse == FuseMultipass:
		return "multi-pass"
	}
	return ""
}
