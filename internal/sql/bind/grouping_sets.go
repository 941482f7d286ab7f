package bind

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// maxGroupingSets bounds what CUBE can ask for, as in PostgreSQL.
const maxGroupingSets = 4096

// groupItems binds the entries of GROUP BY. Each stands for a list of sets, and the
// clause for all combinations of one set from each.
func (b *binder) groupItems(s *scope, g *groupSets, list []ast.GroupItem, items []item) [][]int {
	sets := [][]int{nil}
	for i := range list {
		it := &list[i]
		more := b.groupItemSets(s, g, it, items)
		if len(more) == 1 { // the usual case
			for k := range sets {
				sets[k] = union(sets[k], more[0])
			}
			continue
		}
		if len(sets)*len(more) > maxGroupingSets {
			fail(diag.StatementTooComplex, it.Pos, "too many grouping sets present (maximum %d)", maxGroupingSets)
		}
		var next [][]int
		for _, l := range sets {
			for _, r := range more {
				next = append(next, union(l, r))
			}
		}
		sets = next
	}
	return sets
}

// union is the keys of two sets, in order, without duplicates. The result shares nothing
// with a that an append could overwrite.
func union(a, b []int) []int {
	out := a[:len(a):len(a)]
next:
	for _, k := range b {
		for _, have := range out {
			if have == k {
				continue next
			}
		}
		out = append(out, k)
	}
	return out
}

// groupItemSets is the sets that one entry of GROUP BY stands for.
func (b *binder) groupItemSets(s *scope, g *groupSets, it *ast.GroupItem, items []item) [][]int {
	switch it.Kind {
	case ast.GroupExpr:
		return [][]int{b.groupExprs(s, g, it.Exprs[0], items)}
	case ast.GroupEmpty:
		return [][]int{nil}
	case ast.GroupRollup:
		sets := [][]int{nil}
		for _, x := range it.Exprs {
			sets = append(sets, union(sets[len(sets)-1], b.groupExprs(s, g, x, items)))
		}
		for l, r := 0, len(sets)-1; l < r; l, r = l+1, r-1 {
			sets[l], sets[r] = sets[r], sets[l]
		}
		return sets
	case ast.GroupCube:
		if len(it.Exprs) > 12 {
			fail(diag.TooManyColumns, it.Pos, "CUBE is limited to 12 elements")
		}
		parts := make([][]int, len(it.Exprs))
		for i, x := range it.Exprs {
			parts[i] = b.groupExprs(s, g, x, items)
		}
		var sets [][]int
		for mask := 1<<len(parts) - 1; mask >= 0; mask-- {
			var set []int
			for i, p := range parts {
				if mask>>(len(parts)-1-i)&1 != 0 {
					set = union(set, p)
				}
			}
			sets = append(sets, set)
		}
		return sets
	case ast.GroupSets:
		var sets [][]int
		for i := range it.Sets {
			sets = append(sets, b.groupItemSets(s, g, &it.Sets[i], items)...)
			if len(sets) > maxGroupingSets {
				fail(diag.StatementTooComplex, it.Pos, "too many grouping sets present (maximum %d)", maxGroupingSets)
			}
		}
		return sets
	}
	panic(diag.Internalf("bind", "GROUP BY entry of kind %d", it.Kind))
}

// groupExprs is the keys of one expression, which a row makes several.
func (b *binder) groupExprs(s *scope, g *groupSets, x ast.Expr, items []item) []int {
	row, ok := x.(*ast.Row)
	if !ok {
		return eachColumns(b, s, func() int { return b.groupKey(s, g, x, items) })
	}
	var keys []int
	for _, x := range row.Elems {
		keys = union(keys, b.groupExprs(s, g, x, items))
	}
	return keys
}

// groupingCall is GROUPING(a, b): a number whose bits say which arguments are not in the row's
// grouping set.
type groupingCall struct {
	args []plan.Expr
	keys []int
	col  plan.ColID
	pos  int
}

func (b *binder) groupingFunc(s *scope, e *ast.Func) plan.Expr {
	if s.aggs == nil || s.clause != "" {
		fail(diag.GroupingError, e.Pos, "grouping operations are not allowed in %s", s.clause)
	}
	if len(e.Args) == 0 || len(e.Args) > 31 {
		fail(diag.TooManyArguments, e.Pos, "GROUPING must have between 1 and 31 arguments")
	}
	c := groupingCall{pos: e.Pos}
	for _, a := range e.Args {
		c.args = append(c.args, b.maybeLiteralKey(s, a.X, b.settle(b.expr(s, a.X))))
	}
	c.col = b.cols.New("grouping", types.TInt32, true)
	s.aggs.groupings = append(s.aggs.groupings, c)
	return b.ref(c.col)
}

// checkGroupings finds the keys that the GROUPING calls name.
func (g *grouper) checkGroupings() {
	for i := range g.s.aggs.groupings {
		c := &g.s.aggs.groupings[i]
	next:
		for _, a := range c.args {
			for k, key := range g.by.keys {
				if plan.EqualExpr(key, a) || g.alike(key, a) {
					c.keys = append(c.keys, k)
					continue next
				}
			}
			fail(diag.GroupingError, c.pos, "arguments to GROUPING must be grouping expressions of the associated query level")
		}
	}
}

// groupingSets is one group per set over a shared input, united. Keys that a set does not
// have are NULL there. The shared plan computes all keys and arguments, so that no expression
// is needed twice.
func (b *binder) groupingSets(g *grouper) plan.Node {
	aggs := g.s.aggs.list
	p := b.project(g.input, len(g.by.keys)+len(aggs))
	keyIn := make([]plan.ColID, len(g.by.keys))
	for i, k := range g.computed() {
		keyIn[i] = p.shared(k, g.by.names[i])
	}
	read := map[plan.Expr]plan.ColID{}
	ids := slices.Clone(keyIn)
	for _, a := range aggs {
		a.EachExpr(func(x plan.Expr) {
			read[x] = p.shared(x, "arg")
			ids = append(ids, read[x])
		})
	}
	shared := &plan.SharedPlan{Name: "grouping sets", Plan: p.done()}
	seen := plan.ColSet{}
	for _, id := range ids {
		if !seen.Has(id) {
			seen.Add(id)
			shared.Cols = append(shared.Cols, id)
		}
	}
	// A correlated input has other rows for each row of the query around it and cannot be
	// shared: each set reads a copy.
	in := setInput{index: len(b.shared), keys: keyIn, read: read}
	if free := plan.FreeRefs(shared.Plan); free.Empty() {
		b.shared = append(b.shared, shared)
	} else {
		in.copied = shared.Plan
	}

	out := &plan.SetOp{Cols: append([]plan.ColID(nil), g.keyCols...)}
	for i := range aggs {
		out.Cols = append(out.Cols, aggs[i].Col)
	}
	for i := range g.s.aggs.groupings {
		out.Cols = append(out.Cols, g.s.aggs.groupings[i].col)
	}
	for _, set := range g.by.sets {
		n, ids := b.groupingSet(g, set, &in)
		out.Args = append(out.Args, n)
		out.InCols = append(out.InCols, ids)
	}
	if len(out.Args) == 1 { // one set that lacks a key of its own clause cannot be, but () alone can
		return b.rename(out)
	}
	return out
}

// rename is a union of one input.
func (b *binder) rename(u *plan.SetOp) plan.Node {
	p := &plan.Project{Input: u.Args[0], Cols: u.Cols}
	for _, id := range u.InCols[0] {
		p.Exprs = append(p.Exprs, b.ref(id))
	}
	return p
}

// setInput is what the grouping sets read: a shared plan or, if copied is set, copies of that.
type setInput struct {
	index  int
	copied plan.Node
	keys   []plan.ColID             // where the plan has keys …
	read   map[plan.Expr]plan.ColID // … and what aggregates read
}

// readSet is the input of one set, and how it refers to the plan's columns.
func (b *binder) readSet(in *setInput) (plan.Node, func(plan.ColID) plan.Expr) {
	if in.copied != nil {
		plan.WalkNode(in.copied, func(plan.Node) bool { b.queries++; return true })
		if b.queries > maxQueries {
			fail(diag.StatementTooComplex, diag.NoPos, "too many grouping sets in correlated subqueries")
		}
		n, names := plan.CloneNode(b.cols, in.copied)
		return n, func(id plan.ColID) plan.Expr { return b.ref(names.Get(id)) }
	}
	scan := &plan.SharedScan{Index: in.index}
	return scan, func(id plan.ColID) plan.Expr {
		for i, have := range scan.Source {
			if have == id {
				return b.ref(scan.Cols[i])
			}
		}
		c := *b.cols.Get(id)
		scan.Source = append(scan.Source, id)
		scan.Cols = append(scan.Cols, b.cols.New(c.Name, c.Type, c.NotNull))
		return b.ref(scan.Cols[len(scan.Cols)-1])
	}
}

// groupingSet is the group of one set, and its columns in the order of the union.
func (b *binder) groupingSet(g *grouper, set []int, in *setInput) (plan.Node, []plan.ColID) {
	input, read := b.readSet(in)
	n := &plan.Group{Input: input}
	ids := make([]plan.ColID, len(g.keyCols))
	for _, k := range set {
		e := read(in.keys[k])
		id := e.(*plan.Ref).ID
		ids[k] = id
		if slices.Contains(n.KeyCols, id) { // another constant of the same value
			continue
		}
		n.Keys, n.KeyCols = append(n.Keys, e), append(n.KeyCols, id)
	}
	for _, a := range g.s.aggs.list {
		a.MapExprs(func(x plan.Expr) plan.Expr { return read(in.read[x]) })
		c := *b.cols.Get(a.Col)
		a.Col = b.cols.New(c.Name, c.Type, c.NotNull)
		n.Aggs = append(n.Aggs, a)
		ids = append(ids, a.Col)
	}
	p := b.project(n, len(ids))
	for i, id := range ids {
		if id != 0 {
			p.col(b.ref(id), "")
			continue
		}
		key := g.by.keys[i]
		ids[i] = p.col(plan.NullConst(key.Type()), g.by.names[i])
	}
	for _, c := range g.s.aggs.groupings {
		v := int64(0)
		for _, k := range c.keys {
			v <<= 1
			if !contains(set, k) {
				v |= 1
			}
		}
		ids = append(ids, p.col(&plan.Const{V: types.IntValue(types.TInt32, v)}, "grouping"))
	}
	return p.done(), ids
}

func contains(set []int, k int) bool {
	for _, x := range set {
		if x == k {
			return true
		}
	}
	return false
}
