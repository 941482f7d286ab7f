package compile

import (
	"sync"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/emit/scalar"
	"github.com/kelpiedb/kelpie/internal/eval"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// textMaps are the functions of dictionary columns that a query has asked for, each worked out once,
// in Go. Entries of a dictionary need not be in any row, so an error of one must not end the query: then
// there is no map, and rows compute the function themselves.
type textMaps struct {
	mu    sync.Mutex
	known []knownMap
}

// knownMap is the answer to a question, nil included: what was once denied stays so.
type knownMap struct {
	x    *plan.Call
	dict *column.Dict
	n    int
	m    *scalar.TextMap
}

const (
	// fewTexts is how many entries are always worth it: they take less time than compiling.
	fewTexts = 16
	// rowsPerText is how many rows pay for an entry of a larger dictionary, even if a filter drops most
	// of them before they look anything up.
	rowsPerText = 256
	// mostTexts bounds the entries, and mostTextBytes the length of all results together.
	mostTexts     = 4 << 10
	mostTextBytes = 1 << 20
)

// of is an scalar.TextMapper.
func (t *textMaps) of(x *plan.Call, id plan.ColID, d *column.Dict, n int, rows int64) *scalar.TextMap {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range t.known {
		if k.dict == d && k.n == n && plan.EqualExpr(k.x, x) {
			return k.m
		}
	}
	k := knownMap{x, d, n, nil}
	if n <= fewTexts || n <= mostTexts && int64(n) <= rows/rowsPerText {
		k.m = makeTextMap(x, id, d, n)
	}
	t.known = append(t.known, k)
	return k.m
}

// makeTextMap computes x for every entry. It returns nil where a map would not be the same as
// computing it row by row: where NULL does not become NULL, or an entry does, or fails.
func makeTextMap(x *plan.Call, id plan.ColID, d *column.Dict, n int) *scalar.TextMap {
	view := d.View() // of which entry 0 can be read even if all rows are NULL
	longest := int64(0)
	for code := range n {
		longest = max(longest, int64(view.At(code).Len))
	}
	if longestText(x, longest) > mostTextBytes/int64(n) {
		return nil
	}
	in := types.NullOf(types.TText)
	cols := func(plan.ColID) (types.Value, bool) { return in, true }
	if v, err := eval.Expr(x, cols); err != nil || !v.Null {
		return nil
	}
	texts, codes := make([][]byte, n), make([]uint32, n)
	for code := range texts {
		in = types.TextValue(string(view.Bytes(code)))
		v, err := eval.Expr(x, cols)
		if err != nil || v.Null {
			return nil
		}
		texts[code] = []byte(v.S)
	}
	m := &scalar.TextMap{Dict: column.NewDict(), Width: 1}
	if ok, err := m.Dict.Add(texts, codes, 8*n, nil); err != nil || !ok {
		return nil
	}
	if m.Dict.Len() > 1<<8 {
		m.Width = 2
	}
	m.Table = make([]byte, 0, n*m.Width)
	for _, c := range codes {
		m.Table = append(m.Table, byte(c))
		if m.Width == 2 {
			m.Table = append(m.Table, byte(c>>8))
		}
	}
	return m
}

// longestText bounds the length of every text that x makes of one with n bytes, on the way to its result, too.
func longestText(x plan.Expr, n int64) int64 {
	most := n
	var length func(x plan.Expr) int64
	length = func(x plan.Expr) int64 {
		const huge, number = 1 << 30, 64 // anything but a text is shorter when it is written as one
		size := int64(number)
		switch x := x.(type) {
		case *plan.Ref:
			size = n
		case *plan.Const:
			if x.V.Type.Phys() == types.PhysStr {
				size = int64(len(x.V.S))
			}
		case *plan.Call:
			sum, last := int64(0), int64(0)
			for _, a := range x.Args {
				last = length(a)
				sum += last
			}
			switch {
			case x.Op == plan.Lower || x.Op == plan.Upper: // a letter can become a longer one
				size = 3 * sum
			case x.Op == plan.Replace:
				size = sum * max(last, 1)
			case x.Op == plan.Apply && x.Fn.Size != nil:
				size = huge
			case x.T.Phys() == types.PhysStr:
				size = sum
			}
		}
		size = min(size, huge)
		most = max(most, size)
		return size
	}
	length(x)
	return most
}
