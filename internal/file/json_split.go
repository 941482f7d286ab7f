package file

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync/atomic"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
)

// A JSON file is objects one after the other, usually one in a line, or an array of them. It is
// cut at their ends, for which brackets outside of strings are counted, into blocks that can be
// read side by side; whether they are well-formed is seen there.

// jsonBlock is whole objects of one file.
type jsonBlock struct {
	seq  int
	file *input
	buf  []byte
	line int64    // of the first byte
	rows [][2]int // where the objects are
	done int64    // bytes of all files that were read when it was cut
}

// lineAt is the line of a byte.
func (b *jsonBlock) lineAt(at int) int64 {
	return b.line + int64(bytes.Count(b.buf[:at], []byte{'\n'}))
}

const (
	jsonBlockBytes = 4 << 20
	// mostObject is the largest object that is read. A file that opens a bracket and never closes it must not
	// take all memory.
	mostObject = 16 << 20
)

// jsonSplitter cuts files into blocks.
type jsonSplitter struct {
	ctx   context.Context
	files []*input
	size  int // bytes of a block
	rows  int // most rows of a block
	room  *countedRoom
	seq   int
	read  atomic.Int64

	r     io.ReadCloser // the first of files, open
	rest  []byte        // read, but not cut yet
	line  int64         // of rest
	eof   bool
	array bool
	begun bool // the bracket of the array, or an object, has been seen
	ended bool // the array's end has been seen
	comma bool // a comma has been seen after the last object
	any   bool // an object of this file has been seen

	failed error // what is wrong after the last block
}

func newJSONSplitter(ctx context.Context, files []*input) *jsonSplitter {
	return &jsonSplitter{ctx: ctx, files: files, size: jsonBlockBytes, rows: column.SegmentRows, room: &countedRoom{}}
}

func (s *jsonSplitter) close() {
	if s.r != nil {
		s.r.Close()
		s.r = nil
	}
}

// next is the next block, in buf if that is large enough; io.EOF after the last.
func (s *jsonSplitter) next(buf []byte) (*jsonBlock, error) {
	for {
		if s.failed != nil {
			return nil, s.failed
		}
		if len(s.files) == 0 {
			return nil, io.EOF
		}
		if s.r == nil {
			if err := s.open(); err != nil {
				return nil, err
			}
		}
		b, err := s.cut(buf)
		if err != nil {
			return nil, err
		}
		if s.failed == nil && s.eof && len(s.rest) == 0 {
			s.finish()
		}
		if len(b.rows) > 0 {
			b.seq, b.done = s.seq, s.read.Load()
			s.seq++
			return b, nil
		}
		buf = b.buf
	}
}

// open begins with the next file.
func (s *jsonSplitter) open() (err error) {
	s.r, err = s.files[0].text(s.ctx, &s.read)
	s.rest, s.line, s.eof = nil, 1, false
	s.array, s.begun, s.ended, s.comma, s.any = false, false, false, false, false
	return err
}

// finish leaves a file whose bytes have all been cut.
func (s *jsonSplitter) finish() {
	if s.array && !s.ended {
		s.failed = malformedJSON(s.files[0].path, s.line, "the array does not end")
		return
	}
	s.close()
	s.files = s.files[1:]
}

// cut makes a block of what is left and of what can be read.
func (s *jsonSplitter) cut(buf []byte) (_ *jsonBlock, err error) {
	b := &jsonBlock{file: s.files[0], line: s.line}
	if buf, err = s.room.grow(buf[:0], len(s.rest)); err != nil {
		return nil, err
	}
	buf = append(buf[:0], s.rest...)
	want := s.size
	at := 0 // cut so far
	for {
		for len(buf) < want && !s.eof {
			if buf, err = s.room.grow(buf, want-len(buf)); err != nil {
				return nil, err
			}
			n, err := s.r.Read(buf[len(buf):want])
			buf = buf[:len(buf)+n]
			if err == io.EOF {
				s.eof = true
			} else if err != nil {
				return nil, err
			}
		}
		b.buf = buf
		at = s.objects(b, at)
		if len(b.rows) > 0 || s.eof || s.failed != nil {
			break
		}
		if at > mostObject/2 && at == len(buf) { // nothing but spaces
			break
		}
		if want = 2 * want; len(buf)-at > mostObject {
			return nil, located(diag.Errorf(diag.ProgramLimitExceeded, diag.NoPos, "a JSON object has more than %d MiB", mostObject>>20),
				"file %s, line %d", b.file.path, b.lineAt(at))
		}
	}
	s.rest = append([]byte(nil), buf[at:]...)
	s.line += int64(bytes.Count(buf[:at], []byte{'\n'}))
	b.buf = buf
	return b, nil
}

// objects adds the objects from a place on and returns where it stopped: at the start of one that is
// not complete, at something else, or at the end. What is wrong there is reported after the objects, of which
// an earlier one may be what is really wrong.
func (s *jsonSplitter) objects(b *jsonBlock, at int) int {
	buf := b.buf
	if !s.begun && at == 0 && b.line == 1 && bytes.HasPrefix(buf, []byte("\xef\xbb\xbf")) {
		at = 3
	}
	for len(b.rows) < s.rows {
		for at < len(buf) && isJSONSpace(buf[at]) {
			at++
		}
		if at == len(buf) {
			break
		}
		c := buf[at]
		switch {
		case s.ended:
			return s.malformed(b, at, "there is something after the end of the array")
		case !s.begun && c == '[':
			s.begun, s.array = true, true
			at++
		case s.array && c == ',' && s.any && !s.comma:
			s.comma = true
			at++
		case s.array && c == ']' && !s.comma:
			s.ended = true
			at++
		case c == '{' && (!s.array || !s.any || s.comma):
			end := objectEnd(buf, at)
			if end < 0 {
				if s.eof {
					return s.malformed(b, at, "the file ends inside an object")
				}
				return at
			}
			b.rows = append(b.rows, [2]int{at, end})
			s.begun, s.any, s.comma = true, true, false
			at = end
		default:
			return s.malformed(b, at, "there is no object")
		}
	}
	return at
}

// objectEnd is the place after the object that begins at a place; -1 if it does not end.
func objectEnd(b []byte, at int) int {
	depth := 0
	for at < len(b) {
		switch b[at] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return at + 1
			}
		case '"':
			if at = stringEnd(b, at); at < 0 {
				return -1
			}
			continue
		}
		at++
	}
	return -1
}

// stringEnd is the place after the string that begins at a place; -1 if it does not end.
func stringEnd(b []byte, at int) int {
	for at++; at < len(b); at++ {
		switch b[at] {
		case '"':
			return at + 1
		case '\\':
			at++
		}
	}
	return -1
}

// malformed notes what is wrong at a place, where reading ends.
func (s *jsonSplitter) malformed(b *jsonBlock, at int, msg string) int {
	s.failed = malformedJSON(b.file.path, b.lineAt(at), msg)
	return at
}

// malformedJSON is the error of a file that is not what we call JSON.
func malformedJSON(path string, line int64, msg string) error {
	return diag.Errorf(diag.InvalidTextRepresentation, diag.NoPos, "file %q is not JSON of objects: %s", path, msg).
		WithDetail("line %d", line)
}

// locate names the place of an error in a row.
func (b *jsonBlock) locate(row int, p *jsonParser, key string, err error) error {
	var je *jsonError
	if errors.As(err, &je) {
		return malformedJSON(b.file.path, b.lineAt(b.rows[row][0]+min(je.at, len(p.b))), je.msg)
	}
	line := b.lineAt(b.rows[row][0] + min(p.p, len(p.b)))
	if key == "" {
		return located(err, "file %s, line %d", b.file.path, line)
	}
	return located(err, "file %s, line %d, key %q", b.file.path, line, key)
}
