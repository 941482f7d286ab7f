package kelpie

import (
	"context"
	"io"
	"iter"
	"runtime"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/kelpiedb/kelpie/internal/session"
)

// Result is what a statement gives: rows, or only a tag. Its rows are read once, as Arrow batches or
// row by row. It belongs to one goroutine at a time.
//
// Close it: its rows live outside of the Go heap. Reading to the end closes it too.
type Result struct {
	inner   *session.Result
	columns []Column
	cleanup runtime.Cleanup

	batch arrow.RecordBatch // of Next
	row   int
	err   error
}

// Column describes a column of a result or table.
type Column struct {
	Name     string
	Type     string // SQL: INTEGER, DECIMAL(15,2), VARCHAR
	Nullable bool
}

// Timing says where a statement's time went.
type Timing struct {
	Parse, Plan, Compile, Execute time.Duration
}

// Total is the sum.
func (t Timing) Total() time.Duration { return t.Parse + t.Plan + t.Compile + t.Execute }

func newResult(inner *session.Result) *Result {
	r := &Result{inner: inner, columns: make([]Column, len(inner.Columns))}
	for i, c := range inner.Columns {
		r.columns[i] = Column{c.Name, c.Type.String(), c.Nullable}
	}
	// A forgotten result must not keep its memory for ever.
	r.cleanup = runtime.AddCleanup(r, func(inner *session.Result) { inner.Close() }, inner)
	return r
}

// Close gives the rows' memory back. Batches that were delivered stay valid. It may be called
// more than once.
func (r *Result) Close() error {
	if r.batch != nil {
		r.batch.Release()
		r.batch = nil
	}
	r.cleanup.Stop()
	r.inner.Close()
	return nil
}

// Columns are the result's columns; none for a statement that returns no rows.
func (r *Result) Columns() []Column { return r.columns }

// Schema is the Arrow schema of the batches. Decimals come as Decimal128, DATE as Date32, TIMESTAMP
// as microseconds without zone, text as String.
func (r *Result) Schema() *arrow.Schema { return r.inner.Schema() }

// TextIntervals lets the batches have intervals as text, as PostgreSQL writes them. Arrow's own end at times of
// 292 years, beyond which a batch is an error. Call it before anything is read.
func (r *Result) TextIntervals() { r.inner.TextIntervals() }

// Len is the number of rows.
func (r *Result) Len() int64 { return r.inner.Rows }

// Tag says what the statement did.
func (r *Result) Tag() Tag { return Tag(r.inner.CommandTag()) }

// Notices are remarks on the statement, such as that a table was there already or that a column
// has lost its time zone. They are for people; reading the rows may add some.
func (r *Result) Notices() []string { return r.inner.Notices() }

// Warnings are remarks on what should perhaps not have been asked for, such as BEGIN in a transaction.
func (r *Result) Warnings() []Warning {
	out := make([]Warning, len(r.inner.Warnings))
	for i, w := range r.inner.Warnings {
		out[i] = Warning(w)
	}
	return out
}

// Warning is a remark with its SQLSTATE.
type Warning struct{ Code, Message string }

// Timing says where the statement's time went.
func (r *Result) Timing() Timing {
	t := r.inner.Timing
	return Timing{t.Parse, t.Plan, t.Compile, t.Exec}
}

// GPUUse is what a statement did on a GPU.
type GPUUse struct {
	Launches         int64
	Kernel, Transfer time.Duration // by the device's clock, after SET gpu_times = on
	BytesUp          int64         // over the bus to the device, columns that were not there among them
	BytesDown        int64         // and back
	ColumnBytes      int64         // of the columns that were read
	Bound            time.Duration // the least time that reading them takes, by the speed of the device's memory; 0: not known
	// Bus is how many bytes copies to the device bring in a second, as measured, after SET gpu_times = on; 0: not known.
	Bus float64
	// Kernels is how many the device did not know, Foreseen how many of these were begun to be compiled before their turn came.
	Kernels, Foreseen int
	// Wait is how long the query waited for kernels to be compiled or loaded, Ready when it had the last, from its beginning on.
	Wait, Ready time.Duration
}

// GPU is what the statement did on a GPU of its own memory; false: it did not run on one.
func (r *Result) GPU() (GPUUse, bool) {
	var u GPUUse
	st := &r.inner.Stats
	for i := range st.Pipelines {
		p := &st.Pipelines[i]
		u.Launches += p.Launches
		u.Kernel += p.Device.Kernel
		u.Transfer += p.Device.Copies + p.Device.Carry
		u.BytesUp += p.Device.Up
		u.BytesDown += p.Device.Down
		u.ColumnBytes += p.Device.Columns
	}
	if st.Bandwidth > 0 {
		u.Bound = time.Duration(float64(u.ColumnBytes) / st.Bandwidth * float64(time.Second))
	}
	u.Bus, u.Kernels, u.Foreseen, u.Wait, u.Ready = st.Bus, st.Kernels, st.Foreseen, st.KernelWait, st.KernelsReady
	return u, u.BytesUp > 0
}

// PeakMemory is the most bytes that the statement held at a time.
func (r *Result) PeakMemory() int64 { return r.inner.Stats.PeakMemory }

// Batches delivers the rows that have not been read yet as Arrow record batches. A batch is released
// when the loop goes on; Retain it to keep it.
func (r *Result) Batches() iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		for {
			b, err := r.next()
			if err != nil {
				yield(nil, err)
				return
			}
			if b == nil {
				return
			}
			ok := yield(b, nil)
			b.Release()
			if !ok {
				return
			}
		}
	}
}

// next is the next batch, nil at the end. At the end the memory goes back.
func (r *Result) next() (arrow.RecordBatch, error) {
	b, err := r.inner.Next()
	if b == nil || err != nil {
		r.Close()
		return nil, export(err)
	}
	return b, nil
}

// WriteParquet writes the rows that are left as a Parquet file, as COPY does, and closes the result.
func (r *Result) WriteParquet(ctx context.Context, w io.Writer) error {
	defer r.Close()
	return exportFor(ctx, r.inner.WriteParquet(ctx, w))
}

// Reader delivers the batches to Arrow libraries, which write them as IPC, Parquet or CSV. The last
// Release closes the result.
func (r *Result) Reader() array.RecordReader { return newReader(r) }
