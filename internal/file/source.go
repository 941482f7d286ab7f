package file

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Source is one file, or several with the same columns. It may be loaded many times, unless
// it is a stream.
type Source struct {
	format Format
	files  []*input
	cols   []catalog.ColumnDef
	rows   int64 // known or guessed

	csv     *dialect
	json    *jsonFile
	guessed bool           // the columns' types are
	seen    bool           // the sample was everything, and little
	tune    func(*cutting) // tests make blocks small
	parquet []*parquetFile // one per file
	folders []folderColumn // columns that are in the names of folders
	hunches []hunch        // of the columns
	zone    *types.Zone    // see Options.Zone
	said    []int          // columns whose types are not guessed
	reading Options        // what was said
	arrow   int            // columns that Arrow files have themselves
}

// Open is OpenContext without an end.
func Open(path string, opts Options) (*Source, error) {
	return OpenContext(context.Background(), path, opts)
}

// OpenContext looks at the files that a path or glob names, until the context ends.
func OpenContext(ctx context.Context, path string, opts Options) (*Source, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	paths, err := expand(path)
	if err != nil {
		return nil, err
	}
	s := &Source{zone: cmp.Or(opts.Zone, types.UTC)}
	for _, p := range paths {
		in, err := statInput(ctx, p)
		if err != nil {
			s.close()
			return nil, err
		}
		in.num, in.skip, in.comment, in.coded = len(s.files), opts.Skip, opts.Comment, opts.Encoding
		s.files = append(s.files, in)
	}
	if err := s.look(ctx, opts); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// close gives up what was opened.
func (s *Source) close() {
	for _, f := range s.files {
		f.close()
	}
}

// OpenReader is a source of what r says, CSV or text, as for COPY FROM STDIN. The name is for errors.
func OpenReader(r io.Reader, name string, opts Options) (*Source, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	if opts.Format == Auto {
		opts.Format = CSV
	}
	s := &Source{files: []*input{{path: name, stream: r, skip: opts.Skip, comment: opts.Comment, coded: opts.Encoding}}, zone: cmp.Or(opts.Zone, types.UTC)}
	return s, s.look(context.Background(), opts)
}

// look finds out what the files contain.
func (s *Source) look(ctx context.Context, opts Options) error {
	first := s.files[0]
	s.format, s.reading = opts.Format, opts
	if opts.Rejects != nil {
		opts.Rejects.source = s
	}
	if s.format == Auto {
		var err error
		if s.format, err = s.formatByNames(); err != nil {
			return err
		}
	}
	if s.format == Auto {
		magic, _, err := first.head(ctx, len(parquetMagic), first.raw)
		if err != nil {
			return err
		}
		switch s.format = CSV; {
		case bytes.Equal(magic, parquetMagic):
			s.format = Parquet
		case bytes.HasPrefix(arrowMagic, magic) && len(magic) == len(parquetMagic):
			s.format = Arrow
		}
	}
	switch s.format {
	case Arrow:
		return s.lookArrow(ctx, &opts)
	case Parquet:
		for _, f := range s.files {
			if f.stream != nil {
				return diag.Errorf(diag.WrongObjectType, diag.NoPos, "%q is not a regular file, which a Parquet file must be", f.path)
			}
		}
		return s.lookParquet(&opts)
	case JSON:
		return s.lookJSON(ctx, opts)
	default:
		return s.lookCSV(ctx, opts)
	}
}

// formatByNames is the format that the names of all files say.
func (s *Source) formatByNames() (Format, error) {
	var format Format
	for i, in := range s.files {
		f, err := FormatByName(in.path)
		switch {
		case err != nil:
			return Auto, err
		case i == 0:
			format = f
		case f != format:
			return Auto, diag.Errorf(diag.InvalidParameter, diag.NoPos, "files %q and %q are not of the same format", s.files[0].path, in.path)
		}
	}
	return format, nil
}

// Format is the format of the files.
func (s *Source) Format() Format { return s.format }

// Columns are the columns of the files. Not to be changed.
func (s *Source) Columns() []catalog.ColumnDef { return s.cols }

// EstimateRows is the number of rows: exact for Parquet, else a guess from the sample; 0
// if there is nothing to guess from.
func (s *Source) EstimateRows() int64 { return s.rows }

// Small reports text files of which everything has been looked at already, so that loading
// them costs little and reads nothing that could surprise.
func (s *Source) Small() bool { return s.seen }

// Once reports that the source can be read only once.
func (s *Source) Once() bool {
	return slices.ContainsFunc(s.files, func(f *input) bool { return f.stream != nil })
}

// LoadOptions say how to load a source into a table.
type LoadOptions struct {
	// Threads is the most goroutines that work at the same time; 0 = as many as there are processors.
	Threads int
	// Columns has the table's column for each column of the source, or -1 for one that is
	// not wanted. nil: the columns in order.
	Columns []int
	// Defaults are the values of the table's columns that Columns does not name, one per column
	// of the table and of its type; nil: NULL.
	Defaults []types.Value
	// NoMap and NoSIMD: Parquet files are read, not mapped, and decoded without vector instructions.
	NoMap, NoSIMD bool
	// Account counts what loading takes.
	Account *budget.Account
	// Progress, if not nil, is called now and then with how much of the files is read and of
	// how much, in bytes, and with the rows that are loaded. It is not called by two goroutines at once.
	Progress func(done, total, rows int64)
}

// Load reads the files into the table, which has at least one column, and returns the number of rows, which come in the order
// of the files and become visible all at once. On an error, or when ctx is done, the table is as
// before. The values of text files are read as the table's types; those of Parquet files are
// converted as an assignment does.
func (s *Source) Load(ctx context.Context, table *catalog.Table, opts LoadOptions) (rows int64, err error) {
	defer diag.Recover("load "+s.format.String(), &err)
	if opts.Threads <= 0 {
		opts.Threads = runtime.GOMAXPROCS(0)
	}
	if err := s.checkMapping(ctx, table, &opts); err != nil {
		return 0, err
	}
	var segs []*catalog.Segment
	switch s.format {
	case Parquet:
		segs, err = s.loadParquet(ctx, table, opts)
	case Arrow:
		segs, err = s.loadArrow(ctx, table, opts)
	default:
		segs, err = s.loadText(ctx, table, opts)
	}
	if err != nil {
		return 0, err
	}
	if err := table.AppendFor(opts.Account, segs...); err != nil {
		discard(segs)
		return 0, err
	}
	for _, seg := range segs {
		rows += int64(seg.Rows)
	}
	return rows, nil
}

// checkMapping completes opts.Columns.
func (s *Source) checkMapping(ctx context.Context, table *catalog.Table, opts *LoadOptions) error {
	if opts.Columns == nil {
		opts.Columns = make([]int, len(table.Columns))
		for i := range opts.Columns {
			opts.Columns[i] = i
		}
	}
	if len(opts.Columns) != len(s.cols) {
		return diag.Errorf(diag.BadCopyFormat, diag.NoPos, "%s has %d columns, but %d are expected",
			s.describe(), len(s.cols), len(opts.Columns))
	}
	seen := make([]bool, len(table.Columns))
	for i, c := range opts.Columns {
		switch {
		case c == -1:
		case c < 0 || c >= len(seen):
			return diag.Internalf("load", "column %d of %d", c, len(seen))
		case s.cols[i].Foreign != nil && s.cols[i].Foreign.Unreadable:
			return diag.Unsupported(diag.NoPos, "column %q: the type %s of %s", s.cols[i].Name, s.cols[i].Foreign.Type, s.describe())
		case seen[c]:
			return diag.Errorf(diag.DuplicateColumn, diag.NoPos, "column %q specified more than once", table.Columns[c].Name)
		default:
			seen[c] = true
		}
	}
	if opts.Defaults != nil && len(opts.Defaults) != len(table.Columns) {
		return diag.Internalf("load", "%d defaults for %d columns", len(opts.Defaults), len(table.Columns))
	}
	return nil
}

// describe names the source in messages.
func (s *Source) describe() string { return fmt.Sprintf("file %q", s.files[0].path) }

// MapByName finds the table's column for each column of the source by name, in any case;
// it is an error if the table lacks one.
func (s *Source) MapByName(table *catalog.Table) ([]int, error) {
	out := make([]int, len(s.cols))
	for i, c := range s.cols {
		out[i] = table.Column(c.Name)
		if out[i] < 0 && s.inFolders(i) { // a folder's name is not part of the file
			continue
		}
		if out[i] < 0 {
			var names []string
			for _, t := range table.Columns {
				names = append(names, t.Name)
			}
			return nil, diag.Errorf(diag.UndefinedColumn, diag.NoPos, "column %q of %s is not a column of relation %q",
				c.Name, s.describe(), table.Name).WithHint(diag.DidYouMean(c.Name, names))
		}
	}
	return out, nil
}

// disagree is the error for a file whose columns are not those of the first.
func (s *Source) disagree(f *input, got []catalog.ColumnDef) error {
	detail := fmt.Sprintf("it has %d columns, file %q has %d", len(got), s.files[0].path, len(s.cols))
	for i := range min(len(got), len(s.cols)) {
		a, b := &got[i], &s.cols[i]
		if !sameColumn(a, b) {
			detail = fmt.Sprintf("column %d is %q %s, in file %q it is %q %s", i+1, a.Name, typeName(a), s.files[0].path, b.Name, typeName(b))
			break
		}
	}
	return diag.Errorf(diag.DatatypeMismatch, diag.NoPos, "the columns of file %q differ from those of the other files", f.path).
		WithDetail("%s", detail)
}

// typeName is what a column's type is called in messages about files.
func typeName(c *catalog.ColumnDef) string {
	if c.Foreign != nil {
		return c.Foreign.Type
	}
	return c.Type.String()
}
