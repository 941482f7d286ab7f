package column

import "github.com/kelpiedb/kelpie/internal/budget"

// A reader of files writes the arrays of a chunk itself, straight from the file's encoding,
// instead of appending values to a Builder. What it needs of the forms is here.

// Frame is the width and base that a Builder would choose for integers of a range.
func Frame(lo, hi int64) (width uint8, base int64) { return frame(lo, hi) }

// Hold has the chunk keep the memory in which its arrays lie. Without it someone else does.
func (c *Chunk) Hold(mem *Mem) { c.mem = mem }

// UseDict gives the chunk a dictionary that has all its codes.
func (c *Chunk) UseDict(d *Dict) { c.Dict, c.dict = d, d.View() }

// Add gives codes to all of keys, or to none and returns false, as sealing a chunk of so many rows does. acct counts
// what the dictionary grows.
func (d *Dict) Add(keys [][]byte, codes []uint32, rows int, acct *budget.Account) (bool, error) {
	_, ok, err := d.add(keys, codes, rows, acct)
	return ok, err
}

// SliceAt is n elements at an address of a Mem, which the caller keeps reachable.
func SliceAt[T any](addr uintptr, n int) []T { return slice[T](addr, n) }
