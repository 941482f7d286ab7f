package column

import "github.com/kelpiedb/kelpie/internal/types"

// Rows that are read while a query runs are sealed in a form that is known before the first of them
// is seen, so that code can be generated for it: as wide as the type allows, and with NULLs.

// PlainShape is the form that Plain gives a column of type t, whatever its values are.
func PlainShape(t types.Type) Shape {
	s := Shape{Enc: EncInt, Width: 8, Nulls: true}
	switch t.Phys() {
	case types.PhysStr:
		s.Enc, s.Width = EncStr, descBytesSize
	case types.PhysF64:
		s.Enc = EncF64
		if t.Kind == types.Float32 {
			s.Width = 4
		}
	case types.PhysIvl:
		s.Enc, s.Width = EncIvl, 16
	case types.PhysI128:
		s.Enc, s.Width = EncI128, 16
	}
	return s
}

// Plain makes a chunk of the collected values in the plain form. Its memory is one block from take,
// which begins with its data and may hold anything before. Of the zone only the number of NULLs and
// of bytes is set. The builder keeps its values until Reset.
func (b *Builder) Plain(take func(size int) (addr uintptr, err error)) (*Chunk, error) {
	c := &Chunk{Shape: PlainShape(b.t), Type: b.t, Rows: b.n}
	c.Zone.NullCount, c.Zone.Bytes = b.nNull, int64(len(b.bytes))
	p := sealing{b: b}
	if c.Enc == EncStr {
		if err := p.heapSize(); err != nil {
			return nil, err
		}
	}
	data, nulls := align((b.n+PadRows)*int(c.Width)), align(b.n+PadRows)
	at, err := take(data + nulls + p.heapBytes)
	if err != nil {
		return nil, err
	}
	c.Data, c.Null = at, at+uintptr(data)
	if p.heapBytes > 0 {
		c.Heap = c.Null + uintptr(nulls)
	}
	if c.Enc == EncI128 && !b.wide() {
		dst := slice[[2]int64](c.Data, b.n)
		for i, x := range b.ints {
			dst[i] = [2]int64{x, x >> 63}
		}
	} else {
		p.write(c)
	}
	null := slice[uint8](c.Null, b.n)
	clear(null[copy(null, b.nulls):])
	return c, nil
}

// heapSize finds out how many bytes do not fit in descriptors.
func (p *sealing) heapSize() error {
	start := 0
	for _, end := range p.b.ends {
		if n := end - start; n > StrInline {
			if n > maxText {
				return tooLong(n)
			}
			p.heapBytes += n
		}
		start = end
	}
	if p.heapBytes > 0 {
		p.heapBytes += TextPad
	}
	return nil
}
