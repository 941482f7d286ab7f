package file

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Each row group has dictionaries of its own. If all texts of a column are in them and they are
// small, one dictionary is made for all row groups before the query is compiled, and what is read of
// the row groups are codes of that: no text is looked at again.

// mostTexts is the largest dictionary of a row group that is put into a common one. Larger ones
// are read as texts: making the common one would take longer than it saves.
const mostTexts = 4 << 10

// mostTextBytes is the most bytes of such a dictionary.
const mostTextBytes = 4 << 20

// textDict is a dictionary for all row groups.
type textDict struct {
	dict  *column.Dict
	width uint8
	codes map[textKey][]uint32 // by row group: code of each entry of its dictionary
}

type textKey struct {
	f     *parquetFile
	group int
}

// textDict makes the dictionary of a column; nil if it should not have one.
func (q *parquetQuery) textDict(ctx context.Context, col int) (*textDict, error) {
	if d, ok := q.dicts[col]; ok {
		return d, nil
	}
	t := q.t
	if q.opts.Cache {
		t.mu.Lock()
		defer t.mu.Unlock()
		if d, ok := t.dicts[col]; ok {
			return d, nil
		}
	}
	d, err := q.makeDict(ctx, col)
	if diag.CodeOf(err) == diag.OutOfMemory { // it can be done without
		q.dicts[col] = nil
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	q.dicts[col] = d
	if q.opts.Cache {
		t.dicts[col] = d
	}
	return d, nil
}

func (q *parquetQuery) makeDict(ctx context.Context, col int) (*textDict, error) {
	s := q.t.s
	form := s.parquet[0].cols[col].form
	if form != utf8Text && form != binaryText && (form != inPath || s.cols[col].Type.Kind != types.Text) {
		return nil, nil
	}
	for _, f := range s.parquet {
		for g := range f.chunks {
			if i := &f.chunks[g][col]; i.rows > 0 && !i.allDict && form != inPath && (i.nulls != i.rows || !q.t.trust) {
				return nil, nil
			}
		}
	}
	d := &textDict{dict: column.NewDict(), codes: map[textKey][]uint32{}}
	for _, f := range s.parquet {
		for g := range f.chunks {
			if err := ctx.Err(); err != nil {
				return nil, diag.Canceled(ctx)
			}
			i := &f.chunks[g][col]
			if i.rows == 0 || !i.allDict && form != inPath {
				continue
			}
			var texts [][]byte
			var err error
			if form == inPath {
				texts = partitionTexts(f.cols[col].value)
			} else if texts, err = q.dictTexts(f, g, col); err != nil {
				return nil, located(damaged(f.in.path, err), "row group %d, column %q", g, f.cols[col].Name)
			}
			if texts == nil {
				return nil, nil
			}
			codes := make([]uint32, len(texts))
			ok, err := d.dict.Add(texts, codes, int(s.rows), q.opts.Account)
			if err != nil || !ok {
				return nil, err
			}
			d.codes[textKey{f, g}] = codes
		}
	}
	switch n := d.dict.Len(); {
	case n == 0 && form == inPath: // nothing but NULL
		return nil, nil
	case n <= 1<<8:
		d.width = 1
	case n <= 1<<16:
		d.width = 2
	default:
		d.width = 4
	}
	return d, nil
}

// dictTexts reads the texts of a dictionary; nil if there are too many. Those that are not UTF-8 make the column one of
// texts that are looked at one by one: perhaps no row has them.
func (q *parquetQuery) dictTexts(f *parquetFile, group, col int) (texts [][]byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	i := &f.chunks[group][col]
	h, done, err := q.handle(f)
	if err != nil {
		return nil, err
	}
	defer done()
	r := &chunkReader{f: f, h: h, group: group, col: col, info: i, simd: q.opts.SIMD, buffers: &buffers{}}
	p, err := r.dictPage(i.dictAt, i.dictBytes)
	if err = f.unchanged(h, err); err != nil {
		return nil, err
	}
	if p.values > mostTexts || p.pageHeader.unpacked > mostTextBytes || p.encoding != encPlain && p.encoding != encPlainDict {
		return nil, nil
	}
	body, err := r.unpacked(p, nil)
	if err != nil {
		return nil, err
	}
	texts = make([][]byte, 0, p.values)
	for range p.values {
		var s []byte
		if s, body, err = nextText(body); err != nil {
			return nil, err
		}
		if !utf8.Valid(s) {
			return nil, nil
		}
		texts = append(texts, s)
	}
	return texts, nil
}
