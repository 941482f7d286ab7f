package file

import (
	"errors"
	"runtime"
)

// Reading a chunk takes memory besides that of the chunk: for pages that are decompressed, levels, indexes,
// texts that are put together. How much it is, the file says; so it is counted for the statement before it is
// taken, and given back when the chunk has been read.

// little is what need not be counted.
const little = 1 << 20

// charge counts bytes that are about to be taken. What is too much ends reading by a panic with the error.
func (r *chunkReader) charge(bytes int) {
	if bytes <= little {
		return
	}
	if err := r.count(bytes); err != nil {
		panic(err)
	}
}

// chargePages counts what decoding pages takes besides their bytes.
func (r *chunkReader) chargePages(dict *page, list []page) {
	values := 0
	for i := range list {
		if r.needed(&list[i]) {
			values = max(values, list[i].values)
		}
	}
	// A byte for the level, up to eight for an index or an integer, sixteen for an element of a page of which
	// only a part is wanted.
	perValue := 9
	if r.lo > 0 || r.hi < r.info.rows {
		perValue += 16
	}
	r.charge(values * perValue)
	if dict != nil {
		r.charge(dict.values * 16)
	}
}

// appendText appends a text to a heap that grows and may become large.
func (r *chunkReader) appendText(heap, text []byte) []byte {
	n := len(heap) + len(text)
	if n <= cap(heap) {
		return append(heap, text...)
	}
	before := cap(heap)
	size := max(2*before, n, 4<<10)
	r.charge(size)
	heap = append(append(make([]byte, 0, size), heap...), text...)
	if before > little {
		r.acct.Give(int64(before))
		r.taken -= int64(before)
		if before > 16*little { // so that it does not stay until much more has been taken
			runtime.GC()
		}
	}
	return heap
}

var errEstimate = errors.New("that is too large for an estimate")

// mostForEstimate is the most memory that an estimate is worth.
const mostForEstimate = 16 << 20
