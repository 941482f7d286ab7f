package session

import (
	"errors"
	"math"
	"math/bits"
	"runtime/debug"
	"sync"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/exec/result"
	"github.com/kelpiedb/kelpie/internal/file"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Arrow batches are made column by column, straight into their buffers.

// batchAt is up to n rows from row pos on as a record batch; fewer where their texts are long.
func (r *Result) batchAt(rd *result.Reader, pos int64, n int) (b arrow.RecordBatch, err error) {
	defer diag.Recover("result", &err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // rows lie outside of the Go heap
	for {
		n = rd.Window(pos, n)
		if b, err = r.batch(rd, n); err != errLongTexts {
			return b, err
		}
		n /= 2
	}
}

// batchTexts is how many bytes of a text column a batch of several rows may have: copying them is one step between
// two looks at whether the result is still wanted.
const batchTexts = 16 << 20

// errLongTexts says that the rows at hand are too much for a batch.
var errLongTexts = errors.New("the texts of the batch are long")

// batch is the reader's window as a record batch.
func (r *Result) batch(rd *result.Reader, n int) (arrow.RecordBatch, error) {
	m := &batchMemory{acct: r.exec.Account()}
	cols := make([]arrow.Array, len(r.Columns))
	defer func() {
		for _, c := range cols {
			if c != nil {
				c.Release()
			}
		}
	}()
	for i, c := range r.Columns {
		var err error
		if cols[i], err = m.column(rd, i, c.Type, r.Schema().Field(i).Type, n); err != nil {
			return nil, err
		}
	}
	return array.NewRecordBatch(r.Schema(), cols, int64(n)), nil
}

// column is column i of the reader's window.
func (m *batchMemory) column(rd *result.Reader, i int, t types.Type, dt arrow.DataType, n int) (arrow.Array, error) {
	valid := buffers.bytes((n + 7) / 8)
	bufs := []*memory.Buffer{nil, nil}
	nulls := rd.Valid(i, valid)
	if nulls > 0 {
		bufs[0] = m.buffer(valid)
	} else {
		buffers.Free(valid)
	}
	switch t.Kind {
	case types.Bool:
		b := buffers.bytes((n + 7) / 8)
		rd.Bools(i, b)
		bufs[1] = m.buffer(b)
	case types.Int8:
		bufs[1] = integers[int8](m, rd, i, n)
	case types.UInt8:
		bufs[1] = integers[uint8](m, rd, i, n)
	case types.UInt16:
		bufs[1] = integers[uint16](m, rd, i, n)
	case types.UInt32:
		bufs[1] = integers[uint32](m, rd, i, n)
	case types.Int16:
		bufs[1] = integers[int16](m, rd, i, n)
	case types.Int32, types.Date:
		bufs[1] = integers[int32](m, rd, i, n)
	case types.Int64, types.Timestamp, types.TimestampTZ, types.Time:
		bufs[1] = integers[int64](m, rd, i, n)
	case types.Float32:
		xs, b := fixed[float32](m, n)
		result.ReadFloats(rd, i, xs)
		bufs[1] = b
	case types.Float64:
		xs, b := fixed[float64](m, n)
		result.ReadFloats(rd, i, xs)
		bufs[1] = b
	case types.Decimal:
		if t == types.TUInt64 {
			wide := make([]types.Int128, n)
			rd.Wides(i, wide)
			xs, b := fixed[uint64](m, n)
			for k, x := range wide {
				xs[k] = x.Lo
			}
			bufs[1] = b
			break
		}
		xs, b := fixed[types.Int128](m, n) // in memory, this is a decimal128.Num
		rd.Wides(i, xs)
		bufs[1] = b
	case types.Interval:
		if dt.ID() == arrow.STRING {
			if bufs[0] != nil {
				bufs[0].Release()
			}
			return intervalTexts(rd, i, n), nil
		}
		xs, b := fixed[arrow.MonthDayNanoInterval](m, n)
		bufs[1] = b
		var err error
		rd.Intervals(i, func(k int, months, days int32, micros int64) {
			x, e := file.ArrowInterval(months, days, micros)
			if xs[k] = x; e != nil && err == nil && (nulls == 0 || valid[k/8]>>(k%8)&1 != 0) {
				err = e
			}
		})
		if err != nil {
			m.err = err
		}
	case types.Enum:
		if bufs[0] != nil {
			bufs[0].Release()
		}
		labels := t.Labels()
		return numberTexts(rd, i, n, func(dst []byte, x int64) []byte { return append(dst, labels[x]...) }), nil
	case types.TimeTZ:
		if bufs[0] != nil {
			bufs[0].Release()
		}
		return numberTexts(rd, i, n, types.AppendTimeTZ), nil
	case types.List, types.Struct, types.Map:
		if bufs[0] != nil {
			bufs[0].Release()
		}
		return listColumn(rd, i, t, dt, n)
	case types.Text, types.Bytes, types.UUID, types.JSON:
		ends, b := fixed[int32](m, n+1)
		ends[0] = 0
		bufs[1] = b
		var err error
		rows := n
		rd.Texts(i, ends[1:], func(n int64) []byte {
			switch {
			case n > batchTexts && rows > 1:
				err, n = errLongTexts, 0
			case n > math.MaxInt32:
				err, n = diag.Errorf(diag.OutOfMemory, -1, "a text of the result takes more than 2 GiB"), 0
			case n >= largeText: // before it is taken
				if err = m.acct.Take(n); err != nil {
					n = 0
				} else {
					defer m.acct.Give(n) // buffer counts it, too
				}
			}
			text := buffers.bytes(int(n) + column.TextSlack)
			bufs = append(bufs, m.buffer(text[:n]))
			return text
		})
		if err != nil {
			m.err = err
		}
	}
	if m.err != nil {
		for _, b := range bufs {
			if b != nil {
				b.Release()
			}
		}
		return nil, m.err
	}
	data := array.NewData(dt, n, bufs, nil, nulls, 0)
	for _, b := range bufs {
		if b != nil {
			b.Release()
		}
	}
	defer data.Release()
	return array.MakeFromData(data), nil
}

// listColumn is a column of lists.
func listColumn(rd *result.Reader, i int, t types.Type, dt arrow.DataType, n int) (arrow.Array, error) {
	b := array.NewBuilder(memory.DefaultAllocator, dt)
	defer b.Release()
	b.Reserve(n)
	l := &listBuilder{b: b, t: t}
	rd.Column(i, l)
	return b.NewArray(), l.err
}

// listBuilder takes lists.
type listBuilder struct {
	result.Receiver // takes nothing else
	b               array.Builder
	t               types.Type
	err             error
}

func (l *listBuilder) Null() { l.b.AppendNull() }

func (l *listBuilder) Text(s []byte) {
	if err := file.AppendArrow(l.b, types.Value{Type: l.t, S: string(s)}); err != nil && l.err == nil {
		l.err = err
	}
}

// intervalTexts is a column of intervals as text.
func intervalTexts(rd *result.Reader, i, n int) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.Reserve(n)
	rd.Column(i, &intervalPrinter{b: b})
	return b.NewArray()
}

// intervalPrinter takes intervals.
type intervalPrinter struct {
	result.Receiver // takes nothing else
	b               *array.StringBuilder
	text            []byte
}

func (p *intervalPrinter) Null() { p.b.AppendNull() }

func (p *intervalPrinter) Interval(months, days int32, micros int64) {
	p.text = types.AppendInterval(p.text[:0], months, days, micros)
	p.b.BinaryBuilder.Append(p.text)
}

// numberTexts is a column of what Arrow has as text and we as numbers: enums, and times with a zone.
func numberTexts(rd *result.Reader, i, n int, text func(dst []byte, x int64) []byte) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.Reserve(n)
	rd.Column(i, &numberPrinter{b: b, print: text})
	return b.NewArray()
}

// numberPrinter takes such values.
type numberPrinter struct {
	result.Receiver // takes nothing else
	b               *array.StringBuilder
	print           func(dst []byte, x int64) []byte
	text            []byte
}

func (p *numberPrinter) Null() { p.b.AppendNull() }

func (p *numberPrinter) Int(x int64) {
	p.text = p.print(p.text[:0], x)
	p.b.BinaryBuilder.Append(p.text)
}

// A decimal128.Num and an Int128 are the same in memory.
var _ = [1]int{}[unsafe.Sizeof(decimal128.Num{})-unsafe.Sizeof(types.Int128{})]

// batchMemory counts the buffers of a batch until whoever has it releases it.
type batchMemory struct {
	acct *budget.Account
	err  error // a buffer was refused
}

// largeText is the size from which texts are counted before there is memory for them.
const largeText = 1 << 20

// buffer makes bytes an Arrow buffer that comes back when it is released.
func (m *batchMemory) buffer(b []byte) *memory.Buffer {
	if err := m.acct.Take(int64(cap(b))); err != nil {
		m.err = err
		return memory.NewBufferWithAllocator(b, &buffers)
	}
	return memory.NewBufferWithAllocator(b, (*countedBuffers)(m.acct))
}

// countedBuffers are buffers of the pool that an account counts.
type countedBuffers budget.Account

func (c *countedBuffers) Allocate(n int) []byte { return buffers.Allocate(n) }

func (c *countedBuffers) Reallocate(n int, b []byte) []byte { return buffers.Reallocate(n, b) }

func (c *countedBuffers) Free(b []byte) {
	(*budget.Account)(c).Give(int64(cap(b)))
	buffers.Free(b)
}

// integers are the values of a column as numbers of one width.
func integers[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32](m *batchMemory, rd *result.Reader, i, n int) *memory.Buffer {
	xs, b := fixed[T](m, n)
	result.ReadInts(rd, i, xs)
	return b
}

// fixed is a buffer of n values.
func fixed[T any](m *batchMemory, n int) ([]T, *memory.Buffer) {
	var x T
	b := buffers.bytes(n * int(unsafe.Sizeof(x)))
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n), m.buffer(b)
}

// buffers is the memory of batches. What is released is used again while it is still in the cache.
var buffers bufferPool

// bufferPool keeps blocks whose sizes are powers of two.
type bufferPool struct {
	classes [maxBufferBits + 1]sync.Pool
}

const (
	minBufferBits = 10
	maxBufferBits = 22
)

// bytes are n bytes with anything in them.
func (p *bufferPool) bytes(n int) []byte {
	class := max(bits.Len(uint(max(n, 1)-1)), minBufferBits)
	if class > maxBufferBits {
		return make([]byte, n)
	}
	if b, ok := p.classes[class].Get().(*[1 << minBufferBits]byte); ok {
		return unsafe.Slice(&b[0], 1<<class)[:n]
	}
	return make([]byte, 1<<class)[:n]
}

// Free is what Arrow calls for a buffer without references.
func (p *bufferPool) Free(b []byte) {
	n := cap(b)
	if class := bits.Len(uint(n)) - 1; n == 1<<class && class >= minBufferBits && class <= maxBufferBits {
		p.classes[class].Put((*[1 << minBufferBits]byte)(unsafe.Pointer(unsafe.SliceData(b))))
	}
}

// Allocate and Reallocate make the pool an Arrow allocator; batches never grow.
func (p *bufferPool) Allocate(n int) []byte { return p.bytes(n) }

func (p *bufferPool) Reallocate(n int, b []byte) []byte {
	out := p.bytes(n)
	copy(out, b)
	p.Free(b)
	return out
}
