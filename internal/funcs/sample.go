package funcs

import (
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// SampleFraction is where row number i is among others, for a seed: a number from 0 up to but not 1, as if drawn at
// random, and always the same one. The samples of one seed are so parts of each other: 10 percent are among 20 percent.
var SampleFraction = &plan.Function{Name: "sample_fraction", Strict: true, Eval: sampleFraction}

// Random is random().
func Random() *plan.Function { return Find("random")[0].Fn }

func sampleFraction(a []types.Value, _ types.Type) (types.Value, error) {
	return double(float64(mixed(uint64(a[0].I)^mixed(uint64(a[1].I)))>>11) / (1 << 53))
}

// mixed makes every bit depend on every other: the finalizer of splitmix64.
func mixed(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
