package gpu

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/exec/sorting"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// TestPtxasKernels: what runs between pipelines is valid code, and, if KELPIE_PTXAS names NVIDIA's assembler, it is assembled without
// registers in memory.
func TestPtxasKernels(t *testing.T) {
	key := layout.Field{Off: 8, Null: -1, Width: 8, Desc: layout.Desc{Form: layout.I64}}
	narrow := layout.Field{Off: 16, Null: 20, Width: 4, Desc: layout.Desc{Form: layout.I64}}
	text := layout.Field{Off: 24, Null: 21, Width: 8, Desc: layout.Desc{Form: layout.Str}}
	tuple := &layout.Tuple{Fields: []layout.Field{key, narrow, text}, HasHash: true, Flag: 22, Size: 40}
	bare := &layout.Tuple{Fields: []layout.Field{key}, Flag: -1, Size: 16}
	words := []sorting.Word{{Text: &text, Bytes: 3, Desc: true, Parts: []sorting.Part{
		{Kind: sorting.NullPart, Bits: 1, Null: 20, First: true},
		{Kind: sorting.IntPart, Bits: 12, Off: 16, Width: 4, Null: 20, First: true, Flip: true},
		{Kind: sorting.RankPart, Bits: 10, Off: 8, Width: 8, Null: -1},
		{Kind: sorting.FloatPart, Bits: 16, Off: 8, Width: 8, Null: 20}}}}
	sorts, addrs := newSortCode(tuple, words, false, true), newSortCode(tuple, words, true, false)
	all := []*ir.Func{flaggedTuples(tuple), enteredTuples(), usedEntries(), repeatTuple(40), enterAgain(), moveEntries(40), gatherTuples(40),
		checkField(&text), longestTexts(40, []*layout.Field{&text}), sorts.order.Kernel(), addrs.order.Kernel(), sorts.choice(0).Kernel(), slotBits(false), slotBits(true), closingGaps(40).Kernel()}
	for _, of := range []*layout.Tuple{tuple, bare} {
		all = append(all, fillDirect(of), fillOpen(of), byKey(of).Kernel(), byBucket(of).Kernel())
	}
	for _, f := range []*layout.Field{&key, &narrow} {
		all = append(all, keyRange(40, f), keyBits(40, f), keyBloom(40, f))
	}
	tool := os.Getenv("KELPIE_PTXAS")
	for _, f := range all {
		if err := ir.Verify(f); err != nil {
			t.Errorf("%v\n%s", err, f)
			continue
		}
		ptx, err := device.ListGPU(f)
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		if tool == "" {
			continue
		}
		path := filepath.Join(t.TempDir(), f.Name+".ptx")
		if err := os.WriteFile(path, []byte(ptx), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, arch := range []string{"sm_70", "sm_80", "sm_90"} {
			out, err := exec.Command(tool, "-v", "-arch="+arch, path, "-o", os.DevNull).CombinedOutput()
			if err != nil || !strings.Contains(string(out), " 0 bytes spill stores") {
				t.Errorf("%s for %s: %v\n%s", f.Name, arch, err, out)
			}
		}
	}
}
