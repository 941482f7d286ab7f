package emit

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// frame is what surrounds a row: the operators are the same in all of them. The CPU's is rowLoop, which also has the
// vector front of a scan; a GPU's is warp.
type frame interface {
	// scan takes the rows of a table through scanRow, rows those of any other source through body, by number.
	scan(s *pipe.Table)
	rows(body func(i ir.Reg))
	// skip drops the row under a condition.
	skip(c ir.Cond, x, y ir.Val)
	// above opens a register with the distance of v from lo, to be compared without a sign with span. near: no two values of v are further from each other than
	// 32 bits tell.
	above(v code.Value, lo, span int64, near bool) (distance ir.Reg, limit ir.Val)
	// exit ends the query with an error under a condition.
	exit(status int32, c ir.Cond, x, y ir.Val)
	// matches goes on with each tuple that a probe finds for the row; outer joins also where there is none.
	matches(p *probe)
	// exists goes on by whether a probe of a table whose keys are not unique finds something.
	exists(p *probe, rest func(found ir.Reg))
	// together goes on with rest where a predicate of operator i holds, if lanes test it together; false: each row is tested by itself. after are those that rest tests.
	together(i int, pred plan.Expr, after []plan.Expr, rest func()) bool
	// inSteps is together where lanes test the rows of others from the middle of a predicate on.
	inSteps(i int, pred plan.Expr, after []plan.Expr, rest func()) bool
	// repeat goes on with the row as often as the operator says.
	repeat(op *pipe.Repeat, i int)
	// refill goes on with the row before operator i, or later with another.
	refill(i int, rest func())
	// shortPlace is longPlace for keys whose distances fit in 32 bits.
	shortPlace(key code.Value, t *layout.Table) slotPlace
	// tick counts a match, so that a row that has many does not keep the thread for itself.
	tick()
	// setOnce makes a byte 1 that is 0 or 1 already.
	setOnce(at ir.Mem)
	// tally adds one to the counter at a context offset.
	tally(off int)
	// watch takes note that the lane's row has come this far, for the bins from a context offset on.
	watch(off int)
	// write gives a tuple to the sink.
	write(t *layout.Tuple, r written)
	// group adds the row to its group: the emitter's aggregate evaluates what it brings and hands that to update, with the
	// group's address p that it was given.
	group(r *groupRow)
	update(p ir.Reg, f *layout.Field, fn plan.AggFunc, v code.Value)
	// inRuns reports that rows come in the order of a grouping's only key, and that its groups, with such fields, can be made of runs of them.
	inRuns(g *plan.Group, fs []layout.Field) bool
	// mayPart reports that rows come in parts of the array that a grouping's keys number, and that its groups, with such fields, can be made part after part; partFits that a block has room for one.
	mayPart(gp *GroupPlan, g *plan.Group, fs []layout.Field) bool
	partFits(g *plan.Group, gp *GroupPlan) bool
	// merge combines the partial group at src into the group with the same keys.
	merge(src ir.Reg)
	// texts is where texts are made. markKeys is where those of a grouping's keys begin, if they are dropped where the group is there
	// already; else it is NoReg. keepTexts takes note that a group has got one, dropUnless takes texts back unless an aggregate, whose
	// field that is of the group at p, has got the one that v is.
	texts() code.TextSpace
	markKeys(g *plan.Group) ir.Reg
	keepTexts()
	dropUnless(mark, p ir.Reg, f *layout.Field, v code.Value)
	// alone reports that the thread has its rows, in order, and the state of the sink for itself.
	alone() bool
}

// written is a row for a sink that materializes, field by field.
type written struct {
	hash ir.Reg       // NoReg: none; it is used up
	keys []code.Value // the first fields
	cols []plan.ColID // those behind them
	late bool         // then comes the number of the scan's row
	rows int64        // how many are expected; 0: nobody knows
	part ir.Reg       // that the row belongs to, if it is written in parts; it is used up
}

// groupRow is a row for a group sink. Registers are used up.
type groupRow struct {
	g    *plan.Group
	plan *GroupPlan
	keys []code.Value // in the forms of the plan's tuple
	hash ir.Reg       // NoReg: none is needed
	mark ir.Reg       // where the texts of keys begin; NoReg: none were made
	made int          // the first key that was made; -1: none
}

// enterFrame gives the emitter the frame of its target and tells what expressions can do there. Nobody else asks
// for the target.
func (e *emitter) enterFrame() code.Abilities {
	if e.Target == ir.GPU {
		e.frame = &warp{emitter: e, shares: map[*layout.Field]*share{}, drained: ir.NoReg}
		// There is nothing to fetch ahead of rows that other lanes work on, and registers of a row end at its guard.
		off := &e.Request.Off
		off.Prefetch, off.MatchedKeys = true, true
		return code.Abilities{Checked: true, Words: true, Parameters: true}
	}
	e.frame = &rowLoop{emitter: e}
	return code.Abilities{Unaligned: true, Divide128: true, Masks: e.SIMD, Yield: true, CheapLoads: true}
}
