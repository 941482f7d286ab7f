package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
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
	sort.SliceStable(all, func(i, j int) bool { return len(all[i].text) > len(all[j].text) })
	return all, nil
}

func msOf(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

type linker struct{ c *cuda.Context }

func (l *linker) link(m *module, level int) (time.Duration, []byte) {
	registers := m.bound
	if registers == cuda.AsItIs && level != 3 {
		registers = 0
	}
	start := time.Now()
	cubin, err := l.c.LinkAt([]byte(m.text), registers, level)
	if err != nil {
		panic(err)
	}
	return time.Since(start), cubin
}

func (l *linker) least(m *module, level, runs int) (best time.Duration, cubin []byte) {
	best = time.Hour
	for range runs {
		var t time.Duration
		t, cubin = l.link(m, level)
		best = min(best, t)
	}
	return best, cubin
}

func faults() (minor int64, user, sys float64) {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	t := func(v syscall.Timeval) float64 { return float64(v.Sec)*1e3 + float64(v.Usec)/1e3 }
	return u.Minflt, t(u.Utime), t(u.Stime)
}

// together compiles all, each on a thread.
func (l *linker) together(ms []*module, level int) (last time.Duration, each []time.Duration) {
	each = make([]time.Duration, len(ms))
	var wg sync.WaitGroup
	start := time.Now()
	for i := range ms {
		wg.Go(func() { each[i], _ = l.link(ms[i], level) })
	}
	wg.Wait()
	return time.Since(start), each
}

func timeDriver(dir string) error {
	all, err := readModules(dir)
	if err != nil || len(all) == 0 {
		return fmt.Errorf("no texts: %v", err)
	}
	start := time.Now()
	d, err := cuda.Open()
	if err != nil {
		return err
	}
	fmt.Printf("cuInit %.1f ms, %s, %d processors\n", msOf(time.Since(start)), d, runtime.NumCPU())
	start = time.Now()
	c, err := d.Context(0)
	if err != nil {
		return err
	}
	fmt.Printf("context %.1f ms\n", msOf(time.Since(start)))
	l := &linker{c}
	small, large := &all[len(all)-1], &all[0]
	if n := os.Getenv("COPIES"); n != "" { // a child: one compilation, at a time that all children know
		l.least(small, 3, 1)
		at, _ := strconv.ParseInt(n, 10, 64)
		l.least(&all[4], 3, 1)
		time.Sleep(time.Until(time.UnixMilli(at)))
		t, _ := l.link(&all[4], 3)
		fmt.Printf("%.1f\n", msOf(t))
		return nil
	}
	for i := range 3 {
		t, _ := l.link(small, 3)
		fmt.Printf("smallest, %d bytes, time %d: %.2f ms\n", len(small.text), i, msOf(t))
	}
	_ = large
	part := func(p string) bool { return os.Getenv("PARTS") == "" || strings.Contains(os.Getenv("PARTS"), p) }

	// One at a time.
	if part("alone") {
		fmt.Printf("\n%-5s %-24s %6s %4s", "query", "kernel", "bytes", "reg")
		for level := range 5 {
			fmt.Printf(" %6s %5s", fmt.Sprint("O", level), "local")
		}
		fmt.Println("   faults user sys of O3")
		step := func(i int) bool { return i < 16 || i < 80 && i%5 == 0 || i%20 == 0 }
		for i := range all {
			if !step(i) {
				continue
			}
			m := &all[i]
			fmt.Printf("%-5s %-24.24s %6d %4d", m.query, m.name, len(m.text), m.bound)
			var f, u, s float64
			for level := range 5 {
				f0, u0, s0 := faults()
				t, cubin := l.least(m, level, 2)
				if level == 3 {
					f1, u1, s1 := faults()
					f, u, s = float64(f1-f0)/2, (u1-u0)/2, (s1-s0)/2
				}
				mod, err := c.Load(cubin)
				if err != nil {
					return err
				}
				fn, err := mod.Function(m.name)
				if err != nil {
					return err
				}
				use, err := fn.Usage()
				if err != nil {
					return err
				}
				fmt.Printf(" %6.1f %2d/%-2d", msOf(t), use.Registers, use.Local)
				mod.Unload()
			}
			fmt.Printf("  %5.0f %5.1f %5.1f\n", f, u, s)
		}
	}

	// Copies of one.
	if part("copies") {
		m := &all[4]
		fmt.Printf("\ncopies of %s %s (%d bytes) at once: n, last, median of each\n", m.query, m.name, len(m.text))
		for _, n := range []int{1, 2, 4, 8, 12, 16} {
			ms := slices.Repeat([]*module{m}, n)
			best, mid := time.Hour, time.Duration(0)
			for range 3 {
				last, each := l.together(ms, 3)
				slices.Sort(each)
				if last < best {
					best, mid = last, each[len(each)/2]
				}
			}
			fmt.Printf("  %2d %7.1f %7.1f\n", n, msOf(best), msOf(mid))
		}
	}
	if part("procs") {
		for _, n := range []int{1, 8, 16} {
			at := time.Now().Add(5 * time.Second).UnixMilli()
			var wg sync.WaitGroup
			outs := make([]string, n)
			for i := range n {
				wg.Go(func() {
					cmd := exec.Command(os.Args[0], os.Args[1:]...)
					cmd.Env = append(os.Environ(), fmt.Sprint("COPIES=", at))
					out, _ := cmd.Output()
					lines := strings.Split(strings.TrimSpace(string(out)), "\n")
					outs[i] = lines[len(lines)-1]
				})
			}
			wg.Wait()
			fmt.Printf("  %2d processes: %s\n", n, strings.Join(outs, " "))
		}
	}

	// All of a query.
	if part("query") {
		byQuery := map[string][]*module{}
		var names []string
		for i := range all {
			q := all[i].query
			if byQuery[q] == nil {
				names = append(names, q)
			}
			byQuery[q] = append(byQuery[q], &all[i])
		}
		fmt.Printf("\nqueries: kernels that no earlier one has, all at once: ms to the last, at O3, O1, O0; longest kernel, and its time alone; all in two modules (the longest, the rest); sum of O3 alone\n")
		for _, q := range names {
			ms := byQuery[q]
			least := func(f func() time.Duration) float64 {
				best := time.Hour
				for range 3 {
					best = min(best, f())
				}
				return msOf(best)
			}
			at := func(level int) float64 {
				return least(func() time.Duration { t, _ := l.together(ms, level); return t })
			}
			o3, o1, o0 := at(3), at(1), at(0)
			alone, sum := 0.0, 0.0
			which := ms[0]
			for _, m := range ms {
				t, _ := l.least(m, 3, 1)
				sum += msOf(t)
				if msOf(t) > alone {
					alone, which = msOf(t), m
				}
			}
			// the others in one module
			rest := module{bound: 0, name: "rest"}
			for i, m := range ms {
				if m == which {
					continue
				}
				t := strings.Replace(m.text, ".entry "+m.name+"(", fmt.Sprintf(".entry %s_%d(", m.name, i), 1)
				if rest.text == "" {
					rest.text = t
				} else if _, body, ok := strings.Cut(t, ".address_size 64\n"); ok && !strings.Contains(body, ".extern") && !strings.Contains(body, ".global") {
					rest.text += body
				}
			}
			two := 0.0
			if rest.text != "" {
				two = least(func() time.Duration {
					t, _ := l.together([]*module{which, &rest}, 3)
					return t
				})
			}
			fmt.Printf("  %-4s %2d kernels %7.1f %7.1f %7.1f   %-14.14s %6d bytes %7.1f   two %7.1f   sum %7.1f\n", q, len(ms), o3, o1, o0, which.name, len(which.text), alone, two, sum)
		}
	}

	if part("target") {
		fmt.Printf("\nother headers, O3, alone: as it is, sm_90, sm_90 without comments\n")
		for i := 0; i < len(all); i += 12 {
			m := all[i]
			a, _ := l.least(&m, 3, 3)
			n := m
			n.text = strings.Replace(strings.Replace(m.text, ".target sm_70", ".target sm_90", 1), ".version 7.0", ".version 8.0", 1)
			b, _ := l.least(&n, 3, 3)
			var out strings.Builder
			for line := range strings.Lines(n.text) {
				if !strings.HasPrefix(strings.TrimSpace(line), "//") {
					out.WriteString(line)
				}
			}
			n.text = out.String()
			d, _ := l.least(&n, 3, 3)
			fmt.Printf("  %-4s %-14.14s %6d  %6.1f %6.1f %6.1f\n", m.query, m.name, len(m.text), msOf(a), msOf(b), msOf(d))
		}
	}
	return nil
}
