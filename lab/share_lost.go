package lab

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/kelpiedb/kelpie/internal/plot"
	"github.com/kelpiedb/kelpie/internal/session"
)

// whatIsLost asks why two processors together do less than both alone would: the GPU alone is measured again while the CPU's threads are busy with
// something else, which needs no memory or much of it, and the shared queries with fewer threads and with larger blocks on the bus.
func (b *bench) whatIsLost(queries []string) error {
	r := b.r
	cpu, gpu := r.Table.Rows[0].Values, r.Table.Rows[1].Values
	threads := runtime.GOMAXPROCS(0)
	if b.Threads > 0 {
		threads = b.Threads
	}
	if err := b.do("set share = off"); err != nil {
		return err
	}
	var bounds []float64
	for i := range queries {
		c, g := cpu[2*i]*float64(threads)/float64(max(threads-1, 1)), gpu[2*i]
		bounds = append(bounds, 1/(1/c+1/g), 100*c/(c+g))
		p, err := b.explain(queries[i])
		if err != nil {
			return err
		}
		m := p.Summary.Moved
		r.Notes = append(r.Notes, fmt.Sprintf("%s: %s MB over the bus, %s GB/s when the GPU is alone", []string{"Q1", "Q6"}[i], plot.Number(m.Bus/1e6), plot.Number(m.Bus/1e6/g)))
	}
	r.Table.add("bound: both as fast as alone, less one thread", bounds...)
	r.Notes = append(r.Notes, fmt.Sprintf("if neither lost speed beside the other, but for a thread of the CPU that drives the GPU, %s of the better one alone would be reached for Q1, %s for Q6",
		times(min(cpu[0], gpu[0])/bounds[0]), times(min(cpu[2], gpu[2])/bounds[2])))
	for _, load := range []struct{ name, sql string }{
		{"that computes", "select sum(i % 7 * 3 + i % 13) from generate_series(1, 1000000000000) g(i)"},
		{"that does Q1", queries[0]}, {"that does Q6, bound by memory", queries[1]},
	} {
		var values []float64
		for _, sql := range queries {
			err := b.beside(load.sql, threads-1, "cpu", func() error {
				ms, err := b.timed(sql, 2)
				values = append(values, ms, 100)
				return err
			})
			if err != nil {
				return err
			}
		}
		r.Table.add("GPU alone beside a CPU "+load.name, values...)
	}
	var beside []float64
	for _, sql := range queries {
		err := b.beside(sql, 1, b.Device, func() error {
			ms, err := b.onHost(sql)
			beside = append(beside, ms, 0)
			return err
		})
		if err != nil {
			return err
		}
	}
	r.Table.add("CPU alone beside a GPU that streams", beside...)
	for _, w := range []way{
		together("as they come, again", "set share = on"),
		together("as they come, half of the threads", "set share = on", fmt.Sprintf("set threads = %d", max(threads/2, 1))),
		together("as they come, two threads less", "set share = on", fmt.Sprintf("set threads = %d", max(threads-2, 1))),
		together("as they come, blocks of 128 MB", "set share = on", "set feed_block = '128MB'"),
		together("GPU alone, blocks of 128 MB", "set share = off", "set feed_block = '128MB'"),
	} {
		if err := b.do(w.sets()...); err != nil {
			return err
		}
		var values []float64
		for i, sql := range queries {
			ms, err := b.timed(sql, 2)
			if err != nil {
				return err
			}
			percent := 100.0
			if t, err := b.takes(sql); err != nil {
				return err
			} else if t != nil {
				percent = t.percent()
				r.Notes = append(r.Notes, fmt.Sprintf("%s, %s, with counters: %s", []string{"Q1", "Q6"}[i], w.name, t.told()))
			}
			values = append(values, ms, percent)
		}
		r.Table.add(w.name, values...)
		if err := b.undo(w); err != nil {
			return err
		}
	}
	return nil
}

// beside keeps so many threads of the CPU, or a GPU, busy with a query, again and again, while something else is measured.
func (b *bench) beside(sql string, threads int, dev string, measure func() error) error {
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	other := session.New(b.db)
	for _, set := range []string{"set device = '" + dev + "'", "set feed = 'batch'", "set share = off"} {
		if _, err := other.Query(ctx, set); err != nil {
			return err
		}
	}
	other.Configure(func(x *session.Settings) { x.Threads = max(threads, 1) })
	var failed error
	var done sync.WaitGroup
	done.Go(func() {
		for ctx.Err() == nil {
			res, err := other.Query(ctx, sql)
			if err != nil {
				if ctx.Err() == nil {
					failed = err
				}
				return
			}
			res.Close()
		}
	})
	err := measure()
	cancel()
	done.Wait()
	if err == nil {
		err = failed
	}
	return err
}

// told is when each processor was at work, and how fast.
func (t *taken) told() string {
	type work struct{ rows, from, to, busy float64 }
	by := map[string]*work{"cpu": {from: math.Inf(1)}, "gpu": {from: math.Inf(1)}}
	for _, x := range t.Ranges {
		w := by[x.By]
		w.rows += x.Hi - x.Lo
		w.busy += x.To - x.From
		w.from, w.to = min(w.from, x.From), max(w.to, x.To)
	}
	text := ""
	for _, name := range []string{"cpu", "gpu"} {
		w := by[name]
		if w.rows == 0 {
			text += name + " has no rows; "
			continue
		}
		text += fmt.Sprintf("%s from %s to %s ms, %s million rows a ms; ", name, plot.Number(w.from), plot.Number(w.to), plot.Number(w.rows/1e6/(w.to-w.from)))
	}
	return text + fmt.Sprintf("the GPU is at its rows for %s ms", plot.Number(by["gpu"].busy))
}
