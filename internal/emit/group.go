package emit

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/emit/scalar"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// GroupPlan is how an aggregation keeps its groups, with the layout of their tuples.
type GroupPlan struct {
	phys.Groups
	Tuple *layout.Tuple // keys, then one field per aggregate; Flag: occupied (arrays)
	// Versions are, by aggregate, the offsets of words behind the fields that guard what many lanes replace; 0: there is
	// none. See warp_wide.go.
	Versions []int
}

// groupSink adds the row to its group.
func (e *emitter) groupSink(s *pipe.Aggregate) {
	g := s.Group
	keys := make([]code.Value, len(g.Keys))
	mark := e.markKeys(g)
	for i, x := range g.Keys {
		keys[i] = e.Eval(x)
	}
	made := madeKey(g, keys) // before all keys get the form of the group's
	if e.f.Group == nil {
		e.f.Group = e.planGroups(g, keys)
	}
	gp := e.f.Group
	e.f.Sink, e.f.How.Groups = gp.Tuple, &gp.Groups
	for i := range keys {
		keys[i] = e.Reform(keys[i], gp.Tuple.Fields[i].Desc.Form)
	}
	e.Say("group into "+gp.Mode.String(), func(n plan.Names) string { return n.Cols(g.KeyCols) })
	ahead := e.fetchGroup(gp, g.Keys)
	h := ir.NoReg
	if gp.Mode == phys.HashGroups {
		h = e.hashNow(ahead, keys, gp)
	}
	e.first = func(i int) code.Value { return e.Eval(g.Aggs[i].Arg) }
	e.group(&groupRow{g: g, plan: gp, keys: keys, hash: h, mark: mark, made: made})
}

// planGroups has the place of groups decided and lays out their tuples.
func (e *emitter) planGroups(g *plan.Group, keys []code.Value) *GroupPlan {
	facts := phys.Grouping{Expect: int64(min(g.Props().Rows, 1<<40)), NoDirect: e.Off.DirectTables, NoPacked: e.Off.PackedKeys}
	var fs []layout.Field
	for i, k := range keys {
		fs = append(fs, e.field(g.KeyCols[i], e.Cols.Get(g.KeyCols[i]).Name, k))
		d := phys.Domain{Null: fs[i].Desc.Nullable}
		if f := fs[i].Desc.Form; f == layout.I64 || f == layout.Code {
			d.Span = fs[i].Desc.Range.Span(1 << 62)
			d.Lo = int64(fs[i].Desc.Range.Lo.Lo)
		}
		facts.Domains = append(facts.Domains, d)
	}
	facts.Plain = len(keys) == 1 && !fs[0].Desc.Nullable && fs[0].Desc.Form == layout.I64
	for _, a := range g.Aggs {
		f := e.field(a.Col, e.Cols.Get(a.Col).Name, code.Value{Desc: e.aggDesc(a, len(keys) == 0)})
		if a.Func == plan.Count || a.Func == plan.CountStar {
			f.Desc.Nullable = false
		}
		fs = append(fs, f)
	}
	facts.OneTable = !e.alone()
	facts.Sorted = facts.Plain && e.inRuns(g, fs)
	facts.NoArray = !e.alone() && !sharedArray(g, fs[len(keys):])
	gp := &GroupPlan{Groups: phys.ChooseGroups(facts)}
	narrow := 0
	if gp.Packed && !e.Off.NarrowTuples {
		narrow = len(keys)
	}
	if e.mayPart(gp, g, fs) {
		parted := *gp
		parted.Mode, parted.Part = phys.PartGroups, 1<<e.Parted.Shift
		parted.Tuple = layout.NarrowFirst(false, false, 0, fs)
		if e.partFits(g, &parted) {
			return &parted
		}
	}
	gp.Tuple = layout.NarrowFirst(gp.Mode == phys.HashGroups || gp.Mode == phys.DenseGroups, gp.Mode == phys.ArrayGroups, narrow, fs)
	if !e.alone() {
		gp.addVersions(g)
	}
	return gp
}

// addVersions makes room for a version of each aggregate whose value of two words is replaced as a whole.
func (gp *GroupPlan) addVersions(g *plan.Group) {
	gp.Versions = make([]int, len(g.Aggs))
	for i, a := range g.Aggs {
		if f := &gp.Tuple.Fields[len(g.Keys)+i]; a.Func != plan.Sum && f.Desc.Form.Words() == 2 && !firstOnly(a, f) {
			gp.Versions[i] = gp.Tuple.Size
			gp.Tuple.Size += 8
		}
	}
}

// sharedArray reports that array groups can be shared by lanes: what is written once, by whoever makes the
// group, must be one word, or two lanes could write a part of it each.
func sharedArray(g *plan.Group, fs []layout.Field) bool {
	words := 0
	for i, a := range g.Aggs {
		switch f := &fs[i]; {
		case a.Func == plan.AnyValue && !f.Desc.Nullable:
			words += f.Desc.Form.Words()
		case a.Func == plan.First:
			words += f.Desc.Form.Words()
			if f.Desc.Nullable {
				words++
			}
		}
	}
	return words <= 1
}

// arrayIndex computes the slot number of the keys into p.
func (e *emitter) arrayIndex(p ir.Reg, gp *GroupPlan, keys []code.Value) {
	e.number(p, gp.Domains[0], keys[0])
	for i, d := range gp.Domains[1:] {
		e.B.Op2(ir.Mul, p, p.V(), e.Fact(d.Size()))
		k := e.Int("k")
		e.number(k, d, keys[i+1])
		e.B.Op2(ir.Add, p, p.V(), k.V())
		e.B.Clear(k)
	}
}

// number computes the number of a key's value in its domain; NULL comes last.
func (e *emitter) number(k ir.Reg, d phys.Domain, key code.Value) {
	e.B.Op2(ir.Sub, k, key.A, e.Fact(d.Lo))
	if d.Null && !key.Never() {
		e.B.Sel(k, ir.NE, key.Null, ir.K(0), e.Fact(d.Span), k.V())
	}
}

// groupHash opens a register with the hash of a group's keys. Keys that are packed into one word have a hash that no
// other keys have: every step can be undone, as the multiplications are by odd numbers.
func (e *emitter) groupHash(gp *GroupPlan, keys []code.Value) ir.Reg {
	if !gp.Packed {
		return e.Hash(keys)
	}
	h, k := e.Int("hash"), e.Int("k")
	e.number(h, gp.Domains[0], keys[0])
	for i, d := range gp.Domains[1:] {
		e.number(k, d, keys[i+1])
		e.B.Op2(ir.Shl, h, h.V(), ir.K(d.Bits()))
		e.B.Op2(ir.Or, h, h.V(), k.V())
	}
	e.B.Op2(ir.Mul, h, h.V(), ir.K(layout.HashMul))
	e.B.Op2(ir.Shr, k, h.V(), ir.K(32))
	e.B.Op2(ir.Xor, h, h.V(), k.V())
	e.B.Op2(ir.Mul, h, h.V(), ir.K(layout.HashSeed))
	e.B.Op2(ir.Shr, k, h.V(), ir.K(32)) // else the last bits know little of the first key
	e.B.Op2(ir.Xor, h, h.V(), k.V())
	e.B.Clear(k)
	return h
}

// initGroup writes the keys and the neutral elements of the aggregates.
func (e *emitter) initGroup(p ir.Reg, gp *GroupPlan, g *plan.Group, keys []code.Value) {
	e.nameGroup(p, gp, g, keys)
	for i, a := range g.Aggs {
		f := &gp.Tuple.Fields[len(keys)+i]
		if firstOnly(a, f) {
			continue
		}
		lo, hi := Neutral(a.Func, f.Desc.Form)
		e.B.Store(ir.At(p, f.Off), ir.K(lo), 8)
		if f.Desc.Form.Words() == 2 {
			e.B.Store(ir.At(p, f.Off+8), ir.K(hi), 8)
		}
		if f.Null >= 0 {
			e.B.Store(ir.At(p, f.Null), ir.K(1), 1)
		}
	}
	for _, off := range gp.Versions {
		if off > 0 {
			e.B.Store(ir.At(p, off), ir.K(0), 8)
		}
	}
}

// nameGroup writes a new group's keys, and what its first row alone decides.
func (e *emitter) nameGroup(p ir.Reg, gp *GroupPlan, g *plan.Group, keys []code.Value) {
	e.keepTexts()
	for i := range keys {
		e.storeField(p, &gp.Tuple.Fields[i], keys[i])
	}
	for i, a := range g.Aggs {
		if f := &gp.Tuple.Fields[len(keys)+i]; firstOnly(a, f) {
			v := e.first(i)
			e.storeField(p, f, v)
			e.Free(v)
		}
	}
}

// madeKey is the first of the keys that was made for this row, and lies nowhere else; -1 if there is none. One that
// was looked up by its code is the same in many rows.
func madeKey(g *plan.Group, keys []code.Value) int {
	for i, x := range g.Keys {
		if c, ok := x.(*plan.Call); ok && scalar.MakesText(c) && keys[i].Desc.Form == layout.Str {
			return i
		}
	}
	return -1
}
