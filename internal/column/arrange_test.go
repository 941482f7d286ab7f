package column

import (
	"math/rand/v2"
	"testing"

	"github.com/kelpiedb/kelpie/internal/types"
)

// TestArrange compares with values that are appended in the other order from the beginning: of each physical kind, with NULLs, and rows before that
// stay where they are.
func TestArrange(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	kinds := map[types.Type]func() types.Value{
		types.TInt32:   func() types.Value { return types.IntValue(types.TInt32, r.Int64N(1000)-500) },
		types.TFloat64: func() types.Value { return types.FloatValue(types.TFloat64, r.Float64()) },
		types.TDecimal(38, 0): func() types.Value {
			return types.DecimalValue(types.TDecimal(38, 0), types.Int128{Lo: r.Uint64(), Hi: r.Int64N(3) - 1})
		},
		types.TInterval: func() types.Value { return types.IntervalValue(int32(r.IntN(9)), int32(r.IntN(9)), r.Int64N(1e9)) },
		types.TText: func() types.Value {
			return types.TextValue("ü日x longer than twelve bytes"[:[]int{0, 2, 5, 6, 28}[r.IntN(5)]])
		},
	}
	for kind, value := range kinds {
		for _, first := range []int{0, 1, 7} {
			for _, n := range []int{0, 1, 2, 50} {
				for _, nulls := range []int{1, 3, 1 << 30} { // one of so many is NULL
					var vals []types.Value
					for range first + n {
						v := value()
						if r.IntN(nulls) == 0 {
							v = types.NullOf(kind)
						}
						vals = append(vals, v)
					}
					order := make([]uint32, n)
					for i, k := range r.Perm(n) {
						order[i] = uint32(k)
					}
					got, want := NewBuilder(kind), NewBuilder(kind)
					for i, v := range vals {
						got.Append(v)
						if i < first {
							want.Append(v)
						}
					}
					for _, k := range order {
						want.Append(vals[first+int(k)])
					}
					got.Arrange(first, order)
					if first+n == 0 {
						continue
					}
					a, err := got.Seal(DefaultOptions(), NewDict())
					if err != nil {
						t.Fatal(err)
					}
					b, err := want.Seal(DefaultOptions(), NewDict())
					if err != nil {
						t.Fatal(err)
					}
					for row := range first + n {
						if x, y := a.Value(row), b.Value(row); x != y {
							t.Fatalf("%s, first %d of %d: row %d is %v, want %v", kind, first, n, row, x, y)
						}
					}
				}
			}
		}
	}
}
