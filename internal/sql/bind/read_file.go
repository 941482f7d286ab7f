package bind

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// FileRef is a file in FROM with what is said of it. Equal ones are read alike.
type FileRef struct {
	Path   string
	Format string // "csv", "parquet" or "json" if a function says so; else by the name

	// For CSV. Zero bytes are "not given": then the file is looked at.
	Header, HasHeader bool
	Delimiter         byte
	Quote             byte
	Escape            byte
	Null              string
	HasNull           bool
	SampleRows        int  // to look at for guessing types; 0: some, < 0: all
	AllText           bool // nothing is guessed: all columns are VARCHAR
}

// csvOptions lists the names that read_csv knows, for hints.
var csvOptions = []string{"header", "delim", "quote", "escape", "nullstr", "sample_size", "all_varchar"}

// readFile binds read_csv('x.csv', header => true) and its like.
func (b *binder) readFile(t *ast.FuncTable, name string) (plan.Node, []*rel) {
	args := t.Call.Args
	if len(args) == 0 || !args[0].Name.Empty() {
		fail(diag.InvalidParameter, t.Pos, "%s needs the name of a file", name)
	}
	path := b.constant(args[0].X, "functions in FROM")
	if path.Null || path.Type.Kind != types.Text {
		fail(diag.InvalidParameter, args[0].X.Position(), "%s needs the name of a file", name)
	}
	f := FileRef{Path: path.S, Format: fileFormat(name)}
	for _, a := range args[1:] {
		pos := a.X.Position()
		if a.Name.Empty() {
			fail(diag.InvalidParameter, pos, "%s takes one file; options are given by name", name)
		}
		if f.Format != "csv" {
			unsupported(pos, "%s with options", name)
		}
		f.option(a.Name.Name, b.constant(a.X, "functions in FROM"), pos)
	}
	return b.fileTable(f, args[0].X.Position(), t.Alias)
}

// option sets an option of read_csv.
func (f *FileRef) option(name string, v types.Value, pos int) {
	if v.Null {
		fail(diag.InvalidParameter, pos, "option %q must not be NULL", name)
	}
	flag := func() bool {
		b, err := types.Cast(v, types.TBool)
		check(err, pos)
		return b.I != 0
	}
	text := func() string {
		if v.Type.Kind != types.Text {
			fail(diag.InvalidParameter, pos, "option %q must be a text", name)
		}
		return v.S
	}
	char := func() byte {
		s := text()
		if s == `\t` {
			s = "\t"
		}
		if len(s) != 1 {
			fail(diag.InvalidParameter, pos, "option %q must be a single one-byte character", name)
		}
		return s[0]
	}
	switch name {
	case "header":
		f.Header, f.HasHeader = flag(), true
	case "delim", "delimiter", "sep":
		f.Delimiter = char()
	case "quote":
		f.Quote = char()
	case "escape":
		f.Escape = char()
	case "nullstr", "null":
		f.Null, f.HasNull = text(), true
	case "sample_size":
		if !v.Type.IsInteger() || v.I < -1 || v.I == 0 || v.I > 1<<40 {
			fail(diag.InvalidParameter, pos, "sample_size must be a positive number of rows, or -1 for all")
		}
		f.SampleRows = int(v.I)
	case "all_varchar":
		f.AllText = flag()
	default:
		panic(diag.Errorf(diag.SyntaxError, pos, "option %q not recognized", name).WithHint(diag.DidYouMean(name, csvOptions)))
	}
}

// fileTable binds a file in FROM.
func (b *binder) fileTable(f FileRef, pos int, alias *ast.Alias) (plan.Node, []*rel) {
	table, err := b.env.File(f, pos)
	check(err, pos)
	n, r := b.scan(table, "", pos)
	r.name = fileName(f.Path)
	applyAlias(r, alias)
	n.Alias = r.name
	return n, []*rel{r}
}
