package file

import (
	"context"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// loadJSON reads JSON files: one goroutine cuts them into blocks, the others make a segment of each.
func (s *Source) loadJSON(ctx context.Context, table *catalog.Table, opts LoadOptions) ([]*catalog.Segment, error) {
	var total int64
	for _, f := range s.files {
		total += f.size
	}
	for _, f := range s.files {
		if err := f.once(); err != nil {
			return nil, err
		}
		defer f.close()
	}
	c := newCollector(opts, total)
	blocks := make(chan *jsonBlock)
	free := make(chan []byte, opts.Threads+1)
	var wg sync.WaitGroup
	for range opts.Threads {
		wg.Go(func() {
			r := newJSONRows(ctx, s, table, opts)
			r.sb.Account = opts.Account
			defer r.sb.Close()
			for b := range blocks {
				if !c.moot(b.seq) {
					if seg, err := parseJSON(r, b); err != nil {
						c.fail(b.seq, err)
					} else {
						c.put(b.seq, []*catalog.Segment{seg})
					}
					c.report(b.done)
				}
				select {
				case free <- b.buf:
				default:
				}
			}
		})
	}
	room := &countedRoom{acct: opts.Account}
	defer room.close()
	s.splitJSON(ctx, c, room, blocks, free)
	close(blocks)
	wg.Wait()
	if ctx.Err() != nil {
		c.fail(math.MaxInt, canceled(ctx))
	}
	return c.result()
}

// parseJSON keeps a bug of ours from taking the process down.
func parseJSON(r *jsonRows, b *jsonBlock) (seg *catalog.Segment, err error) {
	defer diag.Recover("load json", &err)
	return r.segment(b)
}

// splitJSON hands out blocks until there are no more or one has failed.
func (s *Source) splitJSON(ctx context.Context, c *collector, room *countedRoom, blocks chan<- *jsonBlock, free <-chan []byte) {
	sp := newJSONSplitter(ctx, s.files)
	sp.room = room
	if limit := room.acct.Limit(); limit > 0 {
		sp.size = int(max(min(jsonBlockBytes, limit/16), readBytes))
	}
	if s.tuneJSON != nil {
		s.tuneJSON(sp)
	}
	defer sp.close()
	next := func(buf []byte) (b *jsonBlock, err error) {
		defer diag.Recover("split json", &err)
		return sp.next(buf)
	}
	for !c.moot(sp.seq) {
		var buf []byte
		select {
		case buf = <-free:
		default:
		}
		b, err := next(buf)
		if err == io.EOF {
			return
		}
		if err != nil {
			c.fail(sp.seq, err)
			return
		}
		select {
		case blocks <- b:
		case <-ctx.Done():
			return
		}
	}
}

// jsonTarget is where the values of a key go.
type jsonTarget struct {
	name    string
	b       *column.Builder // nil: they are not wanted
	t       types.Type
	notNull bool
	missing types.Value // where an object lacks the key
	row     int         // the last that had the key
}

// jsonRows turns blocks into segments. It belongs to one goroutine.
type jsonRows struct {
	ctx   context.Context
	s     *Source
	table *catalog.Table
	sb    *catalog.SegmentBuilder
	cols  []jsonTarget
	p     jsonParser
	row   int // begins with 1, so that no target has seen it
	order int // the column whose key is expected next

	unmapped []int
	defaults []types.Value
}

func newJSONRows(ctx context.Context, s *Source, table *catalog.Table, opts LoadOptions) *jsonRows {
	r := &jsonRows{ctx: ctx, s: s, table: table, sb: table.NewSegmentBuilder(), cols: make([]jsonTarget, len(opts.Columns)),
		unmapped: unmapped(table, opts.Columns), defaults: opts.Defaults}
	for i, c := range opts.Columns {
		t := &r.cols[i]
		t.name = s.cols[i].Name
		if c < 0 {
			continue
		}
		def := &table.Columns[c]
		t.b, t.t, t.notNull = r.sb.Cols[c], def.Type, def.NotNull
		t.missing = types.NullOf(def.Type)
		if opts.Defaults != nil {
			t.missing = opts.Defaults[c]
		}
	}
	return r
}

// segment reads a block.
func (r *jsonRows) segment(b *jsonBlock) (*catalog.Segment, error) {
	r.sb.Reset()
	for i, at := range b.rows {
		if i%cancelRows == 0 && r.ctx.Err() != nil {
			return nil, canceled(r.ctx)
		}
		r.row++
		r.order = 0
		var name string
		err := r.p.object(b.buf[at[0]:at[1]], func(key []byte, v jsonValue) error {
			t := r.target(key)
			if t == nil {
				return r.unknown(string(key))
			}
			if t.row == r.row {
				return duplicateKey(t.name)
			}
			t.row = r.row
			if t.b == nil {
				return nil
			}
			name = t.name
			return r.store(t, v)
		})
		if err != nil {
			return nil, b.locate(i, &r.p, name, err)
		}
		for c := range r.cols {
			t := &r.cols[c]
			if t.row == r.row || t.b == nil {
				continue
			}
			if t.missing.Null && t.notNull {
				r.p.p = 0
				return nil, b.locate(i, &r.p, t.name, r.nullError(t))
			}
			t.b.Append(t.missing)
		}
	}
	appendDefaults(r.sb, r.unmapped, r.defaults, len(b.rows))
	if err := r.sb.Count(); err != nil {
		return nil, err
	}
	return r.table.Seal(r.sb)
}

// target finds the column of a key; nil if there is none. Keys usually come in the same order.
func (r *jsonRows) target(key []byte) *jsonTarget {
	if r.order < len(r.cols) && r.cols[r.order].name == string(key) {
		r.order++
		return &r.cols[r.order-1]
	}
	c, ok := r.s.json.index[string(key)]
	if !ok && r.s.json.fold {
		for i := range r.cols {
			if strings.EqualFold(r.cols[i].name, string(key)) {
				c, ok = i, true
				break
			}
		}
	}
	if !ok {
		return nil
	}
	r.order = c + 1
	return &r.cols[c]
}

func (r *jsonRows) unknown(key string) error {
	if r.s.guessed {
		return diag.Errorf(diag.UndefinedColumn, diag.NoPos, "key %q does not appear in the first rows of the file, which the columns are taken from", key).
			WithHint("create a table with all columns and COPY into it")
	}
	var names []string
	for i := range r.cols {
		names = append(names, r.cols[i].name)
	}
	return diag.Errorf(diag.UndefinedColumn, diag.NoPos, "key %q of the file is not a column of relation %q", key, r.table.Name).
		WithHint(diag.DidYouMean(key, names))
}

func (r *jsonRows) nullError(t *jsonTarget) error {
	return diag.Errorf(diag.NotNullViolation, diag.NoPos, "null value in column %q of relation %q violates not-null constraint", t.name, r.table.Name)
}

// store appends a value.
func (r *jsonRows) store(t *jsonTarget, v jsonValue) error {
	switch {
	case v.kind == jsonNull:
		if t.notNull {
			return r.nullError(t)
		}
		t.b.AppendNull()
		return nil
	case t.t.Kind == types.Text && t.t.Len == 0:
		t.b.AppendBytes(v.text)
		return nil
	case t.t.Kind == types.Text:
		return r.parse(t, v.text)
	case v.kind == jsonNested, v.kind == jsonBool && t.t.Kind != types.Bool, v.kind == jsonNumber && !t.t.IsNumeric(),
		v.kind == jsonString && r.s.guessed && notString(t.t, v.text):
		return r.guessedError(diag.Errorf(diag.InvalidTextRepresentation, diag.NoPos, "there is %s where %s should be", v.kind, t.t), t)
	case v.kind == jsonNumber && t.t.IsInteger():
		return r.integer(t, v.text)
	case r.s.guessed && !keeps(t.t, v):
		return r.guessedError(diag.Errorf(diag.InvalidTextRepresentation, diag.NoPos, "%s would change as %s: %q", v.kind, t.t, v.text), t)
	}
	return r.parse(t, v.text)
}

// keeps reports that a guessed type has the value as it is in the file.
func keeps(t types.Type, v jsonValue) bool {
	switch {
	case v.kind == jsonNumber:
		m := measure(v.text)
		if t.Kind == types.Decimal {
			return !m.exponent && m.after <= int(t.Scale)
		}
		return m.asDouble(v.text)
	case v.kind != jsonString:
		return true
	case t.Kind == types.Date:
		return dateShape(unsafeString(v.text)) && v.text[4] == '-'
	case t.Kind == types.Timestamp:
		c := classOf(unsafeString(v.text))
		return c == looksDate && v.text[4] == '-' || c == looksTimestamp && exactTimestamp(v.text)
	}
	return true
}

// notString reports a string in a column that was guessed to be of another kind. NaN and Infinity are
// strings, because JSON has no numbers for them.
func notString(t types.Type, text []byte) bool {
	if t.Kind == types.Float64 {
		return len(text) == 0 || isDigit(text[len(text)-1])
	}
	return t.Kind == types.Bool || t.IsNumeric()
}

// integer appends a number to a column of integers. JSON has one kind of number: 1.0 is 1.
func (r *jsonRows) integer(t *jsonTarget, text []byte) error {
	if x, err := strconv.ParseInt(unsafeString(text), 10, 64); err == nil {
		lo, hi := typeBounds(t.t)
		if x >= int64(lo.Lo) && x <= int64(hi.Lo) {
			t.b.AppendInt(x)
			return nil
		}
	} else if m := measure(text); m.fraction || m.exponent {
		x, err := strconv.ParseFloat(unsafeString(text), 64)
		const exact = 1 << 53
		if err == nil && x == math.Trunc(x) && math.Abs(x) <= exact && m.significant <= 15 {
			return r.parse(t, strconv.AppendInt(nil, int64(x), 10))
		}
	}
	return r.parse(t, text)
}

// parse leaves a value to package types.
func (r *jsonRows) parse(t *jsonTarget, text []byte) error {
	// The text lives as long as the value is looked at; a Text value is copied by Append.
	v, err := types.ParseValue(t.t, unsafeString(text))
	if err != nil {
		if e, ok := err.(*types.Error); ok {
			err = diag.Errorf(e.Code, diag.NoPos, "%s", e.Msg).WithDetail("%s", e.Detail)
		}
		return r.guessedError(err, t)
	}
	t.b.Append(v)
	return nil
}

// guessedError adds what to do about a type that was guessed.
func (r *jsonRows) guessedError(err error, t *jsonTarget) error {
	if e, ok := err.(*diag.Error); ok && r.s.guessed {
		return e.WithHint("the type %s was guessed from the first rows of the file; to say another, create a table and COPY into it", t.t)
	}
	return err
}

func unsafeString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
