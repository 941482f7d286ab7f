package file

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
)

// The splitter reads the files from first to last and cuts them into blocks of as many whole rows as a
// segment has. It only looks for newlines and quotes, at the speed of memory, so that one
// goroutine can feed many that do the real work; and as it goes from the beginning, it
// always knows whether a newline is inside of quotes. No guess, no second way for difficult files.

const (
	readBytes  = 256 << 10 // per read: what is left of it after a cut is copied to the next block
	blockBytes = 64 << 20  // a block is cut here even if it has fewer rows
	maxRow     = 1 << 30   // the longest row, as in PostgreSQL
)

// splitter is the cutter of CSV and text.
type splitter struct {
	cutting
	d  *dialect
	nl []byte // d.nl
	// names are what the header must have; nil: anything.
	names []string

	// The file being read.
	file *input
	r    io.ReadCloser
	eof  bool
	line int64 // of the row at start
	at   int64 // in the file's text, of the byte at start

	// The block being made. Everything before scanned has been looked at; rows that are complete end at rowEnd.
	buf     []byte
	pieces  []piece
	n       int // rows
	start   int // of the piece
	scanned int
	rowEnd  int
	inQuote bool
	carry   []byte // the beginning of the next block
}

func newSplitter(ctx context.Context, d *dialect, files []*input) *splitter {
	return &splitter{d: d, nl: []byte{d.nl},
		cutting: cutting{ctx: ctx, files: files, room: &countedRoom{}, rows: column.SegmentRows, size: blockBytes, chunk: readBytes}}
}

func (s *splitter) close() {
	if s.r != nil {
		s.r.Close()
		s.r = nil
	}
}

func (s *splitter) next(buf []byte) (*block, error) {
	var err error
	if s.buf, err = s.room.grow(buf[:0], len(s.carry)+2*pad); err != nil {
		return nil, err
	}
	s.buf = append(s.buf, s.carry...)
	s.pieces, s.n = nil, 0
	s.begin(0)
	for {
		if s.file == nil {
			if len(s.files) == 0 {
				if len(s.pieces) == 0 {
					return nil, io.EOF
				}
				return s.cut(), nil
			}
			if err := s.open(); err != nil {
				return nil, err
			}
		}
		s.scan(s.rows)
		switch {
		case s.n == s.rows, len(s.buf) >= s.size && (s.rowEnd > s.start || len(s.pieces) > 0):
			s.endPiece(s.rowEnd)
			return s.cut(), nil
		case s.eof:
			s.finish()
		case len(s.buf)-s.start > maxRow:
			return nil, diag.Errorf(diag.ProgramLimitExceeded, diag.NoPos, "a row is longer than %d bytes", maxRow).
				WithDetail("%s", fmt.Sprintf("file %s, line %d", s.file.path, s.line)).
				WithHint("is there a quote that is never closed?")
		default:
			if err := s.more(); err != nil {
				return nil, err
			}
		}
	}
}

// begin starts a piece at an offset of the block, which is the start of a row.
func (s *splitter) begin(at int) {
	s.start, s.scanned, s.rowEnd, s.inQuote = at, at, at, false
}

// open goes to the next file, past a byte order mark and the header.
func (s *splitter) open() error {
	s.file, s.files = s.files[0], s.files[1:]
	r, err := s.file.text(s.ctx, &s.read)
	if err != nil {
		return err
	}
	s.r, s.eof, s.line, s.at = r, false, 1+int64(s.file.skip), 0
	at := len(s.buf)
	s.begin(at)
	for !s.eof && len(s.buf) < at+len(byteOrderMark) {
		if err := s.more(); err != nil {
			return err
		}
	}
	if bytes.HasPrefix(s.buf[at:], byteOrderMark) {
		s.begin(at + len(byteOrderMark))
	}
	defer func() { s.at = int64(s.start - at) }()
	if !s.d.header {
		return nil
	}
	// The header is a row that does not count, as empty lines before it do not.
	for {
		if s.start < len(s.buf) && (s.buf[s.start] == '\n' || s.buf[s.start] == '\r') {
			if s.buf[s.start] == s.d.nl {
				s.line++
			}
			s.begin(s.start + 1)
		} else if s.start < len(s.buf) || s.eof {
			break
		} else if err := s.more(); err != nil {
			return err
		}
	}
	rows := s.n
	for {
		s.scan(rows + 1)
		if s.n > rows {
			break
		}
		if s.eof {
			s.rowEnd = len(s.buf)
			break
		}
		if err := s.more(); err != nil {
			return err
		}
	}
	s.n = rows
	if s.names != nil && s.rowEnd > s.start {
		if err := s.match(s.buf[s.start:s.rowEnd]); err != nil {
			return located(err, "file %s, line %d", s.file.path, s.line)
		}
	}
	s.line += int64(bytes.Count(s.buf[s.start:s.rowEnd], s.nl))
	s.begin(s.rowEnd)
	return nil
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// more reads on.
func (s *splitter) more() error {
	at, n := len(s.buf), s.chunk
	var err error
	if s.buf, err = s.room.grow(s.buf, n+2*pad); err != nil { // room for what finish and cut append
		return err
	}
	got, err := s.r.Read(s.buf[at : at+n])
	s.buf = s.buf[:at+got]
	if err == io.EOF {
		s.eof = true
		err = nil
	}
	return err
}

// finish ends the file. A last row without newline gets one.
func (s *splitter) finish() {
	if s.rowEnd < len(s.buf) {
		s.buf = append(s.buf, s.d.nl)
		s.n++
	}
	s.endPiece(len(s.buf))
	s.close()
	s.file = nil
}

// endPiece makes the rows up to an offset a piece of the block.
func (s *splitter) endPiece(at int) {
	if at > s.start {
		s.pieces = append(s.pieces, piece{file: s.file, line: s.line, offset: s.at, lo: s.start, hi: at})
		s.line += int64(bytes.Count(s.buf[s.start:at], s.nl))
		s.at += int64(at - s.start)
	}
	s.start = at
}

// cut returns the block; what comes after its last piece is for the next.
func (s *splitter) cut() *block {
	s.carry = s.carry[:0]
	if s.file != nil {
		s.carry = append(s.carry, s.buf[s.start:]...)
	}
	end := s.start
	s.buf = append(s.buf[:end], make([]byte, pad)...)
	b := &block{seq: s.seq, buf: s.buf, pieces: s.pieces, done: s.read.Load()}
	s.seq++
	s.buf = nil
	return b
}

// scan looks for ends of rows in what has been read, until there are limit rows.
func (s *splitter) scan(limit int) {
	for s.scanned < len(s.buf) && s.n < limit {
		if s.inQuote {
			if !s.closing() {
				return
			}
			continue
		}
		rest := s.buf[s.scanned:]
		special := -1
		if s.d.text {
			special = bytes.IndexByte(rest, '\\')
		} else if s.d.hasQuote {
			special = bytes.IndexByte(rest, s.d.quote)
		}
		if special < 0 {
			s.count(rest, limit)
			return
		}
		s.count(rest[:special], limit)
		if s.n == limit {
			return
		}
		at := s.scanned
		switch {
		case !s.d.text:
			s.inQuote = at == s.start || s.buf[at-1] == s.d.delim || s.buf[at-1] == s.d.nl
			s.scanned++
		case at+1 < len(s.buf):
			s.scanned += 2
		case s.eof:
			s.scanned++
		default:
			return // what does the backslash escape?
		}
	}
}

// count counts the newlines of a stretch of text in which nothing else matters.
func (s *splitter) count(text []byte, limit int) {
	n := bytes.Count(text, s.nl)
	if s.n+n < limit {
		if n > 0 {
			s.rowEnd = s.scanned + bytes.LastIndexByte(text, s.d.nl) + 1
		}
		s.n += n
		s.scanned += len(text)
		return
	}
	for s.n < limit {
		i := bytes.IndexByte(text, s.d.nl) + 1
		text = text[i:]
		s.scanned += i
		s.rowEnd = s.scanned
		s.n++
	}
}

// closing looks for the end of a quoted part. It returns false if it is not there yet.
func (s *splitter) closing() bool {
	q, e := s.d.quote, s.d.escape
	rest := s.buf[s.scanned:]
	i := bytes.IndexByte(rest, q)
	if e != q {
		if i >= 0 {
			rest = rest[:i]
		}
		if j := bytes.IndexByte(rest, e); j >= 0 {
			i = j
		}
	}
	if i < 0 {
		s.scanned = len(s.buf)
		return false
	}
	at := s.scanned + i
	if at+1 == len(s.buf) && !s.eof {
		s.scanned = at
		return false // what follows decides
	}
	next := byte(0)
	if at+1 < len(s.buf) {
		next = s.buf[at+1]
	}
	switch {
	case s.buf[at] == e && at+1 < len(s.buf) && (next == q || next == e):
		s.scanned = at + 2
	case s.buf[at] == q:
		s.scanned = at + 1
		s.inQuote = false
	default:
		s.scanned = at + 1
	}
	return true
}
