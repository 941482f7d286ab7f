package layout

// Field is a value in a tuple.
type Field struct {
	ID   int32 // the column (plan.ColID)
	Name string
	Desc Desc
	Off  int // of its first word
	Null int // of its NULL byte (1 = NULL); -1 when the value is never NULL
}

// Tuple is the layout of a materialized row: an optional 8-byte hash, the values, each on
// an 8-byte boundary, then the NULL bytes and flags, padded to 8.
type Tuple struct {
	Fields  []Field
	HasHash bool // the hash is at offset 0
	Flag    int  // offset of the match flag byte; -1 none
	Size    int
}

// NewTuple lays out values.
func NewTuple(hash, flag bool, fields []Field) *Tuple {
	t := &Tuple{Fields: fields, HasHash: hash, Flag: -1}
	off := 0
	if hash {
		off = 8
	}
	for i := range fields {
		fields[i].Off = off
		off += 8 * fields[i].Desc.Form.Words()
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

// Find is the field of a column, nil if the tuple has none.
func (t *Tuple) Find(id int32) *Field {
	for i := range t.Fields {
		if t.Fields[i].ID == id {
			return &t.Fields[i]
		}
	}
	return nil
}
