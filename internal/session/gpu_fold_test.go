package session

import (
	"fmt"
	"testing"

	"github.com/kelpiedb/kelpie/internal/gpu"
)

// foldedTexts are queries whose groups Go makes, with texts that go back to the device, of tables f with any number of rows.
var foldedTexts = []string{
	"select k, string_agg(s, '-' order by id) from %s group by k order by k",
	"select x, length(x), upper(x) || '.' from (select g, string_agg(s, '' order by id) x from %s group by g) y where x like '%%a1%%' or x is null or x = '' order by g",
	"select k, count(*), max(l), min(x) from (select g, k, array_agg(s order by id) l, string_agg(s, '' order by id) x from %s group by g, k) y group by k order by k",
	"select y.x, b.id from (select g, min(k) k, string_agg(s, '' order by id desc) x from %s group by g) y join f1 b on y.x < b.s || 'z' and y.g = b.id",
	"select string_agg(s, ',' order by id), array_agg(id order by id desc) from %s",
}

// TestGPUFoldedTexts: texts of groups that Go makes are the CPU's after they went to the device and came back, NULL, empty or long, and however
// many there are, what goes to the device goes by no more copies than of one row.
func TestGPUFoldedTexts(t *testing.T) {
	s := New(NewDB())
	sizes := []int{1, 0, 5, 4500} // the last is more than a task of a thread
	for _, n := range sizes {
		mustRun(t, s, fmt.Sprintf(`create table f%d as select g as id, g %% 4400 as g,
			case when g %% 7 = 0 then null when g %% 5 = 0 then '' when g = 777 then repeat('long é', 700) else 'a' || g end as s,
			case when g %% 3 = 0 then null when g %% 4 = 0 then '' else 'key' || g %% 2 end as k from generate_series(1, %d) g`, n, n))
	}
	for i, q := range foldedTexts {
		uploads := 0
		for _, n := range sizes {
			sql := fmt.Sprintf(q, fmt.Sprint("f", n))
			s.Configure(func(x *Settings) { x.Device = "cpu" })
			want := rowsInOrder(must(askNoting(s, sql, map[string]int{})))
			for _, block := range []int{0, 256 << 10} { // the larger results go through blocks of that size
				if block > 0 && n <= 5 || testing.Short() && n > 5 && block > 0 != (i%2 == 0) {
					continue
				}
				dev, store := limited(t, uint64(i), 0)
				store.Block = block
				useStore(s, store)
				onCPU := map[string]int{}
				var sent int
				for range 2 - min(block, 1) { // columns go there the first time
					before := dev.Counts().Uploads
					if got := rowsInOrder(must(askNoting(s, sql, onCPU))); got != want || len(onCPU) > 0 {
						t.Errorf("%s\ngot  %.300s\nwant %.300s\n%v", sql, got, want, onCPU)
					}
					sent = dev.Counts().Uploads - before
				}
				switch {
				case n == 1:
					uploads = sent
				case block == 0 && sent > uploads:
					t.Errorf("%s: %d copies to the device, and %d where there is one row", sql, sent, uploads)
				}
			}
		}
	}
}

func useStore(s *Session, store *gpu.Store) {
	s.DB.Accelerate(store)
	s.Configure(func(x *Settings) { x.Device, x.Check = "gpu", true })
}

// TestGPUConstantTexts: rows that a query lists go to the device by one copy, with their texts.
func TestGPUConstantTexts(t *testing.T) {
	s := New(NewDB())
	const one, many = "select a, upper(b), b from (values (1, 'é')) v(a, b)",
		"select a, upper(b), b from (values (1, 'é'), (2, null), (3, ''), (4, 'and a longer one'), (5, 'x'), (6, 'y')) v(a, b)"
	uploads := map[string]int{}
	for _, q := range []string{one, many} {
		s.Configure(func(x *Settings) { x.Device = "cpu" })
		want := rowsInOrder(must(askNoting(s, q, map[string]int{})))
		dev, store := limited(t, 1, 0)
		useStore(s, store)
		onCPU := map[string]int{}
		if got := rowsInOrder(must(askNoting(s, q, onCPU))); got != want || len(onCPU) > 0 {
			t.Errorf("%s\ngot  %s\nwant %s\n%v", q, got, want, onCPU)
		}
		uploads[q] = dev.Counts().Uploads
	}
	if uploads[one] != uploads[many] || uploads[one] == 0 {
		t.Errorf("copies to the device: %v", uploads)
	}
}
