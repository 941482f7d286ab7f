package session

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/gen/ssb"
	"github.com/kelpiedb/kelpie/gen/tpch"
	"github.com/kelpiedb/kelpie/internal/budget"
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
	case "run_plan":
		return s.runPlan(ctx, tx, b, t)
	case "tpch":
		tables = tpch.Tables()
	case "ssb":
		tables = ssb.Tables()
	case "dbgen", "dsdgen":
		return nil, diag.Unsupported(b.Pos, "the procedure %s of DuckDB", b.Name).WithHint("CALL tpch(sf => 1) and CALL ssb(sf => 1) generate tables")
	case "show_tables", "duckdb_functions", "start_ui":
		return nil, diag.Unsupported(b.Pos, "the procedure %s of DuckDB", b.Name).WithHint("SHOW TABLES lists tables, docs/functions.md functions, and the shell is what one types into")
	default:
		return nil, diag.Errorf(diag.UndefinedFunction, b.Pos, "procedure %s does not exist", b.Name).
			WithHint(diag.DidYouMean(b.Name, []string{"tpch", "ssb", "run_plan"}))
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
	beside := int64(0)
	if b.Name == "tpch" {
		beside = tpch.TextBytes
	}
	err := s.generate(ctx, tx, tables, sf, beside)
	if b.Name == "tpch" {
		tpch.ReleaseText()
		if ctx.Err() == nil {
			debug.FreeOSMemory() // or who asks for memory next would get it before the system has this back
		}
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
// segment, and seals it; when all are there they are published in order. beside is how many bytes the generator itself
// takes.
func (s *Session) generate(ctx context.Context, tx *catalog.Tx, tables []gen.Table, sf float64, beside int64) error {
	set := s.Settings()
	acct := budget.New(set.Memory)
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
	if err := acct.Take(beside); err != nil {
		return err
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	var once sync.Once
	var failed error
	var progress sync.Mutex
	for range max(min(set.Threads, len(pieces)), 1) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var batch gen.Batch
			sb, of := &catalog.SegmentBuilder{}, -1
			defer func() { sb.Close() }()
			for {
				k := int(next.Add(1) - 1)
				if k >= len(pieces) {
					return
				}
				p := pieces[k]
				g, t := tables[p.table], made[p.table]
				if of != p.table {
					sb.Close()
					sb, of = t.NewSegmentBuilder(), p.table
					sb.Account = acct
				}
				var err error
				if p.segs, err = generatePiece(ctx, g, sf, p.lo, p.hi, t, sb, &batch); err != nil {
					once.Do(func() { failed = err })
					next.Store(int64(len(pieces)))
					return
				}
				d := finished.Add((p.hi - p.lo) * unitRows(g, sf))
				progress.Lock()
				if s.Progress != nil && ctx.Err() == nil {
					s.Progress("generating "+g.Name, d, total.Load(), d)
				}
				progress.Unlock()
			}
		}()
	}
	ended := make(chan struct{})
	go func() {
		wg.Wait()
		acct.Give(beside)
		close(ended)
	}()
	giveUp := func() {
		for _, p := range pieces {
			discard(p.segs)
		}
	}
	select {
	case <-ended:
	case <-ctx.Done():
		// Nobody sees what the workers still do until they look at the context: the tables are theirs alone. Making
		// room for the text of TPC-H takes a while.
		progress.Lock()
		defer progress.Unlock()
		go func() {
			<-ended
			giveUp()
		}()
		return diag.Canceled(ctx)
	}
	if failed != nil {
		giveUp()
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

// Generating looks now and then whether it is still wanted. How many rows that takes depends: the first
// comments of TPC-H make a text of 300 MB on their way.
const (
	leastGenerated = 64
	mostGenerated  = 4096
	generateTarget = 5 * time.Millisecond
)

// generatePiece makes the units lo…hi of a table into segments.
func generatePiece(ctx context.Context, g gen.Table, sf float64, lo, hi int64, t *catalog.Table, sb *catalog.SegmentBuilder, b *gen.Batch) (segs []*catalog.Segment, err error) {
	defer func() {
		if err != nil {
			discard(segs)
			segs = nil
		}
	}()
	sb.Stopped = diag.Stopped(ctx)
	seal := func() error {
		seg, err := t.Seal(sb)
		if err == nil {
			segs = append(segs, seg)
		}
		return err
	}
	rows := leastGenerated
	for lo < hi {
		if ctx.Err() != nil {
			sb.Reset()
			return segs, diag.Canceled(ctx)
		}
		start := time.Now()
		end := min(lo+max(int64(rows)/unitRows(g, sf), 1), hi)
		g.Generate(sf, lo, end, b)
		switch lo = end; {
		case time.Since(start) > generateTarget:
			rows = max(rows/2, leastGenerated)
		case rows < mostGenerated:
			rows *= 2
		}
		for from := 0; from < b.Rows; {
			to := min(b.Rows, from+sb.Room())
			appendBatch(sb, b, from, to)
			if err := sb.Count(); err != nil {
				return segs, err
			}
			if from = to; sb.Room() == 0 {
				if err := seal(); err != nil {
					return segs, err
				}
			}
		}
	}
	if sb.Rows() > 0 {
		if err := seal(); err != nil {
			return segs, err
		}
	}
	return segs, nil
}

// appendBatch appends the rows [lo, hi) of a batch.
func appendBatch(sb *catalog.SegmentBuilder, b *gen.Batch, lo, hi int) {
	for k := range b.Vectors {
		v := &b.Vectors[k]
		if v.Offsets != nil && b.Columns[k].Kind() == gen.String {
			sb.Cols[k].AppendStrings(v.Bytes, v.Offsets[lo:hi+1])
		} else {
			sb.Cols[k].AppendInts(v.Ints[lo:hi])
		}
	}
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
