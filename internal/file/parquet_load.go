package file

import (
	"context"
	"os"
	"sync"
	"sync/atomic"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
)

// unit is the row groups that one goroutine sees to: one, or several that are small.
type unit struct {
	groups []rowGroup
	rows   int64
	bytes  int64 // of the wanted columns, for the progress
}

// units cuts the files. A unit has enough rows for a segment, so that many small row groups, or
// files, do not become many small segments.
func (s *Source) units(wanted []int) (list []*unit, total int64) {
	var u *unit
	for _, f := range s.parquet {
		for g := range f.meta.GetRowGroups() {
			rg := f.meta.RowGroup(g)
			if rg.NumRows() == 0 {
				continue
			}
			if u == nil || u.rows >= column.SegmentRows {
				u = &unit{}
				list = append(list, u)
			}
			u.groups = append(u.groups, rowGroup{file: f, index: g})
			u.rows += rg.NumRows()
			for _, c := range wanted {
				u.bytes += f.chunks[g][c].size
				total += f.chunks[g][c].size
			}
		}
	}
	return list, total
}

// parquetLoad is a load in progress.
type parquetLoad struct {
	ctx     context.Context
	s       *Source
	table   *catalog.Table
	opts    LoadOptions
	missing []int
	q       *parquetQuery
	forms   []chunkForm // what chunks become, by column of the file
	c       *collector
	tokens  chan struct{} // as many as goroutines may work at once
	spare   sync.Pool     // builders: their memory has grown to the size of a segment
	done    atomic.Int64
}

// loadParquet reads Parquet files. Units are read side by side; in a unit the columns are, too, and
// sealing a segment overlaps with reading the next, so that a file of one row group keeps more
// than one processor busy.
func (s *Source) loadParquet(ctx context.Context, table *catalog.Table, opts LoadOptions) ([]*catalog.Segment, error) {
	var wanted []int
	for i, c := range opts.Columns {
		if c >= 0 {
			wanted = append(wanted, i)
		}
	}
	list, total := s.units(wanted)
	l := &parquetLoad{ctx: ctx, s: s, table: table, opts: opts, missing: unmapped(table, opts.Columns),
		c: newCollector(opts, total), tokens: make(chan struct{}, opts.Threads)}
	if err := l.chooseForms(wanted); err != nil {
		return nil, err
	}
	var wg sync.WaitGroup
	var next atomic.Int64
	for range min(opts.Threads, len(list)) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(list) || l.c.moot(i) || ctx.Err() != nil {
					return
				}
				segs, err := l.unit(list[i])
				if err != nil {
					l.c.fail(i, err)
					return
				}
				l.c.put(i, segs)
				l.c.report(l.done.Add(list[i].bytes))
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		l.c.fail(len(list), diag.Canceled(ctx))
	}
	return l.c.result()
}

// chooseForms decides what chunks become. The statistics of the files are not believed; dictionaries are: texts
// stay codes on their way into the table.
func (l *parquetLoad) chooseForms(wanted []int) error {
	t := &parquetTable{s: l.s}
	t.stats()
	l.q = &parquetQuery{t: t, dicts: map[int]*textDict{}, open: map[*parquetFile]*os.File{},
		opts: catalog.ScanOptions{Account: l.opts.Account, Narrow: true, Dict: l.table.Encoding().Dict, Map: !l.opts.NoMap, SIMD: !l.opts.NoSIMD}}
	l.forms = make([]chunkForm, len(l.s.cols))
	for _, c := range wanted {
		l.forms[c] = t.formOf(c, &l.q.opts)
		if err := l.q.encode(l.ctx, c, &l.forms[c]); err != nil {
			return err
		}
	}
	return nil
}

// work does something that takes a processor.
func (l *parquetLoad) work(do func()) {
	l.tokens <- struct{}{}
	defer func() { <-l.tokens }()
	do()
}

// unit loads a unit.
func (l *parquetLoad) unit(u *unit) (_ []*catalog.Segment, err error) {
	defer diag.Recover("load parquet", &err)
	if err := u.open(); err != nil {
		return nil, err
	}
	defer u.close()
	cursors := l.cursors(u)
	defer func() {
		for _, c := range cursors {
			c.close()
		}
	}()
	// Two builders: one is filled while the other is sealed.
	builders := []*catalog.SegmentBuilder{l.builder(), l.builder()}
	var sealing sync.WaitGroup
	var sealErr error
	segs := make([]*catalog.Segment, (u.rows+column.SegmentRows-1)/column.SegmentRows)
	defer func() {
		sealing.Wait()
		for _, sb := range builders {
			sb.Close()
		}
		if err != nil {
			discard(segs)
		}
	}()
	for i := range segs {
		rows := int(min(u.rows-int64(i)*column.SegmentRows, column.SegmentRows))
		sb := builders[i%2]
		err := l.fill(sb, cursors, rows)
		if err == nil {
			err = sb.Count()
		}
		if err != nil {
			return nil, err
		}
		sealing.Wait()
		if sealErr != nil {
			return nil, sealErr
		}
		sealing.Go(func() {
			l.work(func() { segs[i], sealErr = l.seal(sb) })
		})
	}
	sealing.Wait()
	if sealErr == nil {
		for _, sb := range builders {
			sb.Close()
			l.spare.Put(sb)
		}
		builders = nil
	}
	return segs, sealErr
}

// builder is an empty builder.
func (l *parquetLoad) builder() *catalog.SegmentBuilder {
	if sb, ok := l.spare.Get().(*catalog.SegmentBuilder); ok {
		return sb
	}
	sb := l.table.NewSegmentBuilder()
	sb.Account, sb.Stopped = l.opts.Account, diag.Stopped(l.ctx)
	return sb
}

func (l *parquetLoad) seal(sb *catalog.SegmentBuilder) (seg *catalog.Segment, err error) {
	defer diag.Recover("load parquet", &err)
	return l.table.Seal(sb)
}

// cursors makes a cursor for each column that is wanted.
func (l *parquetLoad) cursors(u *unit) (out []*columnCursor) {
	for i, to := range l.opts.Columns {
		if to < 0 {
			continue
		}
		def := &l.table.Columns[to]
		out = append(out, &columnCursor{ctx: l.ctx, col: i, to: to, t: def.Type, null: !def.NotNull,
			table: l.table.Name, name: def.Name, zone: l.s.zone, q: l.q, form: l.forms[i], groups: u.groups})
	}
	return out
}

// fill reads the rows of a segment, all columns at once. Of several errors it returns the first
// column's.
func (l *parquetLoad) fill(sb *catalog.SegmentBuilder, cursors []*columnCursor, rows int) error {
	errs := make([]error, len(cursors))
	var wg sync.WaitGroup
	for i, c := range cursors {
		wg.Go(func() {
			l.work(func() {
				if l.ctx.Err() == nil {
					errs[i] = c.fill(sb, rows)
				}
			})
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	if l.ctx.Err() != nil {
		return diag.Canceled(l.ctx)
	}
	appendDefaults(sb, l.missing, l.opts.Defaults, rows)
	return nil
}

// open opens the files of a unit.
func (u *unit) open() (err error) {
	for i := range u.groups {
		g := &u.groups[i]
		if i > 0 && u.groups[i-1].file == g.file {
			g.h = u.groups[i-1].h
			continue
		}
		if g.h, err = openUnchanged(g.file); err != nil {
			u.close()
			return err
		}
	}
	return nil
}

func (u *unit) close() {
	for i := range u.groups {
		if g := &u.groups[i]; g.h != nil && (i == 0 || u.groups[i-1].h != g.h) {
			g.h.Close()
		}
	}
	for i := range u.groups {
		u.groups[i].h = nil
	}
}
