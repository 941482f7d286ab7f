package session

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/exec/result"
	"github.com/kelpiedb/kelpie/internal/file"
	"github.com/kelpiedb/kelpie/internal/types"
)

// BatchRows is the most rows of a record batch.
const BatchRows = 8192

// Result is what a statement gives. A statement without rows has no Columns, only a Tag. Close
// it when done: rows live outside of the Go heap.
type Result struct {
	Columns []Column
	Tag     string // command tag, as psql prints it
	Rows    int64
	Timing  Timing
	Stats   exec.Stats
	// Warnings are what should perhaps not have been asked for.
	Warnings []Warning

	notices []string      // of the statement's binding
	said    *diag.Notices // by those who carried it out
	exec    *result.Result
	values  [][]types.Value // rows made in Go
	pos     int64
	reader  *result.Reader
	fetch   *fetcher // makes batches of large results
	schema  *arrow.Schema

	textIntervals bool
	zone          *types.Zone // of timestamps with time zone; nil: UTC
}

// TextIntervals lets batches have intervals as text, as PostgreSQL writes them: Arrow's own end at times of 292 years.
// It is called before the first batch.
func (r *Result) TextIntervals() {
	if r.pos == 0 && r.fetch == nil {
		r.textIntervals, r.schema = true, nil
	}
}

// Warning is a remark that is more than a notice, with its SQLSTATE.
type Warning struct{ Code, Message string }

// warn adds a warning.
func (r *Result) warn(code, message string) *Result {
	r.Warnings = append(r.Warnings, Warning{code, message})
	return r
}

// quiet drops messages below a level of client_min_messages.
func (r *Result) quiet(level string) {
	least := slices.Index(messageLevels, level)
	if least > slices.Index(messageLevels, "notice") {
		r.notices, r.said = nil, nil
	}
	if least > slices.Index(messageLevels, "warning") {
		r.Warnings = nil
	}
}

// done is the result of a statement without rows.
func done(tag string, t Timing) *Result { return &Result{Tag: tag, Timing: t} }

// literal is a result of rows made in Go.
func literal(names []string, ts []types.Type, rows [][]types.Value, t Timing) *Result {
	r := &Result{Timing: t, values: rows, Rows: int64(len(rows))}
	for i, n := range names {
		r.Columns = append(r.Columns, Column{n, ts[i], true})
	}
	return r
}

// Close gives the rows' memory back.
func (r *Result) Close() {
	if r.fetch != nil {
		r.fetch.close()
		r.fetch = nil
	}
	if r.exec != nil {
		r.exec.Close()
		r.exec = nil
	}
	r.values = nil
}

// Notices are remarks on the statement, for the person who wrote it.
func (r *Result) Notices() []string {
	if r.said == nil {
		return r.notices
	}
	return slices.Concat(r.notices, r.said.List())
}

// CommandTag is the tag that psql would print.
func (r *Result) CommandTag() string {
	if r.Tag != "" {
		return r.Tag
	}
	return fmt.Sprintf("SELECT %d", r.Rows)
}

// Schema is the result's Arrow schema.
func (r *Result) Schema() *arrow.Schema {
	if r.schema == nil {
		fs := make([]arrow.Field, len(r.Columns))
		for i, c := range r.Columns {
			fs[i] = arrow.Field{Name: c.Name, Type: file.ArrowType(c.Type, r.zone), Nullable: c.Nullable}
			if r.textIntervals && c.Type.Kind == types.Interval {
				fs[i].Type = arrow.BinaryTypes.String
			}
		}
		r.schema = arrow.NewSchema(fs, nil)
	}
	return r.schema
}

// Next returns the next batch, nil at the end. The caller releases it.
func (r *Result) Next() (arrow.RecordBatch, error) {
	left := r.Rows - r.pos
	if left <= 0 || len(r.Columns) == 0 {
		return nil, nil
	}
	var b arrow.RecordBatch
	var err error
	switch {
	case r.exec == nil && r.values == nil:
		return nil, fmt.Errorf("the result is closed")
	case r.exec == nil:
		b, err = r.literalBatch(int(min(left, BatchRows)))
	case r.pos == 0 && r.exec.Threads > 1 && r.Rows*int64(len(r.Columns)) > manyCells:
		r.fetch = r.newFetcher(r.exec.Threads)
		fallthrough
	default:
		if r.fetch != nil {
			b, err = r.fetch.take()
			break
		}
		if r.reader == nil {
			r.reader = r.exec.NewReader()
		}
		b, err = r.batchAt(r.reader, r.pos, BatchRows)
	}
	if err != nil {
		return nil, err
	}
	r.pos += b.NumRows()
	return b, nil
}

// manyCells is how large a result must be for more than one thread to make its batches.
const manyCells = 1 << 18

// literalBatch is the next n rows of a result made in Go.
func (r *Result) literalBatch(n int) (arrow.RecordBatch, error) {
	b := array.NewRecordBuilder(memory.DefaultAllocator, r.Schema())
	defer b.Release()
	for i := range r.Columns {
		f := b.Field(i)
		f.Reserve(n)
		for _, row := range r.values[r.pos : r.pos+int64(n)] {
			if err := file.AppendArrow(f, row[i]); err != nil {
				return nil, err
			}
		}
	}
	return b.NewRecordBatch(), nil
}

// Values reads all remaining rows as Go values, for tests, small tools and INSERT.
func (r *Result) Values() [][]types.Value { return r.Take(int(r.Rows - r.pos)) }

// Take reads the next rows as Go values, n if there are as many.
func (r *Result) Take(n int) [][]types.Value {
	n = min(n, int(r.Rows-r.pos))
	if r.exec == nil {
		out := r.values[r.pos:][:n]
		r.pos += int64(n)
		return out
	}
	out := make([][]types.Value, n)
	cells := make([]types.Value, n*len(r.Columns))
	for i := range out {
		out[i] = cells[i*len(r.Columns) : (i+1)*len(r.Columns)]
	}
	rd := r.exec.NewReader()
	for at := 0; at < n; {
		k := rd.Window(r.pos, n-at)
		for i, c := range r.Columns {
			rd.Column(i, &valueAppender{t: c.Type, out: out[at:], col: i})
		}
		at += k
		r.pos += int64(k)
	}
	return out
}

// valueAppender receives values of a column as Go values.
type valueAppender struct {
	t   types.Type
	out [][]types.Value
	col int
	row int
}

func (a *valueAppender) put(v types.Value) {
	a.out[a.row][a.col] = v
	a.row++
}
func (a *valueAppender) Null() { a.put(types.NullOf(a.t)) }
func (a *valueAppender) Int(x int64) {
	if a.t.Kind == types.Decimal {
		a.put(types.DecimalValue(a.t, types.FromInt64(x)))
		return
	}
	a.put(types.IntValue(a.t, x))
}
func (a *valueAppender) Wide(x types.Int128) { a.put(types.DecimalValue(a.t, x)) }
func (a *valueAppender) Float(x float64)     { a.put(types.FloatValue(a.t, x)) }
func (a *valueAppender) Text(x []byte) {
	v := types.TextValue(string(x))
	v.Type = a.t
	a.put(v)
}
func (a *valueAppender) Interval(m, d int32, us int64) { a.put(types.IntervalValue(m, d, us)) }
