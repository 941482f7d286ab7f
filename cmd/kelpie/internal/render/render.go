// Package render prints results for people and programs: as a table like psql's, as CSV, JSON, Markdown,
// Parquet and more.
//
// In: a kelpie.Result. Out: text or bytes, written batch by batch as the rows come; only a table holds rows
// back, to find the widths of its columns. Read render.go, then the file of a format.
package render

import (
	"bufio"
	"context"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/kelpiedb/kelpie"
)

// Formats are the names of the formats.
var Formats = []string{"table", "box", "csv", "tsv", "json", "jsonl", "markdown", "html", "latex", "insert", "parquet", "arrow"}

// otherNames are what other shells call them. A line is a table with a line per value.
var otherNames = map[string]string{"aligned": "table", "column": "table", "line": "table", "duckbox": "box", "tabs": "tsv", "jsonlines": "jsonl", "ndjson": "jsonl"}

// Find is the format of a name.
func Find(name string) (format string, ok bool) {
	name = strings.ToLower(name)
	if other, ok := otherNames[name]; ok {
		return other, true
	}
	return name, slices.Contains(Formats, name)
}

// ForPeople reports a format that is made to be read on a screen.
func ForPeople(o Options) bool { return o.Format == "table" || o.Format == "box" }

// Options say how to print.
type Options struct {
	Format   string
	Width    int    // columns of the terminal; 0: not a terminal, nothing is cut
	Rows     int    // formats for people: how many are shown at most; 0: all
	More     string // what to do about those that are not, said behind their number
	Null     string // how NULL looks, in formats that have no word for it
	Expanded bool   // tables: a line per value instead of a line per row
	Bare     bool   // tables, CSV and TSV: rows only, without names and counts
	Several  bool   // JSON: the document is an array of results
	Table    string // of the INSERT statements
}

// printer is one format. Errors of the writer show when it is flushed.
type printer interface {
	begin()
	batch(arrow.RecordBatch)
	// end is told how many rows the result has, which may be more than there were batches for.
	end(rows int64)
}

// Writer prints results one after the other.
type Writer struct {
	out  io.Writer
	seen int  // results
	json bool // an array of results is open
}

// NewWriter prints to out.
func NewWriter(out io.Writer) *Writer { return &Writer{out: out} }

// Close ends what results have in common.
func (w *Writer) Close() error {
	if !w.json {
		return nil
	}
	w.json = false
	_, err := io.WriteString(w.out, "]\n")
	return err
}

// Write prints a result and leaves it closed. A statement without rows prints its tag in a table,
// as psql does, and nothing in the formats that programs read.
func (w *Writer) Write(ctx context.Context, res *kelpie.Result, o Options) error {
	defer res.Close()
	if len(res.Columns()) == 0 {
		if !ForPeople(o) || res.Tag() == "" || o.Bare {
			return nil
		}
		_, err := io.WriteString(w.out, string(res.Tag())+"\n")
		return err
	}
	w.seen++
	switch {
	case o.Format == "parquet" || o.Format == "arrow":
		return w.file(ctx, res, o)
	case o.Format == "json" && o.Several:
		mark := ","
		if !w.json {
			mark, w.json = "[", true
		}
		if _, err := io.WriteString(w.out, mark); err != nil {
			return err
		}
	}
	tag := string(res.Tag())
	if err := rows(ctx, w.out, res, o); err != nil || !ForPeople(o) || o.Bare || !changes(tag) {
		return err
	}
	_, err := io.WriteString(w.out, tag+"\n")
	return err
}

// changes reports the tag of a statement that changed rows: with RETURNING it has rows, too.
func changes(tag string) bool {
	verb, _, _ := strings.Cut(tag, " ")
	return verb == "INSERT" || verb == "UPDATE" || verb == "DELETE"
}

// rows prints the rows of a result.
func rows(ctx context.Context, out io.Writer, res *kelpie.Result, o Options) error {
	w := bufio.NewWriterSize(out, 1<<16)
	res.TextIntervals()
	p := newPrinter(w, res, o)
	p.begin()
	var rows int64
	limit := int64(math.MaxInt64)
	if ForPeople(o) && o.Rows > 0 && res.Len() > int64(o.Rows) {
		limit = int64(o.Rows)
	}
	for b, err := range res.Batches() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			w.Flush()
			return err
		}
		if left := limit - rows; b.NumRows() >= left {
			part := b.NewSlice(0, left)
			p.batch(part)
			part.Release()
			rows = res.Len()
			break
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
	switch o.Format {
	case "csv":
		return &csvPrinter{w: w, cols: cols, bare: o.Bare}
	case "tsv":
		return &tsvPrinter{w: w, cols: cols, bare: o.Bare}
	case "json":
		return &jsonPrinter{w: w, cols: cols, array: true}
	case "jsonl":
		return &jsonPrinter{w: w, cols: cols}
	case "markdown":
		return &markdownPrinter{w: w, cols: cols, null: o.Null}
	case "html":
		return &htmlPrinter{w: w, cols: cols, null: o.Null}
	case "latex":
		return &latexPrinter{w: w, cols: cols, null: o.Null}
	case "insert":
		return &insertPrinter{w: w, cols: cols, table: o.Table}
	}
	if o.Expanded {
		return &expandedPrinter{w: w, cols: cols, Options: o}
	}
	lines := &psqlLines
	if o.Format == "box" {
		lines = &boxLines
	}
	return &tablePrinter{w: w, cols: cols, Options: o, lines: lines}
}

// column is what formats want to know of a column.
type column struct {
	name   string
	sql    string // its type
	number bool   // right-aligned; bare in JSON
	text   bool   // a part of a value still makes sense, as that of a date or number does not
}

func columnsOf(res *kelpie.Result) []column {
	out := make([]column, len(res.Columns()))
	for i, f := range res.Schema().Fields() {
		sql := res.Columns()[i].Type
		out[i] = column{f.Name, sql, isNumber(f.Type), f.Type.ID() == arrow.STRING && sql != "INTERVAL"}
	}
	return out
}

func isNumber(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.INT8, arrow.UINT8, arrow.INT16, arrow.UINT16, arrow.UINT32, arrow.INT32, arrow.INT64, arrow.FLOAT32, arrow.FLOAT64, arrow.DECIMAL128:
		return true
	}
	return false
}

// cell is the text of a value, "" for NULL; buf is room for it.
func cell(buf []byte, a arrow.Array, i int) []byte { return kelpie.AppendText(buf[:0], a, i) }

// shown is the text of a value as people see it.
func shown(buf []byte, a arrow.Array, i int, null string) []byte {
	if a.IsNull(i) {
		return append(buf[:0], null...)
	}
	return cell(buf, a, i)
}
