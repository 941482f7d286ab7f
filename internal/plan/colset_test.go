package plan

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestColSet compares sets with maps, over small and large columns.
func TestColSet(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func() (ColSet, map[ColID]bool) {
		var s ColSet
		m := map[ColID]bool{}
		for range r.IntN(20) {
			id := ColID(1 + r.IntN(600))
			s.Add(id)
			m[id] = true
		}
		return s, m
	}
	keys := func(m map[ColID]bool) []ColID {
		var ids []ColID
		for id := range m {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		return ids
	}
	for range 2000 {
		a, ma := random()
		b, mb := random()
		copyOfA := a
		union, minus, both := a, a, a
		union.Union(b)
		minus.Minus(b)
		both.Intersect(b)
		mu, mm, mi := map[ColID]bool{}, map[ColID]bool{}, map[ColID]bool{}
		for id := range ma {
			mu[id] = true
			if mb[id] {
				mi[id] = true
			} else {
				mm[id] = true
			}
		}
		for id := range mb {
			mu[id] = true
		}
		for _, c := range []struct {
			name string
			got  ColSet
			want map[ColID]bool
		}{{"union", union, mu}, {"minus", minus, mm}, {"intersect", both, mi}, {"copy", copyOfA, ma}} {
			if !slices.Equal(c.got.Slice(), keys(c.want)) || c.got.Len() != len(c.want) || c.got.Empty() != (len(c.want) == 0) {
				t.Fatalf("%s: %v, want %v", c.name, c.got.Slice(), keys(c.want))
			}
		}
		if a.Intersects(&b) != (len(mi) > 0) || minus.Intersects(&b) {
			t.Fatal("Intersects")
		}
		if a.SubsetOf(&b) != (len(mm) == 0) || !both.SubsetOf(&a) || !a.SubsetOf(&union) {
			t.Fatal("SubsetOf")
		}
		for id := range ma {
			a.Remove(id)
			if a.Has(id) || !copyOfA.Has(id) {
				t.Fatal("Remove changes a copy")
			}
			break
		}
	}
}
