package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/file"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
	"github.com/kelpiedb/kelpie/internal/types"
)

// atPos gives an error of the file room a position in the statement.
func atPos(err error, pos int) error {
	if d, ok := err.(*diag.Error); ok {
		return d.At(pos)
	}
	return at(err, pos)
}

func (s *Session) fileProgress() func(done, total, rows int64) {
	if s.Progress == nil {
		return nil
	}
	return func(done, total, rows int64) { s.Progress("reading", done, total, rows) }
}

// fileFormats are the formats that there are, by their names in SQL.
var fileFormats = map[string]file.Format{"": file.Auto, "csv": file.CSV, "text": file.Text, "parquet": file.Parquet, "json": file.JSON, "arrow": file.Arrow}

func fileOptions(b *bind.Copy) (file.Options, error) {
	f, ok := fileFormats[b.Format.String()]
	if b.Format == bind.ByName {
		var err error
		if f, err = file.FormatByName(b.Path); err != nil {
			return file.Options{}, atPos(err, b.Pos)
		}
		if f == file.Auto {
			f = file.CSV
		}
	} else if !ok {
		return file.Options{}, diag.Unsupported(b.Pos, "COPY in %s format", b.Format)
	}
	if err := checkJSON(b, f); err != nil {
		return file.Options{}, err
	}
	if f == file.Arrow && (b.HasHeader || b.HasNull || b.Delimiter|b.Quote|b.Escape != 0) {
		return file.Options{}, diag.Unsupported(b.Pos, "HEADER, NULL, DELIMITER, QUOTE or ESCAPE in Arrow format")
	}
	return file.Options{Format: f, Header: b.Header, HasHeader: b.HasHeader, MatchHeader: b.MatchHeader, ForceNull: b.ForceNull, ForceNotNull: b.ForceNotNull, Delimiter: b.Delimiter, Quote: b.Quote, Escape: b.Escape,
		Skip: b.Skip, Comment: b.Comment, IgnoreErrors: b.IgnoreErrors, Null: b.Null, HasNull: b.HasNull, Compression: b.Compression, RowGroupSize: b.RowGroupSize, Array: b.Array, Stream: b.Stream,
		Encoding: file.Encoding(b.Encoding), ForceQuote: b.ForceQuote}, nil
}

// checkJSON refuses options that JSON gives no meaning to, and those that only JSON has.
func checkJSON(b *bind.Copy, f file.Format) error {
	switch {
	case f == file.JSON && (b.HasHeader || b.HasNull || b.Delimiter|b.Quote|b.Escape != 0):
		return diag.Errorf(diag.FeatureNotSupported, b.Pos, "COPY in JSON format has no HEADER, NULL, DELIMITER, QUOTE or ESCAPE")
	case f != file.JSON && b.Array:
		return diag.Errorf(diag.FeatureNotSupported, b.Pos, "COPY ARRAY is for JSON only")
	}
	return nil
}

// copy is COPY table FROM file and COPY (query) TO file.
func (s *Session) copy(ctx context.Context, tx *catalog.Tx, b *bind.Copy, t Timing) (*Result, error) {
	opts, err := fileOptions(b)
	if err != nil {
		return nil, err
	}
	if b.From {
		return s.copyFrom(ctx, tx, b, opts, t)
	}
	return s.copyTo(ctx, b, opts, t)
}

func (s *Session) copyFrom(ctx context.Context, tx *catalog.Tx, b *bind.Copy, opts file.Options, t Timing) (*Result, error) {
	start := time.Now()
	named := opts.Format == file.Parquet || opts.Format == file.Arrow // columns have names there
	if !named {
		for _, ord := range b.Columns {
			opts.Columns = append(opts.Columns, b.Table.Columns[ord])
		}
	}
	set := s.Settings()
	opts.Zone = set.client.zone
	if b.IgnoreErrors {
		opts.Rejects = &file.Rejects{Most: b.RejectLimit, Limited: b.RejectLimit > 0, Keep: b.Verbosity == "verbose", Account: budget.New(set.Memory)}
		if b.Rejects.Store {
			rejecting(ctx).add(b.Rejects, opts.Rejects, &opts)
		}
	}
	var src *file.Source
	var err error
	switch {
	case !b.Stdio:
		src, err = file.OpenContext(ctx, b.Path, opts)
	case s.Stdin == nil:
		err = diag.Unsupported(b.Pos, "COPY FROM STDIN where nobody gives what is to be read").WithHint("name a file; programs give a session its streams")
	case opts.Format == file.Arrow:
		src, err = file.OpenReader(s.Stdin, "stdin", opts)
	case named:
		err = diag.Unsupported(b.Pos, "COPY FROM STDIN in %s format", b.Format).WithHint("name a file: it is read from its end")
	default:
		if opts.Delimiter == 0 && opts.Format == file.CSV {
			opts.Delimiter = ','
		}
		src, err = file.OpenReader(s.Stdin, "stdin", opts)
	}
	if err != nil {
		return nil, atPos(err, b.Pos)
	}
	load := file.LoadOptions{Account: budget.New(set.Memory), Threads: set.Threads, Columns: b.Columns, NoMap: !set.FileMap, NoSIMD: !set.FileSIMD, Progress: s.fileProgress()}
	if named {
		if load.Columns, err = src.MapByName(b.Table); err != nil {
			return nil, atPos(err, b.Pos)
		}
	}
	have := load.Columns
	if opts.Format == file.JSON { // some objects may lack a key
		have = nil
	}
	if load.Defaults, err = s.defaults(ctx, tx, b.Table, have); err != nil {
		return nil, err
	}
	n, err := s.load(ctx, tx, b, src, load)
	if err != nil {
		return nil, atPos(err, b.Pos)
	}
	if b.OnError {
		sayRejected(ctx, opts.Rejects, b.Verbosity)
	}
	t.Exec = time.Since(start)
	return done(fmt.Sprintf("COPY %d", n), t), nil
}

// load reads a file into a table. One with columns that are computed for each row gets its rows by INSERT, from a table of what
// the file has.
func (s *Session) load(ctx context.Context, tx *catalog.Tx, b *bind.Copy, src *file.Source, load file.LoadOptions) (int64, error) {
	if !slices.ContainsFunc(b.Table.Columns, func(c catalog.ColumnDef) bool { return c.Generated != "" || strings.Contains(c.Default, "nextval(") }) {
		own := tx.Write(b.Table)
		before := own.Snapshot().Rows
		n, err := src.Load(ctx, own, load)
		if err != nil || len(own.Rules.Checks)+len(own.Rules.Foreign) == 0 {
			return n, err
		}
		fresh, err := own.RowsFrom(before)
		if err != nil {
			return 0, err
		}
		return n, s.verify(ctx, tx, own, fresh)
	}
	rows := b.Table.With(nil)
	rows.Columns = slices.Clone(rows.Columns)
	for i := range rows.Columns {
		rows.Columns[i].NotNull = false
	}
	n, err := src.Load(ctx, rows, load)
	if err != nil {
		return 0, err
	}
	var names []string
	for _, o := range load.Columns {
		if o >= 0 && b.Table.Columns[o].Generated == "" {
			names = append(names, ast.QuoteIdent(b.Table.Columns[o].Name))
		}
	}
	list := strings.Join(names, ", ")
	res, err := s.internal(ctx, tx, map[string]*catalog.Table{"copied": rows}, fmt.Sprintf("INSERT INTO %s.%s (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM copied",
		ast.QuoteIdent(catalog.SchemaOf(b.Table)), ast.QuoteIdent(b.Table.Name), list, list))
	if err != nil {
		return 0, unplaced(err)
	}
	res.Close()
	return n, nil
}

// defaults are the values of columns that a file does not have.
func (s *Session) defaults(ctx context.Context, tx *catalog.Tx, t *catalog.Table, have []int) ([]types.Value, error) {
	out := make([]types.Value, len(t.Columns))
	for i, c := range t.Columns {
		out[i] = types.NullOf(c.Type)
		if c.Default == "" || strings.Contains(c.Default, "nextval(") || slices.Contains(have, i) {
			continue
		}
		stmts, err := Parse("SELECT " + c.Default)
		if err != nil {
			return nil, err
		}
		res, err := s.attempt(ctx, tx, stmts[0], nil)
		if err != nil {
			return nil, err
		}
		v, err := types.Assign(res.Values()[0][0], c.Type)
		res.Close()
		if err != nil {
			return nil, at(err, -1)
		}
		out[i] = v
	}
	return out, nil
}
