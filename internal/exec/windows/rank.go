package windows

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// rank computes the functions that only look at where a row is.
func (b *block) rank(f *plan.WindowFunc) {
	out := b.results(f)
	switch f.Func {
	case plan.RowNumber:
		if b.threads && len(b.starts) == 2 {
			b.each(func(lo, hi int) { count(out.lo[lo:hi], uint64(lo)+1) })
			break
		}
		b.partitions(func(lo, hi int) { count(out.lo[lo:hi], 1) })
	case plan.Rank:
		peer := b.peers()
		b.partitions(func(lo, hi int) {
			rank := uint64(1)
			for i := lo; i < hi; i++ {
				if peer[i] {
					rank = uint64(i-lo) + 1
				}
				out.lo[i] = rank
			}
		})
	case plan.DenseRank:
		peer := b.peers()
		b.partitions(func(lo, hi int) {
			rank := uint64(0)
			for i := lo; i < hi; i++ {
				if peer[i] || i == lo {
					rank++
				}
				out.lo[i] = rank
			}
		})
	case plan.PercentRank:
		peer := b.peers()
		b.partitions(func(lo, hi int) {
			x, others := 0.0, float64(hi-lo-1)
			for i := lo; i < hi; i++ {
				if peer[i] && i > lo {
					x = float64(i-lo) / others
				}
				out.setFloat(i, x)
			}
		})
	case plan.CumeDist:
		peer := b.peers()
		b.partitions(func(lo, hi int) {
			for i := lo; i < hi; {
				end := i + 1
				for end < hi && !peer[end] {
					end++
				}
				x := math.Float64bits(float64(end-lo) / float64(hi-lo))
				for ; i < end; i++ {
					out.lo[i] = x
				}
			}
		})
	case plan.Ntile:
		parts := b.column(f.Args[0])
		b.partitions(func(lo, hi int) { ntile(parts, out, lo, hi) })
	}
	b.write(out)
}

func count(out []uint64, from uint64) {
	for i := range out {
		out[i] = from + uint64(i)
	}
}

// ntile cuts a partition into parts whose sizes differ by one at most. Their number is that of the first row where it is not NULL;
// rows before have none.
func ntile(parts, out *values, lo, hi int) {
	var tile, inTile, size, larger int64
	total := int64(hi - lo)
	for i := lo; i < hi; i++ {
		if tile == 0 {
			if parts.isNull(i) {
				out.lo[i], out.null[i] = 0, 1
				continue
			}
			k := int64(parts.lo[i])
			if k <= 0 {
				panic(diag.Errorf(diag.InvalidNtile, -1, "argument of ntile must be greater than zero"))
			}
			tile, size = 1, total/k
			if larger = total % k; larger != 0 {
				size++
			}
		}
		if inTile++; inTile > size {
			if larger != 0 && tile == larger {
				larger = 0
				size--
			}
			tile++
			inTile = 1
		}
		out.lo[i], out.null[i] = uint64(tile), 0
	}
}
