package session

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/techniques"
)

// TestMatrix: the same query gives the same rows whatever the morsel size, the number of
// threads and the encoding of columns.
func TestMatrix(t *testing.T) {
	suites := []string{"tpch", "ssb"}
	for _, suite := range suites {
		for _, enc := range []struct{ narrow, dict bool }{{true, true}, {false, false}, {true, false}, {false, true}} {
			if raced && enc.narrow != enc.dict {
				continue
			}
			s := New(NewDB())
			s.Configure(func(x *Settings) { x.Narrow, x.Dict = enc.narrow, enc.dict })
			loadInto(t, s, suite, "0.01")
			for _, morsel := range []int{1, 7, 1024, 65536} {
				for _, threads := range []int{1, 2, 16} {
					if raced && (morsel != 1024 || threads == 1) {
						continue
					}
					if testing.Short() && (morsel == 1 || threads == 16) != (enc.narrow && enc.dict) {
						continue
					}
					name := fmt.Sprintf("%s narrow=%v dict=%v morsel=%d threads=%d", suite, enc.narrow, enc.dict, morsel, threads)
					t.Run(name, func(t *testing.T) {
						s.Configure(func(x *Settings) { x.MorselRows, x.Threads = morsel, threads })
						for _, q := range suiteQueries(suite) {
							checkAnswer(t, s, suite, "0.01", q)
						}
					})
				}
			}
		}
	}
}

// TestPassesOff: the optimizer's optional passes change plans, never rows.
func TestPassesOff(t *testing.T) {
	s := load(t, "tpch", "0.01")
	for _, list := range thin([]string{"fold", "inline", "pushdown", "common", "groupkeys", "sort", "joinorder", "share", "prune", "reduce"}) {
		t.Run(list, func(t *testing.T) {
			s.Configure(func(x *Settings) {
				if err := x.setDisabled(list); err != nil {
					t.Fatal(err)
				}
			})
			for _, q := range suiteQueries("tpch") {
				// Without these, some queries are products of tables that never end.
				if (list == "pushdown" || list == "joinorder" || list == "fold") && !bearable[q] {
					continue
				}
				checkAnswer(t, s, "tpch", "0.01", q)
			}
		})
	}
}

// bearable queries have plans that end soon even without join ordering and push-down.
var bearable = map[string]bool{"q1": true, "q4": true, "q6": true, "q12": true, "q13": true, "q14": true, "q22": true}

// TestTechniquesOff: what makes code fast never changes rows, each technique left out by itself and all at once.
func TestTechniquesOff(t *testing.T) {
	s := load(t, "tpch", "0.01")
	check := func(name string, off techniques.Off, simd device.SIMD) {
		t.Run(fmt.Sprintf("%s, simd %s", name, simd), func(t *testing.T) {
			s.Configure(func(x *Settings) { x.Off, x.SIMD, x.Tally = off, simd, simd == device.SIMDOff })
			for _, q := range thin(suiteQueries("tpch")) {
				checkAnswer(t, s, "tpch", "0.01", q)
			}
		})
	}
	var all techniques.Off
	fields := reflect.TypeOf(all)
	for k := range fields.NumField() {
		var off techniques.Off
		reflect.ValueOf(&off).Elem().Field(k).SetBool(true)
		reflect.ValueOf(&all).Elem().Field(k).SetBool(true)
		if !testing.Short() {
			check(fields.Field(k).Name, off, device.SIMDAuto)
		}
	}
	check("none", techniques.Off{}, device.SIMDOff)
	check("all", all, device.SIMDAuto)
	check("all", all, device.SIMDOff)
}
