package techniques

import (
	"math/rand/v2"
	"strings"
)

// Switch is a setting that changes how a GPU runs a query, but not its rows.
type Switch struct {
	Name   string
	Values []string // to be tried; the first is what it is by itself
}

// Switches are all of them.
func Switches() (out []Switch) {
	for _, s := range []struct{ name, values string }{
		{"fuse", "auto compound multipass operator"},
		{"expand", "auto lane group warp balanced"},
		{"refill", "auto off list flush"},
		{"resolve", "auto tuple warp block segments"},
		{"groups", "auto global local shared registers lanes block"},
		{"partition", "off auto on 2 256"},
		{"feed", "resident run_to_finish kernel_at_a_time batch"},
		{"prefilter", "auto off on"},
		{"gpu_threads", "0 32 96"},
		{"gpu_blocks", "0 1 3"},
		{"share", "auto off on 50 100"},
		{"cpu_first", "off on auto"},
		{"fuse_budget", "auto 28 32 36"},
		{"search", "auto lane flat"},
	} {
		out = append(out, Switch{Name: s.name, Values: strings.Fields(s.values)})
	}
	return out
}

// Way is a value for some switches, by their names.
type Way map[string]string

// String is name=value, in the order of Switches.
func (w Way) String() string {
	var parts []string
	for _, s := range Switches() {
		if v, ok := w[s.Name]; ok {
			parts = append(parts, s.Name+"="+v)
		}
	}
	return strings.Join(parts, " ")
}

// EachWay has every value of every switch once, with all others as they are by themselves. Filters are only tested ahead where columns stream.
func EachWay() (out []Way) {
	for _, s := range Switches() {
		for _, v := range s.Values {
			w := Way{s.Name: v}
			if s.Name == "prefilter" {
				w["feed"] = "batch"
			}
			out = append(out, w)
		}
	}
	return out
}

// DrawWay draws a value for every switch.
func DrawWay(draw *rand.Rand) Way {
	w := Way{}
	for _, s := range Switches() {
		w[s.Name] = s.Values[draw.IntN(len(s.Values))]
	}
	return w
}
