package file

import (
	"fmt"
	"slices"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Reading a chunk goes straight from pages to the arrays that generated code reads. What the
// values become is decided beforehand from the footers of all files, so that code can be
// generated before anything is read, and so that all row groups are read by the same code;
// values outside of what the footers promised are an error.

// chunkForm is what the chunks of a column become.
type chunkForm struct {
	column.Shape
	base   int64
	lo, hi types.Int128 // numbers: the range promised for all rows
	dict   *textDict    // EncDict
	trust  bool         // the statistics of chunks are believed
}

// pageValues turns the values of pages, of which dictionaries are pages too, into elements.
type pageValues[T elem] interface {
	// dictionary takes the dictionary's page of n values.
	dictionary(body []byte, n int) error
	// indexed fills dst by the indexes of dictionary entries in body, of so many bits each.
	indexed(dst []T, body []byte, bits uint) error
	// decode fills dst from values that are not in the dictionary.
	decode(dst []T, encoding int, body []byte) error
	// room is where a page of n bytes is decompressed to; nil: anywhere.
	room() func(n int) []byte
}

// needed reports that rows of a page are.
func (r *chunkReader) needed(p *page) bool {
	return r.need.Any(max(p.first-r.lo, 0), min(p.first+int64(p.values), r.hi)-r.lo)
}

// readInto reads all wanted rows. nulls is nil if there must be none.
func readInto[T elem](r *chunkReader, dict *page, list []page, dst []T, nulls []uint8, v pageValues[T]) error {
	if dict != nil && (r.need == nil || slices.ContainsFunc(list, func(p page) bool { return r.needed(&p) })) {
		if dict.values > dict.pageHeader.unpacked {
			return fmt.Errorf("a dictionary of %d bytes cannot have %d values", dict.pageHeader.unpacked, dict.values)
		}
		if dict.encoding != encPlain && dict.encoding != encPlainDict {
			return fmt.Errorf("a dictionary of encoding %d", dict.encoding)
		}
		body, err := r.unpacked(dict, v.room())
		if err == nil {
			err = v.dictionary(body, dict.values)
		}
		if err != nil {
			return err
		}
	}
	var part []T
	for i := range list {
		if err := r.ctx.Err(); err != nil {
			return diag.Canceled(r.ctx)
		}
		p := &list[i]
		// Of the first and the last page only a part may be wanted.
		from, to := max(r.lo-p.first, 0), min(r.hi-p.first, int64(p.values))
		out := dst[p.first+from-r.lo:][:to-from]
		if !r.needed(p) {
			continue
		}
		body, err := r.unpacked(p, v.room())
		if err != nil {
			return err
		}
		absent, count, body, err := r.levelsOf(p, body)
		if err != nil {
			return err
		}
		if count > 0 && nulls == nil {
			return r.broken("there are NULLs")
		}
		page := out
		if len(out) < p.values {
			part = sized(part, p.values)
			page = part
		}
		dense := page[:p.values-count]
		switch p.encoding {
		case encPlainDict, encDict:
			if len(dense) > 0 {
				if len(body) == 0 {
					return errShort
				}
				err = v.indexed(dense, body[1:], uint(body[0]))
			}
		default:
			err = v.decode(dense, p.encoding, body)
		}
		if err != nil {
			return err
		}
		if count > 0 {
			spread(page, len(dense), absent)
		}
		if len(out) < p.values {
			copy(out, page[from:to])
		}
		if nulls != nil {
			n := nulls[p.first+from-r.lo:][:len(out)]
			if count > 0 {
				copy(n, absent[from:to])
			} else {
				clear(n)
			}
		}
	}
	return nil
}

// spread moves the first n elements to the rows that are not NULL; the others get zeros.
func spread[T elem](xs []T, n int, nulls []uint8) {
	var zero T
	for i := len(xs) - 1; i >= 0; i-- {
		if nulls[i] != 0 {
			xs[i] = zero
			continue
		}
		n--
		xs[i] = xs[n]
	}
}

// broken is the error of a chunk that does not keep what the footer promised.
func (r *chunkReader) broken(what string) error {
	return diag.Errorf(diag.DataCorrupted, diag.NoPos, "file %q: the statistics of column %q are wrong: %s", r.f.in.path, r.f.cols[r.col].Name, what).
		WithDetail("row group %d", r.group).WithHint("SET file_statistics = off reads the file without them")
}

// read makes a chunk of the wanted rows. take gives memory.
func (r *chunkReader) read(t *chunkForm, take func(size int) (uintptr, error)) (c *column.Chunk, err error) {
	defer mayFault()()
	name := r.f.cols[r.col].Name
	defer func() {
		if v := recover(); v != nil {
			switch e := v.(type) {
			case *diag.Error:
				err = e
			case *types.Error:
				err = e
			default:
				err = fmt.Errorf("%v", v)
			}
		}
		switch err.(type) {
		case nil:
		case *diag.Error:
		case *types.Error:
			err = located(err, "file %s, row group %d, column %q", r.f.in.path, r.group, name)
		default:
			err = located(damaged(r.f.in.path, err), "row group %d, column %q", r.group, name)
		}
	}()
	if def := &r.f.cols[r.col]; def.form == inPath {
		b := &chunkMaker{r: r, t: t, take: take, c: &column.Chunk{Shape: t.Shape, Type: def.Type, Rows: int(r.hi - r.lo), Base: t.base}}
		return b.c, b.constant(def.value)
	} else if def.form == nested {
		b := &chunkMaker{r: r, t: t, take: take, c: &column.Chunk{Shape: t.Shape, Type: def.Type, Rows: int(r.hi - r.lo), Base: t.base}}
		defer r.done()
		return b.c, b.nested(def.tree)
	}
	r.buffers = spareBuffers.Get().(*buffers)
	defer func() {
		r.done()
		r.buffers.keep()
	}()
	dict, list, err := r.pagesOf()
	if err != nil {
		return nil, err
	}
	r.chargePages(dict, list)
	b := &chunkMaker{r: r, t: t, dict: dict, list: list, take: take}
	c = &column.Chunk{Shape: t.Shape, Type: r.f.cols[r.col].Type, Rows: int(r.hi - r.lo), Base: t.base}
	b.c = c
	switch {
	case t.Enc == column.EncStr:
		err = b.texts()
	case t.Enc == column.EncDict:
		err = b.codes()
	case t.Enc == column.EncF64:
		err = b.floats()
	case t.Width == 16:
		err = b.wide()
	default:
		err = b.ints()
	}
	return c, err
}

// chunkMaker is a chunk being made.
type chunkMaker struct {
	r    *chunkReader
	t    *chunkForm
	c    *column.Chunk
	dict *page
	list []page
	take func(size int) (uintptr, error)
}

// alloc makes room for the chunk's arrays and a heap.
func (b *chunkMaker) alloc(heap int) error {
	align := func(n int) int { return (n + column.Align - 1) &^ (column.Align - 1) }
	n := b.c.Rows + column.PadRows
	data, nulls := align(n*int(b.t.Width)), 0
	if b.t.Nulls {
		nulls = align(n)
	}
	addr, err := b.take(data + nulls + heap)
	if err != nil {
		return err
	}
	if b.t.dict != nil {
		b.c.UseDict(b.t.dict.dict)
	}
	b.c.Data = addr
	if b.t.Nulls {
		b.c.Null = b.c.Data + uintptr(data)
	}
	if heap > 0 {
		b.c.Heap = b.c.Data + uintptr(data+nulls)
	}
	return nil
}

// nulls is the chunk's NULL bytes.
func (b *chunkMaker) nulls() []uint8 {
	if b.c.Null == 0 {
		return nil
	}
	return column.SliceAt[uint8](b.c.Null, b.c.Rows)
}

// fill reads the chunk's elements.
func fill[T elem](b *chunkMaker, v pageValues[T]) error {
	return readInto(b.r, b.dict, b.list, column.SliceAt[T](b.c.Data, b.c.Rows), b.nulls(), v)
}

func (b *chunkMaker) ints() error {
	if err := b.alloc(0); err != nil {
		return err
	}
	lo, hi := b.r.promised(b.t)
	switch b.t.Width {
	case 1:
		return fill(b, newInts[uint8](b, lo, hi))
	case 2:
		return fill(b, newInts[uint16](b, lo, hi))
	case 4:
		return fill(b, newInts[uint32](b, lo, hi))
	}
	return fill(b, newInts[uint64](b, lo, hi))
}

// promised is the range of the numbers of this chunk, by the footer or else by their type. If it
// promises that there are none, the range is empty.
func (r *chunkReader) promised(t *chunkForm) (lo, hi types.Int128) {
	switch i := r.info; {
	case !t.trust:
		return t.lo, t.hi
	case i.known:
		return i.min.Int128(), i.max.Int128()
	case i.nulls == i.rows:
		return types.FromInt64(1), types.FromInt64(0)
	}
	return t.lo, t.hi
}

func (b *chunkMaker) codes() error {
	if err := b.alloc(0); err != nil {
		return err
	}
	codes := b.t.dict.codes[textKey{b.r.f, b.r.group}]
	switch b.t.Width {
	case 1:
		return fill(b, newCodes[uint8](codes, b.r.simd))
	case 2:
		return fill(b, newCodes[uint16](codes, b.r.simd))
	}
	return fill(b, newCodes[uint32](codes, b.r.simd))
}
