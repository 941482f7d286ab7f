package file

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/klauspost/compress/snappy"
)

// realPage is a compressed page of a file.
type realPage struct {
	name string
	tags int
	src  []byte // slack bytes behind it can be read
	size int
}

// realPages are the second row group's pages of the Parquet files in the folder named by KELPIE_PARQUET.
func realPages(tb testing.TB) (out []realPage) {
	dir := os.Getenv("KELPIE_PARQUET")
	if dir == "" {
		tb.Skip("KELPIE_PARQUET names no folder of Parquet files")
	}
	paths, _ := filepath.Glob(filepath.Join(dir, "*.parquet"))
	for _, path := range paths {
		src, err := Open(path, Options{})
		if err != nil {
			tb.Fatal(err)
		}
		for _, f := range src.parquet {
			h, err := os.Open(path)
			if err != nil {
				tb.Fatal(err)
			}
			defer h.Close()
			g := min(1, len(f.chunks)-1)
			for c := range f.cols {
				info := &f.chunks[g][c]
				if info.codec != compress.Codecs.Snappy {
					continue
				}
				r := &chunkReader{ctx: context.Background(), f: f, h: h, group: g, col: c, info: info, hi: info.rows, buffers: new(buffers)}
				dict, list, err := r.pagesOf()
				if err != nil {
					tb.Fatal(err)
				}
				add := func(p *page, kind string) {
					if p.kind == dataPageV2 {
						tb.Fatal("v2")
					}
					out = append(out, realPage{fmt.Sprintf("%s:%s:%s", strings.TrimSuffix(filepath.Base(path), ".parquet"), f.cols[c].Name, kind), tagsOf(p.raw), p.raw[: len(p.raw) : len(p.raw)+slack], p.pageHeader.unpacked})
				}
				if dict != nil {
					add(dict, "dict")
				}
				for i := range list {
					kind := map[int]string{encPlain: "plain", encDict: "index", encPlainDict: "index"}[list[i].encoding]
					if i == 0 || len(list[i].raw) > len(out[len(out)-1].src) {
						if i > 0 {
							out = out[:len(out)-1]
						}
						add(&list[i], kind)
					}
				}
			}
		}
	}
	return out
}

// tagsOf counts the elements of a block.
func tagsOf(src []byte) (n int) {
	_, s := binary.Uvarint(src)
	for ; s < len(src); n++ {
		x := int(src[s] >> 2)
		switch src[s] & 3 {
		case 0:
			k := max(x-59, 0)
			if k > 0 {
				var b [8]byte
				copy(b[:k], src[s+1:])
				x = int(binary.LittleEndian.Uint64(b[:]))
			}
			s += 2 + k + x
		case 3:
			s += 5
		default:
			s += 1 + int(src[s]&3)
		}
	}
	return n
}

func BenchmarkSnappyPages(b *testing.B) {
	for _, p := range realPages(b) {
		if p.tags < 1000 {
			continue
		}
		b.Run(p.name, func(b *testing.B) {
			dst := make([]byte, p.size+64)[:p.size]
			lib, own := time.Duration(1<<62), time.Duration(1<<62)
			for b.Loop() {
				t0 := time.Now()
				if _, err := snappy.Decode(dst, p.src); err != nil {
					b.Fatal(err)
				}
				t1 := time.Now()
				if err := unsnappy(dst, p.src, true); err != nil {
					b.Fatal(err)
				}
				lib = min(lib, t1.Sub(t0))
				own = min(own, time.Since(t1))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(lib)/float64(p.tags), "lib-ns/tag")
			b.ReportMetric(float64(own)/float64(p.tags), "own-ns/tag")
			b.ReportMetric(float64(p.size)/float64(own), "GB/s")
			b.ReportMetric(float64(lib)/float64(own), "times")
		})
	}
}
