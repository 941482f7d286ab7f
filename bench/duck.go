package main

import (
	"errors"
	"fmt"
	"unsafe"

	duckdb "github.com/duckdb/duckdb-go/v2/mapping"

	"github.com/kelpiedb/kelpie/internal/types"
)

// duck is a DuckDB with one connection, used through its C interface: chunks of a result
// are fetched as DuckDB makes them, without database/sql's cell by cell, so that the comparison
// charges DuckDB nothing that it does not cost.
type duck struct {
	db     duckdb.Database
	conn   duckdb.Connection
	inFile bool
}

func openDuck() (*duck, error) { return openDuckAt(":memory:") }

// openDuckAt opens a database file.
func openDuckAt(path string) (*duck, error) {
	d := &duck{inFile: path != ":memory:"}
	if duckdb.Open(path, &d.db) == duckdb.StateError {
		return nil, errors.New("DuckDB does not open")
	}
	if duckdb.Connect(d.db, &d.conn) == duckdb.StateError {
		return nil, errors.New("DuckDB does not connect")
	}
	return d, nil
}

func (d *duck) name() string { return "duckdb" }

func (d *duck) close() {
	duckdb.Disconnect(&d.conn)
	duckdb.Close(&d.db)
}

// each runs a text and hands every chunk of its result to f.
func (d *duck) each(sql string, f func(cols []duckColumn, chunk duckdb.DataChunk, n int)) error {
	var res duckdb.Result
	state := duckdb.Query(d.conn, sql, &res)
	defer duckdb.DestroyResult(&res)
	if state == duckdb.StateError {
		return errors.New(duckdb.ResultError(&res))
	}
	cols := duckColumns(&res)
	for {
		chunk := duckdb.FetchChunk(res)
		if chunk.Ptr == nil {
			return nil
		}
		f(cols, chunk, int(duckdb.DataChunkGetSize(chunk)))
		duckdb.DestroyDataChunk(&chunk)
	}
}

// drain runs a text and fetches all rows without looking at them.
func (d *duck) drain(sql string) error {
	return d.each(sql, func([]duckColumn, duckdb.DataChunk, int) {})
}

// scan runs a text and hands every row to f, which may keep it.
func (d *duck) scan(sql string, f func(row []types.Value)) error {
	return d.each(sql, func(cols []duckColumn, chunk duckdb.DataChunk, n int) {
		cells := make([]types.Value, n*len(cols))
		for k, c := range cols {
			c.read(duckdb.DataChunkGetVector(chunk, duckdb.IdxT(k)), n, func(i int, v types.Value) { cells[i*len(cols)+k] = v })
		}
		for i := range n {
			f(cells[i*len(cols) : (i+1)*len(cols) : (i+1)*len(cols)])
		}
	})
}

// rows runs a text and reads all rows.
func (d *duck) rows(sql string) (out [][]types.Value, err error) {
	err = d.scan(sql, func(row []types.Value) { out = append(out, row) })
	return out, err
}

// duckColumn is a result column's type: DuckDB's, and ours for its values.
type duckColumn struct {
	id   duckdb.Type
	wide duckdb.Type // how a decimal is stored
	typ  types.Type
}

func duckColumns(res *duckdb.Result) []duckColumn {
	cols := make([]duckColumn, duckdb.ColumnCount(res))
	for i := range cols {
		lt := duckdb.ColumnLogicalType(res, duckdb.IdxT(i))
		c := duckColumn{id: duckdb.GetTypeId(lt)}
		switch c.id {
		case duckdb.TypeBoolean:
			c.typ = types.TBool
		case duckdb.TypeTinyInt, duckdb.TypeSmallInt, duckdb.TypeUTinyInt:
			c.typ = types.TInt16
		case duckdb.TypeInteger, duckdb.TypeUSmallInt:
			c.typ = types.TInt32
		case duckdb.TypeBigInt, duckdb.TypeUInteger:
			c.typ = types.TInt64
		case duckdb.TypeHugeInt, duckdb.TypeUBigInt:
			c.typ = types.TDecimal(38, 0)
		case duckdb.TypeDecimal:
			c.typ = types.TDecimal(int(duckdb.DecimalWidth(lt)), int(duckdb.DecimalScale(lt)))
			c.wide = duckdb.DecimalInternalType(lt)
		case duckdb.TypeFloat:
			c.typ = types.TFloat32
		case duckdb.TypeDouble:
			c.typ = types.TFloat64
		case duckdb.TypeDate:
			c.typ = types.TDate
		case duckdb.TypeTimestamp:
			c.typ = types.TTimestamp
		case duckdb.TypeInterval:
			c.typ = types.TInterval
		case duckdb.TypeVarchar:
			c.typ = types.TText
		}
		duckdb.DestroyLogicalType(&lt)
		cols[i] = c
	}
	return cols
}

// read hands the n values of a vector to put.
func (c duckColumn) read(vec duckdb.Vector, n int, put func(i int, v types.Value)) {
	data, valid := duckdb.VectorGetData(vec), duckdb.VectorGetValidity(vec)
	for i := range n {
		if valid != nil && at[uint64](valid, i/64)>>(i%64)&1 == 0 {
			put(i, types.NullOf(c.typ))
			continue
		}
		put(i, c.value(data, i))
	}
}

func at[T any](p unsafe.Pointer, i int) T {
	return *(*T)(unsafe.Add(p, uintptr(i)*unsafe.Sizeof(*new(T))))
}

// value reads one value that is not NULL.
func (c duckColumn) value(data unsafe.Pointer, i int) types.Value {
	switch id := c.id; id {
	case duckdb.TypeBoolean, duckdb.TypeUTinyInt:
		return types.IntValue(c.typ, int64(at[uint8](data, i)))
	case duckdb.TypeTinyInt:
		return types.IntValue(c.typ, int64(at[int8](data, i)))
	case duckdb.TypeSmallInt:
		return types.IntValue(c.typ, int64(at[int16](data, i)))
	case duckdb.TypeUSmallInt:
		return types.IntValue(c.typ, int64(at[uint16](data, i)))
	case duckdb.TypeInteger, duckdb.TypeDate:
		return types.IntValue(c.typ, int64(at[int32](data, i)))
	case duckdb.TypeUInteger:
		return types.IntValue(c.typ, int64(at[uint32](data, i)))
	case duckdb.TypeBigInt, duckdb.TypeTimestamp:
		return types.IntValue(c.typ, at[int64](data, i))
	case duckdb.TypeUBigInt:
		return types.DecimalValue(c.typ, types.Int128{Lo: at[uint64](data, i)})
	case duckdb.TypeHugeInt:
		return types.DecimalValue(c.typ, at[types.Int128](data, i))
	case duckdb.TypeDecimal:
		x := types.Int128{}
		switch c.wide {
		case duckdb.TypeSmallInt:
			x = types.FromInt64(int64(at[int16](data, i)))
		case duckdb.TypeInteger:
			x = types.FromInt64(int64(at[int32](data, i)))
		case duckdb.TypeBigInt:
			x = types.FromInt64(at[int64](data, i))
		default:
			x = at[types.Int128](data, i)
		}
		return types.DecimalValue(c.typ, x)
	case duckdb.TypeFloat:
		return types.FloatValue(c.typ, float64(at[float32](data, i)))
	case duckdb.TypeDouble:
		return types.FloatValue(c.typ, at[float64](data, i))
	case duckdb.TypeInterval:
		v := at[struct {
			months, days int32
			micros       int64
		}](data, i)
		return types.IntervalValue(v.months, v.days, v.micros)
	case duckdb.TypeVarchar:
		s := (*duckString)(unsafe.Add(data, uintptr(i)*unsafe.Sizeof(duckString{})))
		return types.TextValue(s.text())
	case duckdb.TypeSQLNull:
		return types.NullOf(c.typ)
	default:
		panic(fmt.Sprintf("DuckDB type %d is not known here", id))
	}
}

// duckString is DuckDB's string_t: up to 12 bytes are kept in place, else 4 of them and an address.
type duckString struct {
	n      uint32
	prefix [4]byte
	rest   [8]byte
}

const duckInline = 12

func (s *duckString) text() string {
	p := &s.prefix[0]
	if s.n > duckInline {
		p = *(**byte)(unsafe.Pointer(&s.rest))
	}
	return string(unsafe.Slice(p, s.n))
}
