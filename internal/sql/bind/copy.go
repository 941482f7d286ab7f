package bind

import (
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Format is a file format of COPY.
type Format uint8

const (
	ByName Format = iota // the file's name tells
	CSV
	Text
	Parquet
	JSON
	Arrow
)

// String is the format's name in SQL.
func (f Format) String() string {
	return [...]string{"by name", "csv", "text", "parquet", "json", "arrow"}[f]
}

// Copy is COPY … FROM file (From) or COPY … TO file. For FROM, Table and Columns say where the fields
// of the file go; for TO, Query is what is written, also where a table was named.
type Copy struct {
	From    bool
	Table   *catalog.Table
	Columns []int // ordinals in the order of the file
	Query   *plan.Query
	Path    string // "" if Stdio
	Stdio   bool
	Pos     int // of the file name

	Format Format
	// The following are for CSV and Text. Zero bytes are "not given": readers then detect,
	// writers use the default.
	Header      bool
	HasHeader   bool // HEADER was given
	MatchHeader bool // FROM: and names must be the columns'
	Delimiter   byte
	Quote       byte
	Escape      byte
	Null        string
	HasNull     bool
	// Compression of Parquet and Arrow: "", "snappy", "zstd", "gzip", "none", …
	Compression  string
	RowGroupSize int64 // of Parquet; 0 = default
	Array        bool  // JSON: all objects in an array
	Stream       bool  // TO: Arrow's stream format
	// FROM: lines that are no rows, and what is to be done with rows that cannot be read.
	Skip         int
	Comment      byte
	IgnoreErrors bool
	Rejects      Rejects
	OnError      bool   // PostgreSQL's ON_ERROR ignore: says how many rows were left out …
	Verbosity    string // … "verbose": and which; "silent": nothing
	RejectLimit  int64  // at most so many; 0: any number
	Encoding     string
	// TO: columns of the query that are in quotes, unless they are NULL.
	ForceQuote []bool
	// FROM: of Columns, those in which a value in quotes may be NULL, too; and those in which none is.
	ForceNull, ForceNotNull []bool
	// TO: files for each value of these columns of the query; the path is that of a folder.
	PartitionBy []int
	KeepColumns bool // the files have these columns, too
	// TO: of a folder, what becomes of the files that it has, and how new ones are named; "" is the default.
	Existing           Existing
	Pattern, Extension string
	// TO: several files in a folder: one for each thread, or of so many bytes each; "": of any size.
	PerThread bool
	FileSize  string
}

// Existing is what becomes of files in a folder that COPY writes to.
type Existing uint8

const (
	Refuse  Existing = iota // there must be none
	Replace                 // those of the same names become others
	Remove                  // they go
	Append                  // they stay
)

// copyOptions lists the names that COPY knows, for hints.
var copyOptions = []string{"format", "header", "delimiter", "null", "quote", "escape", "encoding", "compression", "row_group_size", "array",
	"skip", "comment", "ignore_errors", "on_error", "log_verbosity", "reject_limit", "store_rejects", "rejects_table", "rejects_scan", "rejects_limit", "partition_by", "write_partition_columns", "overwrite", "overwrite_or_ignore", "append", "filename_pattern", "file_extension", "per_thread_output", "file_size_bytes", "force_quote", "force_null", "force_not_null"}

func (b *binder) copy(s *ast.Copy) Bound {
	out := &Copy{From: s.From, Path: s.File, Stdio: s.Stdio, Pos: s.FilePos}
	if s.Stdio { // as PostgreSQL has it: nothing is guessed of what comes, and goes, without a name
		out.Format = Text
	}
	var partition, quote, null, notNull ast.Expr
	for _, o := range s.Options {
		if o.Name == "partition_by" && !s.From && o.Value != nil {
			partition = o.Value
			continue
		}
		if o.Name == "force_quote" && !s.From && o.Value != nil {
			quote = o.Value
			continue
		}
		if to := map[string]*ast.Expr{"force_null": &null, "force_not_null": &notNull}[o.Name]; to != nil && o.Value != nil {
			if *to = o.Value; !s.From {
				fail(diag.FeatureNotSupported, o.Pos, "COPY %s only available using COPY FROM", strings.ReplaceAll(o.Name, "_", " "))
			}
			continue
		}
		b.copyOption(out, o)
	}
	b.checkRejects(out, s)
	if s.Stdio && (out.Format == CSV || out.Format == Text) && !out.HasHeader {
		out.HasHeader = true
	}
	if s.Query != nil {
		out.Query = b.root(s.Query)
		b.asTexts(out.Query)
		b.partitionCopy(out, partition)
		out.ForceQuote = b.forced(out, quote, out.Query.Names, "FORCE_QUOTE")
		return out
	}
	if s.From {
		out.Table = b.target(s.Table, "copy to")
		out.Columns = b.targetColumns(out.Table, s.Columns)
		var names []string
		for _, c := range out.Columns {
			names = append(names, out.Table.Columns[c].Name)
		}
		out.ForceNull = b.forced(out, null, names, "FORCE_NULL")
		out.ForceNotNull = b.forced(out, notNull, names, "FORCE_NOT_NULL")
		return out
	}
	n, rels := b.tableRef(&ast.TableRef{Pos: s.Table.Pos(), Name: s.Table})
	r := rels[0]
	out.Table = r.table
	q := result{node: n}
	pick := func(i int) {
		b.require(r, i)
		q.cols = append(q.cols, outCol{name: r.cols[i].name, id: r.cols[i].id})
	}
	for _, id := range s.Columns {
		at, ok := (&scope{}).in(r, id.Name, id.Pos)
		if !ok {
			panic(diag.Errorf(diag.UndefinedColumn, id.Pos, "column %q of relation %q does not exist", id.Name, r.name).
				WithHint(diag.DidYouMean(id.Name, r.names())))
		}
		pick(at.i)
	}
	if len(s.Columns) == 0 {
		for i := range r.cols {
			pick(i)
		}
	}
	out.Query = b.finish(q)
	b.asTexts(out.Query)
	b.partitionCopy(out, partition)
	out.ForceQuote = b.forced(out, quote, out.Query.Names, "FORCE_QUOTE")
	return out
}

// checkRejects holds the options for rows that cannot be read to each other.
func (b *binder) checkRejects(out *Copy, s *ast.Copy) {
	out.IgnoreErrors = out.IgnoreErrors || out.Rejects.Store
	switch {
	case !out.From && out.IgnoreErrors:
		fail(diag.InvalidParameter, s.FilePos, "COPY ON_ERROR cannot be used with COPY TO")
	case out.RejectLimit > 0 && !out.OnError:
		fail(diag.InvalidParameter, s.FilePos, "COPY REJECT_LIMIT requires ON_ERROR to be set to IGNORE")
	}
}

// forced marks the columns that an option names: a list of them, or all.
func (b *binder) forced(out *Copy, x ast.Expr, names []string, option string) []bool {
	if x == nil {
		return nil
	}
	if out.Format != CSV && out.Format != ByName {
		fail(diag.FeatureNotSupported, x.Position(), "COPY %s available only in CSV mode", strings.ToLower(strings.ReplaceAll(option, "_", " ")))
	}
	marks := make([]bool, len(names))
	if _, all := x.(*ast.Star); all {
		for i := range marks {
			marks[i] = true
		}
		return marks
	}
	for _, at := range b.copyColumns(names, x, option) {
		marks[at] = true
	}
	return marks
}

// copyColumns finds the columns that an option names.
func (b *binder) copyColumns(names []string, x ast.Expr, option string) []int {
	list := []ast.Expr{x}
	if row, ok := x.(*ast.Row); ok {
		list = row.Elems
	}
	var out []int
	for _, e := range list {
		name, ok := bareName(e)
		if lit, is := e.(*ast.Literal); is && lit.Kind == ast.LitString {
			name, ok = lit.Text, true
		}
		at := slices.Index(names, name)
		switch {
		case !ok:
			fail(diag.SyntaxError, e.Position(), "%s takes names of columns", option)
		case at < 0:
			panic(diag.Errorf(diag.UndefinedColumn, e.Position(), "column %q does not exist", name).WithHint(diag.DidYouMean(name, names)))
		case slices.Contains(out, at):
			fail(diag.DuplicateColumn, e.Position(), "column %q specified more than once", name)
		}
		out = append(out, at)
	}
	return out
}

// partitionCopy finds the columns that PARTITION_BY names.
func (b *binder) partitionCopy(out *Copy, x ast.Expr) {
	switch x.(type) {
	case nil:
	case *ast.Star:
		for i := range out.Query.Names {
			out.PartitionBy = append(out.PartitionBy, i)
		}
	default:
		out.PartitionBy = b.copyColumns(out.Query.Names, x, "PARTITION_BY")
	}
}

func (b *binder) copyOption(out *Copy, o ast.Option) {
	value := types.BoolValue(true)
	pos := o.Pos
	if o.Value != nil {
		switch o.Value.(type) {
		case *ast.Row, *ast.Star:
			panic(diag.Unsupported(o.Pos, "COPY option %s", o.Name).WithHint(diag.DidYouMean(o.Name, copyOptions)))
		}
		value, pos = b.constant(o.Value, "COPY"), o.Value.Position()
	}
	text := func() string {
		if value.Type.Kind != types.Text || value.Null {
			fail(diag.InvalidParameter, pos, "COPY %s needs a string", o.Name)
		}
		return value.S
	}
	char := func() byte {
		s := text()
		if s == `\t` {
			s = "\t"
		}
		if len(s) != 1 {
			fail(diag.InvalidParameter, pos, "COPY %s must be a single one-byte character", o.Name)
		}
		return s[0]
	}
	flag := func() bool {
		v, err := types.Cast(value, types.TBool)
		check(err, pos)
		return v.I != 0
	}
	count := func(least int64) int64 {
		if !value.Type.IsInteger() || value.Null || value.I < least {
			fail(diag.InvalidParameter, pos, "COPY %s must be a number from %d on", o.Name, least)
		}
		return value.I
	}
	switch o.Name {
	case "skip":
		if !out.From || !value.Type.IsInteger() || value.Null || value.I < 0 {
			fail(diag.InvalidParameter, pos, "COPY FROM skips a number of lines")
		}
		out.Skip = int(min(value.I, 1<<31))
	case "comment":
		out.Comment = char()
	case "ignore_errors":
		out.IgnoreErrors = flag()
	case "on_error":
		switch strings.ToLower(text()) {
		case "stop":
		case "ignore":
			out.IgnoreErrors, out.OnError = true, true
		default:
			fail(diag.InvalidParameter, pos, "COPY ON_ERROR %q not recognized", value.S)
		}
	case "log_verbosity":
		switch out.Verbosity = strings.ToLower(text()); out.Verbosity {
		case "default", "verbose", "silent":
		default:
			fail(diag.InvalidParameter, pos, "COPY LOG_VERBOSITY %q not recognized", value.S)
		}
	case "reject_limit":
		out.RejectLimit = count(1)
	case "store_rejects":
		out.Rejects.Store = flag()
	case "rejects_table":
		out.Rejects.Table, out.Rejects.Store = text(), true
	case "rejects_scan":
		out.Rejects.Scan, out.Rejects.Store = text(), true
	case "rejects_limit":
		out.Rejects.Limit = count(0)
	case "auto_detect":
		if !flag() {
			unsupported(pos, "COPY without a look at the file")
		}
	case "per_thread_output":
		out.PerThread = flag()
	case "file_size_bytes":
		out.FileSize = value.String()
	case "overwrite", "overwrite_or_ignore", "append":
		if !flag() {
			break
		}
		if out.Existing != Refuse {
			fail(diag.InvalidParameter, pos, "COPY has one of OVERWRITE, OVERWRITE_OR_IGNORE and APPEND")
		}
		out.Existing = map[string]Existing{"overwrite": Remove, "overwrite_or_ignore": Replace, "append": Append}[o.Name]
	case "filename_pattern":
		out.Pattern = text()
	case "file_extension":
		out.Extension = text()
	case "write_partition_columns":
		out.KeepColumns = flag()
	case "format":
		switch f := strings.ToLower(text()); f {
		case "csv":
			out.Format = CSV
		case "text":
			out.Format = Text
		case "parquet":
			out.Format = Parquet
		case "arrow", "ipc", "feather":
			out.Format = Arrow
		case "arrows":
			out.Format, out.Stream = Arrow, true
		case "json", "ndjson", "jsonl":
			out.Format = JSON
		case "binary":
			unsupported(pos, "COPY format %s", f)
		default:
			panic(diag.Errorf(diag.InvalidParameter, pos, "COPY format %q not recognized", f).
				WithHint("there are csv, text, parquet, json and arrow"))
		}
	case "header":
		out.HasHeader = true
		if value.Type.Kind == types.Text && strings.EqualFold(value.S, "match") {
			if !out.From {
				fail(diag.FeatureNotSupported, pos, "cannot use \"match\" with HEADER in COPY TO")
			}
			out.Header, out.MatchHeader = true, true
			break
		}
		v, err := types.Cast(value, types.TBool)
		check(err, pos)
		out.Header = v.I != 0
	case "delimiter", "delim", "sep":
		out.Delimiter = char()
	case "quote":
		out.Quote = char()
	case "escape":
		out.Escape = char()
	case "null", "nullstr":
		out.Null, out.HasNull = text(), true
	case "encoding":
		if out.Encoding = encoding(text(), pos); out.Encoding != "" && !out.From {
			panic(diag.Unsupported(pos, "COPY TO in the encoding %q", value.S).WithHint("files are written in UTF-8; iconv changes them"))
		}
	case "compression", "codec":
		out.Compression = strings.ToLower(text())
		switch out.Compression {
		case "none", "uncompressed", "snappy", "zstd", "gzip", "lz4", "brotli":
		default:
			fail(diag.InvalidParameter, pos, "compression %q not recognized", out.Compression)
		}
	case "array":
		v, err := types.Cast(value, types.TBool)
		check(err, pos)
		out.Array = v.I != 0
	case "row_group_size":
		if !value.Type.IsInteger() || value.Null || value.I < 1 {
			fail(diag.InvalidParameter, pos, "COPY row_group_size must be a positive integer")
		}
		out.RowGroupSize = value.I
	default:
		panic(diag.Errorf(diag.SyntaxError, o.Pos, "option %q not recognized", o.Name).
			WithHint(diag.DidYouMean(o.Name, copyOptions)))
	}
}
