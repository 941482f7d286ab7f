package main

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// switchSource is added to every package that has a mutant.
const switchSource = `package %s

import (
	"os"
	"strconv"
)

// kelpieMutant is the mutant that is switched on.
var kelpieMutant, _ = strconv.Atoi(os.Getenv("KELPIE_MUTANT"))

func kelpieEither[T any](id int, is, other T) T {
	if kelpieMutant == id {
		return other
	}
	return is
}
`

// overlay writes the mutated files below dir and returns the path of a description for -overlay.
func overlay(dir string, set []*mutant) (string, error) {
	replace := map[string]string{}
	files := map[string][]*mutant{}
	for _, m := range set {
		files[m.file] = append(files[m.file], m)
	}
	put := func(name, text string) error {
		abs, err := filepath.Abs(name)
		if err != nil {
			return err
		}
		// Below dir as in the tree, because some of the compiler's messages name the overlay.
		to := filepath.Join(dir, name)
		replace[abs] = to
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		return os.WriteFile(to, []byte(text), 0o666)
	}
	for name, ms := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		text := string(src)
		slices.SortFunc(ms, func(a, b *mutant) int { return b.start - a.start })
		for _, m := range ms { // from the end, so that offsets stay
			text = text[:m.start] + m.write(m.id, text[m.start:m.end]) + text[m.end:]
		}
		if err := put(name, text); err != nil {
			return "", err
		}
		extra := filepath.Join(filepath.Dir(name), "kelpie_mutant.go")
		if abs, _ := filepath.Abs(extra); replace[abs] == "" {
			tree, err := parser.ParseFile(token.NewFileSet(), name, src, parser.PackageClauseOnly)
			if err != nil {
				return "", err
			}
			if err := put(extra, fmt.Sprintf(switchSource, tree.Name.Name)); err != nil {
				return "", err
			}
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, text, 0o666)
}

// apart leaves out mutants whose places overlap with one before them in the list.
func apart(all []*mutant) []*mutant {
	var set []*mutant
	for _, m := range all {
		if !slices.ContainsFunc(set, func(o *mutant) bool { return o.file == m.file && m.start < o.end && o.start < m.end }) {
			set = append(set, m)
		}
	}
	return set
}

// Compiler errors name the file and line of a mutant that does not compile: a constant that has to
// be one, say. Those are no mutants.
var badLine = regexp.MustCompile(`(?m)^(?:vet: )?(?:\./)?([^\s:]+\.go):(\d+):\d+: .*$`)

// compiled builds all packages with the overlay and leaves out what the compiler refuses.
func compiled(dir string, set []*mutant) ([]*mutant, string, error) {
	for range 12 {
		path, err := overlay(dir, set)
		if err != nil {
			return nil, "", err
		}
		out, err := exec.Command("go", "build", "-gcflags=-e", "-overlay", path, "./...").CombinedOutput()
		if err == nil {
			return set, path, nil
		}
		kept := len(set)
		for _, hit := range badLine.FindAllStringSubmatch(string(out), -1) {
			line, _ := strconv.Atoi(hit[2])
			set = slices.DeleteFunc(set, func(m *mutant) bool {
				return strings.HasSuffix("/"+hit[1], "/"+m.file) && m.line == line
			})
		}
		if len(set) == kept {
			return nil, "", fmt.Errorf("the mutated code does not compile:\n%s", out)
		}
	}
	return nil, "", fmt.Errorf("the mutated code does not compile after 12 attempts")
}
