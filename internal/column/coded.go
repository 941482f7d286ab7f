package column

import (
	"math"
	"slices"
)

// Texts that come from a dictionary, that of another table or of a file, stay codes in a builder: what
// sealing wants to know of a text is then found out once for each entry, and rows are only numbers.

// coded is the texts of a builder as codes; the zero value means that they are bytes.
type coded struct {
	dict  *Dict
	view  DictView // has all of the codes
	codes []uint32
	local []uint32 // for sealing: number of each code among those that occur, plus one; else all zero
}

// codeRoom is where the codes of n more texts go; nil if the builder's texts are not codes of d.
func (b *Builder) codeRoom(d *Dict, view DictView, n int) []uint32 {
	c := &b.coded
	if c.dict == nil && b.n == 0 {
		c.dict, c.view = d, view
	}
	if c.dict != d {
		return nil
	}
	if view.Len > c.view.Len {
		c.view = view
	}
	c.codes = slices.Grow(c.codes, n)[:b.n+n]
	return c.codes[b.n:]
}

// AppendCodes appends the texts that words are the codes of; rows that nulls marks, if it is not nil, are NULL.
func (b *Builder) AppendCodes(d *Dict, view DictView, words []uint64, nulls []uint8) {
	codes := b.codeRoom(d, view, len(words))
	for i, w := range words {
		switch null := nulls != nil && nulls[i] != 0; {
		case codes == nil && null:
			b.AppendNull()
			continue
		case codes == nil:
			b.AppendBytes(view.Bytes(int(w)))
			continue
		case null:
			codes[i] = 0
			b.setNull(b.n)
		default:
			codes[i] = uint32(w)
		}
		b.n++
	}
}

// appendCoded appends rows of an EncDict chunk as codes, if it can.
func (b *Builder) appendCoded(c *Chunk, p *Pick) bool {
	if c.Enc != EncDict {
		return false
	}
	dst := b.codeRoom(c.Dict, c.dict, p.Len())
	if dst == nil {
		return false
	}
	switch c.Width {
	case 1:
		pick[uint8](c, p, dst, 0)
	case 2:
		pick[uint16](c, p, dst, 0)
	default:
		pick[uint32](c, p, dst, 0)
	}
	b.n += p.Len()
	return true
}

// spell turns codes into bytes, for texts that follow and have none.
func (b *Builder) spell() {
	c := &b.coded
	if c.dict == nil {
		return
	}
	for i, code := range c.codes {
		if !b.isNull(i) {
			b.bytes = append(b.bytes, c.view.Bytes(int(code))...)
		}
		b.ends = append(b.ends, len(b.bytes))
	}
	c.reset()
}

func (c *coded) reset() {
	c.dict, c.view, c.codes = nil, DictView{}, c.codes[:0]
}

// textBytes is the length of all texts together.
func (b *Builder) textBytes() int64 {
	if b.coded.dict == nil {
		return int64(len(b.bytes))
	}
	n := int64(0)
	for i, code := range b.coded.codes {
		if !b.isNull(i) {
			n += int64(b.coded.view.At(int(code)).Len)
		}
	}
	return n
}

// distinctCodes is distinct for texts that are codes.
func (p *sealing) distinctCodes() bool {
	b, s, c := p.b, &p.b.scratch, &p.b.coded
	limit := max(smallDict, b.n/8)
	if len(c.local) < c.view.Len {
		c.local = make([]uint32, c.view.Len)
	}
	s.codes = grow(s.codes, b.n)
	s.uniq, s.keys = s.uniq[:0], s.keys[:0]
	var used []uint32
	defer func() {
		for _, code := range used {
			c.local[code] = 0
		}
	}()
	for i, code := range c.codes {
		if b.isNull(i) {
			s.codes[i] = math.MaxUint32
			continue
		}
		k := c.local[code]
		if k == 0 { // a new text
			if len(s.uniq) == limit {
				return false
			}
			text := c.view.Bytes(int(code))
			s.uniq, s.keys = append(s.uniq, text), append(s.keys, wordsOf(text))
			used = append(used, code)
			k = uint32(len(s.uniq))
			c.local[code] = k
		}
		s.codes[i] = k - 1
	}
	return true
}
