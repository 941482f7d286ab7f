package file

import "errors"

// Page headers of Parquet files are Thrift structures in its compact protocol. The library's
// reader of them cannot be used without its page reader, and few fields matter.

// pageHeader is what matters of a page's header.
type pageHeader struct {
	kind      pageKind
	size      int // bytes of the page after the header, compressed …
	unpacked  int // … and not
	values    int // NULLs included
	encoding  int
	levels    int  // encoding of definition levels (version 1)
	defBytes  int  // version 2: bytes of definition levels, which are not compressed
	repBytes  int  // version 2: bytes of repetition levels
	plainBody bool // version 2: the values are not compressed either
}

type pageKind int

const (
	dataPage pageKind = iota
	indexPage
	dictionaryPage
	dataPageV2
)

var errThrift = errors.New("a page header makes no sense")

// Types of the compact protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// thriftReader reads the compact protocol. After an error everything is zero.
type thriftReader struct {
	b   []byte
	bad bool
}

func (r *thriftReader) fail() { r.b, r.bad = nil, true }

func (r *thriftReader) byte() byte {
	if len(r.b) == 0 {
		r.fail()
		return 0
	}
	x := r.b[0]
	r.b = r.b[1:]
	return x
}

func (r *thriftReader) uvarint() uint64 {
	var x uint64
	for shift := uint(0); shift < 64; shift += 7 {
		c := r.byte()
		x |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return x
		}
	}
	r.fail()
	return 0
}

func (r *thriftReader) varint() int64 {
	u := r.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// fields calls f for every field of a structure; f must read or skip it.
func (r *thriftReader) fields(f func(id int, kind byte)) {
	id := 0
	for !r.bad {
		h := r.byte()
		if h == 0 {
			return
		}
		if d := h >> 4; d != 0 {
			id += int(d)
		} else {
			id = int(r.varint())
		}
		f(id, h&15)
	}
}

// skip leaves a field out; depth bounds nesting.
func (r *thriftReader) skip(kind byte, depth int) {
	if depth > 16 {
		r.fail()
		return
	}
	switch kind {
	case thriftTrue, thriftFalse:
	case thriftByte:
		r.byte()
	case thriftI16, thriftI32, thriftI64:
		r.uvarint()
	case thriftDouble:
		r.bytes(8)
	case thriftBinary:
		r.bytes(r.uvarint())
	case thriftList, thriftSet:
		h := r.byte()
		n := uint64(h >> 4)
		if n == 15 {
			n = r.uvarint()
		}
		for range n {
			if r.bad {
				return
			}
			r.element(h&15, depth)
		}
	case thriftMap:
		n := r.uvarint()
		if n == 0 {
			return
		}
		kinds := r.byte()
		for range n {
			if r.bad {
				return
			}
			r.element(kinds>>4, depth)
			r.element(kinds&15, depth)
		}
	case thriftStruct:
		r.fields(func(_ int, kind byte) { r.skip(kind, depth+1) })
	default:
		r.fail()
	}
}

// wellFormed reports that b begins with a structure whose lists have no more elements than there are bytes: the library makes
// room for as many as a list claims to have.
func wellFormed(b []byte) bool {
	r := &thriftReader{b: b}
	r.skip(thriftStruct, 0)
	return !r.bad
}

// element skips an element of a container, in which a boolean takes a byte.
func (r *thriftReader) element(kind byte, depth int) {
	if kind == thriftTrue || kind == thriftFalse {
		r.byte()
		return
	}
	r.skip(kind, depth+1)
}

func (r *thriftReader) bytes(n uint64) {
	if n > uint64(len(r.b)) {
		r.fail()
		return
	}
	r.b = r.b[n:]
}

// number reads an integer that must not be negative.
func (r *thriftReader) number(kind byte) int {
	if kind != thriftI16 && kind != thriftI32 && kind != thriftI64 {
		r.fail()
		return 0
	}
	x := r.varint()
	if x < 0 || x > 1<<31-1 {
		r.fail()
		return 0
	}
	return int(x)
}

// parsePage reads the header at the start of b; n is its length.
func parsePage(b []byte) (h pageHeader, n int, err error) {
	r := &thriftReader{b: b}
	h.kind = -1
	r.fields(func(id int, kind byte) {
		switch {
		case id == 1:
			h.kind = pageKind(r.number(kind))
		case id == 2:
			h.unpacked = r.number(kind)
		case id == 3:
			h.size = r.number(kind)
		case (id == 5 || id == 7) && kind == thriftStruct: // data page, dictionary page
			r.fields(func(id int, kind byte) {
				switch id {
				case 1:
					h.values = r.number(kind)
				case 2:
					h.encoding = r.number(kind)
				case 3:
					if kind == thriftTrue || kind == thriftFalse { // a dictionary's is_sorted
						return
					}
					h.levels = r.number(kind)
				default:
					r.skip(kind, 1)
				}
			})
		case id == 8 && kind == thriftStruct:
			r.fields(func(id int, kind byte) {
				switch id {
				case 1:
					h.values = r.number(kind)
				case 4:
					h.encoding = r.number(kind)
				case 5:
					h.defBytes = r.number(kind)
				case 6:
					h.repBytes = r.number(kind)
				case 7:
					h.plainBody = kind == thriftFalse
				default:
					r.skip(kind, 1)
				}
			})
		default:
			r.skip(kind, 0)
		}
	})
	if r.bad || h.kind < 0 {
		return h, 0, errThrift
	}
	return h, len(b) - len(r.b), nil
}
