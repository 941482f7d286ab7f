package file

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// input is a file to be read, or a stream that can be read once.
type input struct {
	path string
	num  int // among those of its source
	size int64
	mod  time.Time
	info Info
	at   os.FileInfo // of a file, when it was found

	skip    int  // lines at its beginning that are no rows
	comment byte // begins lines that are no rows
	coded   Encoding

	stream io.Reader  // if it can be read only once: what it still has to say
	pipe   *pipe      // where a named pipe's stream comes from
	taken  bool       // the stream has been given to somebody
	arrow  *arrowFile // a stream of Arrow whose schema has been read
}

// statInput finds a file. A named pipe is opened, which waits for somebody who writes to it.
func statInput(ctx context.Context, path string) (*input, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, fileError("open", path, err)
	}
	if st.IsDir() {
		return nil, diag.Errorf(diag.WrongObjectType, diag.NoPos, "%q is a directory", path).
			WithHint("to read all files in it, say %q", path+"/*")
	}
	in := &input{path: path, size: st.Size(), mod: st.ModTime(), info: infoOf(path, st, time.Now()), at: st}
	switch mode := st.Mode() & special; {
	case mode == 0:
	case mode == fs.ModeNamedPipe:
		if in.pipe, err = openPipe(ctx, path, os.O_RDONLY); err != nil {
			return nil, err
		}
		in.stream = in.pipe
	case isNullDevice(st):
		in.stream = strings.NewReader("")
	default:
		return nil, notAFile(path, st)
	}
	return in, nil
}

// close ends the use of a stream that is ours.
func (in *input) close() {
	if in.pipe != nil {
		in.pipe.Close()
	}
}

// raw opens the file as it is. What is read is counted in n, if it is not nil.
func (in *input) raw(ctx context.Context, n *atomic.Int64) (io.ReadCloser, error) {
	if in.stream != nil {
		if in.pipe != nil {
			in.pipe.ctx = ctx
		}
		return &countingReader{ctx: ctx, r: in.stream, path: in.path, n: n}, nil
	}
	f, err := os.Open(in.path)
	if err != nil {
		return nil, fileError("open", in.path, err)
	}
	if err := in.unchanged(f, 0); err != nil {
		f.Close()
		return nil, err
	}
	return &countingReader{ctx: ctx, r: f, c: f, path: in.path, n: n, end: func(read int64) error { return in.unchanged(f, read) }}, nil
}

// unchanged makes sure that a file has what it had when it was looked at, of which so many bytes have
// been read. It may have become longer, as logs do.
func (in *input) unchanged(f *os.File, read int64) error {
	st, err := f.Stat()
	if err != nil {
		return fileError("read", in.path, err)
	}
	grown := st.Size() > in.size || read > in.size
	if !os.SameFile(st, in.at) || !grown && (st.Size() < in.size || !st.ModTime().Equal(in.mod)) {
		return diag.Errorf(diag.IOError, diag.NoPos, "file %q was changed while it was read", in.path)
	}
	return nil
}

// once makes sure that a stream is read only once.
func (in *input) once() error {
	if in.stream == nil {
		return nil
	}
	if in.taken {
		return diag.Errorf(diag.FeatureNotSupported, diag.NoPos, "%q can be read only once", in.path).
			WithHint("load it into a table first: CREATE TABLE … AS SELECT * FROM …")
	}
	in.taken = true
	return nil
}

// head is the first bytes of the file, at most n, and whether that is all of it.
func (in *input) head(ctx context.Context, n int, open func(context.Context, *atomic.Int64) (io.ReadCloser, error)) (data []byte, all bool, err error) {
	if s := in.stream; s != nil { // what is read here must be said again
		var said bytes.Buffer
		in.stream = io.TeeReader(s, &said)
		defer func() { in.stream = io.MultiReader(&said, s) }()
	}
	r, err := open(ctx, nil)
	if err != nil {
		return nil, false, err
	}
	defer r.Close()
	for size := 64 << 10; ; size *= 4 { // most are either short or longer than n
		size = min(size, n)
		data = slices.Grow(data, size-len(data))
		var got int
		got, err = io.ReadFull(r, data[len(data):size])
		if data = data[:len(data)+got]; err != nil || size == n {
			break
		}
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return data, len(data) < n, err
}

// text opens the file for reading text: decompressed, if its first bytes say
// that it is compressed.
func (in *input) text(ctx context.Context, n *atomic.Int64) (io.ReadCloser, error) {
	r, err := in.raw(ctx, n)
	if err != nil {
		return nil, err
	}
	br := bufio.NewReaderSize(r, 1<<16)
	magic, err := br.Peek(4)
	if err != nil && err != io.EOF {
		r.Close()
		return nil, err
	}
	var z io.Reader
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err = gzip.NewReader(br)
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		var d *zstd.Decoder
		// A frame declares how far back it refers: so much memory is needed to read it.
		if d, err = zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow)); err == nil {
			z = d.IOReadCloser()
		}
	case bytes.HasPrefix(magic, []byte("BZh")):
		z = bzip2.NewReader(br)
	default:
		return &readCloser{in.filtered(in.coded.decoded(br)), r}, nil
	}
	if err != nil {
		r.Close()
		return nil, damaged(in.path, err)
	}
	return &readCloser{in.filtered(in.coded.decoded(&unzipReader{r: z, path: in.path})), r}, nil
}

const maxZstdWindow = 64 << 20

// damaged is the error of a file whose bytes make no sense; not of one that could not be read, which
// has its error already.
func damaged(path string, err error) error {
	if e := (*diag.Error)(nil); errors.As(err, &e) {
		return err
	}
	return diag.Errorf(diag.DataCorrupted, diag.NoPos, "file %q is damaged: %w", path, err)
}

type readCloser struct {
	io.Reader
	c io.Closer
}

func (r *readCloser) Close() error { return r.c.Close() }

// countingReader counts for the progress report, ends with its context and words errors.
type countingReader struct {
	ctx  context.Context
	r    io.Reader
	c    io.Closer // nil: not ours to close
	path string
	n    *atomic.Int64
	read int64
	end  func(read int64) error // a last check; nil: none
}

func (r *countingReader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, diag.Canceled(r.ctx)
	}
	n, err := r.r.Read(p)
	r.read += int64(n)
	if r.n != nil {
		r.n.Add(int64(n))
	}
	var d *diag.Error
	switch {
	case err == io.EOF && r.end != nil:
		if changed := r.end(r.read); changed != nil {
			err = changed
		}
	case err != nil && err != io.EOF && !errors.As(err, &d):
		err = fileError("read", r.path, err)
	}
	return n, err
}

func (r *countingReader) Close() error {
	if r.c == nil {
		return nil
	}
	return r.c.Close()
}

// unzipReader words the errors of a decompressor.
type unzipReader struct {
	r    io.Reader
	path string
}

func (u *unzipReader) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if err != nil && err != io.EOF {
		var d *diag.Error
		if !errors.As(err, &d) {
			return n, damaged(u.path, err)
		}
		err = d
	}
	return n, err
}
