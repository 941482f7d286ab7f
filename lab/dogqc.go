package lab

import (
	"fmt"
	"strings"
)

// The figures of the DogQC paper, by their numbers in chapter 4 of the thesis.
var dogQC = []Figure{
	{Name: "dogqc-4.9", Paper: "DogQC, Figure 4.9", Title: "joins by distribution of keys", Devices: onGPUs, run: distributions},
	{Name: "dogqc-4.10", Paper: "DogQC, Figure 4.10", Title: "operators behind an expansion", Devices: onGPUs, run: afterExpansion},
	{Name: "dogqc-4.11", Paper: "DogQC, Figure 4.11", Title: "push-down parallelism in TPC-H Q10", Devices: onGPUs, run: posterExpansion},
	{Name: "dogqc-4.12", Paper: "DogQC, Figure 4.12", Title: "lane refill with one warp per multiprocessor", Devices: onGPUs, run: warpsPerUnit(1)},
	{Name: "dogqc-4.13", Paper: "DogQC, Figure 4.13", Title: "lane refill with eight warps per multiprocessor", Devices: onGPUs, run: warpsPerUnit(8)},
	{Name: "dogqc-4.14", Paper: "DogQC, Figure 4.14", Title: "operators behind a filter", Devices: onGPUs, run: afterFilter},
	{Name: "dogqc-4.15", Paper: "DogQC, Figure 4.15", Title: "lane refill in TPC-H Q10", Devices: onGPUs, run: posterFilter},
	{Name: "dogqc-4.16", Paper: "DogQC, Figure 4.16", Title: "push-down against refill", Devices: onGPUs, run: pushOrRefill},
	{Name: "dogqc-4.17", Paper: "DogQC, Figure 4.17", Title: "TPC-H with and without balancing", Devices: onGPUs, run: tpchBalanced},
	{Name: "dogqc-4.18", Paper: "DogQC, Figure 4.18", Title: "resources that balancing takes", Devices: onGPUs, run: balancingNeeds},
	{Name: "dogqc-4.19", Paper: "DogQC, Figure 4.19", Title: "TPC-H end to end, with nothing on the device", Devices: onGPUs, run: coldTPCH},
	{Name: "dogqc-4.20", Paper: "DogQC, Figure 4.20", Title: "a prefix test of texts", Devices: onGPUs, run: prefixes},
}

// way is a value of a switch.
type way struct{ name, set string }

// ways are the values of a switch that exist, beside what is decided without one.
func (b *bench) ways(setting string, values ...string) []way {
	out := []way{{"as decided", ""}}
	for _, v := range values {
		if b.has(setting, v) {
			out = append(out, way{setting + " " + v, fmt.Sprintf("set %s = '%s'", setting, v)})
		}
	}
	if len(out) == 1 {
		b.r.Notes = append(b.r.Notes, "the switch "+setting+" does not exist yet: only what is done without it is shown")
	}
	return out
}

// together is several settings as one way; they are reset in turn.
func together(name string, sets ...string) way { return way{name, strings.Join(sets, "; ")} }

// sets are the statements of a way.
func (w way) sets() []string {
	if w.set == "" {
		return nil
	}
	return strings.Split(w.set, "; ")
}

// try measures a query in a way.
func (b *bench) try(w way, sql string) (sample, error) {
	if err := b.do(w.sets()...); err != nil {
		return sample{}, err
	}
	s, err := b.ask(sql)
	if err != nil {
		return s, err
	}
	return s, b.undo(w)
}

// besideHost measures a query in three ways, and on the CPU. first is the way for which columns have to come to the device, where they stay.
func (b *bench) besideHost(sql string, ways [3]way, first int) (took [3]sample, host float64, err error) {
	for i, w := range ways {
		measure := b.each
		if i == first {
			measure = b.try
		}
		if took[i], err = measure(w, sql); err != nil {
			return took, 0, err
		}
	}
	host, err = b.onHost(sql)
	return took, host, err
}

// each is try where every run is like the first, or the columns are known to be there: a simulated device need not warm up.
func (b *bench) each(w way, sql string) (sample, error) {
	if b.Device != "simt" {
		return b.try(w, sql)
	}
	if err := b.do(w.sets()...); err != nil {
		return sample{}, err
	}
	s, err := b.once(sql)
	if err != nil {
		return s, fmt.Errorf("%s: %w", shorten(sql), err)
	}
	return s, b.undo(w)
}

// undo resets what a way sets.
func (b *bench) undo(w way) error {
	for _, set := range w.sets() {
		if err := b.do("reset " + strings.Fields(set)[1]); err != nil {
			return err
		}
	}
	return nil
}

// seen profiles a query in a way.
func (b *bench) seen(w way, sql string) (*profile, error) {
	if err := b.do(w.sets()...); err != nil {
		return nil, err
	}
	p, err := b.explain(sql)
	if err != nil {
		return nil, err
	}
	return p, b.undo(w)
}

// costs measures a query in several ways.
func (b *bench) costs(ways []way, sql string) ([]float64, error) {
	var out []float64
	for _, w := range ways {
		s, err := b.try(w, sql)
		if err != nil {
			return nil, err
		}
		out = append(out, s.Cost)
	}
	return out, nil
}

// operators puts so many projections and filters, each needing what the one before computed, around an expression of a query.
func operators(n int, from string) string {
	sql := from
	for i := range n {
		where := ""
		if i%3 == 2 { // one in three drops a tenth
			where = " where x % 10 <> 3"
		}
		sql = fmt.Sprintf("select (x * 31 + %d) %% 1000003 as x from (%s) t%d%s", 17+i, sql, i, where)
	}
	return fmt.Sprintf("select sum(x) from (%s) t", sql)
}
