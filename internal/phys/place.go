package phys

import (
	"fmt"
	"time"

	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Work is what a query has to do, as far as the optimizer can tell.
type Work struct {
	Pipelines int
	Rows      float64 // that scans read
	Visits    float64 // rows that are looked up, grouped, put into a table or searched for the first ones
	Sorted    float64 // rows that are sorted; those with texts as keys count several times
	Back      float64 // bytes that come from a GPU to the host: results, and rows of which the host makes something
	Made      float64 // values that Go makes, for which rows leave a GPU and come back
}

// WorkOf adds up what a program's pipelines do. lacks tells of an operation that there is no code for it.
func WorkOf(prog *pipe.Program, lacks func(*plan.Call) bool) Work {
	w := Work{Pipelines: len(prog.Pipelines)}
	makes := func(rows float64, xs ...plan.Expr) {
		for _, x := range xs {
			found := false
			plan.WalkExpr(x, func(e plan.Expr) bool {
				c, ok := e.(*plan.Call)
				found = found || ok && lacks(c)
				return !found
			})
			if found {
				w.Made += rows
			}
		}
	}
	for _, p := range prog.Pipelines {
		rows := 0.0
		switch s := p.Source.(type) {
		case *pipe.Table:
			rows = float64(s.Scan.Snap.Rows)
			w.Rows += rows
			rows = expected(s.Scan, rows)
		case *pipe.Buffer:
			rows = expected(s.Node, 0)
		case *pipe.Series:
			rows = float64(s.Node.N)
			w.Rows += rows
		case *pipe.Constants:
			rows = float64(len(s.Rows))
		}
		for _, op := range p.Ops {
			switch op := op.(type) {
			case *pipe.Filter:
				makes(rows, op.Preds...)
				rows = expected(op.Node, rows)
			case *pipe.Map:
				makes(rows, op.Exprs...)
			case *pipe.Probe:
				w.Visits += rows
				rows = expected(op.Join, rows)
			}
		}
		switch s := p.Sink.(type) {
		case *pipe.Build:
			w.Visits += rows
		case *pipe.Aggregate:
			if len(s.Group.Keys) > 0 {
				w.Visits += rows
			}
			makes(rows, s.Group.Keys...)
			for _, a := range s.Group.Aggs {
				if a.Arg != nil {
					makes(rows, a.Arg)
				}
			}
		case *pipe.Fold:
			w.Back += rows * rowBytes(prog, s.Cols)
		case *pipe.Collect:
			w.collect(prog, p, s, rows)
		}
	}
	return w
}

// collect adds what a sink does that keeps rows, and that they come to the host where it is the result.
func (w *Work) collect(prog *pipe.Program, p *pipe.Pipeline, s *pipe.Collect, rows float64) {
	if s.Window != nil { // there and back again
		w.Back += 2 * rows * rowBytes(prog, s.Cols)
	}
	switch {
	case len(s.Keys) == 0:
	case ChooseTop(s, LeastTuple).Room > 0:
		w.Visits += rows
	default:
		w.Sorted += rows
		for _, k := range s.Keys {
			if prog.Query.Cols.Get(k.Col).Type.Phys() == types.PhysStr {
				w.Sorted += textSort * rows
				break
			}
		}
	}
	if s != prog.Result {
		return
	}
	if s.Limit >= 0 {
		rows = min(rows, float64(s.Limit))
	}
	bytes := rowBytes(prog, s.Cols)
	if n := len(ChooseLate(prog, p, func(*plan.Scan) bool { return true }).Ordinal); n > 0 {
		bytes = 8 * float64(1+len(s.Cols)-n)
	}
	w.Back += rows * bytes
}

// rowBytes is what columns take in a tuple, about.
func rowBytes(prog *pipe.Program, cols []plan.ColID) (bytes float64) {
	for _, id := range cols {
		bytes += 8
		if prog.Query.Cols.Get(id).Type.Phys() == types.PhysStr {
			bytes += 8
		}
	}
	return bytes
}

// expected is how many rows leave an operator, as far as the optimizer says.
func expected(n plan.Node, otherwise float64) float64 {
	if n != nil {
		if r := n.Props().Rows; r > 0 {
			return r
		}
	}
	return otherwise
}

// Accelerator is what is known of a GPU before a query runs on it.
type Accelerator struct {
	Missing   string        // why there is none, or why it cannot run the query; the rest does not matter then
	Bandwidth float64       // bytes that kernels read in a second; 0: not known
	Room      int64         // bytes that columns may take
	Bytes     int64         // of the columns that the query reads
	Absent    int64         // of these, what has to be copied there first
	Files     int64         // bytes of columns in files, which every query has to bring there
	Compiled  bool          // the driver has the query's kernels
	Missed    time.Duration // what queries that ran elsewhere could have saved, had these columns and kernels been there
	Behind    bool          // what it lacks can be fetched behind queries that run elsewhere
	Free      int64         // bytes that columns can still take without that others go
}

// Place is where a query runs, and why.
type Place struct {
	GPU bool
	Why string
	// CPU and Hot are the expected times on each device, Once what the GPU needs beside Hot because things are not there yet.
	CPU, Hot, Once time.Duration
	// GuessCPU and GuessHot are what one would expect who has never seen such a query run.
	GuessCPU, GuessHot time.Duration
	// Missed is what the GPU would save of each such query if all it needs were there; 0 where the query runs there.
	Missed time.Duration
	// Warm: what the GPU lacks is fetched behind the query, which the CPU runs.
	Warm bool
}

func (p Place) String() string {
	if p.GPU {
		return "gpu: " + p.Why
	}
	return "cpu: " + p.Why
}

// ChoosePlace decides between the CPU, with so many threads, and a GPU, which is asked for only if the query is large enough for
// one. What a GPU needs first (columns, kernels) serves later queries as well: it is fetched at the latest when the queries that ran
// on the CPU could have saved as much. So the wrong choice costs at most twice the right one, whatever comes. Times are those of queries of this shape that ran before, where some did. Where it can be fetched
// behind queries, none waits for it unless it gains by that itself; it costs little then, and is fetched at once if nothing else has to go for it.
func ChoosePlace(w Work, threads int, known Known, facts func() Accelerator) Place {
	p := Place{}
	p.GuessCPU = time.Duration(w.Pipelines)*cpuPipeline + time.Duration((cpuScan*w.Rows+cpuVisit*w.Visits+cpuSort*w.Sorted)/float64(max(threads, 1)))
	var seen, seenHot bool
	p.CPU, seen = by(p.GuessCPU, known.CPU)
	onCPU := func() string { return told(p.CPU, seen) }
	least := time.Duration(w.Pipelines) * gpuPipeline
	if p.CPU <= least {
		p.Why = fmt.Sprintf("about %s, less than a GPU needs to begin", onCPU())
		return p
	}
	g := facts()
	if g.Missing != "" {
		p.Why = g.Missing
		return p
	}
	if g.Bandwidth <= 0 {
		g.Bandwidth = gpuBandwidth
	}
	if g.Files > g.Room {
		p.Why = fmt.Sprintf("columns of its files take %s, and the GPU has room for %s", size(g.Files), size(g.Room))
		return p
	}
	carried := g.Files
	if g.Bytes > g.Room { // what has no room there streams, for each query anew
		carried += g.Bytes - min(g.Bytes-g.Absent, g.Room/streamHolds)
		g.Absent = 0
	}
	// Kernels read what is there while the rest comes.
	p.GuessHot = least + time.Duration(gpuVisit*w.Visits+gpuSort*w.Sorted+gpuMade*w.Made/float64(max(threads, 1))) + seconds(w.Back/gpuBack) + max(seconds(float64(g.Bytes+g.Files)/g.Bandwidth), seconds(float64(carried)/gpuUpload))
	p.Hot, seenHot = by(p.GuessHot, known.GPU)
	p.Once = seconds(float64(g.Absent) / gpuUpload)
	if !g.Compiled {
		p.Once += time.Duration(w.Pipelines) * gpuCompile
	}
	onGPU := func() string { return told(p.Hot+p.Once, seenHot && p.Once == 0) }
	if p.Hot >= p.CPU {
		p.Why = fmt.Sprintf("about %s, %s on the GPU%s", onCPU(), told(p.Hot, seenHot), overBus(carried)+w.onHost())
		return p
	}
	behind := g.Behind && carried == 0
	sure := time.Duration(1)
	switch {
	case behind && seen:
		sure = onceSure
	case behind:
		sure = onceUnseen
	}
	switch saved := p.CPU - p.Hot; {
	case p.Once*sure < saved:
		p.GPU = true
		p.Why = fmt.Sprintf("about %s%s, %s on the CPU", onGPU(), g.first(p.Once)+overBus(carried), onCPU())
	case behind && (g.Absent <= g.Free || p.Once < g.Missed+saved):
		p.Missed, p.Warm = saved, true
		p.Why = fmt.Sprintf("about %s, %s on the GPU%s, which is done behind the query", onCPU(), onGPU(), g.first(p.Once))
	case !behind && p.Once < g.Missed+saved:
		p.GPU = true
		p.Why = fmt.Sprintf("about %s%s, which later queries need not pay; %s on the CPU, where %s were lost before", onGPU(), g.first(p.Once)+overBus(carried),
			onCPU(), rough(g.Missed))
	default:
		p.Missed = saved
		p.Why = fmt.Sprintf("about %s, %s on the GPU%s", onCPU(), onGPU(), g.first(p.Once)+overBus(carried))
	}
	return p
}

// onHost says what the host has to do with what a GPU brings it, where that is much.
func (w *Work) onHost() (out string) {
	if w.Back >= muchBack {
		out = fmt.Sprintf(", %s come back", size(int64(w.Back)))
	}
	if w.Made >= muchMade {
		out += fmt.Sprintf(", where Go makes %.0f values", w.Made)
	}
	return out
}

// overBus says what every such query has to carry.
func overBus(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return fmt.Sprintf(", %s over the bus each time", size(bytes))
}

// first says what has to be done before the query can run.
func (g *Accelerator) first(once time.Duration) string {
	switch {
	case once == 0:
		return ""
	case g.Absent == 0:
		return " with compiling its kernels"
	case g.Compiled:
		return fmt.Sprintf(" with copying %s there", size(g.Absent))
	}
	return fmt.Sprintf(" with copying %s there and compiling its kernels", size(g.Absent))
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// rough is a time as exact as an estimate is.
func rough(d time.Duration) string {
	switch ms := float64(d) / float64(time.Millisecond); {
	case ms < 10:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 10000:
		return fmt.Sprintf("%.0f ms", ms)
	default:
		return fmt.Sprintf("%.0f s", ms/1000)
	}
}

// told is a time and whether it is more than a guess.
func told(d time.Duration, measured bool) string {
	if measured {
		return rough(d) + " (measured)"
	}
	return rough(d)
}

// size is a number of bytes, as exact as an estimate is.
func size(n int64) string {
	switch mb := float64(n) / 1e6; {
	case mb < 10:
		return fmt.Sprintf("%.1f MB", mb)
	case mb < 10000:
		return fmt.Sprintf("%.0f MB", mb)
	default:
		return fmt.Sprintf("%.0f GB", mb/1000)
	}
}
