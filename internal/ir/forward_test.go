package ir

import (
	"slices"
	"strings"
	"testing"
)

// forwardCases are bodies before and after ForwardWords, an instruction per line. Stores stand for whoever reads a number or a word.
var forwardCases = []struct{ name, before, after string }{
	{"a word is read instead of the low half of the number that it became", `
		vreg a#1:i32
		special a#1, threadid
		vreg b#2:i64
		widen b#2, a#1
		clear a#1
		vreg c#3:i32
		narrow c#3, b#2
		clear b#2
		store.4 [ctx + 32], c#3
		clear c#3`, `
		vreg a#1:i32
		special a#1, threadid
		store.4 [ctx + 32], a#1
		clear a#1`},
	{"a number that others read stays", `
		vreg a#1:i32
		special a#1, threadid
		vreg b#2:i64
		widenu b#2, a#1
		clear a#1
		vreg c#3:i32
		narrow c#3, b#2
		store.4 [ctx + 32], c#3
		clear c#3
		store [ctx + 40], b#2
		clear b#2`, `
		vreg a#1:i32
		special a#1, threadid
		vreg b#2:i64
		widenu b#2, a#1
		store.4 [ctx + 32], a#1
		clear a#1
		store [ctx + 40], b#2
		clear b#2`},
	{"what is assigned twice is not looked through", `
		vreg a#1:i32
		special a#1, threadid
		vreg b#2:i64
		widen b#2, a#1
		special a#1, laneid
		vreg c#3:i32
		narrow c#3, b#2
		store.4 [ctx + 32], c#3
		widen b#2, a#1
		narrow c#3, b#2
		store.4 [ctx + 36], c#3
		clear c#3
		clear b#2
		clear a#1`, ""},
	{"a word that changes later is a copy", `
		vreg a#1:i32
		special a#1, threadid
		vreg b#2:i64
		widen b#2, a#1
		clear a#1
		vreg c#3:i32
		narrow c#3, b#2
		clear b#2
		add c#3, c#3, 7
		store.4 [ctx + 32], c#3
		clear c#3`, `
		vreg a#1:i32
		special a#1, threadid
		vreg c#3:i32
		mov c#3, a#1
		clear a#1
		add c#3, c#3, 7
		store.4 [ctx + 32], c#3
		clear c#3`},
	{"it ends behind the block in which it is read last, both branches of it", `
		vreg a#1:i32
		special a#1, threadid
		vreg b#2:i64
		widen b#2, a#1
		clear a#1
		vreg c#3:i32
		narrow c#3, b#2
		if.eq c#3, 5 {
			if.lt c#3, 9 {
				store.4 [ctx + 32], c#3
			} else {
				store [ctx + 40], 1
			}
		} else {
			store [ctx + 40], 2
		}
		clear c#3
		clear b#2`, `
		vreg a#1:i32
		special a#1, threadid
		if.eq a#1, 5 {
			if.lt a#1, 9 {
				store.4 [ctx + 32], a#1
			} else {
				store [ctx + 40], 1
			}
		} else {
			store [ctx + 40], 2
		}
		clear a#1`},
	{"a condition is read before its block begins", `
		vreg a#1:i32
		special a#1, threadid
		vreg b#2:i64
		widen b#2, a#1
		clear a#1
		vreg c#3:i32
		narrow c#3, b#2
		if.eq c#3, 5 {
			store [ctx + 40], 1
		}
		clear c#3
		clear b#2`, `
		vreg a#1:i32
		special a#1, threadid
		if.eq a#1, 5 {
			store [ctx + 40], 1
		}
		clear a#1`},
	{"a word of a loop's body is not read behind it", `
		vreg b#1:i64
		loop L1 {
			vreg a#2:i32
			special a#2, threadid
			widen b#1, a#2
			clear a#2
			break L1
		} forever L1
		vreg c#3:i32
		narrow c#3, b#1
		store.4 [ctx + 32], c#3
		clear c#3
		clear b#1`, ""},
	{"the low half of a parameter is read once, and the rest of it no more", `
		vreg p#1:i64
		param p#1, 1
		loop L1 {
			vreg c#2:i32
			narrow c#2, p#1
			break.eq L1 c#2, 0
			clear c#2
		} forever L1
		clear p#1`, `
		vreg p#3:i32
		param p#3, 1
		loop L1 {
			break.eq L1 p#3, 0
		} forever L1
		clear p#3`},
	{"up to 4 bytes are loaded as a word, with their sign", `
		vreg a#1:i64
		load.s2 a#1, [ctx + 32]
		vreg b#2:i64
		load.u4 b#2, [ctx + 36]
		vreg c#3:i64
		load c#3, [ctx + 40]
		vreg x#4:i32
		narrow x#4, a#1
		vreg y#5:i32
		narrow y#5, b#2
		vreg z#6:i32
		narrow z#6, c#3
		mul x#4, y#5, z#6
		store.4 [ctx + 48], x#4
		store [ctx + 56], a#1
		store [ctx + 64], b#2
		clear x#4
		clear y#5
		clear z#6
		clear c#3
		clear b#2
		clear a#1`, `
		vreg a#1:i64
		vreg a#7:i32
		load.s2 a#7, [ctx + 32]
		widen a#1, a#7
		vreg b#2:i64
		vreg b#8:i32
		load.u4 b#8, [ctx + 36]
		widenu b#2, b#8
		vreg c#3:i64
		load c#3, [ctx + 40]
		vreg x#4:i32
		mov x#4, a#7
		vreg z#6:i32
		narrow z#6, c#3
		mul x#4, b#8, z#6
		store.4 [ctx + 48], x#4
		store [ctx + 56], a#1
		store [ctx + 64], b#2
		clear x#4
		clear z#6
		clear c#3
		clear b#2
		clear b#8
		clear a#1
		clear a#7`},
	{"a product is as long as somebody reads it", `
		vreg a#1:i32
		special a#1, threadid
		vreg p#2:i64
		mulw p#2, a#1, a#1
		vreg q#3:i64
		mulwu q#3, a#1, a#1
		vreg x#4:i32
		narrow x#4, p#2
		vreg y#5:i32
		narrow y#5, q#3
		store.4 [ctx + 32], x#4
		store.4 [ctx + 36], y#5
		store [ctx + 40], q#3
		clear x#4
		clear y#5
		clear q#3
		clear p#2
		clear a#1`, `
		vreg a#1:i32
		special a#1, threadid
		vreg p#6:i32
		mul p#6, a#1, a#1
		vreg q#3:i64
		mulwu q#3, a#1, a#1
		vreg y#5:i32
		narrow y#5, q#3
		store.4 [ctx + 32], p#6
		store.4 [ctx + 36], y#5
		store [ctx + 40], q#3
		clear y#5
		clear q#3
		clear p#6
		clear a#1`},
	{"a sum of numbers that is read as a number is none of words", `
		vreg a#1:i64
		load.u4 a#1, [ctx + 32]
		vreg p#2:i64
		param p#2, 1
		vreg s#3:i64
		vreg x#4:i32
		narrow x#4, a#1
		vreg y#5:i32
		narrow y#5, p#2
		vreg w#6:i32
		sub w#6, x#4, y#5
		widenu s#3, w#6
		clear w#6
		clear x#4
		clear y#5
		clear a#1
		store [ctx + 40], s#3
		clear s#3
		clear p#2`, `
		vreg a#1:i64
		load.u4 a#1, [ctx + 32]
		vreg p#2:i64
		param p#2, 1
		vreg s#3:i64
		sub s#3, a#1, p#2
		clear a#1
		store [ctx + 40], s#3
		clear s#3
		clear p#2`},
	{"a sum that is read as a word is one", `
		vreg a#1:i64
		load.u4 a#1, [ctx + 32]
		vreg s#2:i64
		vreg x#3:i32
		narrow x#3, a#1
		vreg y#4:i32
		narrow y#4, a#1
		vreg w#5:i32
		add w#5, x#3, y#4
		widenu s#2, w#5
		clear w#5
		clear x#3
		clear y#4
		clear a#1
		vreg z#6:i32
		narrow z#6, s#2
		store.4 [ctx + 40], z#6
		clear z#6
		clear s#2`, `
		vreg a#7:i32
		load.u4 a#7, [ctx + 32]
		vreg w#5:i32
		add w#5, a#7, a#7
		clear a#7
		store.4 [ctx + 40], w#5
		clear w#5`},
	{"a sum stays one of words if others read one of them", `
		vreg a#1:i64
		load a#1, [ctx + 32]
		vreg s#2:i64
		vreg x#3:i32
		narrow x#3, a#1
		vreg y#4:i32
		narrow y#4, a#1
		vreg w#5:i32
		add w#5, x#3, y#4
		widenu s#2, w#5
		store.4 [ctx + 40], x#3
		store [ctx + 48], s#2
		clear w#5
		clear y#4
		clear x#3
		clear s#2
		clear a#1`, ""},
	{"or the other", `
		vreg a#1:i64
		load a#1, [ctx + 32]
		vreg s#2:i64
		vreg x#3:i32
		narrow x#3, a#1
		vreg y#4:i32
		narrow y#4, a#1
		vreg w#5:i32
		add w#5, x#3, y#4
		widenu s#2, w#5
		store.4 [ctx + 40], y#4
		store [ctx + 48], s#2
		clear w#5
		clear y#4
		clear x#3
		clear s#2
		clear a#1`, ""},
	{"or the sum", `
		vreg a#1:i64
		load a#1, [ctx + 32]
		vreg s#2:i64
		vreg x#3:i32
		narrow x#3, a#1
		vreg y#4:i32
		narrow y#4, a#1
		vreg w#5:i32
		add w#5, x#3, y#4
		widenu s#2, w#5
		store.4 [ctx + 40], w#5
		store [ctx + 48], s#2
		clear w#5
		clear y#4
		clear x#3
		clear s#2
		clear a#1`, ""},
	{"or if the number has ended", `
		vreg a#1:i64
		load a#1, [ctx + 32]
		vreg s#2:i64
		vreg x#3:i32
		narrow x#3, a#1
		vreg y#4:i32
		narrow y#4, a#1
		clear a#1
		vreg w#5:i32
		add w#5, x#3, y#4
		widenu s#2, w#5
		store [ctx + 48], s#2
		clear w#5
		clear y#4
		clear x#3
		clear s#2`, ""},
	{"or has changed", `
		vreg a#1:i64
		load a#1, [ctx + 32]
		vreg s#2:i64
		vreg x#3:i32
		narrow x#3, a#1
		load a#1, [ctx + 56]
		vreg y#4:i32
		narrow y#4, a#1
		vreg w#5:i32
		add w#5, x#3, y#4
		widenu s#2, w#5
		store [ctx + 48], s#2
		clear w#5
		clear y#4
		clear x#3
		clear s#2
		clear a#1`, ""},
	{"or if the result is assigned elsewhere, too", `
		vreg a#1:i64
		load a#1, [ctx + 32]
		vreg s#2:i64
		vreg x#3:i32
		narrow x#3, a#1
		vreg y#4:i32
		narrow y#4, a#1
		vreg w#5:i32
		add w#5, x#3, y#4
		widenu s#2, w#5
		store [ctx + 48], s#2
		mov s#2, 1
		store [ctx + 48], s#2
		clear w#5
		clear y#4
		clear x#3
		clear s#2
		clear a#1`, ""},
	{"a sum of sums is one of words", `
		vreg a#1:i64
		load a#1, [ctx + 32]
		vreg s#2:i64
		vreg x#3:i32
		narrow x#3, a#1
		vreg y#4:i32
		narrow y#4, a#1
		vreg w#5:i32
		add w#5, x#3, y#4
		widenu s#2, w#5
		vreg t#6:i64
		vreg z#7:i32
		narrow z#7, s#2
		vreg v#8:i32
		sub v#8, z#7, y#4
		widen t#6, v#8
		store [ctx + 48], t#6
		clear v#8
		clear z#7
		clear t#6
		clear w#5
		clear y#4
		clear x#3
		clear s#2
		clear a#1`, `
		vreg a#1:i64
		load a#1, [ctx + 32]
		vreg x#3:i32
		narrow x#3, a#1
		vreg y#4:i32
		narrow y#4, a#1
		vreg w#5:i32
		add w#5, x#3, y#4
		vreg t#6:i64
		vreg v#8:i32
		sub v#8, w#5, y#4
		widen t#6, v#8
		store [ctx + 48], t#6
		clear v#8
		clear t#6
		clear w#5
		clear y#4
		clear x#3
		clear a#1`},
	{"registers that are stored together keep their numbers", `
		vreg a#1:i32
		special a#1, threadid
		vreg b#2:i64
		widen b#2, a#1
		vreg c#3:i32
		vreg d#4:i32
		narrow c#3, b#2
		narrow d#4, b#2
		store2.4 [ctx + 32], c#3
		clear c#3
		clear d#4
		clear b#2
		clear a#1`, `
		vreg a#1:i32
		special a#1, threadid
		vreg c#3:i32
		vreg d#4:i32
		mov c#3, a#1
		mov d#4, a#1
		store2.4 [ctx + 32], c#3
		clear c#3
		clear d#4
		clear a#1`},
}

func TestForwardWords(t *testing.T) {
	for _, c := range forwardCases {
		if c.after == "" {
			c.after = c.before
		}
		read := func(body string) *Func {
			f, err := Parse("func f gpu params 1 {\n" + body + "\n}\n")
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			return f
		}
		f := read(c.before)
		if err := Verify(f); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		f.ForwardWords()
		if err := Verify(f); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		lines := func(text string) (out []string) {
			for l := range strings.Lines(text) {
				if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "reg ") { // of registers that nobody opens
					out = append(out, l)
				}
			}
			return out
		}
		got := lines(f.String())
		got = got[1 : len(got)-1]
		if want := lines(c.after); !slices.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
