package file

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// IsGlob reports whether a path has wildcards.
func IsGlob(path string) bool { return strings.ContainsAny(path, "*?[") }

// ListSeparator stands between the paths of several files, where it is part of no path.
const ListSeparator = "\x00"

// expand is the files that a path names, sorted. A path that exists is itself even if it has
// wildcards in its name. ** stands for any number of folders.
func expand(path string) ([]string, error) {
	if list := strings.Split(path, ListSeparator); len(list) > 1 {
		var all []string
		for _, p := range list {
			found, err := expand(p)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
		return all, nil
	}
	if _, err := os.Stat(path); err == nil || !IsGlob(path) {
		return []string{path}, nil
	}
	var found []string
	var err error
	if before, after, ok := strings.Cut(path, "**"); ok {
		found, err = walk(before, after)
	} else {
		found, err = filepath.Glob(path)
	}
	if err != nil {
		return nil, diag.Errorf(diag.InvalidParameter, diag.NoPos, "bad file pattern %q", path).WithCause(err)
	}
	found = slices.DeleteFunc(found, func(p string) bool {
		st, err := os.Stat(p)
		return err != nil || st.IsDir()
	})
	if len(found) == 0 {
		return nil, fileError("open", path, fs.ErrNotExist)
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// walk finds the files below the folders that before names whose path matches after, in
// any depth.
func walk(before, after string) ([]string, error) {
	roots := []string{before}
	if before == "" {
		roots[0] = "."
	} else if IsGlob(before) {
		var err error
		if roots, err = filepath.Glob(strings.TrimSuffix(before, "/")); err != nil {
			return nil, err
		}
	}
	pattern := strings.TrimPrefix(after, "/")
	if pattern == "" {
		pattern = "*"
	}
	var found []string
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.IsDir() {
				return nil // a folder that cannot be read has no matches
			}
			var list []string
			if inner, rest, ok := strings.Cut(pattern, "**"); ok {
				list, err = walk(filepath.Join(path, inner), rest)
			} else {
				list, err = filepath.Glob(filepath.Join(escapeGlob(path), pattern))
			}
			found = append(found, list...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// escapeGlob makes a path match itself.
func escapeGlob(path string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(path)
}
