package session

import (
	"fmt"
	"os"
	osexec "os/exec"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
)

// TestFaultsEndQueries: where a table's memory is not what it should be, a query ends with XX000 and the session goes
// on, whoever meets the fault: generated code, one thread or several, or the code in Go that sorts and delivers.
func TestFaultsEndQueries(t *testing.T) {
	if os.Getenv("KELPIE_WILD") == "" { // in a process of its own, which may die
		cmd := osexec.Command(os.Args[0], "-test.run=^TestFaultsEndQueries$", "-test.v")
		cmd.Env = append(os.Environ(), "KELPIE_WILD=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
			t.Fatalf("%v\n%.5000s", err, out)
		}
		return
	}
	s := New(NewDB())
	mustRun(t, s, `create table good as select g, 'text ' || g as s from generate_series(1, 100000) g;
		create table bad as select g, g % 7 as m, 'some longer text ' || g as s from generate_series(1, 100000) g`)
	table, err := s.DB.Catalog.Lookup("", "bad")
	if err != nil {
		t.Fatal(err)
	}
	segs := table.(*catalog.Table).Snapshot().Segments
	for _, addr := range []uintptr{16, 1 << 20, 1 << 62, 0xffff_8000_0000_0000} {
		for _, c := range segs[len(segs)-1].Chunks {
			c.Data, c.Heap = addr, addr
		}
		for _, threads := range []int{1, 4} {
			s.Configure(func(x *Settings) { x.Threads = threads })
			for _, q := range []string{
				"select sum(g) from bad", "select count(*) from bad where s like '%x%'", "select m, max(s) from bad group by m",
				"select s from bad order by s", "select s || 'x' from bad", "select count(*) from good join bad on good.s = bad.s",
				"select g from bad order by s desc limit 3", "create table copy as select * from bad", "select * from bad",
				"select count(*) from bad where m in (select m from bad where s > 'b')",
			} {
				res, err := s.Query(t.Context(), q)
				if err == nil { // a result that is the table itself is met when it is read
					_, err = res.Next()
					for range 20 {
						if err == nil {
							_, err = res.Next()
						}
					}
					res.Close()
				}
				if err == nil || diag.CodeOf(err) != diag.InternalError {
					t.Errorf("%#x, %d threads: %s: %v", addr, threads, q, err)
				}
				if got := rowsOf(t, s, "select count(*), sum(g) from good where s like 'text%'"); got != "100000|5000050000\n" {
					t.Errorf("after %s: %s", q, got)
				}
			}
		}
	}
	fmt.Println("all ended with errors")
}
