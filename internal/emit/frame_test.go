package emit

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// TestTargetStaysInFrame: expressions, texts, the vector front and operators know their frame or what it can do, not the
// target. Only a request names that, and enterFrame looks at it.
func TestTargetStaysInFrame(t *testing.T) {
	target := regexp.MustCompile(`\bir\.(CPU|GPU|Target)\b|\bTarget\b *(==|!=)`)
	may := []string{"emit.go", "frame.go", "frame_test.go"}
	for _, pattern := range []string{"*.go", "*/*.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if found := target.Find(text); found != nil && !slices.Contains(may, name) {
				t.Errorf("%s asks for the target: %s", name, found)
			}
		}
	}
}
