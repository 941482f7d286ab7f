package column

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/types"
)

// surveyText decides between a dictionary and plain strings, and finds the range.
func (p *sealing) surveyText() error {
	b, c := p.b, &p.c
	c.Zone.Bytes = b.textBytes()
	if p.opts.Dict && p.dict != nil && p.distinct() {
		s := &b.scratch
		s.final = grow(s.final, len(s.uniq))
		view, ok, err := p.dict.add(s.uniq, s.final, b.n, p.acct)
		if err != nil {
			return err
		}
		if ok {
			p.useDict(view)
			return nil
		}
	}
	b.spell()
	c.Enc, c.Width = EncStr, descBytesSize
	return p.surveyPlain()
}

func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// arena is the builder's strings with wordBytes more bytes, of any value.
func (b *Builder) arena() []byte {
	b.bytes = slices.Grow(b.bytes, wordBytes)
	return b.bytes[:len(b.bytes)+wordBytes]
}

// distinct numbers the different strings of the column in order of appearance; it gives up,
// returning false, as soon as there are too many for a dictionary.
func (p *sealing) distinct() bool {
	b, s := p.b, &p.b.scratch
	if b.coded.dict != nil {
		return p.distinctCodes()
	}
	limit := max(smallDict, b.n/8)
	size := 1 << bits.Len(uint(4*min(limit, b.n)))
	s.slots = grow(s.slots, size)
	clear(s.slots)
	s.codes = grow(s.codes, b.n)
	s.uniq, s.keys = s.uniq[:0], s.keys[:0]
	mask := uint64(size - 1)
	arena, start := b.arena(), 0
	for i, end := range b.ends {
		n := end - start
		key := wordsAt(arena, start, n)
		text := arena[start:end:end]
		start = end
		if b.isNull(i) {
			s.codes[i] = math.MaxUint32
			continue
		}
		slot := hashWords(key, text) & mask
		for {
			code := s.slots[slot]
			if code == 0 { // a new string
				if len(s.uniq) == limit || s.varied && i < variedRows && len(s.uniq) == variedTexts {
					s.varied = true
					return false
				}
				s.uniq = append(s.uniq, text)
				s.keys = append(s.keys, key)
				code = uint32(len(s.uniq))
				s.slots[slot] = code
			} else if k, u := &s.keys[code-1], s.uniq[code-1]; (k.a^key.a|k.b^key.b|k.c^key.c|uint64(len(u)^n)) != 0 ||
				n > wordBytes && !bytes.Equal(u[wordBytes:], text[wordBytes:]) {
				slot = (slot + 1) & mask
				continue
			}
			s.codes[i] = code - 1
			break
		}
	}
	s.varied = false
	return true
}

// A builder whose last rows had too many different strings gives up soon if the next ones begin with as many: that
// many different strings among the first rows.
const (
	variedRows  = 4 << 10
	variedTexts = 3 << 10
)

// useDict completes the survey of a column whose strings have codes: everything
// is known from the different strings.
func (p *sealing) useDict(view DictView) {
	b, c, s := p.b, &p.c, &p.b.scratch
	c.Enc, c.Dict, c.dict = EncDict, p.dict, view
	top := uint32(0)
	for _, code := range s.final {
		top = max(top, code)
	}
	c.Width = codeWidth(uint64(top))
	if !p.opts.Narrow {
		c.Width = 4
	}
	if len(s.uniq) == 0 {
		return
	}
	lo, hi := s.uniq[0], s.uniq[0]
	for i, u := range s.uniq {
		if bytes.Compare(u, lo) < 0 {
			lo = u
		}
		if bytes.Compare(u, hi) > 0 {
			hi = u
		}
		if p.sk != nil {
			p.sk.add(hashWords(s.keys[i], u))
		}
	}
	p.setTextZone(lo, hi)
	if b.nNull == 0 {
		// Codes are given in order of appearance: sorted exactly when a code never falls
		// and the strings rise with the codes.
		order := newOrder(true)
		order.any = true
		for i := 1; i < b.n && order.sorted; i++ {
			switch a, z := s.codes[i-1], s.codes[i]; {
			case a == z:
				order.next(0)
			case z < a:
				order.next(1)
			default:
				order.next(bytes.Compare(s.uniq[a], s.uniq[z]))
			}
		}
		order.set(&c.Zone)
	}
}

// surveyPlain finds heap size, range and order of strings.
func (p *sealing) surveyPlain() error {
	b := p.b
	var lo, hi, prev []byte
	var loKey, hiKey, prevKey uint64
	order := newOrder(b.nNull == 0)
	arena, start := b.arena(), 0
	for i, end := range b.ends {
		text := arena[start:end:end]
		w := wordsAt(arena, start, len(text))
		key := w.prefix()
		start = end
		if b.isNull(i) {
			continue
		}
		if len(text) > StrInline {
			p.heapBytes += len(text)
			if len(text) > maxText {
				return tooLong(len(text))
			}
		}
		if !order.any {
			lo, hi, loKey, hiKey = text, text, key, key
			order.any = true
		} else {
			if key < loKey || key == loKey && bytes.Compare(text, lo) < 0 {
				lo, loKey = text, key
			} else if key > hiKey || key == hiKey && bytes.Compare(text, hi) > 0 {
				hi, hiKey = text, key
			}
			if order.sorted {
				if key < prevKey {
					order.next(1)
				} else if key > prevKey {
					order.next(-1)
				} else {
					order.next(bytes.Compare(prev, text))
				}
			}
		}
		prev, prevKey = text, key
		if p.sk != nil {
			p.sk.add(hashWords(w, text))
		}
	}
	if p.heapBytes > 0 {
		p.heapBytes += TextPad
	}
	order.set(&p.c.Zone)
	if order.any {
		p.setTextZone(lo, hi)
	}
	return nil
}

// maxText is the longest text, as in PostgreSQL.
const maxText = 1 << 30

func tooLong(n int) error {
	return &types.Error{Code: "54000", Msg: fmt.Sprintf("a text of %d bytes is too long: the limit is %d", n, maxText)}
}

func (p *sealing) writeCodes(c *Chunk) {
	b := p.b
	switch c.Width {
	case 1:
		writeDict(slice[uint8](c.Data, b.n), &b.scratch)
	case 2:
		writeDict(slice[uint16](c.Data, b.n), &b.scratch)
	default:
		writeDict(slice[uint32](c.Data, b.n), &b.scratch)
	}
}

func writeDict[T numbers](dst []T, s *scratch) {
	for i, local := range s.codes[:len(dst)] {
		if int(local) < len(s.final) { // else NULL: code 0
			dst[i] = T(s.final[local])
		}
	}
	clear(s.uniq) // they refer to the builder's bytes
}

// writeText stores descriptors as two words each, as makeDesc would make them.
func (p *sealing) writeText(c *Chunk) {
	b := p.b
	dst := slice[[2]uint64](c.Data, b.n)
	heap := slice[byte](c.Heap, p.heapBytes)
	arena, used, start := b.arena(), 0, 0
	for i, end := range b.ends {
		n := end - start
		first := uint64(binary.LittleEndian.Uint32(arena[start:])) << 32
		rest := binary.LittleEndian.Uint64(arena[start+4:])
		if n <= StrInline {
			// Clear what lies behind the string: n bytes are 8n bits, of first and then of rest.
			first &= math.MaxUint64 >> (32 - 8*uint(min(n, 4)))
			rest &= math.MaxUint64 >> (64 - 8*uint(max(n, 4)-4))
		} else {
			rest = uint64(used)
			// What is written behind it is overwritten by the next, or padding.
			CopyText(unsafe.Pointer((*[TextSlack]byte)(heap[used:])), unsafe.Pointer((*[wordBytes]byte)(arena[start:])), n)
			used += n
		}
		dst[i] = [2]uint64{uint64(n) | first, rest}
		start = end
	}
}
