package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// A file is written under another name in the same folder and gets its own when it is complete. A
// process that is killed meanwhile leaves such a file behind. While it lives it holds a lock on it, which ends
// with the process however that ends: the next writer in the folder removes what it can lock. Process numbers would not do: they
// are used again, and are others' in another container.

// tempFile is a file under another name, until it is complete.
type tempFile struct {
	*os.File
	path string // what it is to be
	tmp  string // what it is; "" if it is a device or pipe, written in place
	lock *os.File
	pipe *pipe // not nil: File is a named pipe

	written int64 // bytes
}

// Write writes to the file; to a pipe as long as somebody wants it.
func (f *tempFile) Write(b []byte) (int, error) {
	if f.pipe != nil {
		return f.pipe.Write(b)
	}
	n, err := f.File.Write(b)
	f.written += int64(n)
	return n, err
}

// tempName has the names of files that are not complete.
var tempName = regexp.MustCompile(`^\..+\.[0-9]+-[0-9]+\.tmp$`)

func createTemp(ctx context.Context, path string) (*tempFile, error) {
	target := path
	if t, err := filepath.EvalSymlinks(path); err == nil { // a link stays a link
		target = t
	}
	mode := os.FileMode(0o666)
	if st, err := os.Stat(target); err == nil {
		switch {
		case st.IsDir():
			return nil, diag.Errorf(diag.WrongObjectType, diag.NoPos, "%q is a directory", path)
		case st.Mode()&special == fs.ModeNamedPipe:
			p, err := openPipe(ctx, target, os.O_WRONLY)
			if err != nil {
				return nil, err
			}
			return &tempFile{File: p.File, path: target, pipe: p}, nil
		case !st.Mode().IsRegular(): // renaming onto /dev/null would not do
			f, err := os.OpenFile(target, os.O_WRONLY, 0)
			if err != nil {
				return nil, fileError("open", path, err)
			}
			return &tempFile{File: f, path: target}, nil
		}
		mode = st.Mode().Perm()
	}
	removeStale(filepath.Dir(target))
	for try := 0; ; try++ {
		tmp := filepath.Join(filepath.Dir(target), fmt.Sprintf(".%s.%d-%d.tmp", filepath.Base(target), os.Getpid(), try))
		f, err := os.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
		switch {
		case err == nil:
			out := &tempFile{File: f, path: target, tmp: tmp}
			var taken bool
			if out.lock, taken = lockFile(tmp); !taken && out.named() {
				return out, nil
			}
			out.remove() // somebody took it for a stale one before it was locked
		case !errors.Is(err, os.ErrExist) || try == 10000:
			return nil, fileError("create", path, err)
		}
	}
}

// named reports that a new file still has its name.
func (f *tempFile) named() bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Lstat(f.tmp)
	return err == nil && os.SameFile(a, b)
}

// removeStale removes what dead processes have left in a folder. What cannot be removed stays: it is in
// nobody's way.
func removeStale(dir string) {
	names, err := filepath.Glob(filepath.Join(escapeGlob(dir), ".*.tmp"))
	if err != nil {
		return
	}
	for _, name := range names {
		st, err := os.Lstat(name)
		if err != nil || !st.Mode().IsRegular() && !st.IsDir() || !tempName.MatchString(filepath.Base(name)) {
			continue
		}
		if lock, _ := lockFile(name); lock != nil {
			os.RemoveAll(name)
			lock.Close()
		}
	}
}

// commit gives the file its name. It is closed first, which may fail; the lock ends last.
func (f *tempFile) commit() error {
	defer f.unlock()
	if err := f.File.Close(); err != nil {
		f.remove()
		return fileError("write", f.path, err)
	}
	if f.tmp == "" {
		return nil
	}
	if err := os.Rename(f.tmp, f.path); err != nil {
		os.Remove(f.tmp)
		return fileError("create", f.path, err)
	}
	return nil
}

// remove forgets the file.
func (f *tempFile) remove() error {
	defer f.unlock()
	f.File.Close()
	if f.tmp == "" {
		return nil
	}
	return os.Remove(f.tmp)
}

func (f *tempFile) unlock() {
	if f.lock != nil {
		f.lock.Close()
		f.lock = nil
	}
}
