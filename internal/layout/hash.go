package layout

import "math/bits"

// Hash constants: odd numbers without pattern. Generated code hashes keys by them, and Go computes the same function
// where it builds hash tables and fills Bloom filters; TestHashAgrees of session holds the two together.
const (
	HashSeed = 0x51_7c_c1_b7_27_22_0a_95
	HashMul  = -0x61c8864680b583eb // 2^64 / golden ratio
)

// HashInt is the hash that generated code computes for one integer.
func HashInt(x int64) uint64 {
	mul := int64(HashMul)
	hi, lo := bits.Mul64(HashSeed^uint64(x), uint64(mul))
	return hi ^ lo
}
