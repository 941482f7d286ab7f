package session

import (
	"testing"

	"github.com/kelpiedb/kelpie/internal/device"
)

// TestHashAgrees: a Bloom filter is filled by Go and read by generated code. If the two computed different
// hashes, rows would be taken for ones that no join finds.
func TestHashAgrees(t *testing.T) {
	if !device.HasCPU() {
		t.Skip("no CPU translator")
	}
	s := New(NewDB())
	s.Configure(func(x *Settings) { x.Check = true })
	// Keys too far from each other for a bitmap, of both signs, and zero.
	rowsOf(t, s, "create table few as select g * 1000003000017 - 700002100011900 k from generate_series(0, 1400) x(g)")
	rowsOf(t, s, "create table many as select g * 1000003000017 - 700002100011900 k, g from generate_series(-20000, 20000) x(g)")
	for _, filters := range []string{"on", "off"} {
		rowsOf(t, s, "set semijoin_filters = "+filters)
		for _, join := range []string{"few f join many m on f.k = m.k", "many m join (select distinct k from few where k < 1e15) f on m.k = f.k"} {
			if got := rowsOf(t, s, "select count(*), sum(m.g), count(*) filter (where m.k = 0) from "+join); got != "1401|980700|1\n" {
				t.Errorf("filters %s, %s: %s", filters, join, got)
			}
		}
	}
}
