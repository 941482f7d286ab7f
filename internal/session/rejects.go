package session

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/file"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Rows of CSV files that cannot be read are noted while a statement runs, and become rows of two tables when it is done, in its
// transaction: what DuckDB calls reject_scans and reject_errors.

type rejectsKey struct{}

// scans are those of a statement whose rejects are stored.
type scans struct{ list []rejectScan }

type rejectScan struct {
	to   bind.Rejects
	list *file.Rejects
	said *file.Options
}

// withRejects is the context of a statement that may note rejects.
func withRejects(ctx context.Context) context.Context {
	return context.WithValue(ctx, rejectsKey{}, &scans{})
}

// rejecting is where a statement notes them.
func rejecting(ctx context.Context) *scans {
	s, ok := ctx.Value(rejectsKey{}).(*scans)
	if !ok {
		return &scans{} // somebody only looks at the columns
	}
	return s
}

func (s *scans) add(to bind.Rejects, list *file.Rejects, said *file.Options) {
	list.Keep, list.PerFile = true, to.Limit
	s.list = append(s.list, rejectScan{to, list, said})
}

// reads reports a statement that reads files, and does not just look at them.
func reads(b bind.Bound) bool {
	switch b.(type) {
	case *bind.Query, *bind.CreateTable, *bind.Insert, *bind.Change, *bind.WithChanges, *bind.Copy, *bind.Execute:
		return true
	}
	return false
}

// rejectColumns are the columns of the tables.
var (
	errorColumns = []catalog.ColumnDef{{Name: "scan_id", Type: types.TInt64}, {Name: "file_id", Type: types.TInt64}, {Name: "line", Type: types.TInt64},
		{Name: "line_byte_position", Type: types.TInt64}, {Name: "byte_position", Type: types.TInt64}, {Name: "column_idx", Type: types.TInt64},
		{Name: "column_name", Type: types.TText}, {Name: "error_type", Type: types.TText}, {Name: "csv_line", Type: types.TText}, {Name: "error_message", Type: types.TText}}
	scanColumns = []catalog.ColumnDef{{Name: "scan_id", Type: types.TInt64}, {Name: "file_id", Type: types.TInt64}, {Name: "file_path", Type: types.TText},
		{Name: "delimiter", Type: types.TText}, {Name: "quote", Type: types.TText}, {Name: "escape", Type: types.TText}, {Name: "newline_delimiter", Type: types.TText},
		{Name: "skip_rows", Type: types.TInt64}, {Name: "has_header", Type: types.TBool}, {Name: "columns", Type: types.TText},
		{Name: "date_format", Type: types.TText}, {Name: "timestamp_format", Type: types.TText}, {Name: "user_arguments", Type: types.TText}}
)

// storeRejects stores what a statement's scans have noted.
func (s *Session) storeRejects(ctx context.Context, tx *catalog.Tx) error {
	for _, x := range rejecting(ctx).list {
		if s.readOnly() {
			return diag.Errorf(diag.ReadOnlyTransaction, diag.NoPos, "cannot store rejected rows in a read-only transaction")
		}
		id := types.IntValue(types.TInt64, s.DB.scans.Add(1))
		var errs [][]types.Value
		for _, r := range x.list.List() {
			n := func(x int64) types.Value { return types.IntValue(types.TInt64, x) }
			name := types.TextValue(r.Name)
			name.Null = r.Name == ""
			errs = append(errs, []types.Value{id, n(int64(r.File)), n(r.Line), n(r.LineByte), n(r.Byte), n(int64(r.Column)), name,
				types.TextValue(r.Kind), types.TextValue(r.Text), types.TextValue(r.Message)})
		}
		var files [][]types.Value
		for i, d := range x.list.Files() {
			char := func(c byte) types.Value { return types.TextValue(strings.Trim(string(rune(c)), "\x00")) }
			var cols []string
			for _, c := range d.Columns {
				cols = append(cols, fmt.Sprintf("'%s': '%s'", strings.ReplaceAll(c.Name, "'", "''"), c.Type))
			}
			files = append(files, []types.Value{id, types.IntValue(types.TInt64, int64(i)), types.TextValue(d.Path), char(d.Delimiter), char(d.Quote), char(d.Escape),
				types.TextValue(strings.Trim(strconv.Quote(string(rune(d.Newline))), `"`)), types.IntValue(types.TInt64, int64(x.said.Skip)), types.BoolValue(d.Header),
				types.TextValue("{" + strings.Join(cols, ", ") + "}"), types.NullOf(types.TText), types.NullOf(types.TText), types.TextValue(x.to.Said())})
		}
		if err := s.storeRows(ctx, tx, or(x.to.Scan, "reject_scans"), scanColumns, files); err != nil {
			return err
		}
		if err := s.storeRows(ctx, tx, or(x.to.Table, "reject_errors"), errorColumns, errs); err != nil {
			return err
		}
	}
	return nil
}

func or(name, other string) string {
	if name == "" {
		return other
	}
	return name
}

// storeRows adds rows to a table, which is made if there is none.
func (s *Session) storeRows(ctx context.Context, tx *catalog.Tx, name string, cols []catalog.ColumnDef, rows [][]types.Value) error {
	rel, err := tx.Lookup(catalog.Main, name)
	if err != nil {
		t := catalog.NewTable(name, cols, nil, s.DB.Catalog.Encoding)
		t.Schema = catalog.Main
		if err := tx.AddTable(t, catalog.Fail); err != nil {
			return at(err, diag.NoPos)
		}
	} else if t, ok := rel.(*catalog.Table); !ok || !sameColumns(t.Columns, cols) {
		return diag.Errorf(diag.DuplicateTable, diag.NoPos, "relation %q exists already, and is no table of rejected rows", name).
			WithHint("rejects_table and rejects_scan name others")
	}
	fresh := catalog.NewTable("rejected", cols, nil, column.Options{})
	for lo := 0; lo < len(rows); lo += column.SegmentRows {
		sb := fresh.NewSegmentBuilder()
		for _, row := range rows[lo:min(lo+column.SegmentRows, len(rows))] {
			for c, v := range row {
				sb.Cols[c].Append(v)
			}
		}
		seg, err := fresh.Seal(sb)
		sb.Close()
		if err == nil {
			err = fresh.Append(seg)
		}
		if err != nil {
			return err
		}
	}
	res, err := s.internal(ctx, tx, map[string]*catalog.Table{"rejected": fresh}, "INSERT INTO "+ast.QuoteIdent(catalog.Main)+"."+ast.QuoteIdent(name)+" SELECT * FROM rejected")
	if err != nil {
		return unplaced(err)
	}
	res.Close()
	return nil
}

// sameColumns reports columns of the same names and types.
func sameColumns(a, b []catalog.ColumnDef) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || a[i].Type != b[i].Type {
			return false
		}
	}
	return true
}

// sayRejected says what PostgreSQL says of rows that COPY has left out.
func sayRejected(ctx context.Context, r *file.Rejects, verbosity string) {
	if verbosity == "verbose" {
		for _, x := range r.List() {
			diag.Notice(ctx, "skipping row due to data type incompatibility at line %d for column %q: %q", x.Line, x.Name, x.Value)
		}
	}
	switch n := r.Lines(); {
	case n == 0 || verbosity == "silent":
	case n == 1:
		diag.Notice(ctx, "1 row was skipped due to data type incompatibility")
	default:
		diag.Notice(ctx, "%d rows were skipped due to data type incompatibility", n)
	}
}
