package sorting

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/work"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// TestOrder: rows that agree on the first keys come together, in the order of the others, and marks tell where keys change: by
// radix and by comparison, written anew or where they were, also if all texts have one hash.
func TestOrder(t *testing.T) {
	defer func() { textHash = hashText }()
	rng := rand.New(rand.NewPCG(5, 6))
	words := []string{"", "a", "a\x00", "ab", "abcdefgh", "abcdefghi", "ж", "zzzzzzzzzzzzzzzzzzzzzzzz", "zzzzzzzzzzzzzzzzzzzzzzza"}
	for _, n := range []int{1, 2, 20, 3000, 70_000} {
		rows := make([]row, n)
		for i := range rows {
			rows[i] = row{i: rng.Int64N(101) - 50, f: float64(rng.IntN(5)), s: []byte(words[rng.IntN(len(words))]), num: int64(i)}
			for k := range rows[i].null {
				rows[i].null[k] = rng.IntN(10) == 0
			}
		}
		ways := 24
		if n > 3000 {
			ways = 6
		}
		for way := range ways {
			textHash = hashText
			if way%6 == 5 {
				textHash = func([]byte) uint64 { return 7 }
			}
			keys := make([]plan.SortKey, 1+way%3)
			for i := range keys {
				keys[i] = plan.SortKey{Col: plan.ColID((way + 2 - i) % 3), Desc: rng.IntN(2) == 0, NullsFirst: rng.IntN(2) == 0}
			}
			grouped, stay := rng.IntN(len(keys)+1), way%4 == 1
			var prefixes []int
			for k := range keys {
				prefixes = append(prefixes, k+1)
			}
			if way%5 == 3 { // they come in order
				slices.SortStableFunc(rows, func(a, b row) int { return compareRows(&a, &b, keys[0]) })
				for i := range rows {
					rows[i].num = int64(i)
				}
			}
			name := fmt.Sprintf("%d rows, way %d, keys %v, %d grouped", n, way, keys, grouped)
			m := mem.New(nil, true, false)
			all := table(t, m, rows)
			s := New(all.Tuple, keys, Options{Team: work.NewTeam(context.Background(), 1+2*(way&1)), Mem: m, Grouped: grouped, NoRadix: way%8 == 7})
			o, _, err := s.Order(&all, prefixes, stay)
			if err != nil {
				t.Fatal(err)
			}
			addrs := make([]uintptr, n)
			o.Addrs(0, addrs)
			at := func(k int) *row {
				return &rows[mem.Load64(addrs[k]+uintptr(all.Tuple.Fields[3].Off))]
			}
			differ := func(a, b *row, p int) int { // by the first p keys
				for _, k := range keys[:p] {
					if c := compareRows(a, b, k); c != 0 {
						return c
					}
				}
				return 0
			}
			changes := make([][]bool, len(keys))
			for p := range keys {
				changes[p] = make([]bool, n)
				o.Changes(p+1, 0, changes[p])
			}
			seen := map[string]bool{}
			for k := range n {
				for p := range keys {
					if want := k == 0 || differ(at(k-1), at(k), p+1) != 0; changes[p][k] != want {
						t.Fatalf("%s: row %d, first %d keys: %v", name, k, p+1, changes[p][k])
					}
				}
				if grouped > 0 && changes[grouped-1][k] {
					id := ""
					for _, key := range keys[:grouped] {
						r := at(k)
						id += fmt.Sprint(r.null[key.Col], "|")
						if !r.null[key.Col] {
							id += fmt.Sprintf("%v|", []any{r.i, r.f, string(r.s)}[key.Col])
						}
					}
					if seen[id] {
						t.Fatalf("%s: row %d belongs to rows before", name, k)
					}
					seen[id] = true
					continue
				}
				if k > 0 && differ(at(k-1), at(k), len(keys)) > 0 {
					t.Fatalf("%s: row %d comes too late", name, k)
				}
				if k > 0 && differ(at(k-1), at(k), len(keys)) == 0 && at(k-1).num > at(k).num {
					t.Fatalf("%s: row %d was before", name, k)
				}
			}
			o.Release()
			m.Close()
		}
	}
}

// TestInOrder: rows that never fall are in order, wherever the pieces and tasks that they come in end, and two that
// change places anywhere are not.
func TestInOrder(t *testing.T) {
	const n = 40_000
	rows := make([]row, n)
	for i := range rows {
		rows[i] = row{i: int64(50 - i*101/n), num: int64(i)}
		rows[i].null[0] = i < 3
	}
	m := mem.New(nil, true, false)
	defer m.Close()
	all := table(t, m, rows)
	keys := []plan.SortKey{{Col: 0, Desc: true, NullsFirst: true}, {Col: 3}}
	at := make([]uintptr, 0, n)
	all.Each(func(a uintptr) bool { at = append(at, a+uintptr(all.Tuple.Fields[3].Off)); return true })
	for threads := 1; threads <= 3; threads += 2 {
		by := func(keys []plan.SortKey, o Options) bool {
			o.Team, o.Mem = work.NewTeam(context.Background(), threads), m
			in, err := New(all.Tuple, keys, o).InOrder(&all)
			if err != nil {
				t.Fatal(err)
			}
			return in
		}
		if !by(keys[:1], Options{}) || by(keys[:1], Options{NoRadix: true}) {
			t.Error("rows that are in order, as far as they are asked for")
		}
		for _, wrong := range [][]plan.SortKey{{{Col: 0, Desc: true}}, {{Col: 0, NullsFirst: true}}, {{Col: 3, Desc: true}}, {{Col: 2}}} {
			if by(wrong, Options{}) {
				t.Errorf("rows are in order by %v", wrong)
			}
		}
		places := []int{1, n - 1}
		begin := 0
		for _, task := range all.Tasks() {
			if begin > 0 {
				places = append(places, begin)
			}
			if begin += task.N; task.N > fillRows {
				places = append(places, begin-task.N+fillRows)
			}
		}
		for _, k := range places {
			a, b := mem.Load64(at[k-1]), mem.Load64(at[k])
			mem.Store64(at[k-1], b)
			mem.Store64(at[k], a)
			if by([]plan.SortKey{{Col: 3}}, Options{}) {
				t.Errorf("rows %d and %d have changed places", k-1, k)
			}
			mem.Store64(at[k-1], a)
			mem.Store64(at[k], b)
		}
		if !by([]plan.SortKey{{Col: 3}}, Options{}) || len(places) < 10 {
			t.Errorf("rows by their number, %d places looked at", len(places))
		}
	}
}
