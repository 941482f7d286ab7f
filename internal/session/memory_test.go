package session

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
)

// Memory is measured in processes of their own: what the system says of them cannot be argued with.

// memoryCase is a statement that would take far more than it may.
type memoryCase struct {
	name  string
	setup string // without a limit, in another process: FILE is where it may write
	sql   string
	fits  bool // it must succeed all the same
}

// longTest is the setup of a case that needs none, but takes too long for -short.
const longTest = "select 1"

// memoryLimit is that of the cases, memorySlack what a process may take beyond it.
const (
	memoryLimit = 100 << 20
	memorySlack = 100 << 20
)

var memoryCases = []memoryCase{
	{"sort", "", "select g, 'a text that is not short at all ' || g from generate_series(1, 5000000) x(g) order by g % 1000, 2", false},
	{"join", "", `select count(*), max(x.t), max(y.t) from (select a, 'this text is not short ' || a t from generate_series(1, 3000000) x(a)) x,
		(select b, 'nor is this one, number ' || b t from generate_series(1, 3000000) y(b)) y where a = b`, false},
	{"groups", "", "select g::text || 'x' k, count(*), sum(g), min(g) from generate_series(1, 6000000) x(g) group by 1 order by 2 limit 3", false},
	{"create table", "", "create table t as select g a, g * 7 b, g * 1.5 c, 'a text of some length, number ' || g d from generate_series(1, 6000000) x(g)", false},
	{"batches", "", "select g, 'a text that is not short at all, and so many of them: ' || g from generate_series(1, 4000000) x(g)", false},
	{"long texts", "", "create table t as select '" + strings.Repeat("0123456789", 1000) + "' || g a from generate_series(1, 30000) x(g)", false},
	{"unique key", "", "create table if not exists t (a bigint unique); insert into t select g::bigint * 7919 % 100000007 from generate_series(1, 8000000) x(g)", false},
	{"tpch", "", "call tpch(sf => 0.05)", false},
	{"ssb", longTest, "call ssb(sf => 2)", false},
	{"json", "copy (select g a, 'a text of some length, number ' || g c from generate_series(1, 2000000) x(g)) to 'FILE.json'",
		"select sum(a), count(c), max(length(c)) from 'FILE.json'", true},
	{"parquet", "copy (select g a, g % 1000 b, 'some text ' || g % 500 c, 'a text of some length, number ' || g d from generate_series(1, 4000000) x(g)) to 'FILE' (format parquet, row_group_size 100000)",
		"select sum(a), sum(b), count(distinct c), max(length(d)) from 'FILE'", true},
	{"wide parquet", wideFile(200, 200_000), "select * from 'FILE'", false},
	{"copy parquet", wideFile(100, 400_000), "copy t from 'FILE' (format parquet)", false},
	{"create from parquet", wideFile(100, 400_000), "create table u as select * from 'FILE'", false},
	{"create from csv", "copy (select g a, g * 7 b, 'a text of some length, number ' || g c from generate_series(1, 4000000) x(g)) to 'FILE.csv' (format csv)",
		"create table u as select * from 'FILE.csv'", false},
	{"copy csv", "copy (select g a, g * 7 b, 'a text of some length, number ' || g c from generate_series(1, 4000000) x(g)) to 'FILE' (format csv)",
		"copy t from 'FILE' (format csv)", false},
}

// wideFile writes a file of many columns.
func wideFile(cols, rows int) string {
	var list []string
	for i := range cols {
		list = append(list, fmt.Sprintf("g::bigint * %d c%d", 1_000_003+i, i))
	}
	return fmt.Sprintf("copy (select %s from generate_series(1, %d) x(g)) to 'FILE' (format parquet)", strings.Join(list, ", "), rows)
}

// TestMemoryBound holds statements to memory_limit, and then processes to total_memory_limit.
func TestMemoryBound(t *testing.T) {
	if name := os.Getenv("KELPIE_MEMORY_CASE"); name != "" {
		runMemoryCase(name)
		return
	}
	if _, err := os.ReadFile("/proc/self/status"); err != nil {
		t.Skip("nobody tells what a process has taken")
	}
	for _, c := range memoryCases {
		if testing.Short() && c.setup != "" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if c.setup != "" {
				memoryProcess(t, c.name, dir, "setup")
			}
			for _, limit := range []string{"memory_limit", "total_memory_limit"} {
				out := memoryProcess(t, c.name, dir, limit)
				if !c.fits && !strings.Contains(out, "error 53200") {
					t.Errorf("%s: no error: %s", limit, out)
				} else if c.fits && strings.Contains(out, "error") {
					t.Errorf("%s: %s", limit, out)
				}
				_, most, _ := strings.Cut(out, "most ")
				kb, err := strconv.Atoi(strings.Fields(most + " ?")[0])
				if err != nil || kb<<10 > memoryLimit+memorySlack {
					t.Errorf("%s: the process took %d MB of %d: %s", limit, kb>>10, memoryLimit>>20, out)
				}
				if strings.Contains(out, "left") {
					t.Errorf("%s: %s", limit, out)
				}
			}
		})
	}
}

// memoryProcess runs a case in a process of its own and returns what it prints.
func memoryProcess(t *testing.T, name, dir, mode string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestMemoryBound$")
	cmd.Env = append(os.Environ(), "KELPIE_MEMORY_CASE="+name, "KELPIE_MEMORY_DIR="+dir, "KELPIE_MEMORY_MODE="+mode)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", mode, err, out)
	}
	return string(out)
}

// runMemoryCase runs in the other process.
func runMemoryCase(name string) {
	ctx := context.Background()
	s := New(NewDB())
	var c memoryCase
	for _, c = range memoryCases {
		if c.name == name {
			break
		}
	}
	file := filepath.Join(os.Getenv("KELPIE_MEMORY_DIR"), "file")
	run := func(sql string) error {
		res, err := s.Query(ctx, strings.ReplaceAll(sql, "FILE", file))
		if err != nil {
			return err
		}
		defer res.Close()
		var kept []arrow.RecordBatch // all at once
		defer func() {
			for _, b := range kept {
				b.Release()
			}
		}()
		for {
			b, err := res.Next()
			if b == nil || err != nil {
				return err
			}
			kept = append(kept, b)
		}
	}
	mode := os.Getenv("KELPIE_MEMORY_MODE")
	if mode == "setup" {
		if err := run(c.setup); err != nil {
			panic(err)
		}
		return
	}
	if strings.Contains(c.sql, "copy t") {
		if err := run("create table t as select * from 'FILE' limit 0"); err != nil {
			panic(err)
		}
	}
	before := settledBytes()
	if err := run(fmt.Sprintf("set %s = '%d'; set threads = 2", mode, memoryLimit)); err != nil {
		panic(err)
	}
	for range 2 { // the second time with what the first left
		if err := run(c.sql); err != nil {
			fmt.Println("error", diag.CodeOf(err), err)
			for _, table := range []string{"t", "u"} {
				if res, err := s.Query(ctx, "select count(*) from "+table); err == nil && res.Values()[0][0].I != 0 {
					fmt.Println("left rows in", table)
				}
			}
		}
	}
	if err := run("set file_cache = off"); err != nil {
		panic(err)
	}
	s.DB.files.chunks.Clear()
	if after := settledBytes(); after > before+8<<20 {
		fmt.Printf("left %d bytes, before %d\n", after, before)
	}
	status, _ := os.ReadFile("/proc/self/status")
	_, most, _ := strings.Cut(string(status), "VmHWM:")
	fmt.Println("most", strings.TrimSpace(strings.SplitN(most, "\n", 2)[0]), "counted", budget.Process.Used()>>20)
}

// settledBytes is what is in use when garbage is collected.
func settledBytes() int64 {
	for last := int64(-1); ; time.Sleep(30 * time.Millisecond) {
		runtime.GC()
		if now := column.BytesInUse(); now == last {
			return now
		} else {
			last = now
		}
	}
}
