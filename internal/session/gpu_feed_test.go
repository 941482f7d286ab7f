package session

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// TestGPUFeed: however columns come to the device, the rows are the CPU's; only those that are to stay do.
func TestGPUFeed(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, strings.Replace(sortRows, "1200", "5000", 1))
	feeds := []phys.Feed{phys.FeedResident, phys.FeedRunToFinish, phys.FeedKernelAtATime, phys.FeedBatch}
	for i, sql := range thin(chunkQueries) {
		s.Configure(func(x *Settings) { x.Device, x.Feed = "cpu", phys.FeedResident })
		want := sortedLines(rowsOf(t, s, sql))
		for k, feed := range feeds {
			if testing.Short() && (i+k)%len(feeds) != 0 {
				continue
			}
			dev, store := limited(t, uint64(i), 0)
			store.Piece = []int64{256, 1024, 1 << 20}[i%3]
			s.DB.Accelerate(store)
			s.Configure(func(x *Settings) { x.Device, x.Check, x.Feed, x.FeedBlock = "gpu", true, feed, int64(8<<10)<<(k%2) })
			var up [3]int64
			for run := range up {
				store.Settle() // from then on columns come from the host's copies
				before := dev.Counts().UploadBytes
				got := sortedLines(rowsOf(t, s, sql))
				if got != want {
					t.Errorf("%s, %s:\n%.400s\nwant\n%.400s", feed, sql, got, want)
				}
				up[run] = dev.Counts().UploadBytes - before
			}
			if resident := up[1] < up[0]/2; resident != (feed == phys.FeedResident) || !resident && (up[2] < up[0]/2 || store.Copied() == 0) {
				t.Errorf("%s, %s: %d bytes came; %d of copies", feed, sql, up, store.Copied())
			}
		}
	}
}

// TestGPUFeedSettings: ways have names, blocks a size, and EXPLAIN ANALYZE tells of chunks.
func TestGPUFeedSettings(t *testing.T) {
	s, _, _ := onGPU(t, 1, device.SimulatedOptions{})
	chunks := func() string {
		t.Helper()
		return strings.Join(regexp.MustCompile(`streams [^;\n]*`).FindAllString(rowsOf(t, s, "explain analyze select sum(a), sum(b) from t0 where a > 5"), -1), "|")
	}
	if got := chunks(); got != "" {
		t.Errorf("resident: %s", got)
	}
	mustRun(t, s, "set feed = 'batch'")
	mustRun(t, s, "set feed_block = '32kB'")
	if got := chunks(); got != "streams 4 chunks of 6144 rows" {
		t.Errorf("batch: %s", got)
	}
	mustRun(t, s, "set feed = 'kernel_at_a_time'")
	mustRun(t, s, "reset feed_block")
	if got := chunks(); !regexp.MustCompile(`^streams 1 chunk of \d+ rows, each before its kernel$`).MatchString(got) {
		t.Errorf("kernel at a time: %s", got)
	}
	if got := rowsOf(t, s, "show feed"); got != "kernel_at_a_time\n" {
		t.Errorf("show: %s", got)
	}
	if _, _, err := asked(s, "set feed = 'by hand'"); err == nil || !strings.Contains(err.Error(), "run_to_finish") {
		t.Errorf("a way that is none: %v", err)
	}
}

// streamedQuery reads a (4 bytes a row) and b (1 byte) of a table of 20,000 rows, which stream.
const streamedQuery = "select sum(a), max(b), count(*) from t%d"

// TestGPUHostCopies: the host keeps columns that stream as the device wants them, as many as it has room for; others go through pinned
// blocks, and the rows are the same.
func TestGPUHostCopies(t *testing.T) {
	s, store, dev := onGPU(t, 3, device.SimulatedOptions{})
	store.Piece = 4096
	mustRun(t, s, "set feed = 'batch'")
	check := func(table int) {
		t.Helper()
		store.Settle()
		rows, notices, err := asked(s, fmt.Sprintf(streamedQuery, table))
		if want := fmt.Sprintf("[%d 6 20000]\n", 1000*20000*20001/2+20000*table); err != nil || notices != "" || rows != want {
			t.Errorf("t%d: %s %s %v, want %s", table, rows, notices, err, want)
		}
	}
	check(0)
	one := store.Copied()
	if one < 100_000 || one > 120_000 {
		t.Errorf("copies of two columns take %d bytes", one)
	}
	check(0)
	check(1)
	if n := store.Copied(); n != 2*one {
		t.Errorf("copies of four columns take %d bytes, those of two %d", n, one)
	}
	// The limit has room for one table's, then for one column's, then for none: those of the longest ago go.
	for _, limit := range []int64{one, one - 1, 1} {
		mustRun(t, s, fmt.Sprintf("set gpu_host_memory = '%d'", limit))
		for range 2 {
			for table := range 3 {
				check(table)
				if n := store.Copied(); n > limit || limit >= one && n != one {
					t.Errorf("copies take %d bytes, may take %d", n, limit)
				}
			}
		}
	}
	mustRun(t, s, "reset gpu_host_memory")
	mustRun(t, s, "set host_copies = off")
	check(2)
	if n := store.Copied(); n != 0 {
		t.Errorf("copies that nobody wants take %d bytes", n)
	}
	mustRun(t, s, "set host_copies = on")
	// A device that refuses the memory of some pieces gets those another way.
	refused := 0 // the device's lock guards it
	dev.FailWith(func(call string) error {
		if strings.HasPrefix(call, "register") {
			if refused++; refused%2 == 1 {
				return &device.Error{Kind: device.Refused, Call: call, Err: errors.New("not today")}
			}
		}
		return nil
	})
	for table := range 3 {
		check(table)
		if refused != 10*table {
			t.Errorf("t%d: %d pieces were registered for queries that came again", table, refused)
		}
		check(table)
		check(table)
	}
	store.Settle()
	if refused != 30 { // 5 of each of two columns
		t.Errorf("%d pieces were registered", refused)
	}
	dev.FailWith(nil)
	for table := range 3 {
		mustRun(t, s, fmt.Sprintf("drop table t%d", table))
	}
	settle(t, func() bool { runtime.GC(); return store.Copied() == 0 })
}

// TestGPUBusReads: a column that few rows of a stream need is not copied; these rows read it over the bus.
func TestGPUBusReads(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, `create table o as select i as id, i % 1000 as k, case when i % 3 > 0 then i * 7 end as late, i % 200 as b
		from generate_series(1, 100000) g(i)`)
	dev, store := limited(t, 5, 0)
	store.Piece = 1 << 14
	s.DB.Accelerate(store)
	const rare, often = "select sum(late), count(late), min(id) from o where k = 13 and b < 50", "select sum(late), count(late), min(id) from o where k < 900 and b < 190"
	for _, c := range []struct {
		sql  string
		over bool
	}{{rare, true}, {often, false}} {
		s.Configure(func(x *Settings) { x.Device = "cpu" })
		want := rowsOf(t, s, c.sql)
		s.Configure(func(x *Settings) { x.Device, x.Check, x.Feed = "gpu", true, phys.FeedBatch })
		s.Configure(func(x *Settings) { x.Off.PackedCopies = true })
		mustRun(t, s, c.sql)
		mustRun(t, s, c.sql)
		store.Settle()
		var up, host [2]int64
		for i, off := range []bool{false, true} {
			s.Configure(func(x *Settings) { x.Off.BusReads = off })
			before := dev.Counts()
			if got := rowsOf(t, s, c.sql); got != want {
				t.Errorf("%s: %s, want %s", c.sql, got, want)
			}
			after := dev.Counts()
			up[i], host[i] = after.UploadBytes-before.UploadBytes, 32*int64(after.Lanes.SectorsHost-before.Lanes.SectorsHost)
		}
		if host[1] != 0 {
			t.Errorf("%s: %d bytes were read over the bus, which nobody allowed", c.sql, host[1])
		}
		// id and late have 4 bytes a row, and late a NULL byte. A real device does not count what it reads over the bus.
		_, counts := dev.(*device.Simulated)
		if over := up[0] < up[1]-800_000; over != c.over || counts && over != (host[0] > 0) || host[0] > up[1]/10 {
			t.Errorf("%s: %d bytes copied and %d read over the bus; without that %d", c.sql, up[0], host[0], up[1])
		}
	}
}

// TestGPUPackedLate: a column that few rows need is not packed, if it was wanted so first, and is read over the bus, while others come packed.
func TestGPUPackedLate(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "create table o as select i as id, i % 1000 as k, case when i % 3 > 0 then i * 7 end as late from generate_series(1, 50000) g(i)")
	_, store := limited(t, 5, 0)
	store.Piece = 1 << 13
	s.DB.Accelerate(store)
	const rare, all = "select sum(late), count(late) from o where k = 13", "select sum(late), sum(k) from o"
	want := map[string]string{}
	for _, sql := range []string{rare, all} {
		s.Configure(func(x *Settings) { x.Device = "cpu" })
		want[sql] = rowsOf(t, s, sql)
	}
	s.Configure(func(x *Settings) { x.Device, x.Check, x.Feed = "gpu", true, phys.FeedBatch })
	for _, c := range []struct{ sql, how string }{
		{rare, "streams 7 chunks of 8192 rows, 1 column over the bus row by row"}, // copies are made after the second time
		{rare, "streams 7 chunks of 8192 rows, 1 column packed, 1 column over the bus row by row"},
		{all, "streams 7 chunks of 8192 rows, 1 column packed"},
	} {
		store.Settle()
		if got := rowsOf(t, s, c.sql); got != want[c.sql] {
			t.Errorf("%s: %s, want %s", c.sql, got, want[c.sql])
		}
		store.Settle()
		text := rowsOf(t, s, "explain analyze "+c.sql)
		if got := regexp.MustCompile(`streams [^;\n]*`).FindString(text); got != c.how {
			t.Errorf("%s: %s, want %s", c.sql, got, c.how)
		}
	}
}

// TestGPUPackedCopies: columns of every number of bits cross the bus packed, with NULLs, negative numbers, codes of texts and segments of other bases
// among them, and their rows are the CPU's.
func TestGPUPackedCopies(t *testing.T) {
	s := New(NewDB())
	var cols, sums []string
	for bits := 1; bits <= 33; bits++ {
		x := fmt.Sprintf("(i::bigint * 2654435761) %% %d", int64(1)<<bits) // i = 0 has the least
		most := int64(1)<<bits - 1
		x = fmt.Sprintf("case when i %% 997 = 5 then %d else %s end", most, x)
		switch bits % 4 {
		case 1:
			x = fmt.Sprintf("case when i %% 7 = 3 or i between 700 and 1500 then null else %s - %d end", x, most+1)
		case 2:
			x += " + 1000000007"
		}
		cols = append(cols, fmt.Sprintf("%s as c%d", x, bits))
		sums = append(sums, fmt.Sprintf("sum(c%d), min(c%d), max(c%d), count(c%d)", bits, bits, bits, bits))
	}
	mustRun(t, s, "create table p as select i, 'text '||i % 300 as t, i % 2 = 0 as b, "+strings.Join(cols, ", ")+" from generate_series(0, 3000) g(i)")
	mustRun(t, s, "insert into p select * from p where i > 2990") // a segment of its own
	queries := []string{"select " + strings.Join(sums[:16], ", ") + " from p", "select " + strings.Join(sums[16:], ", ") + " from p where i >= 5",
		"select t, b, sum(c3), sum(c12), max(c20), min(c5) from p where c12 > 700 or c5 is null group by t, b", "select i, c1, c13, c25 from p where c25 is null or c14 % 5 = 1"}
	for k, piece := range []int64{256, 1024, 1 << 20} {
		if testing.Short() && k != 1 {
			continue
		}
		for _, sql := range queries {
			s.Configure(func(x *Settings) { x.Device = "cpu" })
			want := sortedLines(rowsOf(t, s, sql))
			dev, store := limited(t, uint64(k), 0)
			store.Piece = piece
			s.DB.Accelerate(store)
			s.Configure(func(x *Settings) { x.Device, x.Check, x.Feed, x.FeedBlock = "gpu", true, phys.FeedBatch, 64<<10 })
			var up [2]int64
			for i, off := range []bool{true, false} {
				s.Configure(func(x *Settings) { x.Off.PackedCopies = off })
				for range 3 {
					store.Settle()
					before := dev.Counts().UploadBytes
					if got := sortedLines(rowsOf(t, s, sql)); got != want {
						t.Errorf("%s:\n%.300s\nwant\n%.300s", sql, got, want)
					}
					up[i] = dev.Counts().UploadBytes - before
				}
			}
			if up[1] > up[0]*19/20 {
				t.Errorf("%.50s: %d bytes came packed, %d else", sql, up[1], up[0])
			}
		}
	}
}
