package file

import (
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/types"
)

// For a Parquet file the column of a folder is one whose row groups have one value each, by which they are left out like
// others.

// addFolderChunks gives Parquet files the columns of their folders.
func (s *Source) addFolderChunks() {
	for i, f := range s.parquet {
		for k := range s.folders {
			def := &s.cols[s.folders[k].col]
			v := s.folders[k].of(s.files[i], def.Type).v
			f.cols = append(f.cols, parquetColumn{ColumnDef: *def, form: inPath, leaf: -1, value: v})
			for g := range f.chunks {
				rows := f.meta.RowGroup(g).NumRows()
				info := chunkInfo{rows: rows, optional: v.Null, distinct: 1, bounds: bounds{known: !v.Null, min: v, max: v}}
				if v.Null {
					info.nulls = rows
				}
				f.chunks[g] = append(f.chunks[g], info)
			}
		}
	}
}

// partitionTexts is the dictionary of a row group whose rows have all the same text.
func partitionTexts(v types.Value) [][]byte {
	if v.Null {
		return [][]byte{}
	}
	return [][]byte{[]byte(v.S)}
}

// constant makes a chunk whose rows all have the value of the file's folder.
func (b *chunkMaker) constant(v types.Value) error {
	heap := 0
	if b.t.Enc == column.EncStr {
		heap = len(v.S) + column.TextPad
	}
	if err := b.alloc(heap); err != nil {
		return err
	}
	if nulls := b.nulls(); nulls != nil {
		for i := range nulls {
			nulls[i] = 0
			if v.Null {
				nulls[i] = 1
			}
		}
	} else if v.Null {
		return b.r.broken("there are NULLs")
	}
	switch {
	case b.t.Enc == column.EncStr:
		copy(column.SliceAt[byte](b.c.Heap, heap), v.S)
		b.c.Zone.Bytes = int64(len(v.S)) * int64(b.c.Rows)
		repeat(b, descriptor([]byte(v.S), 0))
		return nil
	case b.t.Enc == column.EncDict && !v.Null:
		b.repeatInt(uint64(b.t.dict.codes[textKey{b.r.f, b.r.group}][0]))
		return nil
	case v.Null:
		b.repeatInt(0)
		return nil
	}
	b.repeatInt(uint64(v.I - b.t.base))
	return nil
}

// repeatInt fills the chunk with a number.
func (b *chunkMaker) repeatInt(x uint64) {
	switch b.t.Width {
	case 1:
		repeat(b, uint8(x))
	case 2:
		repeat(b, uint16(x))
	case 4:
		repeat(b, uint32(x))
	default:
		repeat(b, x)
	}
}

func repeat[T elem](b *chunkMaker, x T) {
	xs := column.SliceAt[T](b.c.Data, b.c.Rows)
	for i := range xs {
		xs[i] = x
	}
}
