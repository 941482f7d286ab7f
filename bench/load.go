package main

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	duckdb "github.com/duckdb/duckdb-go/v2/mapping"

	"github.com/kelpiedb/kelpie/gen"
)

// load creates a benchmark's tables in DuckDB and fills them from the generator that Kelpie's CALL
// uses, so that both hold the same rows. No index is made: DuckDB's own benchmarks make none.
func (d *duck) load(tables []gen.Table, sf float64) error {
	for _, t := range tables {
		var cols []string
		for _, c := range t.Columns {
			cols = append(cols, c.Name+" "+c.Type+" NOT NULL")
		}
		if err := d.drain(fmt.Sprintf("CREATE TABLE %q (%s)", t.Name, strings.Join(cols, ", "))); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
		if err := d.fill(t, sf); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	return nil
}

// fillUnits is how many units are generated at a time: one worker makes the next batch while
// DuckDB appends the last.
const fillUnits = 1 << 14

func (d *duck) fill(t gen.Table, sf float64) error {
	free, full := make(chan *gen.Batch, 2), make(chan *gen.Batch, 2)
	free <- new(gen.Batch)
	free <- new(gen.Batch)
	go func() {
		defer close(full)
		for lo, n := int64(0), t.Units(sf); lo < n; lo += fillUnits {
			b, ok := <-free
			if !ok {
				return
			}
			t.Generate(sf, lo, min(lo+fillUnits, n), b)
			full <- b
		}
	}()
	a, err := d.newAppender(t)
	if err != nil {
		return err
	}
	defer a.close()
	for b := range full {
		if err == nil {
			err = a.batch(b)
		}
		free <- b
	}
	if err == nil && duckdb.AppenderFlush(a.to) == duckdb.StateError {
		err = errors.New(duckdb.AppenderError(a.to))
	}
	return err
}

// appender copies generated batches into a DuckDB table, a chunk of 2048 rows at a time.
type appender struct {
	to    duckdb.Appender
	chunk duckdb.DataChunk
	wide  []duckdb.Type // how each column's integers are stored
}

func (d *duck) newAppender(t gen.Table) (*appender, error) {
	a := &appender{}
	if duckdb.AppenderCreate(d.conn, "", t.Name, &a.to) == duckdb.StateError {
		return nil, errors.New(duckdb.AppenderError(a.to))
	}
	var lts []duckdb.LogicalType
	for i := range t.Columns {
		lt := duckdb.AppenderColumnType(a.to, duckdb.IdxT(i))
		id := duckdb.GetTypeId(lt)
		if id == duckdb.TypeDecimal {
			id = duckdb.DecimalInternalType(lt)
		}
		lts, a.wide = append(lts, lt), append(a.wide, id)
	}
	a.chunk = duckdb.CreateDataChunk(lts)
	for i := range lts {
		duckdb.DestroyLogicalType(&lts[i])
	}
	return a, nil
}

func (a *appender) close() {
	duckdb.DestroyDataChunk(&a.chunk)
	duckdb.AppenderDestroy(&a.to)
}

func (a *appender) batch(b *gen.Batch) error {
	size := int(duckdb.VectorSize())
	for lo := 0; lo < b.Rows; lo += size {
		n := min(size, b.Rows-lo)
		duckdb.DataChunkReset(a.chunk)
		for k := range b.Vectors {
			vec := duckdb.DataChunkGetVector(a.chunk, duckdb.IdxT(k))
			data, v := duckdb.VectorGetData(vec), &b.Vectors[k]
			switch a.wide[k] {
			case duckdb.TypeInteger, duckdb.TypeDate:
				to := unsafe.Slice((*int32)(data), n)
				for i := range to {
					to[i] = int32(v.Ints[lo+i])
				}
			case duckdb.TypeBigInt:
				copy(unsafe.Slice((*int64)(data), n), v.Ints[lo:lo+n])
			case duckdb.TypeVarchar:
				for i, to := range unsafe.Slice((*duckString)(data), n) {
					s := v.At(lo + i)
					if len(s) > duckInline {
						duckdb.VectorAssignStringElementLen(vec, duckdb.IdxT(i), s)
						continue
					}
					to = duckString{n: uint32(len(s))}
					copy(unsafe.Slice(&to.prefix[0], duckInline), s)
					unsafe.Slice((*duckString)(data), n)[i] = to
				}
			default:
				return fmt.Errorf("column %s: DuckDB type %d", b.Columns[k].Name, a.wide[k])
			}
		}
		duckdb.DataChunkSetSize(a.chunk, duckdb.IdxT(n))
		if duckdb.AppendDataChunk(a.to, a.chunk) == duckdb.StateError {
			return errors.New(duckdb.AppenderError(a.to))
		}
	}
	return nil
}
