package tpch

import (
	"testing"

	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/gen/internal/gentest"
)

func TestChecksums(t *testing.T) { gentest.Checksums(t, Tables(), checksums) }
func TestSeek(t *testing.T)      { gentest.Seek(t, Tables(), 0.005) }
func TestParallel(t *testing.T)  { gentest.Parallel(t, Tables(), 0.01) }
func TestSchema(t *testing.T)    { gentest.Schema(t, Tables(), 0.01) }

// TestLineCounts compares the number of order lines with the specification's (clause 4.2.5.1), at scale
// factors whose tables are too large to be generated here.
func TestLineCounts(t *testing.T) {
	lineitem, _ := gen.Lookup(Tables(), "lineitem")
	for sf, want := range map[float64]int64{1: 6_001_215, 10: 59_986_052, 100: 600_037_902} {
		if sf > 10 && testing.Short() {
			continue
		}
		if got := lineitem.CountRows(sf, 0, lineitem.Units(sf)); got != want {
			t.Errorf("scale factor %g: %d lines, want %d", sf, got, want)
		}
	}
}

func BenchmarkGenerate(b *testing.B) {
	for _, table := range Tables() {
		b.Run(table.Name, func(b *testing.B) { gentest.Generate(b, table, 0.1) })
	}
}

// checksums are of the files that the reference dbgen writes.
const checksums = `sf=0.01 region rows=5 bytes=389 md5=c235841b00d29ad4f817771fcc851207
sf=0.01 nation rows=25 bytes=2224 md5=2f588e0b7fa72939b498c2abecd9fbbe
sf=0.01 supplier rows=100 bytes=13795 md5=56e0621c472064c2a998757c70b44043
sf=0.01 customer rows=1500 bytes=240990 md5=a8aa97edad6d47b183a569759fbd3eec
sf=0.01 part rows=2000 bytes=237134 md5=9cce16188c241c25617ca5ed6191e37e
sf=0.01 partsupp rows=8000 bytes=1161705 md5=c6889c3ed0939ca02475f7fb410cbb50
sf=0.01 orders rows=15000 bytes=1659137 md5=c8d2008fb47f47f9e56543d4cb0f4e6a
sf=0.01 lineitem rows=60175 bytes=7264250 md5=4c6d44350a1f7974f56f5d3d7091c2be
sf=0.1 region rows=5 bytes=389 md5=c235841b00d29ad4f817771fcc851207
sf=0.1 nation rows=25 bytes=2224 md5=2f588e0b7fa72939b498c2abecd9fbbe
sf=0.1 supplier rows=1000 bytes=139625 md5=85f567a75bd806f3ccff89341866ab1c
sf=0.1 customer rows=15000 bytes=2426114 md5=8f279b30fee7203e32886be01efd823b
sf=0.1 part rows=20000 bytes=2391090 md5=3f5dc86fbedff28bf1a88bea8341aa6f
sf=0.1 partsupp rows=80000 bytes=11728193 md5=e3bd40ee500c9cc88fd14a4dc904c09e
sf=0.1 orders rows=150000 bytes=16893122 md5=2520d48234df183e47c57027a52007ee
sf=0.1 lineitem rows=600572 bytes=74246996 md5=dec17abbc566d431f5808c5c9f81b8a5
sf=1 region rows=5 bytes=389 md5=c235841b00d29ad4f817771fcc851207
sf=1 nation rows=25 bytes=2224 md5=2f588e0b7fa72939b498c2abecd9fbbe
sf=1 supplier rows=10000 bytes=1409184 md5=565f8733ecdb2faf654a3efe0a422957
sf=1 customer rows=150000 bytes=24346144 md5=b662b705bc3ac183c1942367cf522e42
sf=1 part rows=200000 bytes=24135125 md5=b7ca9b82dc3d9c6543a96faac588a281
sf=1 partsupp rows=800000 bytes=118984616 md5=1b531d9b3963dd72c920179b31135e84
sf=1 orders rows=1500000 bytes=171952161 md5=62264a9feaa3a3fd59805910dfe18a30
sf=1 lineitem rows=6001215 bytes=759863287 md5=e6368ad3f339bf1d4a3b8a1beba23870
`
