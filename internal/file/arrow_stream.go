package file

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/diag"
)

// Arrow's stream format is messages one behind the other: the schema, then dictionaries and batches. It has no end that must be
// known first, so pipes can say it.

const (
	maxStreamBody   = 1 << 32  // the largest message of a stream whose size is not known
	maxArrowSchema  = 64 << 20 // the largest schema
	arrowStreamMark = 0xffffffff
)

var errArrowSchema = errors.New("the schema makes no sense")

// readArrowStream begins to read a stream whose messages have at most so many bytes; it closes r.
func readArrowStream(in *input, r io.ReadCloser, most int64, acct *budget.Account) (f *arrowFile, err error) {
	defer func() {
		if f == nil {
			r.Close()
		}
	}()
	head, err := arrowSchema(r, min(most, maxArrowSchema))
	if err == errNoArrow {
		return nil, diag.Errorf(diag.DataCorrupted, diag.NoPos, "%q is not an Arrow file", in.path).
			WithHint("Feather of version 1 is not read; programs can write Arrow's file format instead")
	}
	if err != nil {
		return nil, damaged(in.path, err)
	}
	mem := newCountedMemory(acct, most)
	limits := []ipc.Option{ipc.WithAllocator(mem), ipc.WithMetadataSizeLimit(maxArrowSchema), ipc.WithBodySizeLimit(most)}
	s, err := ipc.NewReaderFromMessageReader(ipc.NewMessageReader(io.MultiReader(bytes.NewReader(head), r), limits...), limits...)
	if err != nil {
		return nil, damaged(in.path, err)
	}
	next := func() (arrow.RecordBatch, error) {
		if !s.Next() {
			if s.Err() != nil {
				return nil, s.Err()
			}
			return nil, io.EOF
		}
		b := s.RecordBatch()
		b.Retain()
		return b, nil
	}
	return &arrowFile{schema: s.Schema(), next: next, mem: mem, close: func() {
		s.Release()
		r.Close()
	}}, nil
}

var errNoArrow = errors.New("not a stream of Arrow")

// arrowSchema reads the first message and holds its lists against the bytes that there are, as checkArrowFooter does.
func arrowSchema(r io.Reader, most int64) ([]byte, error) {
	head := make([]byte, 8)
	if _, err := io.ReadFull(r, head); err != nil {
		var e *diag.Error
		if errors.As(err, &e) {
			return nil, err
		}
		return nil, errNoArrow
	}
	n := int64(binary.LittleEndian.Uint32(head[4:]))
	if binary.LittleEndian.Uint32(head) != arrowStreamMark || n < 8 || n > most {
		return nil, errNoArrow
	}
	head = append(head, make([]byte, n)...)
	if _, err := io.ReadFull(r, head[8:]); err != nil {
		return nil, err
	}
	b := flatbuffer(head[8:])
	root, ok := b.follow(0)
	if !ok {
		return nil, errArrowSchema
	}
	const header = 2 // a message's slot
	schema, ok := b.field(root, header)
	if !ok {
		return nil, errArrowSchema
	}
	if schema, ok = b.follow(schema); !ok || !b.fields(schema, 1, maxArrowDepth) {
		return nil, errArrowSchema
	}
	return head, nil
}
