package main

import (
	"os"
	"path/filepath"

	"golang.org/x/term"
)

// columns is the width of a terminal, 0 if f is none.
func columns(f *os.File) int {
	w, _ := screenSize(f)
	return w
}

// screenSize is the size of a terminal in characters, zeros if f is none.
func screenSize(f *os.File) (width, height int) {
	if !term.IsTerminal(int(f.Fd())) {
		return 0, 0
	}
	w, h, err := term.GetSize(int(f.Fd()))
	if err != nil || w <= 0 || h <= 0 {
		return 80, 24 // a terminal that does not know its size
	}
	return w, h
}

// isTerminal reports whether f is a terminal.
func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// stateFile is the path of a file that is kept between runs, in the user's state directory as the XDG
// rules have it; "" if there is no home.
func stateFile(name string) string {
	dir := os.Getenv("XDG_STATE_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".local", "state")
	}
	dir = filepath.Join(dir, "kelpie")
	if os.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	return filepath.Join(dir, name)
}
