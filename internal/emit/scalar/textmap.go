package scalar

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// TextMap is an expression that makes texts of the texts of one dictionary column, worked out once
// for each entry instead of once for each row. What it makes is a dictionary again: rows look their
// code up, and whatever follows, such as grouping or loading into a table, goes on with codes.
type TextMap struct {
	Dict  *column.Dict
	Table []byte // for each code of the column the code in Dict, in Width bytes
	Width int
}

// TextMapper works the map of x out, whose only column id has codes below n of dictionary d; nil: there
// is none. Rows is how many rows there may be to look up. The same question always gets the same answer
// during a query, because the layout of tuples depends on it.
type TextMapper func(x *plan.Call, id plan.ColID, d *column.Dict, n int, rows int64) *TextMap

// placedMap is a map in the pool.
type placedMap struct {
	m   *TextMap
	off int // -1: not there
}

// mapText evaluates an expression through a TextMap, where that is possible and pays.
func (e *Evaluator) mapText(x *plan.Call) (code.Value, bool) {
	if x.T.Phys() != types.PhysStr || e.Map == nil || e.Off.TextMaps || keepsCode(x) {
		return code.Value{}, false
	}
	refs := plan.Refs(x)
	if refs.Len() != 1 {
		return code.Value{}, false
	}
	id := refs.Slice()[0]
	if e.Cols.Get(id).Type.Phys() != types.PhysStr {
		return code.Value{}, false
	}
	v := e.Column(id)
	if v.Desc.Form != layout.Code || v.IsNull() || !v.Desc.Range.Known {
		return code.Value{}, false
	}
	m := e.Map(x, id, v.Desc.Dict, int(int64(v.Desc.Range.Hi.Lo))+1, e.Rows)
	if m == nil {
		return code.Value{}, false
	}
	n, own := e.AnyNull(v)
	at, ownAt := e.Reg(v.A, "at")
	tab, r := e.LoadWord("map", code.Word{Kind: code.WordPool}), e.Int("code")
	e.B.Load(r, ir.AtIndex(tab, at, m.Width, e.placeMap(m)), m.Width, false)
	e.B.Clear(tab)
	if ownAt {
		e.B.Clear(at)
	}
	d := layout.Desc{Type: x.T, Form: layout.Code, Dict: m.Dict, Range: layout.Between(0, int64(m.Dict.Len())-1)}
	return code.Value{Desc: d, A: r.V(), OwnA: true}.WithNull(n, own), true
}

// keepsCode reports a cast that leaves every text as it is: its operand's codes are the result's.
func keepsCode(x *plan.Call) bool {
	if x.Op != plan.Cast {
		return false
	}
	from := x.Args[0].Type()
	return from.Kind == types.Text && x.T.Kind == types.Text && (x.T.Len == 0 || from.Len > 0 && from.Len <= x.T.Len)
}

// placeMap is where the map's table lies in the pool.
func (e *Evaluator) placeMap(m *TextMap) int {
	i := slices.IndexFunc(e.textMaps, func(p placedMap) bool { return p.m == m })
	if i < 0 {
		i = len(e.textMaps)
		e.textMaps = append(e.textMaps, placedMap{m, -1})
	}
	p := &e.textMaps[i]
	if p.off < 0 {
		p.off = e.PoolOffset(string(m.Table))
	}
	return p.off
}
