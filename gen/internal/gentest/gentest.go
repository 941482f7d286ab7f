// Package gentest holds the tests that every benchmark's tables must pass: equality with the reference's
// files, and independence of a row from the range that it is generated in.
package gentest

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"hash"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/gen"
)

// counter is a hash that also counts rows and bytes.
type counter struct {
	hash.Hash
	rows, bytes int
}

func (c *counter) Write(p []byte) (int, error) {
	c.rows += bytes.Count(p, []byte{'\n'})
	c.bytes += len(p)
	return c.Hash.Write(p)
}

// Checksums compares whole tables with the sums of the reference's .tbl files. Each line of sums is
// "sf=F table rows=N bytes=N md5=X". Scale factors from 0.1 on are skipped with -short, and those from 1 on
// need the environment variable KELPIE_TEST_SF1=1.
func Checksums(t *testing.T, tables []gen.Table, sums string) {
	for line := range strings.Lines(sums) {
		var sf float64
		var name, want string
		var rows, size int
		if _, err := fmt.Sscanf(line, "sf=%g %s rows=%d bytes=%d md5=%s", &sf, &name, &rows, &size, &want); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		t.Run(fmt.Sprintf("%s/%g", name, sf), func(t *testing.T) {
			switch {
			case sf >= 1 && os.Getenv("KELPIE_TEST_SF1") != "1":
				t.Skip("set KELPIE_TEST_SF1=1")
			case sf >= 0.1 && testing.Short():
				t.Skip("short")
			}
			table := lookup(t, tables, name)
			c := &counter{Hash: md5.New()}
			if err := gen.WriteTable(c, table, sf, runtime.GOMAXPROCS(0)); err != nil {
				t.Fatal(err)
			}
			if got := hex.EncodeToString(c.Sum(nil)); got != want || c.rows != rows || c.bytes != size {
				t.Errorf("got rows=%d bytes=%d md5=%s, want rows=%d bytes=%d md5=%s", c.rows, c.bytes, got, rows, size, want)
			}
		})
	}
}

// Seek generates random ranges, from one Batch over all tables, and compares them with the same rows of
// a run over the whole table.
func Seek(t *testing.T, tables []gen.Table, sf float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	var b gen.Batch
	for _, table := range tables {
		units := table.Units(sf)

		// The whole table, unit by unit where a unit's rows end is known: at CountRows.
		table.Generate(sf, 0, units, &b)
		whole := gen.AppendTbl(nil, &b)
		if n := table.CountRows(sf, 0, units); int(n) != b.Rows {
			t.Errorf("%s: CountRows says %d, generated %d", table.Name, n, b.Rows)
		}
		if n := table.Rows(sf); n < int64(b.Rows)*99/100 || n > int64(b.Rows)*101/100 {
			t.Errorf("%s: Rows says %d, generated %d", table.Name, n, b.Rows)
		}
		starts := []int{0}
		for i, c := range whole {
			if c == '\n' {
				starts = append(starts, i+1)
			}
		}
		for range 50 {
			lo := rng.Int64N(units + 1)
			hi := lo + rng.Int64N(min(units-lo, 1000)+1)
			table.Generate(sf, lo, hi, &b)
			first := table.CountRows(sf, 0, lo)
			last := first + table.CountRows(sf, lo, hi)
			want := whole[starts[first]:starts[last]]
			if got := gen.AppendTbl(nil, &b); !bytes.Equal(got, want) {
				t.Errorf("%s [%d, %d) at %g differs from the whole table", table.Name, lo, hi, sf)
				break
			}
		}
	}
}

// Parallel compares the output of one goroutine with that of many.
func Parallel(t *testing.T, tables []gen.Table, sf float64) {
	for _, table := range tables {
		var one, many bytes.Buffer
		if err := gen.WriteTable(&one, table, sf, 1); err != nil {
			t.Fatal(err)
		}
		if err := gen.WriteTable(&many, table, sf, 8); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(one.Bytes(), many.Bytes()) {
			t.Errorf("%s: eight goroutines write another table than one", table.Name)
		}
	}
}

// Schema checks that descriptions agree with what is generated.
func Schema(t *testing.T, tables []gen.Table, sf float64) {
	var b gen.Batch
	for _, table := range tables {
		table.Generate(sf, 0, min(table.Units(sf), 1000), &b)
		columns := map[string]bool{}
		for i, c := range table.Columns {
			columns[c.Name] = true
			v := &b.Vectors[i]
			if c.Kind() != gen.String {
				if len(v.Ints) != b.Rows || v.Bytes != nil || v.Offsets != nil {
					t.Errorf("%s: %d integers for %d rows", c.Name, len(v.Ints), b.Rows)
				}
				continue
			}
			if len(v.Offsets) != b.Rows+1 || v.Ints != nil || int(v.Offsets[b.Rows]) != len(v.Bytes) {
				t.Errorf("%s: %d offsets for %d rows", c.Name, len(v.Offsets), b.Rows)
				continue
			}
			var limit int
			if _, err := fmt.Sscanf(c.Type, "VARCHAR(%d)", &limit); err != nil {
				t.Errorf("%s: type %s: %v", c.Name, c.Type, err)
			}
			for row := range b.Rows {
				if s := v.At(row); len(s) > limit {
					t.Errorf("%s %s: %q is too long", c.Name, c.Type, s)
					break
				}
			}
		}
		for _, k := range table.PrimaryKey {
			if !columns[k] {
				t.Errorf("%s: no column %s", table.Name, k)
			}
		}
	}
}

// Generate is the body of a benchmark: one table at a scale factor, one goroutine, no text written.
func Generate(b *testing.B, table gen.Table, sf float64) {
	const step = 8192
	var batch gen.Batch
	var rows int
	units := table.Units(sf)
	for range b.N {
		for lo := int64(0); lo < units; lo += step {
			table.Generate(sf, lo, min(lo+step, units), &batch)
			rows += batch.Rows
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows), "ns/row")
}

func lookup(t *testing.T, tables []gen.Table, name string) gen.Table {
	table, ok := gen.Lookup(tables, name)
	if !ok {
		t.Fatalf("no table %s", name)
	}
	return table
}
