package ssb

import (
	"crypto/md5"
	"fmt"
	"testing"

	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/gen/internal/gentest"
)

func TestChecksums(t *testing.T) { gentest.Checksums(t, Tables(), checksums) }
func TestSeek(t *testing.T)      { gentest.Seek(t, Tables(), 0.005) }
func TestParallel(t *testing.T)  { gentest.Parallel(t, Tables(), 0.01) }
func TestSchema(t *testing.T)    { gentest.Schema(t, Tables(), 0.01) }

func BenchmarkGenerate(b *testing.B) {
	for _, table := range Tables() {
		b.Run(table.Name, func(b *testing.B) { gentest.Generate(b, table, 0.1) })
	}
}

// TestShortDates compares with the date table that the reference writes at scale factor 0.1, which ends
// early.
func TestShortDates(t *testing.T) {
	table, _ := gen.Lookup(Tables(), "date")
	var b gen.Batch
	table.Generate(0.1, 0, 255, &b)
	const want = "40c20a029babac251a8e1accf7200a7a"
	if got := fmt.Sprintf("%x", md5.Sum(gen.AppendTbl(nil, &b))); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if n := table.Rows(0.1); n != 2557 {
		t.Errorf("%d days", n)
	}
}

// checksums are of the files that the reference generator writes, except for the short date table below
// scale factor 1; see TestShortDates.
const checksums = `sf=0.1 customer rows=3000 bytes=280520 md5=a350472fc3e368f0be8ad524d61932a9
sf=0.1 lineorder rows=600597 bytes=57481882 md5=506c4017655f94e9a93c112f285844de
sf=0.1 part rows=20000 bytes=1693377 md5=61fcafdc115d9d9732474cb8c6c42cdd
sf=0.1 supplier rows=200 bytes=16360 md5=faf888f9ea5b353fcd0e749d522b3bf0
sf=1 customer rows=30000 bytes=2837046 md5=f7fb08c2aa4059d328e98d4020fb80d1
sf=1 date rows=2557 bytes=229628 md5=9fa606e030772339be7845a93e30922c
sf=1 lineorder rows=6001173 bytes=599096188 md5=c059a2399a7cdc5423cec73e334acec8
sf=1 part rows=200000 bytes=17139259 md5=165f23e401293d995c7b57ef12bfb4e6
sf=1 supplier rows=2000 bytes=166676 md5=acb3f531fe0264a598a7b2410fe7f5cf
`
