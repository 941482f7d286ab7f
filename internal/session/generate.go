package session

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/gen/ssb"
	"github.com/kelpiedb/kelpie/gen/tpch"
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
	"github.com/kelpiedb/kelpie/internal/sql/parse"
	"github.com/kelpiedb/kelpie/internal/types"
)

// call runs CALL tpch(sf => …) and CALL ssb(sf => …).
func (s *Session) call(ctx context.Context, tx *catalog.Tx, b *bind.Call, t Timing) (*Result, error) {
	var tables []gen.Table
	switch b.Name {
	case "tpch":
		tables = tpch.Tables()
	case "ssb":
		tables = ssb.Tables()
	default:
		return nil, diag.Errorf(diag.UndefinedFunction, b.Pos, "procedure %s does not exist", b.Name).
			WithHint(diag.DidYouMean(b.Name, []string{"tpch", "ssb"}))
	}
	sf := 1.0
	for _, a := range b.Args {
		if a.Name != "" && a.Name != "sf" {
			return nil, diag.Errorf(diag.UndefinedFunction, a.Pos, "%s has no argument %q", b.Name, a.Name).WithHint("it has one: sf, the scale factor")
		}
		v, err := types.Cast(a.Value, types.TFloat64)
		if err != nil || v.Null || v.F <= 0 || v.F > 30000 {
			return nil, diag.Errorf(diag.InvalidParameter, a.Pos, "the scale factor must be a number between 0 and 30000")
		}
		sf = v.F
	}
	start := time.Now()
	err := s.generate(ctx, tx, tables, sf)
	if b.Name == "tpch" {
		tpch.ReleaseText()
	}
	if err != nil {
		return nil, err
	}
	t.Exec = time.Since(start)
	return done("CALL", t), nil
}

// unitRows is how many rows about one unit of generation has: an order has four lines.
func unitRows(t gen.Table, sf float64) int64 { return max(t.Rows(sf)/max(t.Units(sf), 1), 1) }

// generate fills the tables in parallel: each worker makes a stretch of a table, as long as a
// segment, and seals it; when all are there they are published in order.
func (s *Session) generate(ctx context.Context, tx *catalog.Tx, tables []gen.Table, sf float64) error {
	set := s.Settings()
	type piece struct {
		table  int
		lo, hi int64
		segs   []*catalog.Segment
	}
	var pieces []*piece
	made := make([]*catalog.Table, len(tables))
	var total, finished atomic.Int64
	for i, g := range tables {
		cols := make([]catalog.ColumnDef, len(g.Columns))
		for k, c := range g.Columns {
			typ, err := sqlType(c.Type)
			if err != nil {
				return err
			}
			cols[k] = catalog.ColumnDef{Name: c.Name, Type: typ, NotNull: true}
		}
		var key []int
		for _, name := range g.PrimaryKey {
			for k, c := range g.Columns {
				if c.Name == name {
					key = append(key, k)
				}
			}
		}
		enc := s.DB.Catalog.Encoding
		enc.Narrow, enc.Dict = enc.Narrow && set.Narrow, enc.Dict && set.Dict
		made[i] = catalog.NewTable(g.Name, cols, [][]int{key}, enc)
		step := max(60000/unitRows(g, sf), 1)
		for lo, n := int64(0), g.Units(sf); lo < n; lo += step {
			pieces = append(pieces, &piece{table: i, lo: lo, hi: min(lo+step, n)})
			total.Add(min(step, n-lo) * unitRows(g, sf))
		}
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	var once sync.Once
	var failed error
	for range max(min(set.Threads, len(pieces)), 1) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var batch gen.Batch
			builders := make([]*catalog.SegmentBuilder, len(tables))
			for {
				k := int(next.Add(1) - 1)
				if k >= len(pieces) {
					return
				}
				p := pieces[k]
				g, t := tables[p.table], made[p.table]
				if builders[p.table] == nil {
					builders[p.table] = t.NewSegmentBuilder()
				}
				err := ctx.Err()
				if err != nil {
					err = diag.Errorf(diag.QueryCanceled, -1, "canceling statement due to user request")
				} else {
					g.Generate(sf, p.lo, p.hi, &batch)
					p.segs, err = sealBatch(t, builders[p.table], &batch)
				}
				if err != nil {
					once.Do(func() { failed = err })
					next.Store(int64(len(pieces)))
					return
				}
				d := finished.Add((p.hi - p.lo) * unitRows(g, sf))
				if s.Progress != nil {
					s.Progress("generating "+g.Name, d, total.Load())
				}
			}
		}()
	}
	wg.Wait()
	if failed != nil {
		return failed
	}
	for i, t := range made {
		var segs []*catalog.Segment
		for _, p := range pieces {
			if p.table == i {
				segs = append(segs, p.segs...)
			}
		}
		if err := t.AppendTrusted(segs...); err != nil {
			return err
		}
		if err := tx.AddTable(t, catalog.Replace); err != nil {
			return err
		}
	}
	return nil
}

// sealBatch turns generated rows into segments.
func sealBatch(t *catalog.Table, sb *catalog.SegmentBuilder, b *gen.Batch) ([]*catalog.Segment, error) {
	var segs []*catalog.Segment
	for lo := 0; lo < b.Rows; {
		hi := min(b.Rows, lo+sb.Room())
		for k := range b.Vectors {
			v := &b.Vectors[k]
			if v.Offsets != nil && b.Columns[k].Kind() == gen.String {
				sb.Cols[k].AppendStrings(v.Bytes, v.Offsets[lo:hi+1])
			} else {
				sb.Cols[k].AppendInts(v.Ints[lo:hi])
			}
		}
		seg, err := t.Seal(sb)
		if err != nil {
			return nil, err
		}
		segs = append(segs, seg)
		lo = hi
	}
	return segs, nil
}

func sqlType(name string) (types.Type, error) {
	tn, err := parse.ParseType(name)
	if err != nil {
		return types.Type{}, fmt.Errorf("type %s: %w", name, err)
	}
	var mods []int
	for _, m := range tn.Mods {
		mods = append(mods, int(m))
	}
	return types.ParseType(strings.ToLower(tn.Name), mods)
}
