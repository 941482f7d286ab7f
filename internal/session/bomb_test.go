package session

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// peakMemory runs f and returns by how many bytes the process became larger meanwhile, at most.
func peakMemory(t *testing.T, f func()) int64 {
	t.Helper()
	read := func(name string) (kb int64) {
		b, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Skip("the system does not tell how much memory the process has")
		}
		_, after, _ := bytes.Cut(b, []byte(name+":"))
		fmt.Sscan(string(after), &kb)
		return kb << 10
	}
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		t.Skip("the system does not forget how much memory the process had")
	}
	before := read("VmRSS")
	f()
	return read("VmHWM") - before
}

// TestBombs: files that are small and claim, or have, much. Under a limit no more memory is taken than that and what a process
// always needs.
func TestBombs(t *testing.T) {
	skipRaced(t)
	const limit, more = 32 << 20, 100 << 20
	dir := t.TempDir()
	s := New(NewDB())
	run := func(q string) error {
		res, err := s.Query(context.Background(), q)
		if err == nil {
			_ = res.Values()
			res.Close()
		}
		return err
	}
	rle := filepath.Join(dir, "rle.parquet")
	rowsOf(t, s, "COPY (SELECT CAST(0 AS BIGINT) AS a FROM range(0, 20000000)) TO '"+rle+"' (ROW_GROUP_SIZE 20000000)")
	rowsOf(t, s, fmt.Sprintf("SET memory_limit = %d", limit))
	for _, set := range []string{"SET file_cache = on", "SET file_cache = off", "SET file_cache = on; SET file_statistics = off", "SET file_map = off; SET file_cache = off; SET file_statistics = off"} {
		rowsOf(t, s, "SET file_cache = on; SET file_statistics = on; SET file_map = on; "+set)
		for _, path := range []string{rle, "testdata/files/bomb_delta.parquet", "testdata/files/bomb_text.parquet", "testdata/files/bomb_dict.parquet"} {
			for _, q := range []string{"SELECT max(a), count(*) FROM '%s'", "SELECT a FROM '%s' ORDER BY a LIMIT 1", "SELECT count(*) FROM '%s'"} {
				q = strings.Replace(q, "%s", path, 1)
				var err error
				if n := peakMemory(t, func() { err = run(q) }); n > limit+more {
					t.Errorf("%s; %s: %d MB with a limit of %d, %v", set, q, n>>20, limit>>20, err)
				}
				if err != nil && diag.CodeOf(err) != diag.OutOfMemory {
					t.Errorf("%s: %v", q, err)
				}
			}
		}
	}
	if err := run("SELECT max(a) FROM 'testdata/files/bomb_delta.parquet'"); diag.CodeOf(err) != diag.OutOfMemory {
		t.Errorf("400 MB of texts fit into %d: %v", limit, err)
	}
	rowsOf(t, s, "CREATE TABLE x (a VARCHAR)")
	for _, path := range []string{"delta", "text", "dict"} {
		var err error
		if n := peakMemory(t, func() { err = run("COPY x FROM 'testdata/files/bomb_" + path + ".parquet'") }); n > limit+more || diag.CodeOf(err) != diag.OutOfMemory {
			t.Errorf("COPY of %s: %d MB with a limit of %d, %v", path, n>>20, limit>>20, err)
		}
	}
	for name, c := range map[string]struct {
		begin, repeat string
		fails         bool
	}{
		"rows":   {"", strings.Repeat("{\"a\":\"%[1]d"+strings.Repeat("x", 1<<10)+"\"}\n", 1<<10), false}, // a dictionary of 200 texts
		"object": {"{\"a\":", strings.Repeat("[", 1<<20), true},
		"spaces": {"{\"a\":1}", strings.Repeat(" ", 1<<20), false},
	} {
		path := filepath.Join(dir, name+".json.gz")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		z := gzip.NewWriter(f)
		z.Write([]byte(c.begin))
		for i := range 200 {
			z.Write([]byte(strings.ReplaceAll(c.repeat, "%[1]d", fmt.Sprint(i))))
		}
		z.Close()
		f.Close()
		for _, q := range []string{"SELECT count(*) FROM '" + path + "'", "CREATE OR REPLACE TABLE y (a VARCHAR); COPY y FROM '" + path + "'"} {
			n := peakMemory(t, func() { err = run(q) })
			code := diag.CodeOf(err)
			if (err != nil) != c.fails || c.fails && code != diag.OutOfMemory && code != diag.ProgramLimitExceeded {
				t.Errorf("%s: %v", q, err)
			}
			if n > limit+more {
				t.Errorf("%s: %d MB with a limit of %d, %v", q, n>>20, limit>>20, err)
			}
		}
	}
	rowsOf(t, s, "SET memory_limit = 0")
	if got := rowsOf(t, s, "SELECT count(*), max(length(a)), min(length(a)) FROM 'testdata/files/bomb_text.parquet'"); got != "61|1000000|1\n" {
		t.Errorf("without a limit: %s", got)
	}
}

// TestLies damages files at random: whatever they claim then is not believed further than the limit.
func TestLies(t *testing.T) {
	const limit, more = 32 << 20, 100 << 20
	dir := t.TempDir()
	s := New(NewDB())
	rowsOf(t, s, "CREATE TABLE t AS SELECT range AS a, 'text ' || range % 100 AS b, CASE WHEN range % 3 = 0 THEN NULL ELSE CAST(range AS DOUBLE) END AS c, 'own ' || range AS d FROM range(0, 3000)")
	var files [][]byte
	for _, codec := range []string{"zstd", "snappy", "gzip", "none"} {
		path := filepath.Join(dir, codec+".parquet")
		rowsOf(t, s, "COPY t TO '"+path+"' (COMPRESSION "+codec+", ROW_GROUP_SIZE 1000)")
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, b)
	}
	rowsOf(t, s, fmt.Sprintf("SET memory_limit = %d; SET file_cache = off", limit))
	r := rand.New(rand.NewPCG(3, 4))
	rounds := 400
	if testing.Short() {
		rounds = 60
	}
	path := filepath.Join(dir, "x.parquet")
	for round := range rounds {
		b := bytes.Clone(files[round%len(files)])
		footer := len(b) - 8 - int(b[len(b)-8]) - int(b[len(b)-7])<<8
		for range 1 + r.IntN(4) {
			at := 4 + r.IntN(len(b)-4)
			if r.IntN(2) == 0 {
				at = footer + r.IntN(len(b)-footer)
			}
			switch r.IntN(3) {
			case 0:
				b[at] ^= 1 << r.IntN(8)
			case 1: // a number of several bytes
				for i := at; i < min(at+4, len(b)); i++ {
					b[i] |= 0x80
				}
			default:
				b[at] = byte(r.IntN(256))
			}
		}
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		var err error
		n := peakMemory(t, func() {
			for _, q := range []string{"SELECT max(a), min(b), sum(c), max(d) FROM '" + path + "' WHERE a > 10", "SELECT * FROM '" + path + "'", "DESCRIBE '" + path + "'"} {
				var res *Result
				if res, err = s.Query(context.Background(), q); err == nil {
					_ = res.Values()
					res.Close()
				} else if strings.Contains(err.Error(), "internal error") {
					t.Errorf("round %d: %v", round, err)
				}
			}
		})
		if n > limit+more {
			t.Errorf("round %d: %d MB with a limit of %d, %v", round, n>>20, limit>>20, err)
		}
	}
}
