package kelpie_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What a text names must exist: a test that vouches for something, a file to read on in.
var (
	testName = regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark|Example)[A-Z][A-Za-z0-9_]*`)
	fileName = regexp.MustCompile(`[A-Za-z0-9_./*-]*[A-Za-z0-9_*]\.(?:go|md|sh)\b|[A-Za-z0-9_./*-]*_amd64\.s\b|\btestdata/[A-Za-z0-9_./*-]*[A-Za-z0-9_*]`)
)

// TestNames looks for tests and files that comments and documents name, and that there are not.
func TestNames(t *testing.T) {
	known := map[string]bool{} // tests
	var files []string         // paths from here, with slashes
	type text struct{ place, text string }
	var texts []text
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		name = filepath.ToSlash(name)
		files = append(files, name)
		switch {
		case d.IsDir() || name == "bench/LOG.md": // a diary: what it names was there then
		case strings.HasSuffix(name, ".go"):
			f, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasSuffix(name, "_test.go") {
					known[fn.Name.Name] = true
				}
			}
			for _, c := range f.Comments {
				texts = append(texts, text{fset.Position(c.Pos()).String(), c.Text()})
			}
		case strings.HasSuffix(name, ".md"), strings.HasSuffix(name, ".s"), strings.HasPrefix(name, ".ci/"):
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			texts = append(texts, text{name, string(b)})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range texts {
		for _, name := range testName.FindAllString(x.text, -1) {
			// The shell's texts are patterns for -run.
			if !known[name] && !(strings.HasPrefix(x.place, ".ci/") && anyBegins(known, name)) {
				t.Errorf("%s: there is no %s", x.place, name)
			}
		}
		for _, name := range fileName.FindAllString(x.text, -1) {
			if !anyEnds(files, strings.TrimPrefix(name, "./")) {
				t.Errorf("%s: there is no file %s", x.place, name)
			}
		}
	}
	if len(known) < 100 || len(texts) < 1000 {
		t.Errorf("only %d tests and %d texts were found", len(known), len(texts))
	}
}

func anyBegins(known map[string]bool, name string) bool {
	for k := range known {
		if strings.HasPrefix(k, name) {
			return true
		}
	}
	return false
}

// anyEnds reports that a path ends with name, which may have stars.
func anyEnds(files []string, name string) bool {
	n := strings.Count(name, "/")
	for _, f := range files {
		parts := strings.Split(f, "/")
		if len(parts) <= n {
			continue
		}
		if ok, _ := path.Match(name, strings.Join(parts[len(parts)-1-n:], "/")); ok {
			return true
		}
	}
	return false
}
