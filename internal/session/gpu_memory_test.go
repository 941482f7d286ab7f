package session

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/gpu"
)

// onGPU is a session whose queries run on a simulated device with so many tables of 20,000 rows: t0, t1 … An integer column takes
// 80 kB there, the texts of s 160 kB and more.
func onGPU(t *testing.T, tables int, opt device.SimulatedOptions) (*Session, *gpu.Store, *device.Simulated) {
	t.Helper()
	s := New(NewDB())
	for i := range tables {
		mustRun(t, s, fmt.Sprintf("create table t%d as select g * 1000 + %d a, g %% 7 b, 'text no. ' || g %% 10 || ' of ten' d from generate_series(1, 20000) x(g)", i, i))
	}
	dev := device.NewSimulated(opt)
	store := gpu.NewStore(dev, 0)
	s.DB.Accelerate(store)
	mustRun(t, s, "set device = 'gpu'")
	return s, store, dev
}

// asked is a query's rows and notices.
func asked(s *Session, sql string) (rows, notices string, err error) {
	res, err := s.Query(context.Background(), sql)
	if err != nil {
		return "", "", err
	}
	defer res.Close()
	var b strings.Builder
	for _, row := range res.Values() {
		fmt.Fprintln(&b, row)
	}
	return b.String(), strings.Join(res.Notices(), "; "), nil
}

// TestGPUMemoryLimit: columns on the device obey the limit, and a query whose columns exceed it reads them in chunks.
func TestGPUMemoryLimit(t *testing.T) {
	s, store, _ := onGPU(t, 3, device.SimulatedOptions{})
	const limit = 130_000
	mustRun(t, s, "set gpu_memory_limit = '130kB'")
	if got := rowsOf(t, s, "show gpu_memory_limit"); got != "130kB\n" {
		t.Errorf("show: %s", got)
	}
	for range 2 {
		for i := range 3 {
			rows, notices, err := asked(s, fmt.Sprintf("select sum(a), max(b) from t%d", i))
			if want := fmt.Sprintf("[%d 6]\n", 1000*20000*20001/2+20000*i); err != nil || rows != want || notices != "" {
				t.Errorf("t%d: %s, %s, %v; want %s", i, rows, notices, err, want)
			}
			if n := store.Bytes(); n > limit || n < 80_000 {
				t.Errorf("%d bytes are held", n)
			}
		}
	}
	rows, notices, err := asked(s, "select sum(t0.a) + sum(t1.a) from t0, t1 where t0.a + 1 = t1.a")
	if err != nil || rows != "[400020020000]\n" || notices != "" {
		t.Errorf("two large columns: %s, %s, %v", rows, notices, err)
	}
	if n := store.Peak(); n > limit {
		t.Errorf("%d bytes were held", n)
	}
	mustRun(t, s, "reset gpu_memory_limit")
	if _, notices, err = asked(s, "select sum(t0.a) + sum(t1.a) from t0, t1 where t0.a + 1 = t1.a"); err != nil || notices != "" {
		t.Errorf("without a limit: %s, %v", notices, err)
	}
}

// TestGPUMemoryShort: what was kept for later queries makes room when the device's memory is used up.
func TestGPUMemoryShort(t *testing.T) {
	s, store, _ := onGPU(t, 8, device.SimulatedOptions{Memory: 400_000})
	for range 2 {
		for i := range 8 {
			rows, notices, err := asked(s, fmt.Sprintf("select sum(a) from t%d", i))
			if want := fmt.Sprintf("[%d]\n", 1000*20000*20001/2+20000*i); err != nil || rows != want || notices != "" {
				t.Errorf("t%d: %s, %s, %v", i, rows, notices, err)
			}
		}
	}
	if n := store.Bytes(); n > 400_000 || n < 160_000 {
		t.Errorf("%d bytes are held", n)
	}
}

// TestGPUAtOnce: many queries at once under a limit that has room for two of their tables give the right rows, all on the device.
func TestGPUAtOnce(t *testing.T) {
	const limit, tables = 250_000, 4
	s, store, dev := onGPU(t, tables, device.SimulatedOptions{})
	s.Configure(func(x *Settings) { x.GPUMemory = limit })
	queries := []string{"select sum(a), count(*) from t%d", "select d, count(*), sum(b) from t%d group by d order by d", "select max(a) from t%d where d like '%%5%%'"}
	want := map[string]string{}
	for i := range tables {
		for _, q := range queries {
			q = fmt.Sprintf(q, i)
			want[q] = rowsOf(t, s, q)
		}
	}
	var wg sync.WaitGroup
	var most atomic.Int64
	for w := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			own := New(s.DB)
			own.Configure(func(x *Settings) { x.Device, x.GPUMemory = "gpu", limit })
			for i := range 5 {
				q := fmt.Sprintf(queries[(w+i)%len(queries)], (w*3+i*5)%tables)
				res, err := own.Query(context.Background(), q)
				if err != nil {
					t.Errorf("%s: %v", q, err)
					return
				}
				if n := res.Notices(); len(n) > 0 {
					t.Errorf("%s: %s", q, n)
				}
				res.Close()
				if got := rowsOf(t, own, q); got != want[q] {
					t.Errorf("%s: %s, want %s", q, got, want[q])
				}
				for n := store.Bytes(); n > most.Load(); {
					most.Store(n)
				}
			}
		}()
	}
	wg.Wait()
	if n := most.Load(); n > limit {
		t.Errorf("%d bytes were held", n)
	}
	if dev.Counts().Launches == 0 {
		t.Error("nothing ran on the device")
	}
}

// TestGPUOneUpload: queries that want the same column at the same time wait for one copy of it, and the store answers meanwhile.
func TestGPUOneUpload(t *testing.T) {
	s, store, dev := onGPU(t, 1, device.SimulatedOptions{})
	var uploads, blocked atomic.Int64
	dev.FailWith(func(call string) error {
		if strings.HasPrefix(call, "upload 8") && uploads.Add(1) == 1 { // the column: 80 kB
			for range 20 { // if the store's lock were held, this would wait for ever
				done := make(chan int64)
				go func() { done <- store.Bytes() }()
				select {
				case <-done:
				case <-time.After(10 * time.Second):
					blocked.Add(1)
					return nil
				}
			}
		}
		return nil
	})
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			own := New(s.DB)
			own.Configure(func(x *Settings) { x.Device = "gpu" })
			if got := rowsOf(t, own, "select sum(a) from t0"); got != "200010000000\n" {
				t.Errorf("sum: %s", got)
			}
		}()
	}
	wg.Wait()
	if blocked.Load() > 0 {
		t.Error("the store was locked during an upload")
	}
	if n := dev.Counts().UploadBytes; n < 80_000 || n > 120_000 {
		t.Errorf("%d bytes were uploaded", n)
	}
	// A copy that failed is tried again by the next query.
	mustRun(t, s, "create table again as select g a from generate_series(1, 20000) x(g)")
	dev.FailWith(func(call string) error {
		if strings.HasPrefix(call, "upload 4") {
			return &device.Error{Kind: device.Refused, Device: "simt", Call: call, Err: errors.New("no")}
		}
		return nil
	})
	if _, notices, err := asked(s, "select sum(a) from again"); err != nil || !strings.Contains(notices, "refused: no") {
		t.Errorf("a copy that fails: %s, %v", notices, err)
	}
	dev.FailWith(nil)
	if rows, notices, err := asked(s, "select sum(a) from again"); err != nil || notices != "" || rows != "[200010000]\n" {
		t.Errorf("the next: %s, %s, %v", rows, notices, err)
	}
}

// TestGPUStale: copies of rows that nobody can read any more vanish, with their dictionaries.
func TestGPUStale(t *testing.T) {
	s, store, dev := onGPU(t, 1, device.SimulatedOptions{})
	all, err := dev.Available()
	if err != nil {
		t.Fatal(err)
	}
	const query = "select sum(a), max(length(d)), count(*) from t0 where d like 'text%'"
	use := func(change string, most int64) {
		t.Helper()
		if change != "" {
			mustRun(t, s, change)
		}
		mustRun(t, s, query)
		settle(t, func() bool { runtime.GC(); return store.Bytes() <= most })
	}
	use("", 130_000)
	if store.Bytes() < 100_000 {
		t.Errorf("%d bytes are held", store.Bytes())
	}
	use("insert into t0 values (1, 2, 'text of another kind')", 130_000)
	use("update t0 set a = a + 1, d = d || '!' where b = 3", 130_000)
	use("delete from t0 where b = 4", 130_000)
	mustRun(t, s, "drop table t0")
	settle(t, func() bool { runtime.GC(); return store.Bytes() == 0 })
	if left, err := dev.Available(); err != nil || left < all-64<<10 { // the library's memory is small
		t.Errorf("%d bytes of %d are available, %v", left, all, err)
	}
}

// settle waits until something is so.
func settle(t *testing.T, is func() bool) {
	t.Helper()
	for range 500 {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("it did not settle")
}

// TestGPUStaging: large columns come to the device in blocks, and so do tuples to the host and what Go computes of them back; all of their rows do, also where blocks
// cannot be had.
func TestGPUStaging(t *testing.T) {
	for _, pins := range []bool{true, false} {
		s, store, dev := onGPU(t, 0, device.SimulatedOptions{})
		store.Block = 1 << 20
		mustRun(t, s, "set host_copies = off") // results would come in one piece
		pinned, largest := 0, 0
		dev.FailWith(func(call string) error {
			if strings.HasPrefix(call, "pin ") && call != "pin 65536 bytes" { // what kernels are told has a block of its own
				if pinned++; !pins && pinned > 2 {
					return &device.Error{Kind: device.OutOfMemory, Device: "simt", Call: call, Err: errors.New("no more of that")}
				}
			}
			var n int
			if _, err := fmt.Sscanf(strings.Replace(call, "download", "upload", 1), "upload %d bytes", &n); err == nil {
				largest = max(largest, n)
			}
			return nil
		})
		mustRun(t, s, `create table big as select g::bigint * 1000003 a, case when g % 3 = 0 then null else g % 100000 end b, g * 0.5::double precision f,
			'a text that is long, number ' || g s from generate_series(1, 200000) x(g)`)
		for _, q := range []string{"select sum(a), sum(a % 977) from big", "select sum(b), count(b) from big", "select sum(f) from big", "select count(*), max(a) from big where s like '%99999%'",
			"select a, b, f, s from big where b % 7 <> 3 order by a", "select a % 10, s || '!', lower(s), case when b % 2 = 0 then '' else s || b end from big where a % 3 = 0 order by s"} {
			rows, notices, err := asked(s, q)
			mustRun(t, s, "set device = 'cpu'")
			want, _, _ := asked(s, q)
			mustRun(t, s, "set device = 'gpu'")
			if err != nil || notices != "" || rows != want {
				t.Errorf("%s: %s, %s, %v; want %s", q, rows, notices, err, want)
			}
		}
		if pins && pinned != 8 || pins != (largest <= store.Block) {
			t.Errorf("%d blocks were pinned, the largest copy has %d bytes", pinned, largest)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
}
