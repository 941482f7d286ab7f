package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// writeTexts writes the kernels of TPC-H's queries for a new GPU into a folder, one file each, named by the first query that has it.
func writeTexts(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	s := suites()[0]
	w, err := newWorld(s, 90)
	if err != nil {
		return err
	}
	for _, q := range s.queries {
		if _, err := w.ask(q.SQL); err != nil {
			return fmt.Errorf("%s: %w", q.Name, err)
		}
		for i, text := range w.gpu.texts {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%02d.ptx", q.Name, i)), []byte(text), 0o644); err != nil {
				return err
			}
		}
		w.gpu.texts = nil
	}
	return nil
}
