package session

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/kelpiedb/kelpie/internal/techniques"
	"github.com/kelpiedb/kelpie/internal/types"
)

// drawer draws by a fixed seed, or, for fresh ways, by that of KELPIE_SWITCHES.
func drawer() *rand.Rand {
	seed := uint64(12)
	if text := os.Getenv("KELPIE_SWITCHES"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			panic("KELPIE_SWITCHES is a number: " + err.Error())
		}
	}
	return rand.New(rand.NewPCG(seed, 11))
}

// drawnSwitches are n ways to run the corpus on the simulated GPU. KELPIE_CORPUS=all runs all files in each of them.
func drawnSwitches(n int) (out []corpusCell) {
	draw := drawer()
	for range n {
		w := techniques.DrawWay(draw)
		out = append(out, corpusCell{name: "simt " + w.String(), set: func(x *Settings) {
			x.Device = "simt"
			applyWay(x, w)
		}})
	}
	return out
}

// applyWay sets switches.
func applyWay(x *Settings, w techniques.Way) {
	for name, value := range w {
		if err := setByName(x, name, value); err != nil {
			panic(err)
		}
	}
}

// setByName changes a setting by its name, as SET does.
func setByName(x *Settings, name, value string) error {
	for i := range settings {
		if settings[i].name == name {
			return settings[i].set(x, types.TextValue(value))
		}
	}
	return fmt.Errorf("there is no setting %s", name)
}

// TestWays: the first value of a switch is what it is by itself, and all are values.
func TestWays(t *testing.T) {
	fresh := New(NewDB()).Settings()
	for _, s := range techniques.Switches() {
		for i, v := range s.Values {
			x := fresh
			if err := setByName(&x, s.Name, v); err != nil {
				t.Error(s.Name, err)
			}
			for _, st := range settings {
				if is := st.show(&x); st.name == s.Name && (is != v || (st.show(&fresh) == v) != (i == 0)) {
					t.Errorf("%s = %s shows %s, and is %s by itself", s.Name, v, is, st.show(&fresh))
				}
			}
		}
	}
	if got, want := fmt.Sprint(techniques.EachWay()[0], ", ", techniques.EachWay()[1]), "fuse=auto, fuse=compound"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
}
