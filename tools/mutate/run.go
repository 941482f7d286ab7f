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
	once sync.Once
	took bounds // without a mutant
	err  error  // it fails without one
}

// bounds are how long a run takes, or may take: time of processors, and on the clock. What loops without an end uses up the
// former, whatever else the machine has to do; what waits without an end, the latter.
type bounds struct{ cpu, wall time.Duration }

func (b bounds) enough() bounds { return bounds{3*b.cpu + 10*time.Second, 10*b.wall + 2*time.Minute} }

// killersOf returns the tests for a package's mutants: its own, then those that run whole queries.
func killersOf(pkg string) []*killer {
	var ks []*killer
	// A package without tests of its own is tested by what its code does in a query.
	if own, _ := filepath.Glob(filepath.Join(pkg, "*_test.go")); len(own) > 0 {
		ks = append(ks, shared(pkg, "-test.short"))
	}
	ks = append(ks, shared("internal/session", "-test.short", "-test.run", "^(TestCorpus|TestWindowBlocks|TestExplainRecursion)$"))
	if forDevices.MatchString(pkg) {
		ks = append(ks, shared("internal/session", "-test.run", "^(TestCorpus|TestGPUTextsOfComparisons)$/./^simt$"))
	}
	if forFiles.MatchString(pkg) {
		ks = append(ks, shared("internal/session", "-test.short", "-test.run", "^Test(CSV|File|Hive|JSON|Parquet)"))
	}
	return append(ks, shared("internal/session", "-test.short", "-test.skip", "^TestCorpus$"))
}

// Packages of which much is for GPUs or for files. The short corpus has little of the former and nothing of the latter.
var (
	forDevices = regexp.MustCompile(`^internal/(emit|phys|simt)(/|$)`)
	forFiles   = regexp.MustCompile(`^internal/(exec|file)(/|$)`)
)

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

// trial builds the test binaries and returns the mutants with which they pass as they do without one.
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
	// The cheap tests of all mutants first: what is left for the dear ones is soon known.
	dear := killers[wholeSession]
	left, err := attempt(dir, set, jobs, noted, func(m *mutant) []*killer {
		return slices.DeleteFunc(killersOf(filepath.Dir(m.file)), func(k *killer) bool { return k == dear })
	})
	if err != nil {
		return nil, err
	}
	fmt.Printf("%d of %d mutants are left for the rest of the session's tests\n", len(left), len(set))
	return attempt(dir, left, jobs, noted, func(*mutant) []*killer { return []*killer{dear} })
}

// ready makes sure that the tests pass without a mutant, and knows then how long they take.
func (k *killer) ready(dir string) error {
	k.once.Do(func() {
		name := k.pkg + " " + strings.Join(k.args, " ")
		failed, out, took := k.run(dir, 0, bounds{time.Hour, time.Hour})
		if failed != "" {
			k.err = fmt.Errorf("without any mutant, %s fails:\n%s", name, out)
			return
		}
		k.took = took
		fmt.Printf("passes without a mutant: %s (%.1fs, %.1fs of processors)\n", name, took.wall.Seconds(), took.cpu.Seconds())
	})
	return k.err
}

// attempt runs killers on mutants and returns those that pass them all.
func attempt(dir string, set []*mutant, jobs int, noted *verdicts, of func(*mutant) []*killer) ([]*mutant, error) {
	var mu sync.Mutex
	var survivors []*mutant
	var broken error // tests that fail without a mutant: nothing can be said
	var wg sync.WaitGroup
	queue := make(chan *mutant)
	for range jobs {
		wg.Go(func() {
			for m := range queue {
				mu.Lock()
				ks := of(m)
				skip := broken != nil
				mu.Unlock()
				if skip {
					continue
				}
				start := time.Now()
				by, err := killedBy(dir, m, ks)
				mu.Lock()
				switch {
				case err != nil:
					broken = err
				case by == "":
					by = "SURVIVED"
					survivors = append(survivors, m)
				default:
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
	return survivors, broken
}

// killedBy is the first of some tests that notices a mutant; "" if none does.
func killedBy(dir string, m *mutant, ks []*killer) (string, error) {
	for _, k := range ks {
		if err := k.ready(dir); err != nil {
			return "", err
		}
		if by, _, _ := k.run(dir, m.id, k.took.enough()); by != "" {
			return k.pkg + " " + by, nil
		}
	}
	return "", nil
}

func binary(dir, pkg string) string {
	return filepath.Join(dir, strings.ReplaceAll(pkg, "/", "_")+".test")
}

var failure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)|^(panic: .{0,60}|fatal error: .{0,60}|SIG.{0,60}|internal error.{0,60})`)

// run returns what failed, or "" if all passed, the output, and how long it took.
func (k *killer) run(dir string, id int, limit bounds) (failed, output string, took bounds) {
	ctx, cancel := context.WithTimeout(context.Background(), limit.wall)
	defer cancel()
	start := time.Now()
	args := append([]string{"-c", `ulimit -t "$0" && exec "$@"`, strconv.Itoa(int(limit.cpu.Seconds()) + 1),
		binary(dir, k.pkg), "-test.failfast", "-test.timeout=0"}, k.args...)
	cmd := exec.CommandContext(ctx, "sh", args...)
	cmd.Dir = k.pkg
	cmd.Env = append(os.Environ(), "KELPIE_MUTANT="+strconv.Itoa(id))
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	took.wall = time.Since(start)
	if cmd.ProcessState != nil {
		took.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	switch {
	case err == nil:
		return "", string(out), took
	case errors.Is(ctx.Err(), context.DeadlineExceeded), err.Error() == "signal: killed": // the latter by ulimit
		return "time", string(out), took
	}
	if m := failure.FindStringSubmatch(string(out)); m != nil {
		return m[1] + m[2], string(out), took
	}
	return err.Error(), string(out), took
}
