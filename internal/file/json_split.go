package file

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
)

// A JSON file is objects one after the other, usually one in a line, or an array of them. It is
// cut at their ends, for which brackets outside of strings are counted, into blocks that can be
// read side by side; whether they are well-formed is seen there.

const (
	jsonBlockBytes = 4 << 20
	// mostObject is the largest object that is read. A file that opens a bracket and never closes it must not
	// take all memory.
	mostObject = 16 << 20
)

// jsonSplitter is the cutter of JSON. A block has one piece.
type jsonSplitter struct {
	cutting

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
	return &jsonSplitter{cutting: cutting{ctx: ctx, files: files, size: jsonBlockBytes, rows: column.SegmentRows, room: &countedRoom{}}}
}

func (s *jsonSplitter) close() {
	if s.r != nil {
		s.r.Close()
		s.r = nil
	}
}

func (s *jsonSplitter) next(buf []byte) (*block, error) {
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
		var pc piece
		var err error
		if pc, buf, err = s.cut(buf); err != nil {
			return nil, err
		}
		if s.failed == nil && s.eof && len(s.rest) == 0 {
			s.finish()
		}
		if len(pc.objects) > 0 {
			b := &block{seq: s.seq, buf: buf, pieces: []piece{pc}, done: s.read.Load()}
			s.seq++
			return b, nil
		}
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

// cut makes a piece, in buf or a larger one, of what is left and of what can be read.
func (s *jsonSplitter) cut(buf []byte) (pc piece, _ []byte, err error) {
	pc = piece{file: s.files[0], line: s.line}
	if buf, err = s.room.grow(buf[:0], len(s.rest)); err != nil {
		return pc, nil, err
	}
	buf = append(buf[:0], s.rest...)
	want := s.size
	at := 0 // cut so far
	for {
		for len(buf) < want && !s.eof {
			if buf, err = s.room.grow(buf, want-len(buf)); err != nil {
				return pc, nil, err
			}
			n, err := s.r.Read(buf[len(buf):want])
			buf = buf[:len(buf)+n]
			if err == io.EOF {
				s.eof = true
			} else if err != nil {
				return pc, nil, err
			}
		}
		at = s.objects(buf, &pc, at)
		if len(pc.objects) > 0 || s.eof || s.failed != nil {
			break
		}
		if at > mostObject/2 && at == len(buf) { // nothing but spaces
			break
		}
		if want = 2 * want; len(buf)-at > mostObject {
			return pc, nil, located(diag.Errorf(diag.ProgramLimitExceeded, diag.NoPos, "a JSON object has more than %d MiB", mostObject>>20),
				"file %s, line %d", pc.file.path, pc.lineAt(buf, at, '\n'))
		}
	}
	s.rest = append([]byte(nil), buf[at:]...)
	s.line += int64(bytes.Count(buf[:at], []byte{'\n'}))
	pc.hi = at
	return pc, buf, nil
}

// objects adds the objects from a place on and returns where it stopped: at the start of one that is
// not complete, at something else, or at the end. What is wrong there is reported after the objects, of which
// an earlier one may be what is really wrong.
func (s *jsonSplitter) objects(buf []byte, pc *piece, at int) int {
	if !s.begun && at == 0 && pc.line == 1 && bytes.HasPrefix(buf, []byte("\xef\xbb\xbf")) {
		at = 3
	}
	for len(pc.objects) < s.rows {
		for at < len(buf) && isJSONSpace(buf[at]) {
			at++
		}
		if at == len(buf) {
			break
		}
		c := buf[at]
		switch {
		case s.ended:
			return s.malformed(buf, pc, at, "there is something after the end of the array")
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
					return s.malformed(buf, pc, at, "the file ends inside an object")
				}
				return at
			}
			pc.objects = append(pc.objects, [2]int{at, end})
			s.begun, s.any, s.comma = true, true, false
			at = end
		default:
			return s.malformed(buf, pc, at, "there is no object")
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
func (s *jsonSplitter) malformed(buf []byte, pc *piece, at int, msg string) int {
	s.failed = malformedJSON(pc.file.path, pc.lineAt(buf, at, '\n'), msg)
	return at
}

// malformedJSON is the error of a file that is not what we call JSON.
func malformedJSON(path string, line int64, msg string) error {
	return diag.Errorf(diag.InvalidTextRepresentation, diag.NoPos, "file %q is not JSON of objects: %s", path, msg).
		WithDetail("line %d", line)
}

// locate names the place of an error in a row.
func (pc *piece) locate(buf []byte, row int, p *jsonParser, key string, err error) error {
	start := pc.objects[row][0]
	var je *jsonError
	if errors.As(err, &je) {
		return malformedJSON(pc.file.path, pc.lineAt(buf, start+min(je.at, len(p.b)), '\n'), je.msg)
	}
	line := pc.lineAt(buf, start+min(p.p, len(p.b)), '\n')
	if key == "" {
		return located(err, "file %s, line %d", pc.file.path, line)
	}
	return located(err, "file %s, line %d, key %q", pc.file.path, line, key)
}
