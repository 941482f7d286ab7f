package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A mutant is one possible mistake: the source between start and end of file means something else
// while it is switched on.
type mutant struct {
	id         int
	room       string // the directory that its quota names, as in internal/exec
	file       string // in that directory or one below it
	line       int
	fn         string // the function or package-level variable it is in
	kind       string
	text       string // what stands there, on one line
	nth        int    // among mutants that are alike in all of the above
	start, end int
	write      func(id int, src string) string // the replacement, given the source it replaces
	becomes    string                          // for people
}

// key names the mutant whatever is changed elsewhere in its room. It has no file and no directory
// below the room: a function that moves takes its mutants along.
func (m *mutant) key() string {
	k := fmt.Sprintf("%s %s %s `%s`", m.room, m.fn, m.kind, m.text)
	if m.nth > 1 {
		k += fmt.Sprintf(" #%d", m.nth)
	}
	return k
}

// rank orders mutants by a hash of their keys: the set takes those of the lowest ranks.
func (m *mutant) rank() uint64 {
	h := fnv.New64a()
	h.Write([]byte(m.key()))
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	return x ^ x>>33
}

// find lists all mutants of a room: of its package and the packages below it, tests excepted.
func find(room string) ([]*mutant, error) {
	var all []*mutant
	err := filepath.WalkDir(room, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "testdata":
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || d.Name() == "doc.go":
			return nil
		}
		found, err := findInFile(room, name)
		all = append(all, found...)
		return err
	})
	if err != nil {
		return nil, err
	}
	// Alike mutants are counted in the order of the files' names, directories aside, because that
	// order stays when a file moves to a package below.
	slices.SortStableFunc(all, func(a, b *mutant) int {
		return strings.Compare(filepath.Base(a.file), filepath.Base(b.file))
	})
	seen := map[string]int{}
	for _, m := range all {
		seen[m.key()]++
		m.nth = seen[m.key()]
	}
	return all, nil
}

func findInFile(room, name string) ([]*mutant, error) {
	src, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if bytes.Contains(src, []byte("\n//go:build !")) {
		return nil, nil // what other machines compile
	}
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f := &finder{room: room, file: name, src: src, fset: fset}
	for _, d := range tree.Decls {
		f.decl(d)
	}
	return f.found, nil
}

type finder struct {
	room, file string
	src        []byte
	fset       *token.FileSet
	fn         string
	found      []*mutant
}

func (f *finder) decl(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Body == nil || unimportant.MatchString(d.Name.Name) {
			return
		}
		f.fn = d.Name.Name
		if d.Recv != nil {
			f.fn = receiver(d.Recv.List[0].Type) + "." + f.fn
		}
		f.walk(d.Body)
	case *ast.GenDecl:
		if d.Tok != token.VAR {
			return
		}
		for _, s := range d.Specs {
			s := s.(*ast.ValueSpec)
			f.fn = s.Names[0].Name
			for _, v := range s.Values {
				ast.Inspect(v, func(n ast.Node) bool {
					if lit, ok := n.(*ast.FuncLit); ok {
						f.walk(lit.Body)
						return false
					}
					return true
				})
			}
		}
	}
}

func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return "?"
}

// unimportant are functions that only speak to people or guess at costs.
var unimportant = regexp.MustCompile(`^(String|GoString|Error|print.*|Print.*|describe.*|explain.*|cost.*|estimate.*)$`)

// held are calls without which a test hangs or leaks instead of failing.
var held = regexp.MustCompile(`(?i)(lock|unlock|done|wait|close|free|release|panic|cancel|clear|broadcast|signal)$`)

func (f *finder) walk(body ast.Node) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok == token.VAR
		case *ast.IfStmt:
			f.condition(n)
		case *ast.BinaryExpr:
			f.binary(n)
		case *ast.UnaryExpr:
			if n.Op == token.NOT {
				f.add("not", n, "without !", func(id int, src string) string {
					return either(id, src, src[1:])
				})
			}
		case *ast.ExprStmt:
			if call, ok := n.X.(*ast.CallExpr); ok && !held.MatchString(f.text(call.Fun)) {
				f.add("drop", n, "left out", dropped)
			}
		case *ast.IncDecStmt:
			if !f.inHead(n) {
				f.add("drop", n, "left out", dropped)
			}
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE && !strings.HasPrefix(f.text(n.Lhs[0]), "_") && !f.inHead(n) {
				f.add("drop", n, "left out", dropped)
			}
		case *ast.SelectorExpr:
			f.operation(n)
		}
		return true
	})
}

// inHead reports statements between the keyword and the block of an if, for or switch, where a
// block cannot stand.
func (f *finder) inHead(n ast.Stmt) bool {
	after := strings.TrimLeft(string(f.src[f.off(n.End()):]), " \t")
	return !strings.HasPrefix(after, "\n") && !strings.HasPrefix(after, "//") && !strings.HasPrefix(after, "}")
}

// condition makes the block of an if run never, or always.
func (f *finder) condition(n *ast.IfStmt) {
	t := f.text(n.Cond)
	if strings.Contains(t, "nil") {
		return // errors and absent things: the compiler's and the reader's, not the tests' business
	}
	f.add("never", n.Cond, "false", func(id int, src string) string {
		return fmt.Sprintf("(kelpieMutant != %d && (%s))", id, src)
	})
	if n.Else == nil && !leaves(n.Body) {
		f.add("always", n.Cond, "true", func(id int, src string) string {
			return fmt.Sprintf("(kelpieMutant == %d || (%s))", id, src)
		})
	}
}

// leaves reports a block that ends by leaving: run always, it is too easy to notice.
func leaves(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	switch b.List[len(b.List)-1].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	}
	return false
}

var boundary = map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">"}

func (f *finder) binary(n *ast.BinaryExpr) {
	at := f.off(n.OpPos) - f.off(n.Pos())
	swap := func(kind, op string) {
		f.add(kind, n, op, func(id int, src string) string {
			return either(id, src, src[:at]+op+src[at+len(n.Op.String()):])
		})
	}
	switch n.Op {
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		swap("boundary", boundary[n.Op])
	case token.LAND:
		// The other operand may only be looked at behind the first: so || would panic, which is
		// noticed. Leaving one out is the likely mistake.
		f.add("left", n, "only the left side", func(id int, src string) string {
			return fmt.Sprintf("((%s) && (kelpieMutant == %d || (%s)))", src[:at], id, src[at+2:])
		})
	case token.LOR:
		f.add("left", n, "only the left side", func(id int, src string) string {
			return fmt.Sprintf("((%s) || (kelpieMutant != %d && (%s)))", src[:at], id, src[at+2:])
		})
	case token.ADD, token.SUB:
		if lit, ok := n.Y.(*ast.BasicLit); ok && lit.Value == "1" {
			f.add("one", n, "without the 1", func(id int, src string) string {
				return fmt.Sprintf("kelpieEither(%d, %s, %s)", id, src, src[:at])
			})
		}
	}
}

// operations are the names in ir that are easily taken for one another.
var operations = map[string]string{"LT": "LE", "LE": "LT", "GT": "GE", "GE": "GT", "ULT": "ULE", "ULE": "ULT", "UGT": "UGE", "UGE": "UGT", "EQ": "NE", "NE": "EQ"}

func (f *finder) operation(n *ast.SelectorExpr) {
	x, ok := n.X.(*ast.Ident)
	if !ok || x.Name != "ir" || operations[n.Sel.Name] == "" || f.afterCase(n) {
		return
	}
	other := "ir." + operations[n.Sel.Name]
	f.addAround("op", n, other, func(id int, src string) string {
		return fmt.Sprintf("kelpieEither(%d, %s, %s)", id, src, other)
	})
}

// afterCase reports a name in the list of a case, which has to stay a constant.
func (f *finder) afterCase(n ast.Node) bool {
	start := bytes.LastIndexByte(f.src[:f.off(n.Pos())], '\n') + 1
	return strings.HasPrefix(strings.TrimLeft(string(f.src[start:f.off(n.Pos())]), " \t"), "case ")
}

func either(id int, is, other string) string {
	return fmt.Sprintf("(kelpieMutant != %d && (%s) || kelpieMutant == %d && (%s))", id, is, id, other)
}

func dropped(id int, src string) string {
	return fmt.Sprintf("if kelpieMutant != %d { %s }", id, src)
}

func (f *finder) off(p token.Pos) int { return f.fset.Position(p).Offset }

func (f *finder) text(n ast.Node) string {
	var b bytes.Buffer
	printer.Fprint(&b, f.fset, n)
	return strings.Join(strings.Fields(b.String()), " ")
}

func (f *finder) add(kind string, n ast.Node, becomes string, write func(int, string) string) {
	f.put(kind, n, f.text(n), becomes, write)
}

// addAround names the mutant by its whole line: the node alone says too little.
func (f *finder) addAround(kind string, n ast.Node, becomes string, write func(int, string) string) {
	at := f.off(n.Pos())
	start := bytes.LastIndexByte(f.src[:at], '\n') + 1
	end := at + bytes.IndexByte(f.src[at:], '\n')
	f.put(kind, n, strings.TrimSpace(string(f.src[start:end])), becomes, write)
}

func (f *finder) put(kind string, n ast.Node, text, becomes string, write func(int, string) string) {
	if len(text) > 160 || strings.Contains(text, "`") {
		return
	}
	f.found = append(f.found, &mutant{
		room: f.room, file: f.file, line: f.fset.Position(n.Pos()).Line, fn: f.fn, kind: kind, text: text,
		start: f.off(n.Pos()), end: f.off(n.End()), write: write, becomes: becomes,
	})
}
