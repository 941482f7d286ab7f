package bind

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/sql/parse"
	"github.com/kelpiedb/kelpie/internal/types"
)

// FileRef is a file in FROM with what is said of it. Equal ones are read alike.
type FileRef struct {
	Path   string
	More   []string // other files, if there is a list of them
	Format string   // "csv", "parquet" or "json" if a function says so; else by the name

	// For CSV. Zero bytes are "not given": then the file is looked at.
	Header, HasHeader bool
	Delimiter         byte
	Quote             byte
	Escape            byte
	Nulls             []string // how NULL is written; nil: not given
	SampleRows        int      // to look at for guessing types; 0: some, < 0: all
	AllText           bool     // nothing is guessed: all columns are VARCHAR
	Skip              int      // lines before the first row
	Comment           byte     // begins lines that are no rows
	Names             []string // of the first columns
	DateFormat        string   // as strptime has them
	TimestampFormat   string
	IgnoreErrors      bool // rows that cannot be read are left out
	Rejects           Rejects
	Encoding          string // of the characters; "": UTF-8

	Types   []FileColumn // of columns that are not to be guessed: by their names, or those without one by their places
	Columns []FileColumn // all columns that there are, with their types

	Filename  bool // one more column has the path of the row's file
	NoFolders bool // folders named a=b are no columns
}

// Rejects says what becomes of rows that cannot be read, besides being left out.
type Rejects struct {
	Store bool   // in tables:
	Table string // what is wrong with them; "": reject_errors
	Scan  string // the files; "": reject_scans
	Limit int64  // rows of a file that are stored; 0: all
}

// Said is what was said, as in a call of read_csv.
func (r Rejects) Said() string {
	out := "store_rejects=true"
	if r.Table != "" {
		out += ", rejects_table='" + r.Table + "'"
	}
	if r.Scan != "" {
		out += ", rejects_scan='" + r.Scan + "'"
	}
	if r.Limit > 0 {
		out += fmt.Sprintf(", rejects_limit=%d", r.Limit)
	}
	return out
}

// Files is an Env that tells which files a FileRef means.
type Files interface {
	Paths(f FileRef) ([]string, error)
}

// FileColumn is a column of a file that somebody describes.
type FileColumn struct {
	Name string
	Type types.Type
}

// fileOption sets an option of a function that reads files.
type fileOption struct {
	formats string // those that have it; "" is all of them
	set     func(f *FileRef, o *optionValue)
}

// optionValue is what an option is set to.
type optionValue struct {
	b    *binder
	name string
	x    ast.Expr
}

// fileOptions has the options under all of their names. Those without a function say how to read, which we decide ourselves, or what is
// so anyway.
var fileOptions map[string]fileOption

func init() { // the functions bind expressions, which may have functions that read files
	fileOptions = map[string]fileOption{
		"header":          {"csv", func(f *FileRef, o *optionValue) { f.Header, f.HasHeader = o.flag(), true }},
		"delim":           {"csv", func(f *FileRef, o *optionValue) { f.Delimiter = o.char() }},
		"quote":           {"csv", func(f *FileRef, o *optionValue) { f.Quote = o.char() }},
		"escape":          {"csv", func(f *FileRef, o *optionValue) { f.Escape = o.char() }},
		"comment":         {"csv", func(f *FileRef, o *optionValue) { f.Comment = o.char() }},
		"nullstr":         {"csv", func(f *FileRef, o *optionValue) { f.Nulls = o.texts() }},
		"all_varchar":     {"csv", func(f *FileRef, o *optionValue) { f.AllText = o.flag() }},
		"skip":            {"csv", func(f *FileRef, o *optionValue) { f.Skip = int(o.number(0, 1<<31)) }},
		"names":           {"csv", func(f *FileRef, o *optionValue) { f.Names = o.texts() }},
		"types":           {"csv", func(f *FileRef, o *optionValue) { f.Types = o.columns(true) }},
		"dateformat":      {"csv", func(f *FileRef, o *optionValue) { f.DateFormat = o.text() }},
		"timestampformat": {"csv", func(f *FileRef, o *optionValue) { f.TimestampFormat = o.text() }},
		"ignore_errors":   {"csv", func(f *FileRef, o *optionValue) { f.IgnoreErrors = o.flag() }},
		"store_rejects":   {"csv", func(f *FileRef, o *optionValue) { f.Rejects.Store = o.flag() }},
		"rejects_table":   {"csv", func(f *FileRef, o *optionValue) { f.Rejects.Table, f.Rejects.Store = o.text(), true }},
		"rejects_scan":    {"csv", func(f *FileRef, o *optionValue) { f.Rejects.Scan, f.Rejects.Store = o.text(), true }},
		"rejects_limit":   {"csv", func(f *FileRef, o *optionValue) { f.Rejects.Limit = o.number(0, 1<<62) }},
		"encoding":        {"csv", func(f *FileRef, o *optionValue) { f.Encoding = encoding(o.text(), o.x.Position()) }},
		"strict_mode":     {"csv", func(_ *FileRef, o *optionValue) { o.oneOf("true") }},
		"null_padding":    {"csv", func(_ *FileRef, o *optionValue) { o.oneOf("false") }},
		"auto_detect":     {"csv json", func(_ *FileRef, o *optionValue) { o.oneOf("true") }},
		"sample_size": {"csv json", func(f *FileRef, o *optionValue) {
			if f.SampleRows = int(o.number(-1, 1<<40)); f.SampleRows == 0 {
				fail(diag.InvalidParameter, o.x.Position(), "sample_size must be a positive number of rows, or -1 for all")
			}
		}},
		"columns":           {"csv json", func(f *FileRef, o *optionValue) { f.Columns = o.columns(false) }},
		"format":            {"json", func(_ *FileRef, o *optionValue) { o.oneOf("auto", "newline_delimited", "nd", "array", "unstructured") }},
		"records":           {"json", func(_ *FileRef, o *optionValue) { o.oneOf("auto", "true") }},
		"filename":          {"", func(f *FileRef, o *optionValue) { f.Filename = o.flag() }},
		"hive_partitioning": {"", func(f *FileRef, o *optionValue) { f.NoFolders = !o.flag() }},
		"union_by_name":     {"", nil},
		"compression": {"", func(_ *FileRef, o *optionValue) {
			o.oneOf("auto", "auto_detect", "none", "uncompressed", "gzip", "zstd")
		}},
		"parallel":                    {"csv", func(_ *FileRef, o *optionValue) { o.flag() }},
		"max_line_size":               {"csv", func(_ *FileRef, o *optionValue) { o.number(1, 1<<40) }},
		"buffer_size":                 {"csv", func(_ *FileRef, o *optionValue) { o.number(1, 1<<40) }},
		"maximum_object_size":         {"json", func(_ *FileRef, o *optionValue) { o.number(1, 1<<40) }},
		"convert_strings_to_integers": {"json", func(_ *FileRef, o *optionValue) { o.oneOf("false") }},
	}
}

// optionNames are other names of options.
var optionNames = map[string]string{"delimiter": "delim", "sep": "delim", "null": "nullstr", "column_names": "names", "dtypes": "types",
	"column_types": "types", "date_format": "dateformat", "timestamp_format": "timestampformat", "maximum_line_size": "max_line_size"}

// knownFileOptions are names that DuckDB has, too.
const knownFileOptions = " decimal_separator thousands normalize_names force_not_null " +
	"allow_quoted_nulls new_line file_row_number binary_as_string encryption_config maximum_depth hive_types hive_types_autocast "

// encodings are names of encodings, without hyphens and the like, and what the file room calls them.
var encodings = map[string]string{"utf8": "", "unicode": "", "latin1": "latin1", "iso88591": "latin1", "utf16": "utf16", "utf16le": "utf16", "utf16be": "utf16be"}

func encoding(name string, pos int) string {
	e, ok := encodings[strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(name))]
	if !ok {
		panic(diag.Unsupported(pos, "the encoding %q", name).WithHint("there are utf-8, latin-1, utf-16, utf-16le and utf-16be"))
	}
	return e
}

// readFile binds read_csv('x.csv', header => true) and its like.
func (b *binder) readFile(t *ast.FuncTable, name string) (plan.Node, []*rel) {
	args := t.Call.Args
	if len(args) == 0 || !args[0].Name.Empty() {
		fail(diag.InvalidParameter, t.Pos, "%s needs the name of a file", name)
	}
	f := FileRef{Format: fileFormat(name)}
	paths := (&optionValue{b, "name of a file", args[0].X}).texts()
	if len(paths) == 0 {
		fail(diag.InvalidParameter, args[0].X.Position(), "%s needs the name of a file", name)
	}
	byName := false
	for _, a := range args[1:] {
		a = namedOption(a)
		pos := a.X.Position()
		if a.Name.Empty() {
			fail(diag.InvalidParameter, pos, "%s takes one file, or a list of them; options are given by name", name)
		}
		option, ok := a.Name.Name, false
		if other := optionNames[option]; other != "" {
			option = other
		}
		o, ok := fileOptions[option]
		switch {
		case strings.Contains(knownFileOptions, " "+option+" "), ok && !strings.Contains(o.formats, f.Format) && o.formats != "":
			unsupported(pos, "the option %s of %s", option, name)
		case !ok:
			panic(diag.Errorf(diag.SyntaxError, pos, "option %q not recognized", option).
				WithHint(diag.DidYouMean(option, slices.Sorted(maps.Keys(fileOptions)))))
		}
		v := &optionValue{b, option, a.X}
		if option == "union_by_name" {
			byName = v.flag()
			continue
		}
		o.set(&f, v)
	}
	f.IgnoreErrors = f.IgnoreErrors || f.Rejects.Store
	pos := args[0].X.Position()
	if f.Path, f.More = paths[0], paths[1:]; byName {
		return b.filesByName(f, pos, t.Alias)
	}
	return b.fileTable(f, pos, t.Alias)
}

// namedOption is an argument with its name: name => value, or name = value.
func namedOption(a ast.Arg) ast.Arg {
	if eq, ok := a.X.(*ast.Binary); ok && a.Name.Empty() && eq.Op == "=" {
		if c, ok := eq.L.(*ast.ColumnRef); ok && len(c.Name) == 1 {
			return ast.Arg{Name: c.Name[0], X: eq.R}
		}
	}
	return a
}

// filesByName reads each file by itself, and puts columns of the same name together.
func (b *binder) filesByName(f FileRef, pos int, alias *ast.Alias) (plan.Node, []*rel) {
	env, ok := b.env.(Files)
	if !ok {
		unsupported(pos, "union_by_name here")
	}
	paths, err := env.Paths(f)
	check(err, pos)
	args := make([]result, len(paths))
	for i, path := range paths {
		one := f
		one.Path, one.More = path, nil
		n, rels := b.fileTable(one, pos, nil)
		r := result{node: n}
		for k := range rels[0].cols {
			b.require(rels[0], k)
			r.cols = append(r.cols, outCol{name: rels[0].cols[k].name, id: rels[0].cols[k].id, pos: pos})
		}
		args[i] = r
	}
	b.byName(args, pos)
	u := b.unionAll(args, b.unite(args, "UNION BY NAME"))
	r := b.derived(&u, pos)
	r.name = fileName(paths[0])
	applyAlias(r, alias)
	return u.node, []*rel{r}
}

func (o *optionValue) wrong(what string) {
	fail(diag.InvalidParameter, o.x.Position(), "option %q must be %s", o.name, what)
}

func (o *optionValue) value() types.Value {
	v := o.b.constant(o.x, "functions in FROM")
	if v.Null {
		fail(diag.InvalidParameter, o.x.Position(), "option %q must not be NULL", o.name)
	}
	return v
}

func (o *optionValue) flag() bool {
	b, err := types.Cast(o.value(), types.TBool)
	check(err, o.x.Position())
	return b.I != 0
}

func (o *optionValue) text() string {
	v := o.value()
	if v.Type.Kind != types.Text {
		o.wrong("a text")
	}
	return v.S
}

func (o *optionValue) char() byte {
	s := o.text()
	if s == `\t` {
		s = "\t"
	}
	if len(s) != 1 {
		o.wrong("a single one-byte character")
	}
	return s[0]
}

func (o *optionValue) number(least, most int64) int64 {
	v := o.value()
	if !v.Type.IsInteger() || v.I < least || v.I > most {
		o.wrong(fmt.Sprintf("a number from %d on", least))
	}
	return v.I
}

// texts is a text, or a list of them.
func (o *optionValue) texts() []string {
	list, ok := o.x.(*ast.Array)
	if !ok {
		return []string{o.text()}
	}
	out := []string{}
	for _, x := range list.Elems {
		out = append(out, (&optionValue{o.b, o.name, x}).text())
	}
	return out
}

// oneOf refuses all values but those that change nothing.
func (o *optionValue) oneOf(values ...string) {
	if s := strings.ToLower(o.value().String()); !slices.Contains(values, s) {
		panic(diag.Unsupported(o.x.Position(), "the option %s = %s", o.name, s).WithHint("what there is: %s", strings.Join(values, ", ")))
	}
}

// columns reads {'name': 'TYPE', …}, or, if places will do, ['TYPE', …].
func (o *optionValue) columns(places bool) []FileColumn {
	var out []FileColumn
	add := func(name string, x ast.Expr) {
		v := optionValue{o.b, o.name, x}
		n, err := parse.ParseType(v.text())
		check(err, x.Position())
		out = append(out, FileColumn{name, o.b.typeName(n)})
	}
	switch x := o.x.(type) {
	case *ast.Struct:
		for i, k := range x.Keys {
			add(k.Name, x.Values[i])
		}
	case *ast.Array:
		if !places {
			o.wrong("{'name': 'TYPE', …}")
		}
		for _, e := range x.Elems {
			add("", e)
		}
	default:
		o.wrong("{'name': 'TYPE', …}")
	}
	if len(out) == 0 {
		o.wrong("a list of at least one column")
	}
	return out
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
