package kelpie

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/kelpiedb/kelpie"

// room is the name of a package in ARCHITECTURE.md's table.
func room(path string) string {
	if path == module {
		return "kelpie"
	}
	return strings.TrimPrefix(strings.TrimPrefix(path, module+"/"), "internal/")
}

// TestLayers holds the imports of every package to the table in ARCHITECTURE.md: a
// room imports only what its row allows, and every room has a row.
func TestLayers(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "## The rooms\n")
	if !ok {
		t.Fatal("ARCHITECTURE.md has no table of rooms")
	}
	table, _, _ = strings.Cut(table, "\n`bench/`")
	allowed := map[string][]string{}
	for _, line := range strings.Split(table, "\n") {
		if !strings.HasPrefix(line, "    ") {
			continue
		}
		fields := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' })
		cols := strings.Split(strings.TrimSpace(line), "  ")
		allowed[fields[0]] = strings.Fields(cols[len(cols)-1])
	}
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		words := strings.Fields(line)
		name := room(words[0])
		may, ok := allowed[name]
		if !ok {
			t.Errorf("room %s is not in the table", name)
			continue
		}
		if slices.Contains(may, "any") {
			continue
		}
		for _, imp := range words[1:] {
			if strings.HasPrefix(imp, module) && !slices.Contains(may, room(imp)) {
				t.Errorf("%s must not import %s", name, room(imp))
			}
		}
	}
}

// TestNoCgo: nothing in this module needs a C compiler.
func TestNoCgo(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{if .CgoFiles}}{{.ImportPath}}{{end}}", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	if s := strings.TrimSpace(string(out)); s != "" {
		t.Errorf("cgo in %s", s)
	}
}
