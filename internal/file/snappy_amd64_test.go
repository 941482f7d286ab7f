package file

import (
	"testing"
	"unsafe"
)

// TestSnappyTags: the assembly knows where things are.
func TestSnappyTags(t *testing.T) {
	for i, at := range []uintptr{unsafe.Offsetof(snappyTags.least), unsafe.Offsetof(snappyTags.length), unsafe.Offsetof(snappyTags.pattern),
		unsafe.Offsetof(snappyTags.step), unsafe.Offsetof(snappyTags.old), unsafe.Offsetof(snappyTags.new)} {
		if want := []uintptr{1024, 2048, 3072, 3344, 3376, 3472}[i]; at != want {
			t.Errorf("%d instead of %d", at, want)
		}
	}
}
