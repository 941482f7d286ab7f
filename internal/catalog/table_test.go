package catalog

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

var (
	i64  = func(x int64) types.Value { return types.IntValue(types.TInt64, x) }
	text = types.TextValue
	null = types.NullOf(types.TUnknown)
)

func testTable(keys ...[]int) *Table {
	return NewTable("t", []ColumnDef{
		{Name: "id", Type: types.TInt64, NotNull: true},
		{Name: "name", Type: types.TText},
		{Name: "price", Type: types.TDecimal(15, 2)},
	}, keys, column.DefaultOptions())
}

// insert appends rows in one statement.
func insert(t *Table, rows ...[]types.Value) error {
	a := t.NewAppender()
	for _, r := range rows {
		if err := a.AppendRow(r...); err != nil {
			return err
		}
	}
	return a.Close()
}

func mustInsert(t *testing.T, tab *Table, rows ...[]types.Value) {
	t.Helper()
	if err := insert(tab, rows...); err != nil {
		t.Fatal(err)
	}
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestAppend(t *testing.T) {
	tab := testTable()
	empty := tab.Snapshot()
	if empty.Rows != 0 || len(empty.Stats) != 3 || empty.Table != tab {
		t.Errorf("%+v", empty)
	}
	mustInsert(t, tab, []types.Value{i64(1), text("one"), text("1.005")}, []types.Value{i64(2), null, i64(7)})
	s := tab.Snapshot()
	if s.Rows != 2 || s.Value(0, 2).String() != "1.01" || !s.Value(1, 1).Null || s.Value(1, 2).String() != "7.00" {
		t.Errorf("%+v", s)
	}
	if empty.Rows != 0 || len(empty.Segments) != 0 {
		t.Error("an old snapshot changed")
	}
	wantError(t, insert(tab, []types.Value{null, null, null}), `null value in column "id" of relation "t" violates not-null constraint (23502)`)
	wantError(t, insert(tab, []types.Value{text("x"), null, null}), `invalid input syntax for type bigint: "x" (22P02)`)
	wantError(t, insert(tab, []types.Value{i64(1)}), `table "t" has 3 columns but 1 values were supplied (42601)`)
	wantError(t, insert(tab, []types.Value{i64(1), null, text("99999999999999.9")}), `numeric field overflow (22003)`)
	if tab.Snapshot() != s {
		t.Error("a failed insert changed the table")
	}
	if tab.Column("NAME") != 1 || tab.Column("nope") != -1 {
		t.Error("Column")
	}
	if err := tab.Append(); err != nil || tab.Snapshot() != s {
		t.Error("appending nothing changed the table")
	}
}

// TestSmallInserts makes many inserts of one row and checks that segments stay few and
// that all rows stay, in order.
func TestSmallInserts(t *testing.T) {
	for _, enc := range []column.Options{{}, column.DefaultOptions()} {
		tab := NewTable("t", testTable().Columns, nil, enc)
		const n = 3000
		for i := range n {
			v := types.Value(text(fmt.Sprint("name ", i%7)))
			if i%11 == 0 {
				v = null
			}
			mustInsert(t, tab, []types.Value{i64(int64(i)), v, i64(int64(i % 50))})
		}
		s := tab.Snapshot()
		if s.Rows != n || len(s.Segments) > 15 {
			t.Errorf("%d rows in %d segments", s.Rows, len(s.Segments))
		}
		row := 0
		for _, seg := range s.Segments {
			for r := range seg.Rows {
				want := fmt.Sprint("name ", row%7)
				if row%11 == 0 {
					want = "NULL"
				}
				if id, name := seg.Chunks[0].Value(r), seg.Chunks[1].Value(r); id.I != int64(row) || name.String() != want {
					t.Fatalf("row %d is %v, %v", row, id, name)
				}
				row++
			}
		}
		st := s.Stats
		if !st[0].Sorted || st[0].Distinct != n || st[0].Min.I != 0 || st[0].Max.I != n-1 {
			t.Errorf("id: %+v", st[0])
		}
		if st[1].NullCount != 273 || st[1].Sorted || math.Abs(st[1].Distinct-7) > 0.5 || st[1].Min.S != "name 0" || st[1].Max.S != "name 6" || st[1].AvgLen != 6 {
			t.Errorf("name: %+v", st[1])
		}
		if (st[1].Dict != nil) != enc.Dict || enc.Dict && st[1].DictLen != 7 {
			t.Errorf("name: dictionary of %d", st[1].DictLen)
		}
		if st[2].Sorted || math.Abs(st[2].Distinct-50) > 1 || st[2].Max.String() != "49.00" {
			t.Errorf("price: %+v", st[2])
		}
	}
}

// TestStats compares the statistics of random appends with a recount.
func TestStats(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for round := range 30 {
		tab := NewTable("t", []ColumnDef{{Name: "a", Type: types.TInt32}, {Name: "b", Type: types.TText}, {Name: "c", Type: types.TFloat64}, {Name: "d", Type: types.TInterval}}, nil, column.DefaultOptions())
		rows := 0
		for range 1 + r.IntN(5) {
			var batch [][]types.Value
			for range r.IntN(300) {
				row := []types.Value{types.IntValue(types.TInt32, int64(rows/3)), text(fmt.Sprint(r.IntN(1 + round*3))), types.FloatValue(types.TFloat64, r.Float64()), types.IntervalValue(0, int32(r.IntN(3)), 0)}
				if round%3 == 0 && r.IntN(5) == 0 {
					row[r.IntN(4)] = null
				}
				batch = append(batch, row)
				rows++
			}
			mustInsert(t, tab, batch...)
		}
		s := tab.Snapshot()
		if int(s.Rows) != rows {
			t.Fatalf("%d rows, want %d", s.Rows, rows)
		}
		for col, st := range s.Stats {
			var nulls, length int64
			var lo, hi types.Value
			sorted, distinct := rows > 0, map[string]bool{}
			for i := range int64(rows) {
				v := s.Value(i, col)
				if v.Null {
					nulls++
					sorted = false
					continue
				}
				if len(distinct) == 0 || types.Compare(v, lo) < 0 {
					lo = v
				}
				if len(distinct) == 0 || types.Compare(v, hi) > 0 {
					hi = v
				}
				distinct[v.String()] = true
				length += int64(len(v.S))
				sorted = sorted && (i == 0 || types.Compare(s.Value(i-1, col), v) <= 0)
			}
			if st.NullCount != nulls || col != 3 && (st.Sorted != sorted || st.HasRange != (len(distinct) > 0)) {
				t.Fatalf("round %d column %d: %+v; sorted %v", round, col, st, sorted)
			}
			if st.HasRange && (types.Compare(st.Min, lo) != 0 || types.Compare(st.Max, hi) != 0) {
				t.Errorf("range %v … %v, want %v … %v", st.Min, st.Max, lo, hi)
			}
			if d := float64(len(distinct)); math.Abs(st.Distinct-d) > 1+0.06*d {
				t.Errorf("column %d: %v distinct, want %v", col, st.Distinct, d)
			}
			if st.Dict != nil && st.DictLen < len(distinct) {
				t.Errorf("dictionary of %d for %d", st.DictLen, len(distinct))
			}
		}
	}
}

func TestKeys(t *testing.T) {
	tab := testTable([]int{0}, []int{1, 2})
	row := func(id int64, name string, price int64) []types.Value {
		return []types.Value{i64(id), text(name), i64(price)}
	}
	mustInsert(t, tab, row(5, "a", 1), row(3, "a", 2), row(9, "b", 1))
	dup := func(name string) string {
		return `duplicate key value violates unique constraint "` + name + `" (23505)`
	}
	for range 3 { // failed inserts leave no trace
		wantError(t, insert(tab, row(1, "x", 1), row(3, "y", 1)), dup("t_pkey"))
		wantError(t, insert(tab, row(1, "x", 1), row(1, "y", 1)), dup("t_pkey"))
		wantError(t, insert(tab, row(1, "x", 1), row(2, "a", 2)), dup("t_name_price_key"))
		wantError(t, insert(tab, row(10, "x", 1), row(11, "x", 1)), dup("t_name_price_key"))
		wantError(t, insert(tab, row(10, "x", 1), row(10, "z", 1)), dup("t_pkey"))
	}
	err := insert(tab, row(2, "a", 2)).(*types.Error)
	if err.Detail != "Key (name, price)=(a, 2.00) already exists." {
		t.Error(err.Detail)
	}
	mustInsert(t, tab, row(1, "x", 1), row(2, "y", 1))
	// NULLs in a unique key are distinct from each other.
	mustInsert(t, tab, []types.Value{i64(20), null, i64(1)}, []types.Value{i64(21), null, i64(1)})
	if s := tab.Snapshot(); s.Rows != 7 || s.Stats[0].Distinct != 7 {
		t.Errorf("%d rows", s.Rows)
	}
	// Trusted rows are found by later checks.
	sb := tab.NewSegmentBuilder()
	sb.Cols[0].AppendInt(4)
	sb.Cols[1].AppendString("trusted")
	sb.Cols[2].AppendInt(0)
	seg, e := tab.Seal(sb)
	if e != nil {
		t.Fatal(e)
	}
	if err := tab.AppendTrusted(seg); err != nil {
		t.Fatal(err)
	}
	wantError(t, insert(tab, row(4, "q", 1)), dup("t_pkey"))
	// Replacing starts the index anew.
	base := tab.Snapshot()
	a := tab.NewSegmentBuilder()
	for i := range int64(10) {
		a.Cols[0].AppendInt(i % 9)
		a.Cols[1].AppendNull()
		a.Cols[2].AppendInt(i)
	}
	seg, e = tab.Seal(a)
	if e != nil {
		t.Fatal(e)
	}
	wantError(t, tab.Replace(nil, base, seg), dup("t_pkey"))
	if err := tab.Replace(nil, base); err != nil || tab.Snapshot().Rows != 0 || tab.Snapshot().Stats[0].HasRange {
		t.Error("truncating", err)
	}
	wantError(t, tab.Replace(nil, base), "could not serialize access due to concurrent update (40001)")
	mustInsert(t, tab, row(4, "q", 1))
	wantError(t, insert(tab, row(4, "r", 1)), dup("t_pkey"))
}

// TestKeysRandom inserts random small batches and compares with a map.
func TestKeysRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, enc := range []column.Options{{}, column.DefaultOptions()} {
		tab := NewTable("t", testTable().Columns, [][]int{{0}}, enc)
		have := map[int64]bool{}
		failures := 0
		for range 600 {
			batch, ids, dup := [][]types.Value{}, map[int64]bool{}, false
			base := int64(0)
			if r.IntN(2) == 0 {
				base = int64(len(have)) * 100 // above all others
			}
			for range 1 + r.IntN(10) {
				id := base + r.Int64N(5000)
				dup = dup || have[id] || ids[id]
				ids[id] = true
				batch = append(batch, []types.Value{i64(id), null, null})
			}
			err := insert(tab, batch...)
			if (err != nil) != dup {
				t.Fatalf("insert %v: %v, want duplicate %v", ids, err, dup)
			}
			if !dup {
				for id := range ids {
					have[id] = true
				}
			} else {
				failures++
			}
			if int(tab.Snapshot().Rows) != len(have) {
				t.Fatal("rows")
			}
		}
		if failures < 20 {
			t.Errorf("only %d duplicates", failures)
		}
	}
}

// TestParallelSeal loads from several goroutines, in order, while readers watch.
func TestParallelSeal(t *testing.T) {
	tab := testTable([]int{0})
	const parts, rows = 8, 5000
	segs := make([]*Segment, parts)
	var wg sync.WaitGroup
	for p := range parts {
		wg.Add(1)
		go func() {
			defer wg.Done()
			sb := tab.NewSegmentBuilder()
			for i := range rows {
				sb.Cols[0].AppendInt(int64(p*rows + i))
				sb.Cols[1].AppendString(fmt.Sprint("a value that is long ", i%20))
				sb.Cols[2].AppendInt(int64(i))
			}
			seg, err := tab.Seal(sb)
			if err != nil {
				t.Error(err)
			}
			segs[p] = seg
		}()
	}
	stop := make(chan bool)
	var readers sync.WaitGroup
	for range 2 {
		readers.Add(1)
		go func() {
			defer readers.Done()
			for {
				s := tab.Snapshot()
				var n int64
				for _, seg := range s.Segments {
					n += int64(seg.Rows)
					if seg.Rows > 0 && !strings.HasPrefix(string(seg.Chunks[1].Bytes(0)), "a value") {
						t.Error("wrong row")
					}
				}
				if n != s.Rows || n > 0 && s.Stats[0].Max.I != n-1 {
					t.Errorf("%d rows of %d", n, s.Rows)
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		}()
	}
	wg.Wait()
	for i := 0; i < parts; i += 2 {
		if err := tab.Append(segs[i], segs[i+1]); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	readers.Wait()
	s := tab.Snapshot()
	if s.Rows != parts*rows || !s.Stats[0].Sorted || s.Stats[1].DictLen != 20 || s.MemBytes() == 0 {
		t.Errorf("%d rows, %+v", s.Rows, s.Stats[1])
	}
}

func TestConcurrentInserts(t *testing.T) {
	tab := testTable([]int{0})
	var wg sync.WaitGroup
	var ok [4]int
	for g := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 200 {
				if insert(tab, []types.Value{i64(int64(i)), text("x"), null}) == nil {
					ok[g]++
				}
			}
		}()
	}
	wg.Wait()
	if sum := ok[0] + ok[1] + ok[2] + ok[3]; sum != 200 || tab.Snapshot().Rows != 200 {
		t.Errorf("%d inserts succeeded, %d rows", sum, tab.Snapshot().Rows)
	}
}

// TestBigAppender cuts more rows than a segment holds.
func TestBigAppender(t *testing.T) {
	tab := testTable()
	a := tab.NewAppender()
	a.Trusted = true
	for i := range 2*column.SegmentRows + 5 {
		if err := a.AppendRow(i64(int64(i)), text("x"), null); err != nil {
			t.Fatal(err)
		}
	}
	if tab.Snapshot().Rows != 0 {
		t.Error("rows are visible before Close")
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	s := tab.Snapshot()
	if s.Rows != 2*column.SegmentRows+5 || len(s.Segments) != 3 || s.Segments[0].Rows != column.SegmentRows {
		t.Errorf("%d rows in %d segments", s.Rows, len(s.Segments))
	}
}

func BenchmarkInsertRow(b *testing.B) {
	for _, keys := range [][][]int{nil, {{0}}} {
		b.Run(fmt.Sprint("keys", len(keys)), func(b *testing.B) {
			tab := testTable(keys...)
			for i := 0; b.Loop(); i++ {
				if err := insert(tab, []types.Value{i64(int64(i)), text("some name"), null}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestCounted: what a table takes besides its segments is counted for the statement: what a dictionary grows, and
// the index of a key.
func TestCounted(t *testing.T) {
	cols := []ColumnDef{{Name: "id", Type: types.TInt64}, {Name: "s", Type: types.TText}}
	tab := NewTable("t", cols, [][]int{{0}}, column.DefaultOptions())
	fill := func(acct *budget.Account, rows, texts, length int) error {
		sb := tab.NewSegmentBuilder()
		sb.Account = acct
		defer sb.Close()
		for i := range rows {
			sb.Cols[0].AppendInt(int64(i * 7919 % 1000003))
			sb.Cols[1].AppendString(fmt.Sprint(strings.Repeat("x", length), i%texts))
		}
		seg, err := tab.Seal(sb)
		if err != nil {
			return err
		}
		if err = tab.AppendFor(acct, seg); err != nil {
			seg.Discard()
		}
		return err
	}
	tight := func(name string, rows, texts, length int, limit int64) {
		t.Helper()
		before := budget.Process.Used()
		if err := fill(budget.New(limit), rows, texts, length); diag.CodeOf(err) != diag.OutOfMemory {
			t.Errorf("%s: %v", name, err)
		}
		if n := tab.Snapshot().Rows; n != 0 {
			t.Errorf("%s: %d rows", name, n)
		}
		if after := budget.Process.Used(); after > before+4<<20 {
			t.Errorf("%s: %d bytes are left", name, after-before)
		}
	}
	// 200 texts of 10 KB are 2 MB on the Go heap and 2 MB outside of it; 50000 rows are 400 KB, and 1 MB of slots.
	tight("dictionary", 200, 200, 10000, 3<<20)
	tight("key", 50000, 1, 1, 1<<20)
	for _, c := range []struct {
		rows, texts, length int
		least, most         int64
	}{{1000, 200, 10000, 4_000_000, 6_000_000}, {50000, 1, 1, 1 << 20, 3 << 20}} {
		acct := budget.New(0)
		tab = NewTable("t", cols, [][]int{{0}}, column.DefaultOptions())
		if err := fill(acct, c.rows, c.texts, c.length); err != nil {
			t.Fatal(err)
		}
		if acct.Peak() < c.least || acct.Peak() > c.most {
			t.Errorf("%+v: %d bytes are counted", c, acct.Peak())
		}
	}
}

// TestLongTexts: segments of few rows that are large are not merged, and bounds of texts that were cut decide nothing
// about keys and order.
func TestLongTexts(t *testing.T) {
	tab := NewTable("t", []ColumnDef{{Name: "s", Type: types.TText}}, [][]int{{0}}, column.Options{})
	long := strings.Repeat("x", 3000)
	for i := range 20 {
		mustInsert(t, tab, []types.Value{text(long + fmt.Sprintf("%02d", i))})
	}
	wantError(t, insert(tab, []types.Value{text(long + "07")}), "duplicate key value violates unique constraint \"t_s_key\" (23505)")
	mustInsert(t, tab, []types.Value{text(strings.Repeat("\xff", 300) + "1")}, []types.Value{text(strings.Repeat("\xff", 300) + "0")})
	mustInsert(t, tab, []types.Value{text(strings.Repeat("\xff", 300) + "2")})
	wantError(t, insert(tab, []types.Value{text(strings.Repeat("\xff", 300) + "0")}), "duplicate key value violates unique constraint \"t_s_key\" (23505)")
	if st := &tab.Snapshot().Stats[0]; st.HasRange || st.Sorted || st.Distinct != 23 {
		t.Errorf("%+v", st)
	}
	tab = NewTable("t", []ColumnDef{{Name: "s", Type: types.TText}}, nil, column.Options{})
	for i := range 12 {
		mustInsert(t, tab, []types.Value{text(strings.Repeat("x", 20<<20) + fmt.Sprint(i))})
	}
	if n := len(tab.Snapshot().Segments); n < 4 {
		t.Errorf("%d segments", n)
	}
}
