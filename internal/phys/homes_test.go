package phys

import "testing"

// TestChooseHome: each home takes so many groups, and none more; what is taken instead is said with the reason.
func TestChooseHome(t *testing.T) {
	for _, c := range []struct {
		what string
		wish Home
		g    Grouped
		want Home
		says string
	}{
		{"blocks keep few groups", HomeAuto, Grouped{Slots: 6, Words: 7, Block: true}, HomeBlock, ""},
		{"threads do where blocks cannot", HomeAuto, Grouped{Slots: 6, Words: 7}, HomeShared, " in shared memory of threads"},
		{"else nobody does", HomeAuto, Grouped{Slots: 600, Words: 7}, HomeGlobal, ""},
		{"aggregates of texts", HomeAuto, Grouped{Slots: 6}, HomeGlobal, ""},
		{"a hash table behind a cache", HomeAuto, Grouped{Block: true}, HomeBlock, ""},
		{"lanes come together elsewhere", HomeAuto, Grouped{Slots: 6, Words: 7, Block: true, Apart: true}, HomeGlobal, ""},
		{"unless somebody wishes so", HomeBlock, Grouped{Slots: 6, Words: 7, Block: true, Apart: true}, HomeBlock, ""},
		{"device memory takes all", HomeGlobal, Grouped{Slots: 6, Words: 7, Block: true}, HomeGlobal, " in device memory"},
		{"the most in registers", HomeRegisters, Grouped{Slots: 16, Words: 4}, HomeRegisters, " in registers of threads"},
		{"one more", HomeRegisters, Grouped{Slots: 13, Words: 5, Block: true}, HomeBlock, " (not registers: 80 words are more than 64)"},
		{"room is for a power of two, or three quarters", HomeRegisters, Grouped{Slots: 9, Words: 5}, HomeRegisters, " in registers of threads"},
		{"the most in lanes", HomeLanes, Grouped{Slots: 32, Words: 99}, HomeLanes, " in registers, a group for each lane"},
		{"one more", HomeLanes, Grouped{Slots: 33, Words: 1, Apart: true}, HomeGlobal, " in device memory (not lanes: 33 slots are more than 32)"},
		{"the most in shared memory", HomeShared, Grouped{Slots: 24, Words: 4}, HomeShared, " in shared memory of threads"},
		{"one more", HomeShared, Grouped{Slots: 25, Words: 4, Block: true}, HomeBlock, " (not shared: 32768 bytes of a warp are more than 24576)"},
		{"the most in local memory", HomeLocal, Grouped{Slots: 64, Words: 4}, HomeLocal, " in local memory of threads"},
		{"one more", HomeLocal, Grouped{Slots: 65, Words: 4, Block: true}, HomeBlock, " (not local: 384 words are more than 256)"},
		{"blocks lack cells", HomeBlock, Grouped{Slots: 4, Words: 2}, HomeShared, " in shared memory of threads (not block: blocks have no cells for them)"},
		{"no array", HomeLanes, Grouped{Words: 2, Block: true}, HomeBlock, " (not lanes: they are no small array)"},
		{"texts", HomeLocal, Grouped{Slots: 4}, HomeGlobal, " in device memory (not local: an aggregate is more than numbers)"},
	} {
		if got := ChooseHome(c.wish, c.g); got.Home != c.want || got.String() != c.says {
			t.Errorf("%s: %s%s, want %s%s", c.what, got.Home, got, c.want, c.says)
		}
	}
	for _, name := range []string{"auto", "global", "local", "shared", "registers", "lanes", "block"} {
		if x, err := ParseHome(name); err != nil || x.String() != name {
			t.Errorf("%s: %s, %v", name, x, err)
		}
	}
	if _, err := ParseHome("cloud"); err == nil || err.Error() != `"cloud" is none of auto, global, local, shared, registers, lanes, block` {
		t.Error(err)
	}
}
