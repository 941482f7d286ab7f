package gpu

import (
	"encoding/binary"
	"fmt"
	"math/rand"
	"testing"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/column"
)

// TestEncode: numbers of a chunk are those of the column, whatever the widths and bases of both; what stands for NULL may be anything, and does not
// touch its neighbours.
func TestEncode(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for _, from := range []uint8{1, 2, 4, 8} {
		for _, to := range []uint8{1, 2, 4, 8} {
			for _, rows := range []int{0, 1, 3, 7, 8, 31, 32, 33, 63, 64, 65, 100, 333} {
				for _, nulls := range []bool{false, true} {
					most := uint64(1)<<(8*min(from, to)-1) - 1 // of what is stored: with the same added, it fits both
					src, null, want := make([]byte, rows*int(from)+8), make([]byte, rows+1), make([]uint64, rows)
					off := most
					for i := range rows {
						x := rnd.Uint64() % (most + 1)
						if i%5 == 0 {
							x = most
						}
						want[i] = x + off
						if nulls && i%3 == 1 {
							x, null[i] = 1<<(8*from-1)|most, 1
						}
						put(src, i, from, x)
					}
					c := &column.Chunk{Shape: column.Shape{Enc: column.EncInt, Width: from, Nulls: nulls}, Rows: rows, Base: int64(off) - 77, Data: uintptr(unsafe.Pointer(&src[0]))}
					if nulls {
						c.Null = uintptr(unsafe.Pointer(&null[0]))
					}
					dst := make([]byte, rows*int(to)+8)
					for i := range dst {
						dst[i] = 0xa5
					}
					encode(dst, c, column.Shape{Enc: column.EncInt, Width: to}, -77)
					what := fmt.Sprintf("%d rows from %d to %d bytes, nulls %t", rows, from, to, nulls)
					for i := range rows {
						if got := loadWord(uintptr(unsafe.Pointer(&dst[i*int(to)])), to); got != want[i] && null[i] == 0 {
							t.Fatalf("%s: number %d is %d, want %d", what, i, got, want[i])
						}
					}
					if got := binary.LittleEndian.Uint64(dst[rows*int(to):]); got != 0xa5a5a5a5a5a5a5a5 {
						t.Fatalf("%s: %x behind the last", what, got)
					}
				}
			}
		}
	}
}
