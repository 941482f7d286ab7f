package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/kelpiedb/kelpie/internal/device"
)

// architectures are the GPUs that kernels are emitted for, and those that each text is assembled for.
var architectures = []struct {
	emitted   int
	assembled []int
}{{70, []int{70, 80, 90}}, {90, []int{90}}}

// kernel is what the assembler says of one.
type kernel struct {
	query     string // the first that has it
	name      string
	registers int
	spilled   int // bytes
}

// assembleAll assembles the kernels of all queries and prints what they need. One that spills, or has too many registers, is an error.
func assembleAll(ptxas string) error {
	bad, known := 0, map[string]bool{}
	for _, a := range architectures {
		var texts []string
		from := map[string]string{}
		for _, s := range suites() {
			w, err := newWorld(s, a.emitted)
			if err != nil {
				return err
			}
			for _, q := range s.queries {
				if _, err := w.ask(q.SQL); err != nil {
					return fmt.Errorf("%s %s: %w", s.name, q.Name, err)
				}
				for _, text := range w.gpu.texts {
					if !known[text] {
						known[text] = true
						texts, from[text] = append(texts, text), s.name+" "+q.Name
					}
				}
				w.gpu.texts = nil
			}
		}
		for _, arch := range a.assembled {
			if len(texts) == 0 { // nothing is emitted otherwise for it
				continue
			}
			all, err := assemble(ptxas, arch, texts, from)
			if err != nil {
				return err
			}
			bad += report(arch, a.emitted, all)
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d kernels spill, or have more than %d registers", bad, device.MostRegisters)
	}
	return nil
}

// tooMuch reports a kernel that keeps others from running beside it, or waits for memory of its own.
func (k *kernel) tooMuch() bool { return k.registers > device.MostRegisters || k.spilled > 0 }

// report prints the kernels of an architecture that need much, and says how many need too much.
func report(arch, emitted int, all []kernel) (bad int) {
	total, most := 0, 0
	for _, k := range all {
		total += k.registers
		most = max(most, k.registers)
		if k.tooMuch() {
			bad++
			fmt.Printf("sm_%d: %s of %s has %d registers and spills %d bytes\n", arch, k.name, k.query, k.registers, k.spilled)
		}
	}
	fmt.Printf("sm_%d, emitted for sm_%d: %d kernels, %d registers on average, %d at the most; %d spill or have more than %d\n", arch, emitted, len(all),
		total/max(len(all), 1), most, bad, device.MostRegisters)
	slices.SortStableFunc(all, func(a, b kernel) int { return b.registers - a.registers })
	for _, k := range all[:min(5, len(all))] {
		fmt.Printf("    %3d registers: %s of %s\n", k.registers, k.name, k.query)
	}
	return bad
}

var (
	properties = regexp.MustCompile(`Function properties for (\S+)\n\s*\d+ bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads`)
	used       = regexp.MustCompile(`Used (\d+) registers`)
)

// assemble asks the assembler about texts, several at a time.
func assemble(ptxas string, arch int, texts []string, from map[string]string) ([]kernel, error) {
	dir, err := os.MkdirTemp("", "kernels")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	found := make([][]kernel, len(texts))
	errs := make([]error, len(texts))
	turn := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i, text := range texts {
		wg.Add(1)
		turn <- struct{}{}
		go func() {
			defer wg.Done()
			defer func() { <-turn }()
			file := filepath.Join(dir, strconv.Itoa(i)+".ptx")
			if errs[i] = os.WriteFile(file, []byte(text), 0o600); errs[i] != nil {
				return
			}
			if found[i], errs[i] = settle(device.Bound(text), func(registers int) ([]kernel, error) { return usage(ptxas, arch, file, registers) }); errs[i] != nil {
				errs[i] = fmt.Errorf("sm_%d: a kernel of %s: %w", arch, from[text], errs[i])
			}
			for k := range found[i] {
				found[i][k].query = from[text]
			}
		}()
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return slices.Concat(found...), nil
}

// settle assembles with a bound, where there is one, and finds others as devices do (cuda.Compiler): if it spills, the assembler is free, and if it
// takes too many registers then, it gets fewer, unless that spills.
func settle(bound int, assemble func(registers int) ([]kernel, error)) ([]kernel, error) {
	spills := func(all []kernel) bool { return slices.ContainsFunc(all, func(k kernel) bool { return k.spilled > 0 }) }
	all, err := assemble(bound)
	if err == nil && bound > 0 && spills(all) {
		all, err = assemble(0)
	}
	if err == nil && slices.ContainsFunc(all, func(k kernel) bool { return k.registers > device.MostRegisters }) {
		if tight, err := assemble(device.MostRegisters); err != nil || !spills(tight) {
			return tight, err
		}
	}
	return all, err
}

// usage assembles a file.
func usage(ptxas string, arch int, file string, registers int) ([]kernel, error) {
	args := []string{"-v", fmt.Sprintf("-arch=sm_%d", arch), "-o", file + ".cubin", file}
	if registers > 0 {
		args = append(args, "-maxrregcount", strconv.Itoa(registers))
	}
	out, err := exec.Command(ptxas, args...).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	return parseUsage(string(out))
}

// parseUsage reads what ptxas -v says.
func parseUsage(text string) (out []kernel, err error) {
	names, registers := properties.FindAllStringSubmatch(text, -1), used.FindAllStringSubmatch(text, -1)
	if len(names) != len(registers) || len(names) == 0 {
		return nil, fmt.Errorf("the assembler's words are not understood:\n%s", text)
	}
	number := func(s string) int { n, _ := strconv.Atoi(s); return n }
	for i, n := range names {
		out = append(out, kernel{name: n[1], registers: number(registers[i][1]), spilled: number(n[2]) + number(n[3])})
	}
	return out, nil
}
