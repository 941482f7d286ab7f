package file

import (
	"context"
	"os"
	"runtime"
	"sync"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/types"
)

// A query over Parquet files reads, while it runs, the columns that it needs of the row groups
// that may have rows it needs. Here is what connects files with scans: a table without segments for
// planning, segments without data for compiling, and the loading of data when a worker gets there.

// parquetTable is files as a table.
type parquetTable struct {
	s     *Source
	trust bool // use the statistics of footers
	cache *Cache
	ranks []bounds // of all rows, by column

	keysOnce sync.Once
	keys     [][]int

	mu    sync.Mutex
	dicts map[int]*textDict // kept for later queries, if they may
}

// Table is the source as a table that is read while queries run. trust says whether to believe
// the statistics of the files. The cache may be shared by many.
func (s *Source) Table(name string, trust bool, cache *Cache) *catalog.Table {
	if s.format != Parquet {
		return catalog.NewExternal(name, s.cols, max(s.rows, 1), s.guessedStats(), &textTable{s})
	}
	t := &parquetTable{s: s, trust: trust, cache: cache, dicts: map[int]*textDict{}}
	return catalog.NewExternal(name, s.cols, s.rows, t.stats(), t)
}

// Begin starts a query.
func (t *parquetTable) Begin(opts catalog.ScanOptions) catalog.Opener {
	return &parquetQuery{t: t, opts: opts, dicts: map[int]*textDict{}, open: map[*parquetFile]*os.File{}}
}

// parquetQuery is a query's use of the files.
type parquetQuery struct {
	t    *parquetTable
	opts catalog.ScanOptions

	mu    sync.Mutex
	dicts map[int]*textDict
	open  map[*parquetFile]*os.File
}

// mostOpen bounds the files that a query keeps open.
const mostOpen = 32

// handle is a file, open until done is called; or, with few files, until the garbage collector finds
// the query gone.
func (q *parquetQuery) handle(f *parquetFile) (h *os.File, done func(), err error) {
	if len(q.t.s.parquet) > mostOpen {
		h, err = openUnchanged(f)
		return h, func() { h.Close() }, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if h = q.open[f]; h == nil {
		if h, err = openUnchanged(f); err != nil {
			return nil, nil, err
		}
		q.open[f] = h
	}
	return h, func() {}, nil
}

// formOf decides what the chunks of a column become.
func (t *parquetTable) formOf(col int, opts *catalog.ScanOptions) chunkForm {
	def := &t.s.cols[col]
	b := &t.ranks[col]
	f := chunkForm{trust: t.trust}
	f.Nulls = b.nulls != 0
	switch def.Type.Phys() {
	case types.PhysStr:
		f.Enc, f.Width = column.EncStr, 16
	case types.PhysF64:
		f.Enc, f.Width = column.EncF64, 8
		if def.Type.Kind == types.Float32 {
			f.Width = 4
		}
	case types.PhysIvl:
		f.Enc, f.Width = column.EncIvl, 16
	default:
		f.lo, f.hi = typeBounds(def.Type)
		if b.known {
			f.lo, f.hi = b.min.Int128(), b.max.Int128()
		}
		switch {
		case !f.lo.FitsInt64() || !f.hi.FitsInt64():
			f.Enc, f.Width = column.EncI128, 16
		case !opts.Narrow:
			f.Width = 8
		default:
			f.Width, f.base = column.Frame(int64(f.lo.Lo), int64(f.hi.Lo))
		}
	}
	return f
}

// rowPiece is consecutive rows of a row group.
type rowPiece struct {
	q      *parquetQuery
	forms  []*chunkForm // by column; nil: not wanted
	f      *parquetFile
	group  int
	lo, hi int64
}

// Open makes the segments of a scan.
func (q *parquetQuery) Open(ctx context.Context, cols, tested []int) (*catalog.Snapshot, error) {
	t := q.t
	base := t.s
	forms := make([]*chunkForm, len(base.cols))
	snap := &catalog.Snapshot{Rows: base.rows, Stats: t.stats()}
	for _, c := range cols {
		f := t.formOf(c, &q.opts)
		if err := q.encode(ctx, c, &f); err != nil {
			return nil, err
		}
		if d := f.dict; d != nil {
			snap.Stats[c].Dict, snap.Stats[c].DictLen = d.dict, d.dict.Len()
			snap.Stats[c].Distinct = float64(max(d.dict.Len(), 1))
		}
		forms[c] = &f
	}
	for _, f := range base.parquet {
		for g := range f.chunks {
			if len(f.chunks[g]) == 0 || f.chunks[g][0].rows == 0 {
				continue
			}
			p := rowPiece{q: q, forms: forms, f: f, group: g, hi: f.chunks[g][0].rows}
			parts, err := p.cut(cols, tested)
			if err != nil {
				return nil, err
			}
			snap.Segments = append(snap.Segments, parts...)
		}
	}
	return snap, nil
}

// encode has texts become codes of a common dictionary, if they may and can.
func (q *parquetQuery) encode(ctx context.Context, col int, f *chunkForm) error {
	if f.Enc != column.EncStr || !q.opts.Dict {
		return nil
	}
	d, err := q.textDict(ctx, col)
	if err != nil || d == nil {
		return err
	}
	f.Enc, f.Width, f.dict = column.EncDict, d.width, d
	if !q.opts.Narrow {
		f.Width = 4
	}
	return nil
}

// segment is the piece with chunks that have no data; zones say what is known of the rows.
func (p *rowPiece) segment(cols []int, zone func(col int) bounds) *catalog.Segment {
	seg := &catalog.Segment{Rows: int(p.hi - p.lo), Chunks: make([]*column.Chunk, len(p.forms)), Loader: p}
	for _, c := range cols {
		f := p.forms[c]
		ch := &column.Chunk{Shape: f.Shape, Type: p.q.t.s.cols[c].Type, Rows: seg.Rows, Base: f.base}
		if f.dict != nil {
			ch.Dict = f.dict.dict
		}
		if b := zone(c); f.trust {
			ch.Zone.NullCount, ch.Zone.NoNulls = int(max(b.nulls, 0)), b.nulls == 0
			if b.known {
				ch.Zone.Min, ch.Zone.Max = b.min, b.max
			}
		}
		if t := ch.Type.Phys(); ch.Zone.Min.Type.Kind == 0 && (t == types.PhysI64 || t == types.PhysI128) {
			ch.Zone.Min, ch.Zone.Max = numberOf(ch.Type, f.lo), numberOf(ch.Type, f.hi)
		}
		seg.Chunks[c] = ch
	}
	return seg
}

// Load reads a column.
func (p *rowPiece) Load(ctx context.Context, col int, need catalog.Need, take func(size int) (uintptr, error)) (*column.Chunk, bool, error) {
	cache := p.q.t.cache
	if !p.q.opts.Cache {
		cache = nil
	}
	key := cacheKey{p.q.t, p.f, p.group, p.lo, p.hi, col, p.forms[col].Shape, p.forms[col].dict}
	if c := cache.get(key); c != nil {
		_, size := c.Memory()
		if p.mayKeep(size) { // it cannot be given up before the statement ends
			return c, true, nil
		}
		cache = nil
	}
	if need != nil || p.q.opts.Once { // a chunk in part is of no use to others
		cache = nil
	}
	h, done, err := p.q.handle(p.f)
	if err != nil {
		return nil, false, err
	}
	defer done()
	var mem *column.Mem
	if cache != nil {
		own := take
		take = func(size int) (addr uintptr, err error) {
			if !p.mayKeep(size) {
				cache = nil
				return own(size)
			}
			if mem, err = column.Alloc(size); err != nil {
				return 0, err
			}
			return mem.Addr(), nil
		}
	}
	r := &chunkReader{ctx: ctx, f: p.f, h: h, group: p.group, col: col, info: &p.f.chunks[p.group][col], lo: p.lo, hi: p.hi, simd: p.q.opts.SIMD, need: need, acct: p.q.opts.Account}
	if p.q.opts.Map {
		r.data = p.f.mapped(h)
	}
	c, err := r.read(p.forms[col], take)
	runtime.KeepAlive(p.f) // and its mapping
	if err = p.f.unchanged(h, err); err != nil {
		return nil, false, err
	}
	if cache != nil {
		c.Hold(mem)
		cache.put(key, c, p.q.opts.Account.Limit()/2)
	}
	return c, cache != nil, nil
}

// mayKeep counts a chunk that is, or will be, in the cache, unless it is too much: half of what the statement may take is
// for itself.
func (p *rowPiece) mayKeep(size int) bool {
	acct := p.q.opts.Account
	limit := acct.Limit()
	return (limit == 0 || acct.Used()+int64(size) <= limit/2) && acct.Hold(int64(size)) == nil
}

// Cost is the bytes that must be read.
func (p *rowPiece) Cost(col int) int64 {
	i := &p.f.chunks[p.group][col]
	return i.size * (p.hi - p.lo) / max(i.rows, 1)
}

// Join puts pieces of a row group together: pages that have rows of both are read once.
func (p *rowPiece) Join(this, next *catalog.Segment) *catalog.Segment {
	n, ok := next.Loader.(*rowPiece)
	if !ok || n.q != p.q || n.f != p.f || n.group != p.group || n.lo != p.hi {
		return nil
	}
	both := *p
	both.hi = n.hi
	var cols []int
	for c, f := range p.forms {
		if f != nil {
			cols = append(cols, c)
		}
	}
	return both.segment(cols, func(c int) bounds { return p.f.chunks[p.group][c].bounds })
}
