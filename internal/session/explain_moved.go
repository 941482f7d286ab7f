package session

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/exec"
)

// The account of data movement in EXPLAIN ANALYZE.

// movedText tells what moved, in a pipeline or a query: where, how much, and how long that takes at least.
func (x *explanation) movedText(m exec.Movement) string {
	about := ""
	if !m.Exact {
		about = "about "
	}
	text := fmt.Sprintf("%s over the bus, %s%s through memory, %s%s on chip", bytesText(m.Bus), about, bytesText(m.Memory), about, bytesText(m.Chip))
	if p := m.Passes(); p > 0 {
		text += fmt.Sprintf("; %.2f passes", p)
	}
	if x.explainOptions.timing {
		bus, memory := m.Bounds(x.stats.Bandwidth)
		text += fmt.Sprintf("; bounds: bus %s, memory %s", ms(bus), ms(memory))
	}
	return text
}

// jsonMoved is the account as JSON.
type jsonMoved struct {
	Bus      int64    `json:"bus_bytes"`
	Memory   int64    `json:"memory_bytes"`
	Chip     int64    `json:"chip_bytes"`
	Once     int64    `json:"least_bus_bytes"` // columns and result, as if nothing were on the device
	Passes   float64  `json:"passes"`          // memory for each byte of that
	Exact    bool     `json:"exact"`           // counted by the device; else reckoned from rows
	Reckoned int64    `json:"reckoned_memory_bytes,omitempty"`
	BusMS    *float64 `json:"bus_bound_ms,omitempty"`
	MemoryMS *float64 `json:"memory_bound_ms,omitempty"`
}

func (x *explanation) jsonMoved(m exec.Movement, reckoned int64) *jsonMoved {
	out := &jsonMoved{Bus: m.Bus, Memory: m.Memory, Chip: m.Chip, Once: m.Once, Passes: m.Passes(), Exact: m.Exact, Reckoned: reckoned}
	if x.explainOptions.timing {
		bus, memory := m.Bounds(x.stats.Bandwidth)
		out.BusMS, out.MemoryMS = millis(bus), millis(memory)
	}
	return out
}
