package layout

// Field is a value in a tuple.
type Field struct {
	ID    int32 // the column (plan.ColID)
	Name  string
	Desc  Desc
	Off   int   // of its first word
	Null  int   // of its NULL byte (1 = NULL); -1 when the value is never NULL
	Width uint8 // bytes of its first word; only narrow tuples have fewer than 8
}

// Signed reports that a narrow field is to be extended by its sign.
func (f *Field) Signed() bool { return f.Desc.Range.Lo.Hi < 0 }

// Tuple is the layout of a materialized row: an optional 8-byte hash, the values, each on
// a boundary of its width, then the NULL bytes and flags, padded to 8.
type Tuple struct {
	Fields  []Field
	HasHash bool // the hash is at offset 0
	Flag    int  // offset of the match flag byte; -1 none
	Size    int
}

// LateRow is the field of a result's tuple that has the number of the scan's row: that of its segment, then 32 bits.
const LateRow = -1

// NewTuple lays out values, 8 bytes a word.
func NewTuple(hash, flag bool, fields []Field) *Tuple { return NarrowFirst(hash, flag, 0, fields) }

// NarrowTuple lays out values in as few bytes as their ranges need: the smaller a hash table is, the more of it
// is in the cache.
func NarrowTuple(hash, flag bool, fields []Field) *Tuple {
	return NarrowFirst(hash, flag, len(fields), fields)
}

// NarrowFirst is NarrowTuple for the first n values, and NewTuple for the others.
func NarrowFirst(hash, flag bool, n int, fields []Field) *Tuple {
	for i := range fields {
		f := &fields[i]
		f.Width = 8
		if i < n && (f.Desc.Form == I64 || f.Desc.Form == Code) {
			f.Width = f.Desc.Range.width()
		}
	}
	return lay(hash, flag, fields)
}

func lay(hash, flag bool, fields []Field) *Tuple {
	t := &Tuple{Fields: fields, HasHash: hash, Flag: -1}
	off := 0
	if hash {
		off = 8
	}
	for w := uint8(8); w > 0; w /= 2 { // the widest first, so that all are aligned
		for i := range fields {
			if f := &fields[i]; f.Width == w {
				f.Off = off
				off += int(w) + 8*(f.Desc.Form.Words()-1)
			}
		}
	}
	for i := range fields {
		fields[i].Null = -1
		if fields[i].Desc.Nullable {
			fields[i].Null = off
			off++
		}
	}
	if flag {
		t.Flag = off
		off++
	}
	t.Size = max((off+7)&^7, 8)
	return t
}

// width is how many bytes hold any value of the range, extended by sign if there are negative ones.
func (r Range) width() uint8 {
	if !r.Fits64() {
		return 8
	}
	lo, hi := int64(r.Lo.Lo), int64(r.Hi.Lo)
	for w := uint8(1); w < 8; w *= 2 {
		bits := 8 * w
		if lo >= 0 && hi>>bits == 0 || lo < 0 && lo >= -1<<(bits-1) && hi < 1<<(bits-1) {
			return w
		}
	}
	return 8
}

// Find is the field of a column, nil if the tuple has none.
func (t *Tuple) Find(id int32) *Field {
	for i := range t.Fields {
		if t.Fields[i].ID == id {
			return &t.Fields[i]
		}
	}
	return nil
}
