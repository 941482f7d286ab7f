// Package render prints results for people and programs: as a table like psql's, as CSV, JSON, JSON
// lines or Markdown.
//
// In: a kelpie.Result. Out: text, written batch by batch as the rows come; only a table holds rows
// back, to find the widths of its columns. Read render.go, then the file of a format.
package render

import (
	"bufio"
	"context"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/kelpiedb/kelpie"
)

// Formats are the names of the formats.
var Formats = []string{"table", "csv", "json", "jsonl", "markdown"}

// Known reports whether there is a format of that name.
func Known(format string) bool { return slices.Contains(Formats, format) }

// Options say how to print.
type Options struct {
	Format   string
	Width    int  // columns of the terminal; 0: not a terminal, nothing is cut
	Expanded bool // tables: a line per value instead of a line per row
}

// printer is one format. Errors of the writer show when it is flushed.
type printer interface {
	begin()
	batch(arrow.RecordBatch)
	end(rows int64)
}

// Write prints a result and leaves it closed. A statement without rows prints its tag in a table,
// as psql does, and nothing in the formats that programs read.
func Write(ctx context.Context, out io.Writer, res *kelpie.Result, o Options) error {
	defer res.Close()
	w := bufio.NewWriterSize(out, 1<<16)
	if len(res.Columns()) == 0 {
		if o.Format == "table" && res.Tag() != "" {
			w.WriteString(string(res.Tag()) + "\n")
		}
		return w.Flush()
	}
	res.TextIntervals()
	p := newPrinter(w, res, o)
	p.begin()
	var rows int64
	for b, err := range res.Batches() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			w.Flush()
			return err
		}
		rows += b.NumRows()
		p.batch(b)
		// A broken pipe or a full disk ends the work here, not after a million rows.
		if _, err := w.Write(nil); err != nil {
			return err
		}
	}
	p.end(rows)
	return w.Flush()
}

func newPrinter(w *bufio.Writer, res *kelpie.Result, o Options) printer {
	cols := columnsOf(res)
	switch {
	case o.Format == "csv":
		return &csvPrinter{w: w, cols: cols}
	case o.Format == "json":
		return &jsonPrinter{w: w, cols: cols, array: true}
	case o.Format == "jsonl":
		return &jsonPrinter{w: w, cols: cols}
	case o.Format == "markdown":
		return &markdownPrinter{w: w, cols: cols}
	case o.Expanded:
		return &expandedPrinter{w: w, cols: cols, screen: o.Width}
	}
	return &tablePrinter{w: w, cols: cols, screen: o.Width}
}

// column is what formats want to know of a column.
type column struct {
	name   string
	number bool // right-aligned; bare in JSON
}

func columnsOf(res *kelpie.Result) []column {
	out := make([]column, len(res.Columns()))
	for i, f := range res.Schema().Fields() {
		out[i] = column{f.Name, isNumber(f.Type)}
	}
	return out
}

func isNumber(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.INT16, arrow.INT32, arrow.INT64, arrow.FLOAT32, arrow.FLOAT64, arrow.DECIMAL128:
		return true
	}
	return false
}

// cell is the text of a value, "" for NULL; buf is room for it.
func cell(buf []byte, a arrow.Array, i int) []byte { return kelpie.AppendText(buf[:0], a, i) }
