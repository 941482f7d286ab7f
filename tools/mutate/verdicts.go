package main

import (
	"fmt"
	"os"
	"strings"
)

// verdicts is a file of mutants that were killed, one per line: what killed it, a tab, its key. A run of the
// whole set takes hours on a busy machine; with the file one that was interrupted goes on where it was, and
// after a test was written only survivors are tried again. What a change of the code brings back to life
// is found by a run without the file.
type verdicts struct {
	killed map[string]bool
	file   *os.File // nil: none is kept
}

func openVerdicts(path string) (*verdicts, error) {
	v := &verdicts{killed: map[string]bool{}}
	if path == "" {
		return v, nil
	}
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	for line := range lines(string(text)) {
		_, key, ok := strings.Cut(line, "\t")
		if !ok {
			return nil, fmt.Errorf("%s: not a line of verdicts: %s", path, line)
		}
		v.killed[key] = true
	}
	v.file, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	return v, err
}

// add notes at once that a mutant was killed: the run may end at any time.
func (v *verdicts) add(m *mutant, by string) {
	if v.file != nil {
		fmt.Fprintf(v.file, "%s\t%s\n", by, m.key())
	}
}

func (v *verdicts) close() {
	if v.file != nil {
		v.file.Close()
	}
}
