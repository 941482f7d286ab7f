package tpch

import (
	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/gen/internal/dbgen"
)

// comments draws a comment for each of n rows into v, its length around average. The stream must give
// two numbers to each row.
func comments(v *gen.Vector, s dbgen.Stream, n int, average float64) {
	var c cutter
	c.start(v, n, average)
	for range n {
		r := s.Row()
		c.draw(&r)
	}
	c.flush()
}

// lineComments draws a comment for each line of each order; n is the sum of lines.
func lineComments(v *gen.Vector, s dbgen.Stream, n int, lines []uint8, average float64) {
	var c cutter
	c.start(v, n, average)
	for _, count := range lines {
		r := s.Row()
		for range count {
			c.draw(&r)
		}
	}
	c.flush()
}

// cutter cuts comments out of the text. As they lie anywhere in 300 MiB, nearly each is a cache miss, and
// the time goes into waiting for memory. So the cutter first draws the places of a group of comments,
// then touches them all in a loop so short that the processor waits for many at once, and then copies
// them from the cache.
type cutter struct {
	text   *text
	vector *gen.Vector
	lo, hi int64 // lengths of comments
	row    int   // that the group begins with
	n      int   // size of the group
	group  [128]struct{ start, length int }
	sum    byte // of the bytes touched, so that the compiler keeps the loop
}

// short is the length of the comments that are copied in a piece of constant length, without branches,
// and then cut off. It is enough for lineitem.
const short = 48

func (c *cutter) start(v *gen.Vector, n int, average float64) {
	c.text = getText()
	c.vector = v
	c.lo, c.hi = dbgen.TextLength(average)
	v.MakeStrings(n, n*int(c.hi)+short)
}

// draw draws the place and the length of the next comment.
func (c *cutter) draw(r *dbgen.Rand) {
	if c.n == len(c.group) {
		c.flush()
	}
	g := &c.group[c.n]
	g.start = int(r.Int(0, textSize-c.hi))
	g.length = int(r.Int(c.lo, c.hi))
	c.text.need(g.start, g.start+max(g.length, short))
	c.n++
}

// flush copies the comments that have been drawn.
func (c *cutter) flush() {
	const line = 64 // bytes in a cache line
	group, src := c.group[:c.n], c.text.bytes
	var sum byte
	for i := range group {
		start, end := group[i].start, group[i].start+group[i].length
		sum ^= src[start] ^ src[end-1]
		for start += line; start < end; start += line {
			sum ^= src[start]
		}
	}
	c.sum ^= sum

	at := len(c.vector.Bytes)
	dst := c.vector.Bytes[:cap(c.vector.Bytes)]
	offsets := c.vector.Offsets[c.row+1:][:len(group)]
	for i := range group {
		g := &group[i]
		if c.hi <= short {
			to, from := (*[short]byte)(dst[at:]), (*[short]byte)(src[g.start:])
			copy(to[0:16], from[0:16])
			copy(to[16:32], from[16:32])
			copy(to[32:48], from[32:48])
		} else {
			copy(dst[at:], src[g.start:g.start+g.length])
		}
		at += g.length
		offsets[i] = int32(at)
	}
	c.vector.Bytes = dst[:at]
	c.row += c.n
	c.n = 0
}
