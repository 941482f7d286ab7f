package file

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// input is a file to be read, or a stream that can be read once.
type input struct {
	path string
	size int64
	mod  time.Time
	info Info

	stream io.Reader // if it can be read only once: what it still has to say
}

func statInput(path string) (*input, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, fileError("open", path, err)
	}
	if st.IsDir() {
		return nil, diag.Errorf(diag.WrongObjectType, diag.NoPos, "%q is a directory", path).
			WithHint("to read all files in it, say %q", path+"/*")
	}
	in := &input{path: path, size: st.Size(), mod: st.ModTime(), info: infoOf(path, st, time.Now())}
	if st.Mode()&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeCharDevice) != 0 { // can be read only once
		f, err := os.Open(path)
		if err != nil {
			return nil, fileError("open", path, err)
		}
		in.stream = f
	}
	return in, nil
}

// raw opens the file as it is. What is read is counted in n, if it is not nil.
func (in *input) raw(n *atomic.Int64) (io.ReadCloser, error) {
	if in.stream != nil {
		return &countingReader{r: in.stream, path: in.path, n: n}, nil
	}
	f, err := os.Open(in.path)
	if err != nil {
		return nil, fileError("open", in.path, err)
	}
	return &countingReader{r: f, c: f, path: in.path, n: n}, nil
}

// head is the first bytes of the file, at most n, and whether that is all of it.
func (in *input) head(n int, open func(*atomic.Int64) (io.ReadCloser, error)) (data []byte, all bool, err error) {
	if s := in.stream; s != nil { // what is read here must be said again
		var said bytes.Buffer
		in.stream = io.TeeReader(s, &said)
		defer func() { in.stream = io.MultiReader(&said, s) }()
	}
	r, err := open(nil)
	if err != nil {
		return nil, false, err
	}
	defer r.Close()
	data, err = io.ReadAll(io.LimitReader(r, int64(n)))
	return data, len(data) < n, err
}

// text opens the file for reading text: decompressed, if its first bytes say
// that it is compressed.
func (in *input) text(n *atomic.Int64) (io.ReadCloser, error) {
	r, err := in.raw(n)
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
		if d, err = zstd.NewReader(br, zstd.WithDecoderConcurrency(1)); err == nil {
			z = d.IOReadCloser()
		}
	case bytes.HasPrefix(magic, []byte("BZh")):
		z = bzip2.NewReader(br)
	default:
		return &readCloser{br, r}, nil
	}
	if err != nil {
		r.Close()
		return nil, damaged(in.path, err)
	}
	return &readCloser{&unzipReader{r: z, path: in.path}, r}, nil
}

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

// countingReader counts for the progress report and words errors.
type countingReader struct {
	r    io.Reader
	c    io.Closer // nil: not ours to close
	path string
	n    *atomic.Int64
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if r.n != nil {
		r.n.Add(int64(n))
	}
	if err != nil && err != io.EOF {
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
		if _, ok := err.(*diag.Error); !ok {
			err = damaged(u.path, err)
		}
	}
	return n, err
}
