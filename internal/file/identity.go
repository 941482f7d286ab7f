package file

import (
	"os"
	"time"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// What is kept of a file from statement to statement is good until the file changes. Size and
// time of modification do not tell all changes: a program may write in place and set the time back,
// or put another file there. So the time of the last change of the inode, which nobody can
// set, and the inode itself are compared, too.

// Info tells whether a file is still the same.
type Info struct {
	Path    string
	Size    int64
	ModTime time.Time

	inode inode
	fresh bool // it had changed so shortly before that another change would not be seen
}

// inode is what the operating system knows of a file besides size and time; zero where it does not
// tell.
type inode struct {
	device, number uint64
	changed        int64 // nanoseconds
}

// How long after a change another one may have the same time: the clock of file systems ticks
// every few milliseconds, that of some every second or two.
const (
	clockTick   = 50 * time.Millisecond
	coarseClock = 2100 * time.Millisecond
)

// infoOf is the state of a file as it was found at a time.
func infoOf(path string, st os.FileInfo, now time.Time) Info {
	i := Info{Path: path, Size: st.Size(), ModTime: st.ModTime(), inode: inodeOf(st)}
	last := i.ModTime.UnixNano()
	if i.inode.changed != 0 {
		last = i.inode.changed
	}
	tick := clockTick
	if last%int64(time.Second) == 0 {
		tick = coarseClock
	}
	age := now.Sub(time.Unix(0, last))
	i.fresh = age.Abs() < tick
	return i
}

// Same reports that what is known of a file from a state holds now.
func (i *Info) Same(now *Info) bool { return !i.fresh && i.equal(now) }

func (i *Info) equal(o *Info) bool {
	return i.Path == o.Path && i.Size == o.Size && i.ModTime.Equal(o.ModTime) && i.inode == o.inode
}

// Stat lists the files that a path or glob names, as Open would read them now.
func Stat(path string) ([]Info, error) {
	paths, err := expand(path)
	if err != nil {
		return nil, err
	}
	var out []Info
	for _, p := range paths {
		st, err := os.Stat(p)
		if err != nil {
			return nil, fileError("open", p, err)
		}
		out = append(out, infoOf(p, st, time.Now()))
	}
	return out, nil
}

// Files lists the files, in the order in which they are read.
func (s *Source) Files() []Info {
	var out []Info
	for _, f := range s.files {
		out = append(out, f.info)
	}
	return out
}

// openUnchanged opens a file whose footer has been read.
func openUnchanged(f *parquetFile) (*os.File, error) {
	h, err := os.Open(f.in.path)
	if err != nil {
		return nil, fileError("open", f.in.path, err)
	}
	st, err := h.Stat()
	if err != nil {
		h.Close()
		return nil, fileError("read", f.in.path, err)
	}
	if now := infoOf(f.in.path, st, time.Time{}); !f.in.info.equal(&now) {
		h.Close()
		return nil, errChanged(f.in.path)
	}
	return h, nil
}

// unchanged is the error of what was read of an open file, which may be that the file has changed
// meanwhile. The inode is not looked at: it changes when the file is removed, and one that
// is open can be read all the same.
func (f *parquetFile) unchanged(h *os.File, err error) error {
	st, statErr := h.Stat()
	if statErr == nil && (st.Size() != f.in.size || !st.ModTime().Equal(f.in.mod)) {
		return errChanged(f.in.path)
	}
	return err
}

func errChanged(path string) error {
	return diag.Errorf(diag.IOError, diag.NoPos, "file %q was changed while it was read", path)
}
