package cuda

import (
	"os"
	"path/filepath"
	"testing"
)

// TestNames: code on the disk is found by the names that it was given before or after it came there, and by no others.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	process := func(version int) *Compiler {
		return (&Context{d: &Driver{version: version}, Info: Info{Major: 9}}).Compiler(NewCache(dir, 1<<20))
	}
	k := process(13000)
	b := k.newBuild("text")
	k.Keep(b, "before")
	if k.Stored("before", false) != nil {
		t.Error("code is found that is not there yet")
	}
	k.keep(b, []byte("code"))
	k.Keep(b, "after")
	k.nowStored(b) // which Keep leaves to a goroutine
	for _, name := range []string{"before", "after"} {
		got := k.Stored(name, false)
		if got == nil || string(got.cubin) != "code" || !got.Cached {
			t.Fatalf("%s: %+v", name, got)
		}
		<-got.Ready()
		if k.Stored(name, false) != got {
			t.Errorf("%s is read twice", name)
		}
		if again := k.Stored(name, true); again == nil || again == got {
			t.Errorf("%s: again is %p, after %p", name, again, got)
		}
		if later := process(13000).Stored(name, false); later == nil || string(later.cubin) != "code" {
			t.Errorf("%s: another process finds %+v", name, later)
		}
		if process(13010).Stored(name, false) != nil {
			t.Errorf("%s: another driver finds it", name)
		}
	}
	if k.Stored("text", false) == nil {
		t.Error("the text is a name, too")
	}
	if k.Stored("other", false) != nil {
		t.Error("a name that nobody gave")
	}
	if (&Context{d: &Driver{}}).Compiler(nil).Stored("before", false) != nil {
		t.Error("no disk, but code")
	}

	// What was found by its text gets its new names, too.
	found := k.newBuild("text")
	found.cubin, found.Cached = []byte("code"), true
	k.Keep(found, "found")
	k.nowStored(found)
	if process(13000).Stored("found", false) == nil {
		t.Error("code that was on the disk has no name")
	}

	// Without its file a name is only a miss.
	k.disk.Also(Key("no such"), Key("x"))
	names, _ := filepath.Glob(filepath.Join(dir, "*"+suffix))
	for _, n := range names {
		os.Remove(n)
	}
	if process(13000).Stored("before", false) != nil {
		t.Error("code of a file that is gone")
	}
}
