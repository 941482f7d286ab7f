package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kelpiedb/kelpie/internal/cuda"
	"github.com/kelpiedb/kelpie/internal/device"
)

// module is a text that the driver is to compile.
type module struct {
	query, name string
	text        string
	bound       int
}

// readModules reads what writeTexts has written, the longest text first.
func readModules(dir string) ([]module, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.ptx"))
	if err != nil {
		return nil, err
	}
	var all []module
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		_, rest, _ := strings.Cut(string(text), ".entry ")
		name, _, _ := strings.Cut(rest, "(")
		query, _, _ := strings.Cut(filepath.Base(f), "-")
		all = append(all, module{query, name, string(text), device.Bound(string(text))})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there are no texts in %s: -texts writes them", dir)
	}
	slices.SortStableFunc(all, func(a, b module) int { return len(b.text) - len(a.text) })
	return all, nil
}

// timer measures how long the driver takes to compile.
type timer struct{ c *cuda.Context }

// link compiles a module with a level of optimization.
func (t *timer) link(m *module, level int) (took time.Duration, cubin []byte, err error) {
	registers := max(m.bound, 0)
	if level == 0 { // it would spill
		registers = 0
	}
	start := time.Now()
	cubin, err = t.c.LinkAt([]byte(m.text), registers, level)
	return time.Since(start), cubin, err
}

// together compiles modules, each on a thread, and says when the last is done.
func (t *timer) together(ms []*module, level int) (time.Duration, error) {
	errs := make([]error, len(ms))
	var wg sync.WaitGroup
	start := time.Now()
	for i := range ms {
		wg.Go(func() { _, _, errs[i] = t.link(ms[i], level) })
	}
	wg.Wait()
	return time.Since(start), errors.Join(errs...)
}

// levels of optimization that are compared.
var levels = []int{0, 1, 2, 3}

// timeDriver prints how long the driver takes: for each kernel by itself, with what it needs then, and for those of a query at once.
func timeDriver(dir string) error {
	all, err := readModules(dir)
	if err != nil {
		return err
	}
	start := time.Now()
	d, err := cuda.Open()
	if err != nil {
		return err
	}
	opened := time.Since(start)
	c, err := d.Context(0)
	if err != nil {
		return err
	}
	fmt.Printf("%s, %d processors; ready after %.0f ms, its context %.0f later\n", d, runtime.NumCPU(), millis(opened), millis(time.Since(start)-opened))
	t := &timer{c}
	small := &all[len(all)-1]
	for _, which := range []string{"first", "second"} {
		took, _, err := t.link(small, 3)
		if err != nil {
			return err
		}
		fmt.Printf("the smallest kernel (%d bytes), %s time: %.1f ms\n", len(small.text), which, millis(took))
	}
	if err := t.alone(all); err != nil {
		return err
	}
	return t.queries(all)
}

// alone compiles one after the other.
func (t *timer) alone(all []module) error {
	fmt.Printf("\n%-5s %-26s %6s %6s", "query", "kernel", "bytes", "bound")
	for _, l := range levels {
		fmt.Printf(" %13s", fmt.Sprint("level ", l))
	}
	fmt.Println("   (ms, registers/bytes of local memory)")
	for i := range all {
		m := &all[i]
		fmt.Printf("%-5s %-26.26s %6d %6d", m.query, m.name, len(m.text), m.bound)
		for _, l := range levels {
			took, cubin, err := t.link(m, l)
			if err != nil {
				return err
			}
			use, err := t.usage(m, cubin)
			if err != nil {
				return err
			}
			fmt.Printf(" %6.1f %6s", millis(took), fmt.Sprintf("%d/%d", use.Registers, use.Local))
		}
		fmt.Println()
	}
	return nil
}

// usage is what the code of a module needs.
func (t *timer) usage(m *module, cubin []byte) (cuda.Usage, error) {
	loaded, err := t.c.Load(cubin)
	if err != nil {
		return cuda.Usage{}, err
	}
	defer loaded.Unload()
	f, err := loaded.Function(m.name)
	if err != nil {
		return cuda.Usage{}, err
	}
	return f.Usage()
}

// queries compiles all kernels of a query at once that no query before it has.
func (t *timer) queries(all []module) error {
	byQuery := map[string][]*module{}
	var names []string
	for i := range all {
		q := all[i].query
		if byQuery[q] == nil {
			names = append(names, q)
		}
		byQuery[q] = append(byQuery[q], &all[i])
	}
	fmt.Printf("\n%-5s %8s", "query", "kernels")
	for _, l := range levels {
		fmt.Printf(" %8s", fmt.Sprint("level ", l))
	}
	fmt.Println("   (ms to the last, the least of 3 times)")
	for _, q := range names {
		fmt.Printf("%-5s %8d", q, len(byQuery[q]))
		for _, l := range levels {
			best := time.Hour
			for range 3 {
				took, err := t.together(byQuery[q], l)
				if err != nil {
					return err
				}
				best = min(best, took)
			}
			fmt.Printf(" %8.1f", millis(best))
		}
		fmt.Println()
	}
	return nil
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
