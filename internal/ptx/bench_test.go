package ptx

import (
	"testing"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/simt"
)

func BenchmarkTranslate(b *testing.B) {
	f := discountedRevenue()
	for b.Loop() {
		if _, err := Translate(f); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	text, err := Translate(discountedRevenue())
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := simt.Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkScan simulates the scan, filter and sum of a million rows.
func BenchmarkScan(b *testing.B) {
	const rows = 1 << 20
	text, err := Translate(discountedRevenue())
	if err != nil {
		b.Fatal(err)
	}
	mod, err := simt.Parse(text)
	if err != nil {
		b.Fatal(err)
	}
	quantity, price := make([]uint64, rows/8), make([]uint64, rows/2)
	for i := range rows {
		bytesOf(quantity)[i] = byte(i*7919%50 + 1)
	}
	m := newMachine(quantity, price)
	m.ctx = append(m.ctx[:ir.CtxFree/8], rows, m.ctx[ir.CtxFree/8], m.ctx[ir.CtxFree/8+1], 0)
	lanes := uint64(0)
	for b.Loop() {
		s, err := m.try(mod.Kernels()[0], 16, 128)
		if err != nil {
			b.Fatal(err)
		}
		lanes += s.LaneInstrs
	}
	b.ReportMetric(float64(lanes)/b.Elapsed().Seconds()/1e6, "Mlanes/s")
	b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
