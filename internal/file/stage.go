package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Files that belong together get their names together, when all are complete: until then they lie in a folder inside of the one that
// they are for, whose name nobody looks for. If something fails it goes, and nothing has changed. As with single files a lock tells the
// folders of living processes from what dead ones have left.

// Existing is what is to happen to files that a folder has already.
type Existing uint8

const (
	Refuse  Existing = iota // there must be none
	Replace                 // those of the same names become others
	Remove                  // they go
	Append                  // they stay: new ones have other names
)

// Folder is several files in a folder: how they are named, and what becomes of others.
type Folder struct {
	Path      string
	Existing  Existing
	Pattern   string // names of files, with {i} or {uuid}; "" is data_{i}, or {uuid} for Append
	Extension string // "": the format's
}

// stage is the files of a folder until they have their names.
type stage struct {
	ctx    context.Context
	to     Folder
	dir    string // where they are
	lock   *os.File
	made   []string // folders that were not there before, the innermost first
	format Format
	cols   []catalog.ColumnDef
	opts   Options

	mu    sync.Mutex
	files []string       // by number, their names below the folder
	count map[string]int // of files by the folder that they will be in, below the first
}

// newStage begins to write files of some columns to a folder.
func newStage(ctx context.Context, to Folder, format Format, cols []catalog.ColumnDef, opts Options) (*stage, error) {
	if strings.ContainsAny(to.Pattern+to.Extension, `/\`) || strings.Count(to.Pattern, "{i}")+strings.Count(to.Pattern, "{uuid}") > 1 {
		return nil, diag.Errorf(diag.InvalidParameter, diag.NoPos, "names of files are no paths, and have one {i} or {uuid}")
	}
	if to.Extension = strings.TrimPrefix(to.Extension, "."); to.Extension == "" {
		to.Extension = extensionOf(format, &opts)[1:]
	}
	switch {
	case to.Pattern == "" && to.Existing == Append:
		to.Pattern = "{uuid}"
	case to.Pattern == "":
		to.Pattern = "data_{i}"
	case !strings.Contains(to.Pattern, "{"):
		to.Pattern += "{i}"
	}
	s := &stage{ctx: ctx, to: to, format: format, cols: cols, opts: opts, count: map[string]int{}}
	if to.Existing == Refuse {
		list, err := filesBelow(to.Path, "")
		if err != nil {
			return nil, fileError("open", to.Path, err)
		}
		if len(list) > 0 {
			return nil, diag.Errorf(diag.DuplicateFile, diag.NoPos, "folder %q is not empty", to.Path).
				WithHint("OVERWRITE removes its files, APPEND adds others, and OVERWRITE_OR_IGNORE writes files of the same names again")
		}
	}
	for dir := filepath.Clean(to.Path); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		s.made = append(s.made, dir)
	}
	if err := os.MkdirAll(to.Path, 0o777); err != nil {
		return nil, fileError("create", to.Path, err)
	}
	removeStale(to.Path)
	for try := 0; ; try++ {
		s.dir = filepath.Join(to.Path, fmt.Sprintf(".data.%d-%d.tmp", os.Getpid(), try))
		switch err := os.Mkdir(s.dir, 0o700); {
		case err == nil:
			var taken bool
			if s.lock, taken = lockFile(s.dir); !taken {
				return s, nil
			} // else somebody took it for a stale one before it was locked
		case !errors.Is(err, fs.ErrExist) || try == 10000:
			s.abort()
			return nil, fileError("create", to.Path, err)
		}
	}
}

// filesBelow are the files in a folder and those in it, but for one; none if it is not there.
func filesBelow(folder, except string) (out []string, err error) {
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case path == except:
			return fs.SkipDir
		case !d.IsDir():
			out = append(out, path)
		}
		return nil
	})
	return out, err
}

// open begins a file that will be in a folder below the first, or goes on with one of that number, if rows can be added to it; at -1 or
// if not it is new. Many goroutines may call it.
func (s *stage) open(below string, number int) (*fileWriter, int, error) {
	opts, flags := s.opts, os.O_WRONLY|os.O_APPEND
	s.mu.Lock()
	if number < 0 || s.format == Parquet || s.format == Arrow || opts.Array {
		number, flags = len(s.files), os.O_WRONLY|os.O_CREATE|os.O_EXCL
		s.files = append(s.files, s.name(below))
	} else if s.format != JSON {
		opts.Header, opts.HasHeader = false, true // it has one
	}
	name := s.files[number]
	s.mu.Unlock()
	out := &tempFile{path: filepath.Join(s.to.Path, name)}
	var err error
	if out.File, err = os.OpenFile(filepath.Join(s.dir, strconv.Itoa(number)), flags, 0o666); err != nil {
		return nil, number, fileError("create", out.path, err)
	}
	if out.written, err = out.Seek(0, io.SeekEnd); err != nil {
		out.Close()
		return nil, number, fileError("write", out.path, err)
	}
	w, err := writerTo(out, name, s.format, s.cols, opts)
	return w, number, err
}

// name is that of the next file in a folder.
func (s *stage) name(below string) string {
	for {
		n := strconv.Itoa(s.count[below])
		s.count[below]++
		name := filepath.Join(below, strings.NewReplacer("{i}", n, "{uuid}", types.RandomUUID()).Replace(s.to.Pattern)+"."+s.to.Extension)
		if s.to.Existing == Append {
			if _, err := os.Lstat(filepath.Join(s.to.Path, name)); err == nil {
				continue
			}
		}
		return name
	}
}

// commit gives all files their names. If one cannot have it, there is none of them; but those that were to go are gone.
func (s *stage) commit() error {
	defer s.abort()
	if s.ctx.Err() != nil {
		return diag.Canceled(s.ctx)
	}
	if s.to.Existing == Remove {
		list, err := filesBelow(s.to.Path, s.dir)
		for _, path := range list {
			err = cmp.Or(err, os.Remove(path))
		}
		if err != nil {
			return fileError("remove", s.to.Path, err)
		}
	}
	for i, name := range s.files {
		path := filepath.Join(s.to.Path, name)
		err := os.MkdirAll(filepath.Dir(path), 0o777)
		if err == nil {
			err = os.Rename(filepath.Join(s.dir, strconv.Itoa(i)), path)
		}
		if err != nil {
			for _, name := range s.files[:i] {
				os.Remove(filepath.Join(s.to.Path, name))
			}
			return fileError("create", path, err)
		}
	}
	s.made = nil
	return nil
}

// abort removes what has no name yet, and folders that were made for nothing.
func (s *stage) abort() {
	os.RemoveAll(s.dir)
	if s.lock != nil {
		s.lock.Close()
	}
	for _, dir := range s.made {
		os.Remove(dir) // which it cannot if there is something in it
	}
}
