package session

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/kelpiedb/kelpie/internal/types"
)

// switches are the settings that change how a GPU runs a query, and their values.
var switches = []struct{ name, values string }{
	{"fuse", "auto compound multipass operator"},
	{"expand", "auto lane group warp balanced"},
	{"refill", "auto off list flush"},
	{"resolve", "auto tuple warp block segments"},
	{"groups", "auto global local shared registers lanes block"},
	{"feed", "resident run_to_finish kernel_at_a_time batch"},
	{"prefilter", "auto off on on"},
	{"gpu_threads", "0 32 96"},
	{"gpu_blocks", "0 1 3"},
	{"share", "auto off 50 100"},
	{"cpu_first", "off on auto"},
}

// drawnSwitches are n combinations of their values, drawn by a fixed seed, or, for fresh ones, by that of KELPIE_SWITCHES. KELPIE_CORPUS=all runs all files in
// each of them.
func drawnSwitches(n int) (out []corpusCell) {
	seed := uint64(12)
	if text := os.Getenv("KELPIE_SWITCHES"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			panic("KELPIE_SWITCHES is a number: " + err.Error())
		}
	}
	draw := rand.New(rand.NewPCG(seed, 11))
	for range n {
		name := "simt"
		var values []string
		for _, s := range switches {
			all := strings.Fields(s.values)
			values = append(values, all[draw.IntN(len(all))])
			name += fmt.Sprintf(" %s=%s", s.name, values[len(values)-1])
		}
		out = append(out, corpusCell{name: name, set: func(x *Settings) {
			x.Device = "simt"
			for i, s := range switches {
				if err := setByName(x, s.name, values[i]); err != nil {
					panic(err)
				}
			}
		}})
	}
	return out
}

// setByName changes a setting by its name, as SET does.
func setByName(x *Settings, name, value string) error {
	for i := range settings {
		if settings[i].name == name {
			return settings[i].set(x, types.TextValue(value))
		}
	}
	return fmt.Errorf("there is no setting %s", name)
}
