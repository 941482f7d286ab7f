package compute

import (
	"math"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Reader reads a field of tuples as values.
type Reader struct {
	f    *layout.Field
	word tuples.Word
	dict column.DictView // of dictionary fields
}

// NewReader is for field f; view pins the texts of a dictionary.
func NewReader(f *layout.Field, view func(*column.Dict) column.DictView) Reader {
	r := Reader{f: f, word: tuples.WordOf(f)}
	if f.Desc.Form == layout.Code {
		r.dict = view(f.Desc.Dict)
	}
	return r
}

// Field is what is read.
func (r *Reader) Field() *layout.Field { return r.f }

// Words are the words of the field in many tuples.
func (r *Reader) Words(tuples []uintptr, dst []uint64) { r.word.LoadMany(tuples, dst) }

// Texts are the field's texts in many tuples, empty where it is NULL. They are not copied.
func (r *Reader) Texts(tuples []uintptr, dst []string) {
	dst = dst[:len(tuples)]
	at := uintptr(r.f.Off)
	coded := r.f.Desc.Form == layout.Code
	for i, a := range tuples {
		switch {
		case r.Null(a):
			dst[i] = ""
		case coded:
			dst[i] = textOf(r.dict.Bytes(int(r.word.Load(a))))
		default:
			dst[i] = mem.Text(uintptr(mem.Load64(a+at)), int(mem.Load64(a+at+8)))
		}
	}
}

// textOf is bytes that nobody changes as a text.
func textOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Null reports that the field of the tuple at a is NULL.
func (r *Reader) Null(a uintptr) bool { return r.f.Null >= 0 && mem.Load8(a+uintptr(r.f.Null)) != 0 }

// Value is the field's value in the tuple at a. Texts are not copied.
func (r *Reader) Value(a uintptr) types.Value {
	f := r.f
	v := types.Value{Type: f.Desc.Type}
	if r.Null(a) {
		v.Null = true
		return v
	}
	w := r.word.Load(a)
	switch f.Desc.Form {
	case layout.Str:
		v.S = mem.Text(uintptr(w), int(mem.Load64(a+uintptr(f.Off)+8)))
	case layout.Code:
		v.S = textOf(r.dict.Bytes(int(w)))
	case layout.I128, layout.Ivl:
		v.I, v.Hi = int64(w), int64(mem.Load64(a+uintptr(f.Off)+8))
	default:
		return r.OfWord(w)
	}
	return v
}

// OfWord is a value of the field, which is a number of one word.
func (r *Reader) OfWord(w uint64) types.Value {
	v := types.Value{Type: r.f.Desc.Type}
	if r.f.Desc.Form == layout.F64 {
		v.F = math.Float64frombits(w)
		return v
	}
	v.I = int64(w)
	if v.Type.Kind == types.Decimal {
		v.Hi = v.I >> 63
	}
	return v
}

// Copy puts the field of the tuple at from, as it is, into field f of the tuple at to, which may be NULL.
func (r *Reader) Copy(from, to uintptr, f *layout.Field, zero uintptr) {
	if form := r.f.Desc.Form; form != f.Desc.Form || form != layout.I64 && form != layout.F64 {
		Put(to, f, r.Value(from), zero)
		return
	}
	PutWord(to, f, r.word.Load(from), r.Null(from))
}

// PutWord writes a word, or NULL, to a field of the tuple at a, which has one.
func PutWord(a uintptr, f *layout.Field, word uint64, null bool) {
	c := cell{a: word}
	if null {
		c = cell{null: 1}
	}
	c.store(a, f)
}

// PutText writes the n bytes at text to a field of the tuple at a, which live as long as it.
func PutText(a uintptr, f *layout.Field, text uintptr, n int) {
	c := cell{a: uint64(text), b: uint64(n)}
	c.store(a, f)
}

// Put writes a value to a field of the tuple at a, which may be NULL. The text lives as long as the tuple; where it has no
// bytes, zero is where it is.
func Put(a uintptr, f *layout.Field, v types.Value, zero uintptr) {
	c := cellOf(v, f.Desc.Form, zero)
	if f.Desc.Form == layout.Str && len(v.S) > 0 {
		c.a = uint64(uintptr(unsafe.Pointer(unsafe.StringData(v.S))))
	}
	c.store(a, f)
}

// Words are a value that is not NULL as a field of the given form holds it. A text lives as long as the field; where it has
// no bytes, zero is where it is.
func Words(v types.Value, form layout.Form, zero uintptr) (lo, hi uint64) {
	c := cellOf(v, form, zero)
	if form == layout.Str && len(v.S) > 0 {
		c.a = uint64(uintptr(unsafe.Pointer(unsafe.StringData(v.S))))
	}
	return c.a, c.b
}

// cell is a field's content.
type cell struct {
	a, b uint64
	null byte
	have bool
}

// cellOf is a value as a field of the given form holds it. NULL has zeros, and where a text is the caller says.
func cellOf(v types.Value, form layout.Form, zero uintptr) cell {
	c := cell{have: true}
	if v.Null {
		c.null = 1
		if form == layout.Str {
			c.a = uint64(zero)
		}
		return c
	}
	switch form {
	case layout.F64:
		c.a = math.Float64bits(v.F)
	case layout.Str:
		c.a, c.b = uint64(zero), uint64(len(v.S))
	case layout.Ivl:
		c.a, c.b = uint64(v.I), uint64(v.Hi)
	default:
		x := v.Int128()
		c.a, c.b = x.Lo, uint64(x.Hi)
	}
	return c
}

func (c *cell) store(a uintptr, f *layout.Field) {
	at := a + uintptr(f.Off)
	mem.Store64(at, c.a)
	if f.Desc.Form.Words() == 2 {
		mem.Store64(at+8, c.b)
	}
	mem.Store8(a+uintptr(f.Null), c.null)
}
