package phys

// A GPU's memory holds columns that need fewer bits than they have in whole bytes in as few as can be read without loss: with 1, 2 or 4 bits no code lies in
// two bytes, and eight codes of a multiple of 4 bits are whole words, of which shifts that are known take each.

// packedBits are the numbers of bits that codes can have.
var packedBits = []int{1, 2, 4, 12, 24}

// WorthPacking is how many rows a column must have to be packed: fewer take so little that nothing is saved, and caches hold them.
const WorthPacking = 4 << 20

// PackedBits decides how many bits codes have in a GPU's memory that need so many and have width bytes else; 0: they have whole bytes.
func PackedBits(need, width int) int {
	if need == 0 || width > 4 {
		return 0
	}
	for _, n := range packedBits {
		if n >= need && n <= 6*width {
			return n
		}
	}
	return 0
}
