package session

import (
	"context"
	"fmt"
	"math"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/kelpiedb/kelpie/gen/more"
	"github.com/kelpiedb/kelpie/internal/compile"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/gpu"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// kernelOf is a pipeline's kernel and its name in the table.
type kernelOf struct {
	name string
	f    *ir.Func
}

// looked are the kernels of queries as they would be compiled, without cuts. None is too small to be looked at and yet needs too many registers.
func looked(t *testing.T, s *Session, suite string, names, texts []string) (out []kernelOf) {
	set := s.Settings()
	set.Device, set.Fuse = "simt", phys.FuseCompound
	opts := s.options(&set)
	for i, sql := range texts {
		prog, _, err := s.plan(context.Background(), boundQuery(t, s, sql), &set, nil, &Timing{})
		if err != nil {
			t.Fatal(err)
		}
		for k, l := range compile.Explain(prog, (*gpu.Store)(nil).Place("simt", &opts), compile.Options{}) {
			if l.Err != nil { // it runs on the CPU
				continue
			}
			name := fmt.Sprintf("%s %s %d", suite, names[i], k)
			need := phys.Registers(l.Fragment.Func.Pressure())
			if most := phys.Registers(phys.MostPressure(l.Pipeline)); need > phys.FuseBudget(0).Allowed() && most < need {
				t.Errorf("%s: %d registers estimated, a glance at the pipeline says %d", name, need, most)
			}
			if suite != "wide" && need > phys.FuseBudget(0).Allowed() {
				t.Errorf("%s: %d registers estimated: it would be cut, but does not spill", name, need)
			}
			out = append(out, kernelOf{name, l.Fragment.Func})
		}
	}
	return out
}

// allLooked are the kernels of the benchmarks, and some that need very many registers.
func allLooked(t *testing.T) (out []kernelOf) {
	s := New(NewDB())
	makeWide(t, s)
	var names, texts []string
	for _, n := range []int{8, 16, 24, 32, 48} {
		sums := listed(n, ", ", func(i int) string { return fmt.Sprintf("sum(d%d)", i) })
		names = append(names, fmt.Sprintf("sums%d", n), fmt.Sprintf("groups%d", n), fmt.Sprintf("waiting%d", n), fmt.Sprintf("both%d", n))
		texts = append(texts, "select "+sums+" from wide", "select k, "+sums+" from wide group by k", "select "+waiting(n)+" from wide",
			"select "+listed(n, ", ", func(i int) string { return fmt.Sprintf("sum(x * %d)", i) })+" from (select "+waiting(n)+" as x from wide) t")
	}
	out = looked(t, s, "wide", names, texts)
	for _, suite := range []string{"ssb", "tpch"} {
		if testing.Short() && suite == "tpch" {
			return out
		}
		s = load(t, suite, "0.01")
		texts = nil
		for _, q := range suiteQueries(suite) {
			texts = append(texts, queryText(t, suite, q))
		}
		out = append(out, looked(t, s, suite, suiteQueries(suite), texts)...)
	}
	names, texts = nil, nil
	for _, sql := range more.Tables(0.01, more.Queries()) {
		mustRun(t, s, sql)
	}
	for _, q := range more.Queries() {
		names, texts = append(names, q.Name), append(texts, q.SQL)
	}
	return append(out, looked(t, s, "more", names, texts)...)
}

// registersFile is what ptxas gave to each kernel.
const registersFile = "testdata/registers.txt"

const registersHead = `# Registers that ptxas 12.9 gives to the threads of kernels for sm_90, none of which spills, without a bound of ours: suite, query, pipeline, registers.
# KELPIE_PTXAS=… go test ./internal/session -run TestRegistersPtxas -rewrite writes this file.
`

// TestRegistersPtxas: what is estimated of kernels is what an assembler says, which the table has, or else the assembler itself, if KELPIE_PTXAS names one. Estimates
// are for large kernels; of small ones no cut depends on them.
func TestRegistersPtxas(t *testing.T) {
	all := allLooked(t)
	real := map[string]int{}
	if tool := os.Getenv("KELPIE_PTXAS"); tool != "" {
		real = assembledAll(t, tool, all)
	} else {
		kept, err := os.ReadFile(registersFile)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(kept)) {
			if f := strings.Fields(line); f[0] != "#" {
				real[strings.Join(f[:3], " ")], _ = strconv.Atoi(f[3])
			}
		}
	}
	if *rewrite {
		text := registersHead
		for _, k := range all {
			text += fmt.Sprintf("%s %d\n", k.name, real[k.name])
		}
		if err := os.WriteFile(registersFile, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	found, close, squares := 0, 0, 0.0
	for _, k := range all {
		is := real[k.name]
		if is == 0 { // the query is new
			continue
		}
		found++
		off := phys.Registers(k.f.Pressure()) - is
		squares += float64(off * off)
		if off >= -8 && off <= 8 {
			close++
		}
		// Of those that matter for a cut, a quarter more or less.
		if is > 64 && math.Abs(float64(off)) > 0.25*float64(is) {
			t.Errorf("%s: %d registers, %d estimated", k.name, is, is+off)
		}
	}
	t.Logf("%d of %d kernels known, %d of them within 8 registers, %.1f off on average (root of mean square)", found, len(all), close, math.Sqrt(squares/float64(found)))
	if found*10 < len(all)*9 || close*10 < found*9 {
		t.Errorf("%d of %d kernels are known, %d of them within 8 registers", found, len(all), close)
	}
}

// assembledAll asks an assembler about kernels. None may spill.
func assembledAll(t *testing.T, tool string, all []kernelOf) map[string]int {
	out := map[string]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	turn, dir := make(chan int, 2), t.TempDir()
	for i, k := range all {
		turn <- i
		wg.Go(func() {
			defer func() { <-turn }()
			text, err := device.ModuleGPU(90, k.f)
			file := filepath.Join(dir, strconv.Itoa(i)+".ptx")
			if err == nil {
				err = os.WriteFile(file, []byte(text), 0o600)
			}
			if err != nil {
				t.Error(err)
				return
			}
			said, err := osexec.Command(tool, "-v", "-arch=sm_90", "-o", file+".cubin", file).CombinedOutput()
			m := regexp.MustCompile(`Used (\d+) registers`).FindSubmatch(said)
			if err != nil || m == nil || !strings.Contains(string(said), " 0 bytes spill stores, 0 bytes spill loads") {
				t.Errorf("%s: %v\n%s", k.name, err, said)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			out[k.name], _ = strconv.Atoi(string(m[1]))
		})
	}
	wg.Wait()
	return out
}
