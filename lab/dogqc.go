package lab

import (
	"fmt"
	"strings"
)

// The figures of the DogQC paper, by their numbers in chapter 4 of the thesis.
var dogQC = []Figure{
	{Name: "dogqc-4.9", Paper: "DogQC, Figure 4.9", Title: "joins by distribution of keys", Devices: onGPUs, run: distributions},
	{Name: "dogqc-4.10", Paper: "DogQC, Figure 4.10", Title: "operators behind an expansion", Devices: onGPUs, run: afterExpansion},
	{Name: "dogqc-4.11", Paper: "DogQC, Figure 4.11", Title: "push-down parallelism in TPC-H Q10", Missing: "its pipeline has to be shaped as in the paper, by a plan given as JSON that is not written yet"},
	{Name: "dogqc-4.12", Paper: "DogQC, Figure 4.12", Title: "lane refill with one warp per multiprocessor", Devices: onGPUs, run: warpsPerUnit(1)},
	{Name: "dogqc-4.13", Paper: "DogQC, Figure 4.13", Title: "lane refill with eight warps per multiprocessor", Devices: onGPUs, run: warpsPerUnit(8)},
	{Name: "dogqc-4.14", Paper: "DogQC, Figure 4.14", Title: "operators behind a filter", Devices: onGPUs, run: afterFilter},
	{Name: "dogqc-4.15", Paper: "DogQC, Figure 4.15", Title: "lane refill in TPC-H Q10", Missing: "its pipeline has to be shaped as in the paper, by a plan given as JSON that is not written yet"},
	{Name: "dogqc-4.16", Paper: "DogQC, Figure 4.16", Title: "push-down against refill", Missing: "refill inside of a join's matches does not exist"},
	{Name: "dogqc-4.17", Paper: "DogQC, Figure 4.17", Title: "TPC-H with and without balancing", Devices: onGPUs, run: tpchBalanced},
	{Name: "dogqc-4.18", Paper: "DogQC, Figure 4.18", Title: "resources that balancing takes", Missing: "needs ptxas; go run ./tools/kernels prints registers and spills"},
	{Name: "dogqc-4.19", Paper: "DogQC, Figure 4.19", Title: "TPC-H end to end against other systems", Missing: "other systems are not linked in here; the module bench compares with DuckDB"},
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

// try measures a query in a way.
func (b *bench) try(w way, sql string) (sample, error) {
	if w.set == "" {
		return b.ask(sql)
	}
	if err := b.do(w.set); err != nil {
		return sample{}, err
	}
	s, err := b.ask(sql)
	if err != nil {
		return s, err
	}
	return s, b.do("reset " + strings.Fields(w.set)[1])
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
