package lab

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Write puts a result's table (as text and as JSON) and its picture into a folder.
func (r *Result) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	doc, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	for ext, text := range map[string]string{".txt": r.Text(), ".json": string(doc) + "\n", ".svg": r.Picture} {
		if err := os.WriteFile(filepath.Join(dir, r.Figure+ext), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Page writes FIGURES.md of a folder that has results, in folders below it named by date and device: of each figure the latest on
// each device, with its picture.
func Page(dir string) error {
	latest := map[string]map[string]string{} // by figure, by device: the file
	files, err := filepath.Glob(filepath.Join(dir, "results", "*", "*.json"))
	if err != nil {
		return err
	}
	slices.SortFunc(files, func(a, b string) int { // dates come first in the names of folders, and what is later that day is longer
		return cmp.Or(strings.Compare(filepath.Dir(a), filepath.Dir(b)), strings.Compare(a, b))
	})
	found := map[string]*Result{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		r := &Result{}
		if err := json.Unmarshal(text, r); err != nil || r.Figure == "" {
			continue // something else
		}
		if latest[r.Figure] == nil {
			latest[r.Figure] = map[string]string{}
		}
		latest[r.Figure][r.Device], found[f] = f, r
	}
	var b strings.Builder
	b.WriteString(`# The papers' experiments, repeated

Each figure is a file of this folder; ` + "`kelpie lab list`" + ` names them, ` + "`kelpie lab run NAME --device gpu --out DIR`" + ` runs one, and
` + "`kelpie lab page lab`" + ` writes this page from the latest results below [results](results). Times are of the machine that each
picture names. On the simulated GPU costs are warp instructions: exact, and the same on every machine.

`)
	for _, f := range Figures() {
		fmt.Fprintf(&b, "## %s: %s\n", f.Paper, f.Title)
		if len(latest[f.Name]) == 0 {
			fmt.Fprintf(&b, "`%s` has no results here.\n\n", f.Name)
			continue
		}
		for _, dev := range []string{"gpu", "cpu", "simt"} {
			file := latest[f.Name][dev]
			if file == "" {
				continue
			}
			r := found[file]
			rel, err := filepath.Rel(dir, file)
			if err != nil {
				return err
			}
			rel = strings.TrimSuffix(filepath.ToSlash(rel), ".json")
			fmt.Fprintf(&b, "*Paper:* %s.\n\n*Here* (%s, `%s`): %s.\n", r.Claim, r.On, f.Name, r.Ours)
			for _, n := range r.Notes {
				fmt.Fprintf(&b, "*Note:* %s.\n", n)
			}
			fmt.Fprintf(&b, "[Numbers](%s.txt)\n\n![%s](%s.svg)\n\n", rel, f.Title, rel)
		}
	}
	return os.WriteFile(filepath.Join(dir, "FIGURES.md"), []byte(b.String()), 0o644)
}
