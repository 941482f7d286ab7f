package phys

import (
	"fmt"
	"strconv"

	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// A pipeline is one kernel as long as its threads do not need more registers, or more shared memory, than a multiprocessor has for as many of them as it wants: with more, fewer
// threads hide the time that memory takes, and from 256 on registers are spilled. One that needs more is cut in two, where the rows that are
// kept between the parts have the fewest bytes.

// FuseBudget is how many registers the threads of a kernel may need, which is also how many threads its shared memory must leave room for; 0: as many as leave enough of them.
type FuseBudget int

const (
	// multiprocessorRegisters are those of 32 bits that the threads of a multiprocessor share, from sm_70 to sm_90.
	multiprocessorRegisters = 64 << 10
	// wantedThreads are enough for a multiprocessor to have something to do while others wait: a quarter of what it can hold.
	wantedThreads = 512
	leastBudget   = 16
	mostBudget    = 255 // that one thread can have
)

// Allowed is the number.
func (b FuseBudget) Allowed() int {
	if b > 0 {
		return int(b)
	}
	return multiprocessorRegisters / wantedThreads
}

func (b FuseBudget) String() string {
	if b > 0 {
		return strconv.Itoa(int(b))
	}
	return "auto"
}

// ParseFuseBudget reads one.
func ParseFuseBudget(text string) (FuseBudget, error) {
	if text == "auto" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < leastBudget || n > mostBudget {
		return 0, fmt.Errorf("%q is neither auto nor a number of registers from %d to %d", text, leastBudget, mostBudget)
	}
	return FuseBudget(n), nil
}

// Registers is about how many of 32 bits an assembler gives to each thread of a kernel that wants so many at a time. It takes some for addresses and to have loads on their way,
// where that costs nothing; and of many, it finds some to be the same for a whole warp, or computes them again. The figures are those
// that come closest to what ptxas does for sm_90; testdata/registers.txt of the session's tests has what it does.
func Registers(pressure int) int { return max(18+pressure*9/20, pressure*9/10) }

const (
	// bareRegisters are those that a kernel wants for its loops and addresses, whatever it computes.
	bareRegisters = 48
	// A value that waits for another one takes two, and what adds values up beyond 64 bits as many as three of them.
	valueRegisters = 2
	sumValues      = 3
)

// MostPressure is how many registers a pipeline's kernel may want at the most, as a glance at it tells: it has so many values.
func MostPressure(p *pipe.Pipeline) int {
	values := 0
	count := func(xs ...plan.Expr) {
		for _, x := range xs {
			plan.WalkExpr(x, func(plan.Expr) bool { values++; return true })
		}
	}
	if t, ok := p.Source.(*pipe.Table); ok {
		count(t.Filter...)
		values += len(t.Reduce)
	}
	for _, op := range p.Ops {
		switch op := op.(type) {
		case *pipe.Filter:
			count(op.Preds...)
		case *pipe.Map:
			count(op.Exprs...)
		case *pipe.Probe:
			count(op.Keys...)
			count(op.On...)
		}
	}
	switch s := p.Sink.(type) {
	case *pipe.Aggregate:
		count(s.Group.Keys...)
		for _, a := range s.Group.Aggs {
			count(a.Arg, a.Filter)
			values += sumValues
		}
	case *pipe.Build:
		count(s.Keys...)
	}
	return bareRegisters + valueRegisters*values
}

// CutPlace is where a pipeline can be cut: before an operator, or before its sink.
type CutPlace struct {
	Op    int
	After string // what comes before it, in words
	Class Dependence
	Rows  int64 // that come there, estimated
}

// CutPlaces are those of a pipeline: behind whatever drops or makes rows or computes something. Sinks on which all that comes later depends end
// the pipeline anyway. What may fail is not computed before the operators that may drop the row.
func CutPlaces(p *pipe.Pipeline) (out []CutPlace) {
	if p.Loop != nil {
		return nil
	}
	rows, after := Expected(pipe.SourceNode(p.Source)), sourceName(p.Source)
	for i := range len(p.Ops) + 1 {
		if FuseOperator.CutsBefore(p, i) {
			out = append(out, CutPlace{Op: i, After: after, Class: DependenceAt(p, i), Rows: rows})
		}
		if i < len(p.Ops) {
			if n := pipe.OpNode(p.Ops[i]); n != nil {
				rows = Expected(n)
			}
			after = opName(p.Ops[i])
		}
	}
	return out
}

func sourceName(s pipe.Source) string {
	if t, ok := s.(*pipe.Table); ok {
		return "the scan of " + t.Scan.Table.Name
	}
	return "the rows that it reads"
}

func opName(op pipe.Op) string {
	switch op := op.(type) {
	case *pipe.Filter:
		return "the filter"
	case *pipe.Probe:
		if names := scanned(op.Build.Side()); len(names) == 1 {
			return "the join with " + names[0]
		}
		return "the join"
	case *pipe.Repeat:
		return "the repetition"
	}
	return "the projection"
}

// scanned are the tables that a plan reads.
func scanned(n plan.Node) (out []string) {
	plan.WalkNode(n, func(n plan.Node) bool {
		if s, ok := n.(*plan.Scan); ok {
			out = append(out, s.Table.Name)
		}
		return true
	})
	return out
}

// Cut is why a pipeline ends where it need not.
type Cut struct {
	CutPlace
	Whole   Demand // of the whole
	Allowed int    // registers
	Width   int    // bytes of a row that is kept
}

func (c Cut) String() string {
	return fmt.Sprintf("cut after %s, at a %s dependence: %s; %d bytes × %s rows", c.After, c.Class, c.Whole.over(c.Allowed), c.Width, plan.FormatRows(float64(c.Rows)))
}
