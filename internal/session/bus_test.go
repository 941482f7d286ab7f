package session

import (
	"context"
	"testing"

	"github.com/kelpiedb/kelpie/internal/device"
)

// mostOverBus is how many bytes a query may move beside its result once its columns are on the device.
const mostOverBus = 64 << 10

// TestGPUBus: a query that comes again moves its result over the bus, and little else.
func TestGPUBus(t *testing.T) {
	for _, suite := range []string{"tpch", "ssb"} {
		s := load(t, suite, "0.01")
		dev, store := limited(t, 0, 0)
		s.DB.Accelerate(store)
		s.Configure(func(x *Settings) { x.Device = "gpu" })
		for _, q := range thin(suiteQueries(suite)) {
			overBus(t, s, dev, q, queryText(t, suite, q))
		}
	}
}

// overBus runs a query twice and looks at what the second run moves.
func overBus(t *testing.T, s *Session, dev device.Device, name, sql string) {
	t.Helper()
	var before device.Counts
	values := 0
	for range 2 {
		before, values = dev.Counts(), 0
		res, err := s.Query(context.Background(), sql)
		if err != nil {
			t.Fatal(err)
		}
		if n := res.Notices(); len(n) > 0 {
			t.Errorf("%s: %s", name, n)
		}
		for _, row := range res.Values() {
			values += len(row)
		}
		res.Close()
	}
	c := dev.Counts()
	up, down := c.UploadBytes-before.UploadBytes, c.DownloadBytes-before.DownloadBytes
	t.Logf("%-5s %3d launches, %3d uploads of %d bytes, %3d downloads of %d for %d values", name, c.Launches-before.Launches,
		c.Uploads-before.Uploads, up, c.Downloads-before.Downloads, down, values)
	if up+down > mostOverBus+24*int64(values) { // a value takes 16 bytes and a NULL byte at the most
		t.Errorf("%s: %d bytes go to the device and %d come back, for %d values", name, up, down, values)
	}
}
