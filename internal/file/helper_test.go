package file

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

func newTable(cols []catalog.ColumnDef) *catalog.Table {
	return catalog.NewTable("t", cols, nil, column.DefaultOptions())
}

// defs reads "a INTEGER, b DECIMAL(15,2) NOT NULL".
func defs(tb testing.TB, s string) (out []catalog.ColumnDef) {
	tb.Helper()
	depth := 0
	for _, part := range strings.FieldsFunc(s, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		return r == ',' && depth == 0
	}) {
		name, typ, _ := strings.Cut(strings.TrimSpace(part), " ")
		typ, notNull := strings.CutSuffix(typ, " NOT NULL")
		out = append(out, catalog.ColumnDef{Name: name, Type: sqlType(tb, typ), NotNull: notNull})
	}
	return out
}

// sqlType reads INTEGER or DECIMAL(15,2).
func sqlType(tb testing.TB, s string) types.Type {
	tb.Helper()
	name, rest, _ := strings.Cut(s, "(")
	var args []int
	for _, a := range strings.FieldsFunc(rest, func(r rune) bool { return r == ',' || r == ')' }) {
		var n int
		fmt.Sscan(a, &n)
		args = append(args, n)
	}
	t, err := types.ParseType(name, args)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// show writes column definitions as defs reads them.
func show(cols []catalog.ColumnDef) string {
	var out []string
	for _, c := range cols {
		s := c.Name + " " + c.Type.String()
		if c.NotNull {
			s += " NOT NULL"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

// dump writes the rows of a table, a line each; texts in quotes, so that they differ from NULL.
func dump(t *catalog.Table) string {
	var cols []int
	for i := range t.Columns {
		cols = append(cols, i)
	}
	return dumpSnapshot(t.Snapshot(), cols)
}

// write makes a file.
func write(tb testing.TB, name, text string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		tb.Fatal(err)
	}
	return path
}

// loadFile opens and loads a path into a new table with the given columns, or with those of the source.
func loadFile(path string, opts Options, cols []catalog.ColumnDef, tune func(*cutting), threads int) (*catalog.Table, error) {
	src, err := Open(path, opts)
	if err != nil {
		return nil, err
	}
	src.tune = tune
	if cols == nil {
		cols = src.Columns()
	}
	t := newTable(cols)
	rows, err := src.Load(context.Background(), t, LoadOptions{Threads: threads})
	if err == nil && rows != t.Snapshot().Rows {
		err = fmt.Errorf("Load says %d rows, there are %d", rows, t.Snapshot().Rows)
	}
	return t, err
}

// message is an error as a user sees it, without the folder.
func message(err error, path string) string {
	if err == nil {
		return ""
	}
	return strings.ReplaceAll(diag.Format(err, ""), filepath.Dir(path)+"/", "")
}

// batch makes an Arrow batch of rows of a table, as the engine would.
func batch(t *catalog.Table, lo, hi int64) arrow.RecordBatch {
	snap := t.Snapshot()
	var fields []arrow.Field
	var arrays []arrow.Array
	for c, def := range t.Columns {
		typ := ArrowType(def.Type, nil)
		b := array.NewBuilder(memory.DefaultAllocator, typ)
		for row := lo; row < hi; row++ {
			if err := AppendArrow(b, snap.Value(row, c)); err != nil {
				panic(err)
			}
		}
		fields = append(fields, arrow.Field{Name: def.Name, Type: typ, Nullable: true})
		arrays = append(arrays, b.NewArray())
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, hi-lo)
}

// save writes a table to a file, in batches of a few sizes.
func save(t *catalog.Table, path string, opts Options) error {
	w, err := NewWriter(path, Auto, t.Columns, opts)
	if err != nil {
		return err
	}
	rows := t.Snapshot().Rows
	for lo, n := int64(0), int64(1); lo < rows; n = n*3 + 1 {
		hi := min(lo+n, rows)
		if err := w.Write(batch(t, lo, hi)); err != nil {
			w.Abort()
			return err
		}
		lo = hi
	}
	return w.Close()
}

// same compares texts of many lines and shows the first that differs.
func same(tb testing.TB, what, got, want string) {
	tb.Helper()
	if got == want {
		return
	}
	g, w := strings.SplitAfter(got, "\n"), strings.SplitAfter(want, "\n")
	for i := range max(len(g), len(w)) {
		a, b := "", ""
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			tb.Errorf("%s: %d lines, want %d; line %d is\n%s\nwant\n%s", what, len(g), len(w), i+1, a, b)
			return
		}
	}
}
