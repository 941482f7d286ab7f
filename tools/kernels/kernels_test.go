package main

import (
	"flag"
	"os"
	"slices"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write gates.txt")

// TestGates holds kernels to what they cost: gates.txt. They may become better.
func TestGates(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulated GPU is slow")
	}
	text, err := gates()
	if err != nil {
		t.Fatal(err)
	}
	if *rewrite {
		if err := os.WriteFile(gatesFile, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := compareGates(text); err != nil {
		t.Error(err)
	}
}

func TestCompareTables(t *testing.T) {
	const kept = "# words\nquery a b\ntpch q6  40.0/18  1.05/1.1  2.5  0.13/1  1/5  900/65536\ntpch q1  95.0/80  1.00/1.1  2.5  0.40/1  5/5  900/65536\n"
	for now, want := range map[string][2][]string{
		kept: {},
		"query a\ntpch q6  40.7/18  1.05/1.1  2.5  0.13/1  1/5  900/65536\n": {},
		"query a\ntpch q6  41.0/18  1.00/1.1  2.5  0.13/1  2/5  900/65536\n": {{"tpch q6: instructions 41, was 40", "tpch q6: launches 2, was 1"}, {"tpch q6: columns 1, was 1.05"}},
		"query a\nlaunches tpch 5/5\n":                                       {{"launches tpch: it is not in the file"}, nil},
		"query a\ntpch q7  41.0/18  1.00/1.1  2.5  0.13/1  2/5  900/65536\n": {{"tpch q7: it is not in the file"}},
	} {
		worse, better := compareTables(kept, now)
		if !slices.Equal(worse, want[0]) || !slices.Equal(better, want[1]) {
			t.Errorf("%s: worse %q, better %q", now, worse, better)
		}
	}
}

func TestAboveLimits(t *testing.T) {
	const head = "# 9/5 is above\nquery a b\n"
	for line, want := range map[string][]string{
		"tpch q6  18.0/18  1.10/1.1  3  5/5  # 7/5 in words\n": nil,
		"tpch q6  18.1/18  1.10/1.1  3  5/5\n":                 {"18.1/18 in tpch q6  18.1/18  1.10/1.1  3  5/5"},
		"tpch q6  18/18  1.11/1.1\n":                           {"1.11/1.1 in tpch q6  18/18  1.11/1.1"},
		"launches   tpch   6/5\n":                              {"6/5 in launches   tpch   6/5"},
		"launches   tpch   six/5\n":                            {"six/5 in launches   tpch   six/5"},
	} {
		if got := aboveLimits(head + line); !slices.Equal(got, want) {
			t.Errorf("%q: %q", line, got)
		}
	}
}

func TestParseUsage(t *testing.T) {
	const text = `ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'pipe0' for 'sm_70'
ptxas info    : Function properties for pipe0
    0 bytes stack frame, 8 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 40 registers, 368 bytes cmem[0]
`
	k, err := parseUsage(text)
	if err != nil || len(k) != 1 || k[0] != (kernel{name: "pipe0", registers: 40, spilled: 24}) {
		t.Errorf("%+v, %v", k, err)
	}
	if _, err := parseUsage("nothing"); err == nil {
		t.Error("nothing was understood")
	}
}

// TestSettle tries what assemblers may say of a kernel.
func TestSettle(t *testing.T) {
	for _, c := range []struct {
		bound int
		says  map[int]kernel // by bound
		want  kernel
	}{
		{0, map[int]kernel{0: {registers: 64}}, kernel{registers: 64}},
		{32, map[int]kernel{32: {registers: 32}}, kernel{registers: 32}},
		{32, map[int]kernel{32: {registers: 32, spilled: 8}, 0: {registers: 40}}, kernel{registers: 40}},
		{32, map[int]kernel{32: {registers: 32, spilled: 8}, 0: {registers: 72}, 64: {registers: 63}}, kernel{registers: 63}},
		{0, map[int]kernel{0: {registers: 65}, 64: {registers: 64}}, kernel{registers: 64}},
		{0, map[int]kernel{0: {registers: 65}, 64: {registers: 64, spilled: 4}}, kernel{registers: 65}},
	} {
		all, err := settle(c.bound, func(registers int) ([]kernel, error) {
			k, ok := c.says[registers]
			if !ok {
				t.Errorf("%+v: nobody wants %d registers", c, registers)
			}
			return []kernel{k}, nil
		})
		if err != nil || len(all) != 1 || all[0] != c.want {
			t.Errorf("%+v: %+v, %v", c, all, err)
		}
	}
	for k, want := range map[kernel]bool{{registers: 64}: false, {registers: 65}: true, {registers: 8, spilled: 4}: true} {
		if k.tooMuch() != want {
			t.Errorf("%+v: %v", k, !want)
		}
	}
}
