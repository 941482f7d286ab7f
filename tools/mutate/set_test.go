package main

import (
	"os"
	"testing"
)

// TestSet: pinned.txt and explained.txt speak of code that there is.
func TestSet(t *testing.T) {
	t.Chdir("../..")
	stdout := os.Stdout
	defer func() { os.Stdout = stdout }()
	os.Stdout, _ = os.Open(os.DevNull) // the list itself says nothing here
	if err := run(0, "", true, false, 1, ""); err != nil {
		t.Error(err)
	}
}
