package session

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/device"
)

// TestGPUExplain: EXPLAIN ANALYZE tells launches, times and bytes of each pipeline on a device.
func TestGPUExplain(t *testing.T) {
	s, _, dev := onGPU(t, 2, device.SimulatedOptions{})
	const query = "select t0.b, sum(t1.a) from t0, t1 where t0.a + 1 = t1.a group by t0.b"
	var doc struct {
		Pipelines []struct {
			Stats struct {
				Launches  int
				Kernel    float64 `json:"kernel_ms"`
				Transfer  float64 `json:"transfer_ms"`
				Up        int64   `json:"bytes_to_device"`
				Down      int64   `json:"bytes_from_device"`
				Columns   int64   `json:"column_bytes"`
				ActualIn  int64   `json:"rows_in"`
				BytesRead int64   `json:"bytes_read"`
			}
		}
	}
	explain := func() (up, down int64, launches int) {
		t.Helper()
		if err := json.Unmarshal([]byte(rowsOf(t, s, "explain (analyze, format json, pipelines) "+query)), &doc); err != nil {
			t.Fatal(err)
		}
		if len(doc.Pipelines) != 3 {
			t.Fatalf("%d pipelines", len(doc.Pipelines))
		}
		for i, p := range doc.Pipelines {
			st := p.Stats
			if st.Launches == 0 || st.Kernel <= 0 || st.Transfer <= 0 || st.Up == 0 || st.Down == 0 || st.BytesRead == 0 || st.Columns > 0 != (i < 2) {
				t.Errorf("pipeline %d: %+v", i, st)
			}
			up, down, launches = up+st.Up, down+st.Down, launches+st.Launches
		}
		return up, down, launches
	}
	mustRun(t, s, "select 1") // what all queries need
	before := dev.Counts()
	up, down, launches := explain()
	after := dev.Counts()
	if up != after.UploadBytes-before.UploadBytes || down != after.DownloadBytes-before.DownloadBytes || launches != after.Launches-before.Launches {
		t.Errorf("%d bytes there, %d back, %d launches; the device counts %d, %d and %d", up, down, launches, after.UploadBytes-before.UploadBytes,
			after.DownloadBytes-before.DownloadBytes, after.Launches-before.Launches)
	}
	columns := doc.Pipelines[0].Stats.Columns + doc.Pipelines[1].Stats.Columns
	if columns < 180_000 || columns > 200_000 || up < columns {
		t.Errorf("%d bytes of columns, %d bytes there", columns, up)
	}
	if again, _, _ := explain(); again > 10_000 {
		t.Errorf("%d bytes of resident columns were copied", again)
	}
	text := rowsOf(t, s, "explain analyze "+query)
	for _, want := range []string{
		`pipe0  [\d.]+ ms, compiled in [\d.]+ ms, \d+ launches, kernels [\d.]+ ms, transfer [\d.]+ ms\n  device  [\d.]+ K?i?B there, \d+ B back, [\d.]+ KiB of columns at \d+ GB/s of 4400; \d+% of lanes active, `,
		`\npipe2 after pipe1  .*\n  device  [\d.]+ B there, [\d.]+ B back; `,
	} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if strings.Contains(text, "morsel") || strings.Contains(text, "samples") {
		t.Errorf("words of the CPU in\n%s", text)
	}
	if text := rowsOf(t, s, "explain (analyze, timing off, summary off, pipelines) "+query); strings.Contains(text, " ms") {
		t.Errorf("times in\n%s", text)
	}
}
