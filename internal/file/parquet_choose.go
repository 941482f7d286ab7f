package file

import (
	"math/bits"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/klauspost/compress/snappy"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// How a column is encoded is decided by its first rows, so that it reads fast and takes little room: a dictionary
// where values repeat, else integers as differences. Both are bit-packed, and compressing them
// again would save little and cost the reader more than all else. What is compressed is long texts, and what else shrinks by it.

// sampleRows is how many rows are looked at.
const sampleRows = 32 << 10

// encoding is how a column is written.
type encoding struct {
	dict     bool
	enc      parquet.Encoding // without the dictionary, or when it is full
	compress bool
}

// dictEntries is the most entries that a dictionary is expected to have: larger ones are read out of the processor's cache.
const dictEntries = 16 << 10

// worthwhile is the part that compression must leave off.
const worthwhile = 0.2

// choose decides by the first rows, which are in recs.
func (s *parquetSink) choose(recs []arrow.RecordBatch, col int) (encoding, error) {
	left := sampleRows
	s.reset()
	for _, rec := range recs {
		n := min(left, int(rec.NumRows()))
		if leaf, lo, hi := s.leafOf(rec.Column(col), 0, n); !s.gather(leaf, lo, hi) {
			return encoding{}, diag.Internalf("write parquet", "column %q of type %s is %s", s.def.Name, s.def.Type, rec.Column(col).DataType())
		}
		left -= n
	}
	switch {
	case len(s.i32) > 0:
		return chooseInts(s.i32), nil
	case len(s.i64) > 0:
		return chooseInts(s.i64), nil
	case len(s.bytes) > 0:
		return chooseBytes(s.bytes, 4), nil
	case len(s.fixed) > 0:
		return chooseBytes(s.fixed, 0), nil
	case len(s.f64) > 0:
		return chooseFloats(s.f64), nil
	case len(s.f32) > 0:
		return chooseFloats(s.f32), nil
	}
	return encoding{enc: parquet.Encodings.Plain, compress: len(s.bools) > 0}, nil
}

// expected is how many different values a row group has if the first n have d.
func expected(d, n int) float64 { return domain(float64(d), float64(n), defaultRowGroupSize) }

// dictBits is the size of a dictionary of d entries of so many bits and a row group's references to it.
func dictBits(d, entry float64) float64 {
	return d*entry + defaultRowGroupSize*float64(bits.Len64(uint64(max(d-1, 0))))
}

func chooseInts[T int32 | int64](xs []T) encoding {
	var x T
	size := 8 * float64(unsafe.Sizeof(x))
	seen := map[T]struct{}{}
	for _, x := range xs {
		seen[x] = struct{}{}
	}
	deltas := deltaBits(xs) / float64(len(xs)) * defaultRowGroupSize
	d := expected(len(seen), len(xs))
	switch {
	case d <= dictEntries && dictBits(d, size) < 1.3*deltas:
		return encoding{dict: true, enc: parquet.Encodings.DeltaBinaryPacked}
	case deltas < 0.9*size*defaultRowGroupSize:
		return encoding{enc: parquet.Encodings.DeltaBinaryPacked}
	}
	return encoding{enc: parquet.Encodings.Plain, compress: shrinks(bytesOf(xs))}
}

// deltaBits is the size of numbers stored as differences, about.
func deltaBits[T int32 | int64](xs []T) (sum float64) {
	const block = 32
	for at := 1; at < len(xs); at += block {
		least, most := xs[at]-xs[at-1], xs[at]-xs[at-1]
		for i := at; i < min(at+block, len(xs)); i++ {
			least, most = min(least, xs[i]-xs[i-1]), max(most, xs[i]-xs[i-1])
		}
		sum += block*float64(bits.Len64(uint64(most)-uint64(least))) + 16
	}
	return sum
}

func chooseFloats[T float32 | float64](xs []T) encoding {
	var x T
	size := 8 * float64(unsafe.Sizeof(x))
	seen := map[T]struct{}{}
	for _, x := range xs {
		seen[x] = struct{}{}
	}
	if d := expected(len(seen), len(xs)); d <= dictEntries && dictBits(d, size) < 0.8*size*defaultRowGroupSize {
		return encoding{dict: true, enc: parquet.Encodings.Plain}
	}
	return encoding{enc: parquet.Encodings.Plain, compress: shrinks(bytesOf(xs))}
}

// chooseBytes decides for texts, and for others of a fixed length. Each is stored with so many bytes for its length.
func chooseBytes[T ~[]byte](xs []T, prefix int) encoding {
	seen := map[string]struct{}{}
	var plain []byte
	for _, x := range xs {
		seen[string(x)] = struct{}{}
		plain = append(plain, byte(len(x)), byte(len(x)>>8), 0, 0)[:len(plain)+prefix]
		plain = append(plain, x...)
	}
	each := 8 * float64(len(plain)) / float64(len(xs))
	small := shrinks(plain)
	d := expected(len(seen), len(xs))
	if d <= dictEntries && dictBits(d, each) < 0.8*each*defaultRowGroupSize {
		// If more values come than these make believe, the others are not in the dictionary.
		return encoding{dict: true, enc: parquet.Encodings.Plain, compress: small && d > 1<<10}
	}
	return encoding{enc: parquet.Encodings.Plain, compress: small}
}

// shrinks reports bytes for which compression pays.
func shrinks(b []byte) bool {
	return float64(len(snappy.Encode(nil, b))) < (1-worthwhile)*float64(len(b))
}

func bytesOf[T int32 | int64 | float32 | float64](xs []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&xs[0])), len(xs)*int(unsafe.Sizeof(xs[0])))
}

// properties are what the library must know of the columns. A codec that somebody asked for is that of all.
func (e *parquetEncoder) properties(recs []arrow.RecordBatch) ([]parquet.WriterProperty, error) {
	codec := e.codec
	if codec == "" {
		codec = "snappy"
	}
	out := []parquet.WriterProperty{parquet.WithCompression(codecs[codec])}
	for i, t := range e.tops {
		for _, s := range t.sinks {
			c, err := s.choose(recs, i)
			if err != nil {
				return nil, err
			}
			path := parquet.ColumnPath(s.path)
			out = append(out, parquet.WithDictionaryPath(path, c.dict), parquet.WithDictionaryCostFallbackPath(path, false), parquet.WithEncodingPath(path, c.enc))
			if e.codec == "" && !c.compress {
				out = append(out, parquet.WithCompressionPath(path, compress.Codecs.Uncompressed))
			}
		}
	}
	return out, nil
}
