package phys

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/plan"
)

// TestParsePartition: values are what they print, and anything else is an error.
func TestParsePartition(t *testing.T) {
	for _, name := range []string{"auto", "off", "on", "2", "64", "512"} {
		if x, err := ParsePartition(name); err != nil || x.String() != name {
			t.Errorf("%s: %v %v", name, x, err)
		}
	}
	for _, name := range []string{"", "1", "0", "-1", "3", "1024", "ON", "perhaps"} {
		if x, err := ParsePartition(name); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q is none of auto, off, on", name)) {
			t.Errorf("%s: %v %v", name, x, err)
		}
	}
}

// TestChoosePartition holds the decision to what it is at the edges of each reason.
func TestChoosePartition(t *testing.T) {
	// A table of 20 million groups takes 800 MB.
	large := Scattered{Rows: 600e6, Groups: 20e6, Keys: 1, Aggs: 1, Width: 16, Cache: 50 << 20, Memory: 140 << 30}
	with := func(f func(*Scattered)) Scattered {
		x := large
		f(&x)
		return x
	}
	for _, c := range []struct {
		name  string
		wish  Partition
		facts Scattered
		want  string
	}{
		{"20 million random groups", PartitionAuto, large, "128"},
		{"more of them", PartitionAuto, with(func(s *Scattered) { s.Groups = 150e6 }), "512"},
		{"more than there are parts for", PartitionAuto, with(func(s *Scattered) { s.Groups = 600e6 }), "512"},
		{"a larger cache", PartitionAuto, with(func(s *Scattered) { s.Cache *= 4 }), "32"},
		{"wider groups", PartitionAuto, with(func(s *Scattered) { s.Aggs = 6 }), "256"},
		{"a cache that is not known", PartitionAuto, with(func(s *Scattered) { s.Cache = 0 }), "128"},
		{"nobody wants it", PartitionOff, large, "0 "},
		{"in order", PartitionAuto, with(func(s *Scattered) { s.InOrder = "k" }), "0 rows come in the order of k"},
		{"in order, but somebody wants it", PartitionOn, with(func(s *Scattered) { s.InOrder = "k" }), "128"},
		{"the table is in the cache", PartitionAuto, with(func(s *Scattered) { s.Groups = 50 << 20 / 40 }), "0 "},
		{"nearly all of it is", PartitionAuto, with(func(s *Scattered) { s.Groups = 51 << 20 / 40 }), "0 to move the rows would take longer"},
		{"half of it is", PartitionAuto, with(func(s *Scattered) { s.Groups = 100 << 20 / 40 }), "16"},
		{"few rows", PartitionAuto, with(func(s *Scattered) { s.Rows = 16e6 - 1 }), "0 "},
		{"so many that it is looked at", PartitionAuto, with(func(s *Scattered) { s.Rows, s.Width = 16e6, 24 }), "0 to move the rows would take longer"},
		{"enough rows", PartitionAuto, with(func(s *Scattered) { s.Rows = 20e6 }), "128"},
		{"rows that are too wide", PartitionAuto, with(func(s *Scattered) { s.Width = 80 }), "0 to move the rows would take longer"},
		{"no memory for them", PartitionAuto, with(func(s *Scattered) { s.Memory = 600e6*16 - 1 }), "0 there is no room for the rows"},
		{"just enough", PartitionAuto, with(func(s *Scattered) { s.Memory = 600e6 * 16 }), "128"},
		{"memory that is not known", PartitionAuto, with(func(s *Scattered) { s.Memory = 0 }), "128"},
		{"few groups, but somebody wants it", PartitionOn, Scattered{Rows: 10, Groups: 5, Keys: 1}, "16"},
		{"so many parts", Partition(64), large, "64"},
	} {
		got, why := c.wish.Choose(c.facts)
		if text := fmt.Sprintf("%d %s", got, why); text != c.want && text != c.want+" " {
			t.Errorf("%s: %q, not %q", c.name, text, c.want)
		}
	}
}

// TestPartitionAt: a switch at a group goes before the query's.
func TestPartitionAt(t *testing.T) {
	g := &plan.Group{Props_: plan.Props{Switches: map[string]string{"partition": "64"}}}
	if got := PartitionOff.At(g); got != 64 {
		t.Error(got)
	}
	if got := PartitionOn.At(&plan.Group{}); got != PartitionOn {
		t.Error(got)
	}
}
