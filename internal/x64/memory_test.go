//go:build linux && amd64

package x64

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// TestArena takes and gives back blocks at random: they never overlap, and all
// memory but one chunk is returned.
func TestArena(t *testing.T) {
	var a arena
	r := rand.New(rand.NewPCG(1, 2))
	type owned struct {
		block
		mark byte
	}
	var live []owned
	check := func(o owned) {
		for _, b := range o.write {
			if b != o.mark {
				t.Fatal("a block was overwritten")
			}
		}
	}
	for i := range 4000 {
		if len(live) > 0 && (r.IntN(2) == 0 || i > 3000) {
			k := r.IntN(len(live))
			check(live[k])
			a.free(live[k].block)
			live[k] = live[len(live)-1]
			live = live[:len(live)-1]
			continue
		}
		n := 1 + r.IntN(5000)
		if r.IntN(50) == 0 {
			n = 100_000
		}
		b, err := a.alloc(n)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.seal(b); err != nil || len(b.write) < n {
			t.Fatal(err, len(b.write))
		}
		o := owned{b, byte(i)}
		for k := range b.write {
			b.write[k] = o.mark
		}
		live = append(live, o)
	}
	for _, o := range live {
		check(o)
		a.free(o.block)
	}
	if a.cur.live != 0 {
		t.Errorf("%d functions are left in the last chunk", a.cur.live)
	}
	if maps, err := os.ReadFile("/proc/self/maps"); err == nil {
		// Two views of this arena's last chunk, and two of the one that the package itself uses.
		if n := strings.Count(string(maps), "kelpie-code"); n > 4 {
			t.Errorf("%d mappings of code are left", n)
		}
	}
}

// TestSingle is the way of systems that forbid memory files.
func TestSingle(t *testing.T) {
	if !Supported() {
		t.Skip("no x86-64-v3 processor")
	}
	saved := codeMemory.single
	codeMemory.mu.Lock()
	codeMemory.single = true
	codeMemory.mu.Unlock()
	defer func() { codeMemory.single = saved }()
	for seed := range uint64(20) {
		checkProgram(t, seed)
	}
}

// TestNeverWritableAndExecutable looks at the process's mappings.
func TestNeverWritableAndExecutable(t *testing.T) {
	mustTranslate(t, spinFunc())
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip(err)
	}
	found := false
	for line := range strings.Lines(string(maps)) {
		if strings.Contains(line, "rwx") {
			t.Error(line)
		}
		found = found || strings.Contains(line, "r-xs") && strings.Contains(line, "kelpie-code")
	}
	if !found && !codeMemory.single {
		t.Error("no code memory seen")
	}
}
