package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Memory is what the process has in RAM, as Linux counts it: no engine's own word is taken. So each
// engine gets a process of its own. The peak is set back before each query.

// memoryNow is how many bytes this process has in RAM.
func memoryNow() int64 { return processStatus("VmRSS:") }

// peakMemory is the most that it had since resetPeak.
func peakMemory() int64 { return processStatus("VmHWM:") }

// resetPeak forgets the peak so far. Where the kernel does not allow it, peaks only grow.
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

func processStatus(field string) int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return n << 10
		}
	}
	return 0
}

// runApart measures each engine in a process of its own, one after the other, and puts the two
// reports together. Rows are not compared.
func runApart(o options, log io.Writer) ([]report, error) {
	k, err := child(o, "kelpie", log)
	if err != nil {
		return nil, err
	}
	d, err := child(o, "duckdb", log)
	if err != nil {
		return nil, err
	}
	for i := range k {
		k[i].DuckLoaded = d[i].DuckLoaded
		for j := range k[i].Queries {
			m, n := &k[i].Queries[j], d[i].Queries[j]
			m.Duck, m.DuckPeak = n.Duck, n.DuckPeak
			if m.Error == "" {
				m.Error = n.Error
			}
		}
	}
	return k, nil
}

// child runs this program with one engine.
func child(o options, engine string, log io.Writer) ([]report, error) {
	dir, err := os.MkdirTemp("", "kelpie-bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "out.json")
	var threads, queries []string
	for _, t := range o.threads {
		threads = append(threads, strconv.Itoa(t))
	}
	for _, q := range o.suite.queries {
		queries = append(queries, q.Name)
	}
	cmd := exec.Command(self, o.suite.name, "--engine", engine, "--memory", "--json", file, "--sf", fmt.Sprint(o.sf), "--runs", strconv.Itoa(o.runs),
		"--threads", strings.Join(threads, ","), "--queries", strings.Join(queries, ","), "--duckdb", o.duckdb, "--settings", o.settings, "--cpu="+strconv.FormatBool(o.cpu))
	cmd.Stderr = log
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w", engine, err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var reports []report
	return reports, json.Unmarshal(text, &reports)
}
