package budget

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMachine(t *testing.T) {
	if n := DefaultLimit(); n < 64<<20 || n > 1<<50 {
		t.Errorf("the process may take %s", Bytes(n))
	}
	path := filepath.Join(t.TempDir(), "limit")
	for text, want := range map[string]int64{"123\n": 123, "max\n": 0, "": 0} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if got := number(path); got != want {
			t.Errorf("%q is %d", text, got)
		}
	}
	if number(path+"?") != 0 || meminfo(path) != 0 {
		t.Error("a number from nowhere")
	}
}
