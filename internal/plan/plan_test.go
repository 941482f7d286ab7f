package plan

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/types"
)

// sample is select b, sum(a) as s from t join w on t.a = w.a where b > 1 group by b order by s limit 3,
// by hand.
type sample struct {
	q      *Query
	t, w   *Scan
	filter *Filter
	join   *Join
	group  *Group
	sort   *Sort
}

func newSample() *sample {
	cols := new(Columns)
	table := func(name string, defs ...catalog.ColumnDef) *catalog.Table {
		return catalog.NewTable(name, defs, [][]int{{0}}, column.DefaultOptions())
	}
	def := func(name string, notNull bool) catalog.ColumnDef {
		return catalog.ColumnDef{Name: name, Type: types.TInt32, NotNull: notNull}
	}
	t := &Scan{Table: table("t", def("a", true), def("b", false)), Alias: "t", Ordinal: []int{0, 1},
		Cols: []ColID{cols.New("a", types.TInt32, true), cols.New("b", types.TInt32, false)}}
	w := &Scan{Table: table("w", def("a", true)), Alias: "w2", Ordinal: []int{0}, Cols: []ColID{cols.New("a", types.TInt32, true)}}
	s := &sample{t: t, w: w}
	s.join = &Join{Left: t, Right: w, LKeys: []Expr{cols.NewRef(1)}, RKeys: []Expr{cols.NewRef(3)}}
	one := NewConst(types.IntValue(types.TInt32, 1))
	s.filter = &Filter{Input: s.join, Preds: []Expr{Compare(Gt, cols.NewRef(2), one)}}
	sum := cols.New("s", types.TInt64, false)
	s.group = &Group{Input: s.filter, Keys: []Expr{cols.NewRef(2)}, KeyCols: []ColID{2}, Aggs: []Agg{{Func: Sum, Arg: cols.NewRef(1), Col: sum}}}
	s.sort = &Sort{Input: s.group, Keys: []SortKey{{Col: sum, Desc: true, NullsFirst: true}}, Limit: 3}
	s.q = &Query{Cols: cols, Root: s.sort, Output: []ColID{2, sum}, Names: []string{"b", "total"}}
	return s
}

func TestFormat(t *testing.T) {
	s := newSample()
	s.join.Props_.Rows = 12345
	want := `output b#2, s#4 as total
  TopN(s#4 desc; limit 3)
    Group(b#2; s#4 = sum(a#1))
      Filter(b#2 > 1)
        InnerJoin(a#1 = a#3)  ~12.3k
          Scan(t: a#1, b#2)
          Scan(w w2: a#3)
`
	if got := Format(s.q); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	line := FormatLine(s.q)
	for _, part := range []string{"TopN(s desc; limit 3) < Group(b; s = sum(a)) < Filter(b > 1) < InnerJoin(a = a)", "Scan(t: a, b)"} {
		if !strings.Contains(line, part) {
			t.Errorf("%q is not in %q", part, line)
		}
	}
	var tree struct {
		Plan struct {
			Op     string
			Inputs []struct{ Op string }
		}
	}
	if err := json.Unmarshal(FormatJSON(s.q), &tree); err != nil || tree.Plan.Op != "Sort" || tree.Plan.Inputs[0].Op != "Group" {
		t.Errorf("JSON: %v %+v", err, tree)
	}
}

func TestFormatExpr(t *testing.T) {
	cols := new(Columns)
	a := cols.NewRef(cols.New("a", types.TInt32, false))
	p := cols.NewRef(cols.New("p", types.TBool, false))
	n := func(i int64) Expr { return NewConst(types.IntValue(types.TInt32, i)) }
	op := func(o Op, args ...Expr) Expr { return NewCall(o, types.TInt32, args...) }
	for _, c := range []struct {
		e    Expr
		want string
	}{
		{op(Sub, a, op(Sub, n(1), n(2))), "a#1 - (1 - 2)"},
		{op(Sub, op(Sub, a, n(1)), n(2)), "a#1 - 1 - 2"},
		{op(Mul, op(Add, a, n(1)), n(2)), "(a#1 + 1) * 2"},
		{AndOf(p, OrOf(p, Negate(p))), "p#2 and (p#2 or not p#2)"},
		{Negate(NewCall(IsNull, types.TBool, a)), "not a#1 is null"},
		{NewCall(InList, types.TBool, a, n(1), n(2)), "a#1 in (1, 2)"},
		{NewCall(Case, types.TInt32, p, a, n(0)), "case when p#2 then a#1 else 0 end"},
		{NewCall(Cast, types.TFloat64, a), "cast(a#1 as double)"},
		{NewConst(types.DecimalValue(types.TDecimal(5, 2), types.FromInt64(-5))), "-0.05"},
		{NewConst(types.DateValue(0)), "'1970-01-01'"},
		{NewConst(types.TextValue("it's")), "'it''s'"},
		{Compare(Eq, Compare(Eq, a, n(1)), p), "(a#1 = 1) = p#2"},
	} {
		if got := FormatExpr(cols, c.e); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func TestCheck(t *testing.T) {
	if err := Check(newSample().q); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		spoil func(*sample)
		want  string
	}{
		{"reference", func(s *sample) { s.filter.Preds[0] = Compare(Gt, s.q.Cols.NewRef(4), s.q.Cols.NewRef(4)) }, "not visible"},
		{"type of a reference", func(s *sample) { s.join.LKeys[0] = &Ref{ID: 1, T: types.TInt64} }, "referred to as"},
		{"key types", func(s *sample) { s.join.LKeys[0] = NewCall(Cast, types.TInt64, s.q.Cols.NewRef(1)) }, "compares"},
		{"predicate", func(s *sample) { s.filter.Preds[0] = s.q.Cols.NewRef(2) }, "predicate"},
		{"twice", func(s *sample) { s.w.Cols[0] = 1 }, "introduced twice"},
		{"output", func(s *sample) { s.q.Output[0] = 1 }, "not produced"},
		{"sort key", func(s *sample) { s.sort.Keys[0].Col = 3 }, "not visible"},
		{"mark", func(s *sample) { s.join.Kind = Mark }, "mark column"},
		{"ordinal", func(s *sample) { s.t.Ordinal[1] = 7 }, "no column 7"},
		{"comparison", func(s *sample) {
			s.filter.Preds[0] = Compare(Gt, s.q.Cols.NewRef(2), NewConst(types.TextValue("x")))
		}, "is expected"},
		{"reducer", func(s *sample) { s.w.Reduce = []Reducer{{Join: s.join, Key: 0, Col: 3}} }, "build side holds"},
		{"final", func(s *sample) { s.group.Aggs[0].Func = Avg }, ""},
	} {
		s := newSample()
		c.spoil(s)
		err := Check(s.q)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			if err := CheckFinal(s.q); err == nil {
				t.Errorf("%s: final check finds nothing", c.name)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestClone(t *testing.T) {
	s := newSample()
	s.t.Reduce = []Reducer{{Join: s.join, Key: 0, Col: 1}}
	before := Format(s.q)
	n, names := CloneNode(s.q.Cols, s.q.Root)
	if free := FreeRefs(n); !free.Empty() {
		t.Errorf("the clone refers to %v", free.Slice())
	}
	old, fresh := Produced(s.q.Root), Produced(n)
	if old.Intersects(&fresh) {
		t.Error("the clone keeps names")
	}
	// Original and clone can stand side by side.
	both := &Query{Cols: s.q.Cols, Root: &Join{Left: s.q.Root, Right: n}, Output: []ColID{2, names.Get(2)}}
	if err := Check(both); err != nil {
		t.Error(err)
	}
	c := CopyQuery(s.q)
	if Format(c) != before {
		t.Errorf("copy:\n%s", Format(c))
	}
	c.Root.(*Sort).Keys[0].Col = 2
	SubstituteNode(c.Root, func(ColID) Expr { return NewConst(types.IntValue(types.TInt32, 9)) })
	if Format(s.q) != before {
		t.Errorf("changing the copy changed the original:\n%s", Format(s.q))
	}
	WalkNode(n, func(m Node) bool {
		if x, ok := m.(*Scan); ok && len(x.Reduce) > 0 && x.Reduce[0].Join == s.join {
			t.Error("the clone's scan is reduced by the original's join")
		}
		return true
	})
}

func TestNullness(t *testing.T) {
	s := newSample()
	has := func(n Node, ids ...ColID) bool {
		set := NotNullCols(s.q, n)
		return set.HasAll(ids)
	}
	if !has(s.t, 1) || has(s.t, 2) {
		t.Error("scan")
	}
	if !has(s.filter, 1, 2, 3) {
		t.Error("what a comparison accepts is not NULL")
	}
	if !has(s.group, 2, 4) {
		t.Error("a sum of values that are not NULL, in a group that is not empty")
	}
	s.join.Kind = Left
	if !has(s.join, 1) || has(s.join, 3) {
		t.Error("left join")
	}
	right := Produced(s.w)
	ref := s.q.Cols.NewRef(3)
	for _, c := range []struct {
		e    Expr
		want bool
	}{
		{Compare(Gt, ref, ref), true},
		{NewCall(IsNull, types.TBool, ref), false},
		{Negate(NewCall(IsNull, types.TBool, ref)), true},
		{OrOf(Compare(Gt, ref, ref), Compare(Eq, s.q.Cols.NewRef(1), s.q.Cols.NewRef(1))), false},
		{Compare(Eq, NewCall(Coalesce, types.TInt32, ref, s.q.Cols.NewRef(1)), ref), true},
		{Compare(NotDistinct, ref, ref), false},
	} {
		if got := NullRejecting(c.e, &right); got != c.want {
			t.Errorf("%s rejects NULLs: %v", FormatExpr(s.q.Cols, c.e), got)
		}
	}
}
