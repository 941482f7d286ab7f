package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A killer is a run of tests that may notice a mutant. They are tried in order, cheap ones first.
type killer struct {
	pkg  string
	args []string
	took time.Duration // without a mutant
}

// killersOf returns the tests for a package's mutants: its own, then those that run whole queries.
func killersOf(pkg string) []*killer {
	var ks []*killer
	// A package without tests of its own is tested by what its code does in a query.
	if own, _ := filepath.Glob(filepath.Join(pkg, "*_test.go")); len(own) > 0 {
		ks = append(ks, shared(pkg, "-test.short"))
	}
	return append(ks,
		shared("internal/session", "-test.short", "-test.run", "^TestCorpus$"),
		shared("internal/session", "-test.short", "-test.skip", "^TestCorpus$"))
}

// wholeSession is the key of the dearest killer.
const wholeSession = "internal/session -test.short -test.skip ^TestCorpus$"

var killers = map[string]*killer{}

// shared returns the one killer with these arguments, so that its time is measured once.
func shared(pkg string, args ...string) *killer {
	key := pkg + " " + strings.Join(args, " ")
	if killers[key] == nil {
		killers[key] = &killer{pkg: pkg, args: args}
	}
	return killers[key]
}

// trial builds the test binaries, makes sure that they pass without a mutant, and returns the
// mutants that pass too.
func trial(dir, overlay string, set []*mutant, jobs int, noted *verdicts) ([]*mutant, error) {
	need := map[string]bool{}
	for _, m := range set {
		for _, k := range killersOf(filepath.Dir(m.file)) {
			need[k.pkg] = true
		}
	}
	for pkg := range need {
		build := exec.Command("go", "test", "-c", "-overlay", overlay, "-o", binary(dir, pkg), "./"+pkg)
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("building tests of %s: %w\n%s", pkg, err, out)
		}
	}
	for key, k := range killers {
		start := time.Now()
		if failed, out := k.run(dir, 0, 20*time.Minute); failed != "" {
			return nil, fmt.Errorf("without any mutant, %s fails:\n%s", key, out)
		}
		k.took = time.Since(start)
		fmt.Printf("passes without a mutant: %s (%.1fs)\n", key, k.took.Seconds())
	}

	// The cheap tests of all mutants first: what is left for the dear ones is soon known.
	dear := killers[wholeSession]
	left := attempt(dir, set, jobs, noted, func(m *mutant) []*killer {
		return slices.DeleteFunc(killersOf(filepath.Dir(m.file)), func(k *killer) bool { return k == dear })
	})
	fmt.Printf("%d of %d mutants are left for the rest of the session's tests\n", len(left), len(set))
	return attempt(dir, left, jobs, noted, func(*mutant) []*killer { return []*killer{dear} }), nil
}

// attempt runs killers on mutants and returns those that pass them all.
func attempt(dir string, set []*mutant, jobs int, noted *verdicts, of func(*mutant) []*killer) []*mutant {
	var mu sync.Mutex
	var survivors []*mutant
	var wg sync.WaitGroup
	queue := make(chan *mutant)
	for range jobs {
		wg.Go(func() {
			for m := range queue {
				by := ""
				start := time.Now()
				mu.Lock()
				ks := of(m)
				mu.Unlock()
				for _, k := range ks {
					// A mutant that loops is noticed by the clock; other mutants run beside it.
					if by, _ = k.run(dir, m.id, 4*k.took+30*time.Second); by != "" {
						by = k.pkg + " " + by
						break
					}
				}
				mu.Lock()
				if by == "" {
					by = "SURVIVED"
					survivors = append(survivors, m)
				} else {
					noted.add(m, by)
				}
				fmt.Printf("%3d %5.1fs  %-60s %s:%d  %s  %s → %s\n", m.id, time.Since(start).Seconds(), by, m.file, m.line, m.kind, m.text, m.becomes)
				mu.Unlock()
			}
		})
	}
	for _, m := range set {
		queue <- m
	}
	close(queue)
	wg.Wait()
	slices.SortFunc(survivors, func(a, b *mutant) int { return a.id - b.id })
	return survivors
}

func binary(dir, pkg string) string {
	return filepath.Join(dir, strings.ReplaceAll(pkg, "/", "_")+".test")
}

var failure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)|^(panic: .{0,60}|fatal error: .{0,60}|SIG.{0,60}|internal error.{0,60})`)

// run returns what failed, or "" if all passed, and the output.
func (k *killer) run(dir string, id int, limit time.Duration) (failed, output string) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary(dir, k.pkg), append([]string{"-test.failfast", "-test.timeout=0"}, k.args...)...)
	cmd.Dir = k.pkg
	cmd.Env = append(os.Environ(), "KELPIE_MUTANT="+strconv.Itoa(id))
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return "", string(out)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "time", string(out)
	}
	if m := failure.FindStringSubmatch(string(out)); m != nil {
		return m[1] + m[2], string(out)
	}
	return err.Error(), string(out)
}
