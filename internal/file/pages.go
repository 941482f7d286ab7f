package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/catalog"
)

// Encodings of pages.
const (
	encPlain           = 0
	encPlainDict       = 2
	encRLE             = 3
	encBitPacked       = 4
	encDeltaInts       = 5
	encDeltaLengths    = 6
	encDeltaTexts      = 7
	encDict            = 8
	encByteStreamSplit = 9
)

// page is a page in the buffer of the chunk reader.
type page struct {
	pageHeader
	raw   []byte // after the header; slack bytes behind it can be read
	first int64  // row, in the row group
}

// buffers are what a chunk reader needs for a while.
type buffers struct {
	raw   []byte
	body  []byte
	nulls []uint8
	ints  []int64
	words []uint64
	codes []uint32
	pages []page
}

var spareBuffers = sync.Pool{New: func() any { return new(buffers) }}

// keep puts buffers aside for the next reader, unless they are of a size that hardly anybody needs.
func (b *buffers) keep() {
	if cap(b.raw)+cap(b.body)+cap(b.nulls)+8*(cap(b.ints)+cap(b.words))+4*cap(b.codes) <= largeBuffers {
		spareBuffers.Put(b)
	}
}

const largeBuffers = 16 << 20

// sizedSlack is n bytes of a buffer with slack bytes behind them.
func sizedSlack(b []byte, n int) []byte {
	if cap(b) < n+slack {
		b = make([]byte, n+slack)
	}
	return b[:n]
}

// chunkReader reads rows of one column of one row group.
type chunkReader struct {
	ctx   context.Context
	f     *parquetFile
	h     *os.File
	data  []byte // the file, if it is mapped
	group int
	col   int
	info  *chunkInfo
	lo    int64 // rows wanted, in the row group
	hi    int64
	simd  bool         // assembly may be used
	need  catalog.Need // of rows from lo on
	acct  *budget.Account
	taken int64 // of acct …
	most  int   // … for the largest page
	*buffers
}

// count counts memory of the Go heap until the reader is done.
func (r *chunkReader) count(n int) error {
	err := r.acct.Take(int64(n))
	if err == nil {
		r.taken += int64(n)
	}
	return err
}

// done ends what count has counted.
func (r *chunkReader) done() {
	r.acct.Give(r.taken)
	r.taken = 0
}

// pagesOf lists the pages with wanted rows; the dictionary's is the first if there is one.
func (r *chunkReader) pagesOf() (dict *page, list []page, err error) {
	start, size, first := r.info.start, r.info.size, int64(0)
	if r.lo > 0 || r.hi < r.info.rows {
		if locs := r.f.offsets(r.h, r.info); locs != nil {
			dictBytes := locs[0].Offset - start
			k, end := 0, len(locs)
			for k+1 < len(locs) && locs[k+1].FirstRowIndex <= r.lo {
				k++
			}
			for end > k+1 && locs[end-1].FirstRowIndex >= r.hi {
				end--
			}
			last := locs[end-1]
			if dictBytes > 0 && k > 0 {
				if dict, err = r.dictPage(start, dictBytes); err != nil {
					return nil, nil, err
				}
				start = locs[k].Offset
			} else if k > 0 {
				start = locs[k].Offset
			}
			size = last.Offset + int64(last.CompressedPageSize) - start
			first = locs[k].FirstRowIndex
		}
	}
	if start < 0 || size < 0 || start > r.f.in.size || size > r.f.in.size-start {
		return nil, nil, errors.New("the page index points outside of the file")
	}
	var raw []byte
	if start+size+slack <= int64(len(r.data)) {
		raw = r.data[start : start+size]
	} else {
		if err := r.count(int(size)); err != nil {
			return nil, nil, err
		}
		r.raw = sizedSlack(r.raw, int(size))
		if err := readFull(r.h, r.raw, start); err != nil {
			return nil, nil, err
		}
		raw = r.raw
	}
	list = r.pages[:0]
	for b := raw; first < r.hi && len(b) > 0; {
		h, n, err := parsePage(b)
		if err != nil {
			return nil, nil, err
		}
		b = b[n:]
		if h.size > len(b) {
			return nil, nil, errShort
		}
		p := page{pageHeader: h, raw: b[:h.size], first: first}
		b = b[h.size:]
		switch h.kind {
		case dictionaryPage:
			if dict != nil || len(list) > 0 {
				return nil, nil, errors.New("there are two dictionaries")
			}
			dict = &p
		case dataPage, dataPageV2:
			if int64(h.values) > r.info.rows-first {
				return nil, nil, fmt.Errorf("there are more than the %d rows of the row group", r.info.rows)
			}
			first += int64(h.values)
			if first > r.lo {
				list = append(list, p)
			}
		}
	}
	r.pages = list
	if first < r.hi {
		return nil, nil, fmt.Errorf("%d rows are missing", r.hi-first)
	}
	return dict, list, nil
}

// dictPage reads the dictionary by itself.
func (r *chunkReader) dictPage(at, size int64) (*page, error) {
	if err := r.count(int(size)); err != nil {
		return nil, err
	}
	b := sizedSlack(nil, int(size))
	if err := readFull(r.h, b, at); err != nil {
		return nil, err
	}
	h, n, err := parsePage(b)
	if err != nil {
		return nil, err
	}
	if h.kind != dictionaryPage || h.size > len(b)-n {
		return nil, errors.New("there is no dictionary where it should be")
	}
	return &page{pageHeader: h, raw: b[n : n+h.size]}, nil
}

func readFull(f *os.File, b []byte, at int64) error {
	n, err := f.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fileError("read", f.Name(), err)
}

// unpacked is the bytes of a page, decompressed into room's memory if they are compressed
// or must be there.
func (r *chunkReader) unpacked(p *page, room func(n int) []byte) (body []byte, err error) {
	if p.kind != dataPageV2 {
		return r.decompress(p.raw, p.pageHeader.unpacked, false, room)
	}
	levels := p.repBytes + p.defBytes
	if levels > len(p.raw) || levels > p.pageHeader.unpacked {
		return nil, errShort
	}
	return r.decompress(p.raw[levels:], p.pageHeader.unpacked-levels, p.plainBody, room)
}

func (r *chunkReader) decompress(src []byte, n int, plain bool, room func(n int) []byte) ([]byte, error) {
	codec := r.info.codec
	if plain || codec == compress.Codecs.Uncompressed || n == 0 {
		if plain || codec == compress.Codecs.Uncompressed {
			n = len(src)
		}
		if room == nil {
			return src[:n], nil
		}
		dst := room(n)
		copy(dst, src)
		return dst, nil
	}
	// What the file claims is not believed beyond what the codec can do.
	most := len(src)*1032 + 1024
	switch codec {
	case compress.Codecs.Snappy:
		if k, err := snappy.DecodedLen(src); err != nil || k != n {
			return nil, fmt.Errorf("a page of %d bytes should be %d", k, n)
		}
		most = len(src)*32 + 1024
	case compress.Codecs.Zstd, compress.Codecs.Brotli:
		most = len(src)*65536 + 1<<20
	}
	if n > most {
		return nil, fmt.Errorf("a page of %d bytes cannot become %d", len(src), n)
	}
	var dst []byte
	if room != nil {
		dst = room(n)
	} else {
		if n > r.most {
			if err := r.count(n - r.most); err != nil {
				return nil, err
			}
			r.most = n
		}
		r.body = sizedSlack(r.body, n)
		dst = r.body
	}
	if codec == compress.Codecs.Snappy {
		return dst, unsnappy(dst, src, r.simd)
	}
	if codec == compress.Codecs.Zstd {
		return dst, unzstd(dst, src)
	}
	c, err := compress.GetCodec(codec)
	if err != nil {
		return nil, err
	}
	out := c.Decode(dst, src)
	if len(out) != n {
		return nil, fmt.Errorf("a page of %d bytes should be %d", len(out), n)
	}
	if n > 0 && &out[0] != &dst[0] {
		copy(dst, out)
	}
	return dst, nil
}

// zstdDecoders never write more than there is room for, whatever a frame says.
var zstdDecoders = sync.Pool{New: func() any {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic(err)
	}
	return d
}}

// unzstd decompresses into all of dst.
func unzstd(dst, src []byte) error {
	d := zstdDecoders.Get().(*zstd.Decoder)
	defer zstdDecoders.Put(d)
	out, err := d.DecodeAll(src, dst[:0:len(dst)])
	if err == nil && len(out) != len(dst) {
		err = fmt.Errorf("a page of %d bytes should be %d", len(out), len(dst))
	}
	return err
}

// levelsOf decodes which rows of a data page are NULL and returns the values after the levels. nulls
// is nil if none is.
func (r *chunkReader) levelsOf(p *page, body []byte) (nulls []uint8, count int, values []byte, err error) {
	if !r.info.optional {
		return nil, 0, body, nil
	}
	src := body
	switch {
	case p.kind == dataPageV2:
		src = p.raw[p.repBytes : p.repBytes+p.defBytes]
	case p.levels == encBitPacked:
		n := (p.values + 7) / 8
		if len(body) < n {
			return nil, 0, nil, errShort
		}
		r.nulls = sized(r.nulls, p.values)
		for i := range r.nulls {
			r.nulls[i] = ^body[i/8] >> (7 - i%8) & 1
			count += int(r.nulls[i])
		}
		return r.nulls, count, body[n:], nil
	case p.levels == encRLE:
		if len(body) < 4 {
			return nil, 0, nil, errShort
		}
		n := int(le32(body))
		if body = body[4:]; n < 0 || n > len(body) {
			return nil, 0, nil, errShort
		}
		src, body = body[:n], body[n:]
	default:
		return nil, 0, nil, fmt.Errorf("levels of encoding %d", p.levels)
	}
	if allSet(src, p.values) {
		return nil, 0, body, nil
	}
	r.nulls = sized(r.nulls, p.values)
	if err := hybrid(r.nulls, src, 1, nullOfLevel, r.simd); err != nil {
		return nil, 0, nil, err
	}
	for _, x := range r.nulls {
		count += int(x)
	}
	return r.nulls, count, body, nil
}

// nullOfLevel is the NULL byte for a definition level.
var nullOfLevel = []uint8{1, 0}

// allSet reports levels that are one run of ones.
func allSet(src []byte, n int) bool {
	r := thriftReader{b: src}
	head := r.uvarint()
	return !r.bad && head&1 == 0 && head>>1 >= uint64(n) && len(r.b) > 0 && r.b[0] == 1
}

// offsets are the places of a chunk's data pages, if the file has an index of them that makes sense.
func (f *parquetFile) offsets(h *os.File, info *chunkInfo) (locs []*metadata.PageLocation) {
	if info.offsetIndex == nil || info.offsetIndex.Length <= 0 || info.offsetIndex.Length > 1<<24 {
		return nil
	}
	defer func() {
		if recover() != nil {
			locs = nil
		}
	}()
	b := make([]byte, info.offsetIndex.Length)
	if readFull(h, b, info.offsetIndex.Offset) != nil || !wellFormed(b) {
		return nil
	}
	locs = metadata.NewOffsetIndex(b, nil, nil).GetPageLocations()
	if len(locs) == 0 || locs[0].FirstRowIndex != 0 {
		return nil
	}
	at, row := info.start, int64(-1)
	for _, l := range locs {
		if l == nil || l.Offset < at || l.CompressedPageSize <= 0 || l.FirstRowIndex <= row || l.FirstRowIndex >= info.rows {
			return nil
		}
		at, row = l.Offset+int64(l.CompressedPageSize), l.FirstRowIndex
	}
	if at > info.start+info.size {
		return nil
	}
	return locs
}
