package main

import (
	"bufio"
	"cmp"
	_ "embed"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// quotas say how many mutants of each room belong to the set, beside the pinned ones. A room is a
// package with all packages below it.
var quotas = []struct {
	room string
	n    int
}{
	{"internal/emit", 45}, {"internal/exec", 35}, {"internal/phys", 12}, {"internal/opt", 30}, {"internal/types", 30},
	{"internal/eval", 15}, {"internal/funcs", 25}, {"internal/column", 20}, {"internal/file", 30}, {"internal/simt", 20},
}

//go:embed pinned.txt
var pinnedText string

//go:embed explained.txt
var explainedText string

func main() {
	sample := flag.Int("sample", 0, "run only this many of the set, half of them pinned ones")
	only := flag.String("only", "", "run only mutants whose key matches this regular expression, of the whole code")
	list := flag.Bool("list", false, "print the keys and stop")
	again := flag.Bool("explained", false, "run those that explained.txt says survive, too")
	jobs := flag.Int("jobs", 2, "test processes at a time")
	verdicts := flag.String("verdicts", "", "note what is killed in this file, and skip what it says was killed before")
	flag.Parse()
	if err := run(*sample, *only, *list, *again, *jobs, *verdicts); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(sample int, only string, list, again bool, jobs int, verdicts string) error {
	var all []*mutant
	for _, q := range quotas {
		ms, err := find(q.room)
		if err != nil {
			return err
		}
		all = append(all, ms...)
	}
	known, err := explanations(all)
	if err != nil {
		return err
	}
	set, err := choose(all, only)
	if err != nil {
		return err
	}
	if !again && only == "" {
		set = slices.DeleteFunc(set, func(m *mutant) bool {
			why := known[m.key()]
			if why != "" {
				fmt.Printf("survives  %s:%d  %s → %s\n          %s\n", m.file, m.line, m.key(), m.becomes, why)
			}
			return why != ""
		})
	}
	if sample > 0 && sample < len(set) {
		set = set[:sample]
	}
	noted, err := openVerdicts(verdicts)
	if err != nil {
		return err
	}
	defer noted.close()
	before := len(set)
	set = slices.DeleteFunc(set, func(m *mutant) bool { return noted.killed[m.key()] })
	before -= len(set)
	for i, m := range set {
		m.id = i + 1
	}
	if list {
		for _, m := range set {
			fmt.Printf("%s:%d\t%s\t→ %s\n", m.file, m.line, m.key(), m.becomes)
		}
		return nil
	}
	dir, err := os.MkdirTemp("", "kelpie-mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	set, path, err := compiled(dir, set)
	if err != nil {
		return err
	}
	survivors, err := trial(dir, path, set, jobs, noted)
	if err != nil {
		return err
	}
	return report(set, survivors, known, before)
}

// choose returns the set: pinned mutants, then each room's share by rank, in an order that mixes
// rooms so that a sample has some of each.
func choose(all []*mutant, only string) ([]*mutant, error) {
	if only != "" {
		re, err := regexp.Compile(only)
		if err != nil {
			return nil, err
		}
		set := slices.DeleteFunc(all, func(m *mutant) bool { return !re.MatchString(m.key()) })
		return apart(shortFirst(set)), nil
	}
	var set []*mutant
	for line := range lines(pinnedText) {
		re, err := regexp.Compile(line)
		if err != nil {
			return nil, err
		}
		n := len(set)
		for _, m := range all {
			if re.MatchString(m.key()) && !slices.Contains(set, m) {
				set = append(set, m)
			}
		}
		if len(set) == n {
			return nil, fmt.Errorf("pinned.txt: no code matches %q any more", line)
		}
	}
	shortFirst(set)
	var rest []*mutant
	for _, q := range quotas {
		ms := slices.DeleteFunc(slices.Clone(all), func(m *mutant) bool { return m.room != q.room || slices.Contains(set, m) })
		slices.SortFunc(ms, func(a, b *mutant) int { return cmp.Compare(a.rank(), b.rank()) })
		rest = append(rest, ms[:min(q.n, len(ms))]...)
	}
	slices.SortFunc(rest, func(a, b *mutant) int { return cmp.Compare(a.rank(), b.rank()) })
	set = apart(set)
	return inTurn(apart(append(set, rest...)), len(set)), nil
}

// inTurn puts the first n and the others by turns.
func inTurn(set []*mutant, n int) []*mutant {
	pinned, rest := set[:min(n, len(set))], set[min(n, len(set)):]
	var out []*mutant
	for i := range max(len(pinned), len(rest)) {
		if i < len(pinned) {
			out = append(out, pinned[i])
		}
		if i < len(rest) {
			out = append(out, rest[i])
		}
	}
	return out
}

// shortFirst puts mutants inside of others before them: of two that overlap, the finer one is tried.
func shortFirst(set []*mutant) []*mutant {
	slices.SortStableFunc(set, func(a, b *mutant) int { return cmp.Compare(a.end-a.start, b.end-b.start) })
	return set
}

// explanations reads why some mutants survive. A line that fits no code any more is an error: it
// would explain nothing.
func explanations(all []*mutant) (map[string]string, error) {
	keys := map[string]bool{}
	for _, m := range all {
		keys[m.key()] = true
	}
	known := map[string]string{}
	key := ""
	for line := range lines(explainedText) {
		if why, ok := strings.CutPrefix(line, "\t"); ok {
			known[key] += strings.TrimSpace(why) + " "
			continue
		}
		key = line
		if !keys[key] {
			return nil, fmt.Errorf("explained.txt: no such mutant any more: %s", key)
		}
	}
	for key, why := range known {
		if strings.TrimSpace(why) == "" {
			return nil, fmt.Errorf("explained.txt: no reason is given for %s", key)
		}
	}
	return known, nil
}

// lines yields the lines of a text that are neither empty nor comments.
func lines(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
			if line := s.Text(); strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") && !yield(line) {
				return
			}
		}
	}
}

func report(set, survivors []*mutant, known map[string]string, before int) error {
	open := 0
	for _, m := range survivors {
		why := known[m.key()]
		if why == "" {
			open++
			why = "NOT EXPLAINED"
		}
		fmt.Printf("survived  %s:%d  %s → %s\n          %s\n", m.file, m.line, m.key(), m.becomes, why)
	}
	if before > 0 {
		fmt.Printf("%d were killed before, by the file of verdicts\n", before)
	}
	fmt.Printf("%d mutants: %d killed, %d survived with an explanation, %d without\n",
		before+len(set), before+len(set)-len(survivors), len(survivors)-open, open)
	if open > 0 {
		return fmt.Errorf("%d mutants survive: write the test that kills them, or say in explained.txt why none can", open)
	}
	return nil
}
