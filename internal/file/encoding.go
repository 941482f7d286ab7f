package file

import (
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// Encoding is how the characters of a text file are written. Files are read as UTF-8; others are translated as they are read.
type Encoding string

const (
	UTF8    Encoding = ""
	Latin1  Encoding = "latin1"
	UTF16   Encoding = "utf16" // little-endian, unless a byte order mark says otherwise
	UTF16BE Encoding = "utf16be"
)

// decoded is a text in UTF-8.
func (e Encoding) decoded(r io.Reader) io.Reader {
	if e == UTF8 {
		return r
	}
	return &decoder{r: r, from: e, first: true}
}

// decoder translates a text. Of UTF-16, half of a pair and an odd byte at the end become the replacement character.
type decoder struct {
	r     io.Reader
	from  Encoding
	first bool   // nothing was read yet
	raw   []byte // bytes that are not translated yet
	out   []byte // what is translated and not read yet
	end   error
}

func (d *decoder) Read(p []byte) (int, error) {
	for len(d.out) == 0 {
		if d.end != nil {
			return 0, d.end
		}
		var buf [32 << 10]byte
		n, err := d.r.Read(buf[:])
		d.raw, d.end = append(d.raw, buf[:n]...), err
		d.out = d.out[:0]
		d.translate(err != nil)
	}
	n := copy(p, d.out)
	d.out = d.out[n:]
	return n, nil
}

// translate translates what is complete, or, at the end, all.
func (d *decoder) translate(last bool) {
	if d.from == Latin1 {
		for _, c := range d.raw {
			d.out = utf8.AppendRune(d.out, rune(c))
		}
		d.raw = d.raw[:0]
		return
	}
	unit := func(i int) uint16 {
		if d.from == UTF16BE {
			return uint16(d.raw[i])<<8 | uint16(d.raw[i+1])
		}
		return uint16(d.raw[i+1])<<8 | uint16(d.raw[i])
	}
	i := 0
	if d.first && len(d.raw) >= 2 {
		d.first = false
		switch unit(0) {
		case 0xfeff:
			i = 2
		case 0xfffe: // the other order
			if i = 2; d.from == UTF16 {
				d.from = UTF16BE
			} else {
				d.from = UTF16
			}
		}
	}
	for i+2 <= len(d.raw) {
		c := rune(unit(i))
		if utf16.IsSurrogate(c) {
			if i+4 > len(d.raw) && !last {
				break
			}
			if i+4 <= len(d.raw) {
				if r := utf16.DecodeRune(c, rune(unit(i+2))); r != utf8.RuneError {
					d.out = utf8.AppendRune(d.out, r)
					i += 4
					continue
				}
			}
			c = utf8.RuneError
		}
		d.out = utf8.AppendRune(d.out, c)
		i += 2
	}
	if last && i < len(d.raw) {
		d.out = utf8.AppendRune(d.out, utf8.RuneError)
		i = len(d.raw)
	}
	d.raw = append(d.raw[:0], d.raw[i:]...)
}
