package cuda

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Cache keeps compiled code on disk, one file per kernel, named by a hash of everything it depends
// on. Any number of processes may use one folder: files appear whole by a rename and are checked
// when they are read, and a file that is gone or damaged is only a miss.
type Cache struct {
	dir string
	max int64
}

// NewCache uses a folder, made on the first Put, for up to max bytes.
func NewCache(dir string, max int64) *Cache { return &Cache{dir: dir, max: max} }

// UserCacheDir is where a user's compiled kernels belong.
func UserCacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "kelpie", "cubin"), nil
}

const suffix = ".cubin"

// Key names code by its text and by all that the text means depends on: device and driver.
func Key(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		n := sha256.Sum256([]byte(p)) // of equal length, so that no two lists run together
		h.Write(n[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Get returns the code for a key, or nil.
func (c *Cache) Get(key string) []byte {
	name := filepath.Join(c.dir, key+suffix)
	data, err := os.ReadFile(name)
	if err != nil || len(data) < sha256.Size {
		return nil
	}
	sum, code := data[:sha256.Size], data[sha256.Size:]
	if want := sha256.Sum256(code); !slices.Equal(sum, want[:]) {
		os.Remove(name)
		return nil
	}
	return code
}

// Used says that code was wanted: recently used files stay longest. If that fails, it only goes sooner.
func (c *Cache) Used(key string) {
	now := time.Now()
	os.Chtimes(filepath.Join(c.dir, key+suffix), now, now)
}

// Put keeps code. When the folder grows above its bound, what was not used for longest goes, until
// three quarters are left.
func (c *Cache) Put(key string, code []byte) error {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(c.dir, "new-*")
	if err != nil {
		return err
	}
	sum := sha256.Sum256(code)
	_, err = f.Write(append(sum[:], code...))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(c.dir, key+suffix))
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	return c.shrink()
}

// Also lets code be found by another key, too.
func (c *Cache) Also(key, other string) error {
	err := os.Link(filepath.Join(c.dir, key+suffix), filepath.Join(c.dir, other+suffix))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

type cached struct {
	name string
	size int64
	used time.Time
}

func (c *Cache) shrink() error {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return err
	}
	var files []cached
	var total int64
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // another process was faster
		}
		if err != nil {
			return err
		}
		old := time.Since(info.ModTime()) > time.Hour
		if strings.HasPrefix(e.Name(), "new-") && old { // a process died while it wrote this
			os.Remove(filepath.Join(c.dir, e.Name()))
			continue
		}
		if strings.HasSuffix(e.Name(), suffix) {
			files = append(files, cached{e.Name(), info.Size(), info.ModTime()})
			total += info.Size()
		}
	}
	if total <= c.max {
		return nil
	}
	slices.SortFunc(files, func(a, b cached) int { return a.used.Compare(b.used) })
	for _, f := range files {
		if total <= c.max/4*3 {
			break
		}
		if err := os.Remove(filepath.Join(c.dir, f.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		total -= f.size
	}
	return nil
}
