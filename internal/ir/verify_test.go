package ir

import (
	"strings"
	"testing"
)

// verifyCase is a function body, lines separated by " / ", and the error it must
// get; an empty one for a good function.
type verifyCase struct{ target, body, want string }

func (c verifyCase) text() string {
	return "func f " + c.target + " {\n" + strings.ReplaceAll(c.body, " / ", "\n") + "\n}\n"
}

const (
	// open1 and open2 open registers with values, shut1 and shut2 end them.
	open1 = "vreg a#1:i64 / mov a#1, 0 / "
	shut1 = " / clear a#1"
	open2 = open1 + "vreg b#2:i64 / mov b#2, 0 / "
	shut2 = " / clear b#2" + shut1
	// lane has a lane-dependent value in v#1, and m#2 for results.
	lane     = "vreg v#1:i64 / special v#1, laneid / vreg m#2:i64 / mov m#2, 0 / "
	shutLane = " / clear m#2 / clear v#1"
)

const (
	// words has two words and an i64.
	words     = "vreg w#1:i32 / mov w#1, 0 / vreg v#2:i32 / mov v#2, 0 / vreg a#3:i64 / mov a#3, 0 / "
	shutWords = " / clear a#3 / clear v#2 / clear w#1"
)

var verifyCases = []verifyCase{
	// The function.
	{"none", "nop", "target none"},
	{"cpu shared 8", "nop", "shared memory exists only on the gpu"},
	{"gpu shared -8", "nop", "-8 bytes of shared memory"},
	{"gpu local -8", "nop", "-8 bytes of local memory"},
	{"cpu local 8", "nop", "8 bytes of local memory, target is cpu"},
	{"gpu shared 8", "nop", ""},
	{"cpu", "reg ctx#0:f64", "register 0 must be the context"},

	// Types.
	{"cpu", "vreg a#1:i64 / vreg x#2:f64 / mov a#1, x#2 / clear x#2 / clear a#1", "x#2 is f64, must be i64"},
	{"cpu", "vreg x#1:f64 / mov x#1, 1 / clear x#1", "x#1 is f64, must be i64"},
	{"cpu", "vreg x#1:f64 / fmov x#1, 1 / clear x#1", "immediate 1 stands where a float register must be"},
	{"cpu", "vreg x#1:f64 / fconst x#1, 1 / fadd x#1, x#1, ctx / clear x#1", "ctx is i64, must be f64"},
	{"cpu", open1 + "vreg x#2:f64 / i2f x#2, a#1 / load a#1, [x#2] / clear x#2" + shut1, "x#2 is f64, must be i64"},
	{"cpu", open1 + "vreg x#2:f64 / i2f x#2, a#1 / load a#1, [ctx + x#2*8] / clear x#2" + shut1, "x#2 is f64, must be i64"},
	{"cpu", open1 + "vreg x#2:f64 / i2f x#2, a#1 / fsel.lt x#2, a#1, 3, x#2, a#1 / clear x#2" + shut1, "a#1 is i64, must be f64"},
	{"cpu", open1 + "vreg x#2:f64 / i2f x#2, a#1 / fsel.lt x#2, a#1, 3, x#2, x#2 / f2i a#1, x#2 / clear x#2" + shut1, ""},
	{"cpu", open1 + "mulwide a#1, a#1, a#1, 1" + shut1, "both halves of the result go to a#1"},
	{"gpu", open1 + "special a#1, 6" + shut1, "no such special register"},
	{"gpu", open1 + "special a#1, a#1" + shut1, "a#1 stands where a constant must be"},

	// What the GPU has beside: words, parameters, several values at a time, kinds of access.
	{"cpu", "vreg w#1:i32 / mov w#1, 0 / clear w#1", "w#1 is i32, which exists only on the gpu"},
	{"cpu|gpu", "vreg w#1:i32 / mov w#1, 0 / clear w#1", "w#1 is i32, which exists only on the gpu"},
	{"gpu", words + "add v#2, w#1, -1 / shl v#2, v#2, w#1 / popcnt v#2, v#2 / sel.lt v#2, a#3, 1, w#1, 4294967295" + shutWords, ""},
	{"gpu", words + "add a#3, w#1, 1" + shutWords, "a#3 is i64 and w#1 is i32"},
	{"gpu", words + "add w#1, w#1, a#3" + shutWords, "w#1 is i32 and a#3 is i64"},
	{"gpu", words + "add w#1, w#1, 4294967296" + shutWords, "constant 4294967296 does not fit in 32 bits"},
	{"gpu", words + "if.lt w#1, -2147483649 { / }" + shutWords, "constant -2147483649 does not fit in 32 bits"},
	{"gpu", words + "if.lt w#1, a#3 { / }" + shutWords, "w#1 is i32 and a#3 is i64"},
	{"gpu", words + "sel.lt w#1, a#3, 1, w#1, a#3" + shutWords, "w#1 is i32 and a#3 is i64"},
	{"gpu", words + "shl a#3, a#3, w#1 / set.eq w#1, a#3, 1 / set.eq a#3, w#1, 1" + shutWords, ""},
	{"gpu", words + "addx w#1, w#1, 1 !3" + shutWords, "w#1 is i32, must be i64"},
	{"gpu", words + "widen w#1, w#1" + shutWords, "w#1 is i32, must be i64"},
	{"gpu", words + "narrow w#1, w#1" + shutWords, "w#1 is i32, must be i64"},
	{"gpu", words + "mulw a#3, a#3, w#1" + shutWords, "a#3 is i64, must be i32"},
	{"gpu", words + "part.u4 w#1, w#1, 0" + shutWords, "width of 4 bytes"},
	{"gpu", words + "part.u1 w#1, w#1, 4" + shutWords, "a word has no byte 4"},
	{"gpu", words + "part.u1 w#1, w#1, w#1" + shutWords, "w#1 stands where a constant must be"},
	{"cpu", open1 + "param a#1, 1" + shut1, "param exists only on the gpu"},
	{"cpu params 1", "nop", "parameters exist only on the gpu"},
	{"gpu params -1", "nop", "-1 parameters"},
	{"gpu params 2", open1 + "param a#1, 2" + shut1, ""},
	{"gpu params 2", open1 + "param a#1, 3" + shut1, "parameter 3 is not from 1 to 2"},
	{"gpu params 2", open1 + "param a#1, 0" + shut1, "parameter 0 is not from 1 to 2"},
	{"gpu", words + "load w#1, [ctx]" + shutWords, "8 bytes are not an i32"},
	{"gpu", words + "store [ctx], w#1" + shutWords, "8 bytes are not an i32"},
	{"gpu", words + "load.s2 w#1, [ctx + w#1*4]" + shutWords, ""},
	{"gpu", words + "load a#3, [w#1]" + shutWords, "w#1 is i32, must be i64"},
	{"gpu", words + "load.u4 w#1, dynamic[w#1 + v#2*4]" + shutWords, ""},
	{"gpu", words + "load.u4 w#1, dynamic[-4]" + shutWords, "outside"},
	{"gpu shared 64", words + "load a#3, shared[w#1 + a#3*8]" + shutWords, ""},
	{"gpu shared 64", words + "lea a#3, shared[w#1]" + shutWords, "w#1 is i32, must be i64"},
	{"gpu", words + "atomadd.4 w#1, [ctx], v#2" + shutWords, ""},
	{"gpu", words + "atomadd w#1, [ctx], v#2" + shutWords, "a cell of 8 bytes does not hold i32"},
	{"gpu", words + "atomcas.4 w#1, [ctx], v#2, a#3" + shutWords, "w#1 is i32 and a#3 is i64"},
	{"gpu", words + "load2.4 w#1, [ctx] / store2.4 [ctx], w#1" + shutWords, ""},
	{"gpu", words + "load4.4 w#1, [ctx]" + shutWords, "a#3 is i64 and does not hold 4 bytes"},
	{"gpu", words + "load2 w#1, [ctx]" + shutWords, "w#1 is i32 and does not hold 8 bytes"},
	{"gpu", words + "load4.4 v#2, [ctx]" + shutWords, "a#3 is i64 and does not hold"},
	{"gpu", words + "load2 a#3, [ctx]" + shutWords, "there are no 2 registers from a#3 on"},
	{"gpu", words + "store2.4 [ctx], 5" + shutWords, "constant 5 stands where registers must be"},
	{"gpu", "vreg w#1:i32 / vreg v#2:i32 / mov w#1, 1 / store2.4 [ctx], w#1 / clear v#2 / clear w#1", "v#2 may be read before it is assigned"},
	{"gpu", "vreg w#1:i32 / vreg v#2:i32 / load2.4 w#1, [ctx] / clear v#2 / mov w#1, v#2 / clear w#1", "v#2 is used after its clear"},
	{"gpu", "vreg w#1:i32 / vreg v#2:i32 / clear v#2 / load2.4 w#1, [ctx] / clear w#1", "v#2 is used after its clear"},
	{"gpu shared 8", words + "load2.4 w#1, shared[0]" + shutWords, ""},
	{"gpu shared 7", words + "load2.4 w#1, shared[0]" + shutWords, "outside the 7 bytes"},
	{"cpu", open1 + "load.once a#1, [ctx]" + shut1, "once is for global memory of the gpu"},
	{"gpu shared 8", open1 + "load.relaxed a#1, shared[0]" + shut1, "relaxed is for global memory of the gpu"},
	{"gpu", open1 + "store.readonly [ctx], a#1" + shut1, "store cannot be readonly"},
	{"gpu", words + "load2.4.relaxed w#1, [ctx]" + shutWords, "load2 cannot be relaxed"},

	// What threads agree on: parameters, reductions, read-only memory at one address.
	{"gpu params 1", open1 + "param a#1, 1 / if.eq a#1, 3 { / barrier / }" + shut1, ""},
	{"gpu params 1", open1 + "param a#1, 1 / load.readonly a#1, [a#1] / if.eq a#1, 3 { / barrier / }" + shut1, ""},
	{"gpu params 1", open1 + "param a#1, 1 / load a#1, [a#1] / if.eq a#1, 3 { / barrier / }" + shut1, "not uniform over the block"},
	{"gpu params 1", open1 + "param a#1, 1 / load a#1, [a#1] / uniform a#1, a#1 / if.eq a#1, 3 { / barrier / }" + shut1, ""},
	{"gpu", words + "special w#1, laneid / redadd w#1, w#1 / if.eq w#1, 3 { / redor w#1, w#1 / }" + shutWords, ""},
	{"gpu", words + "special w#1, laneid / redadd w#1, w#1 / if.eq w#1, 3 { / barrier / }" + shutWords, "not uniform over the block"},
	{"gpu", words + "special w#1, lanesbelow / if.eq w#1, 3 { / redor w#1, w#1 / }" + shutWords, "lane-dependent condition"},

	// Widths, addresses, conditions, codes.
	{"cpu", open1 + "load.u3 a#1, [ctx]" + shut1, "width of 3 bytes"},
	{"cpu", open1 + "load.u0 a#1, [ctx]" + shut1, "width of 0 bytes"},
	{"cpu", open1 + "load.u16 a#1, [ctx]" + shut1, "width of 16 bytes"},
	{"cpu", "vreg x#1:f64 / fload.2 x#1, [ctx] / clear x#1", "width of 2 bytes"},
	{"cpu", "vreg x#1:f64 / fload.4 x#1, [ctx] / fstore.1 [ctx], x#1 / clear x#1", "width of 1 bytes"},
	{"cpu", open1 + "atomadd.4 a#1, [ctx], 1" + shut1, "a cell of 4 bytes does not hold i64"},
	{"cpu", open1 + "atomadd.2 a#1, [ctx], 1" + shut1, "width of 2 bytes"},
	{"cpu", "vreg x#1:f64 / atomfadd.4 x#1, [ctx], x#1 / clear x#1", "width of 4 bytes"},
	{"cpu", open1 + "load a#1, [ctx + a#1*3]" + shut1, "scale of 3"},
	{"cpu", open1 + "load a#1, [8]" + shut1, "needs a base register"},
	{"cpu", open1 + "load a#1, [a#1*8]" + shut1, "needs a base register"},
	{"cpu", open1 + "load a#1, shared[a#1]" + shut1, "shared memory exists only on the gpu"},
	{"cpu|gpu", open1 + "load a#1, shared[a#1]" + shut1, "shared memory exists only on the gpu, target is cpu|gpu"},
	{"gpu shared 64", open1 + "load a#1, shared[56]" + shut1, ""},
	{"gpu shared 64", open1 + "load a#1, shared[57]" + shut1, "outside the 64 bytes"},
	{"gpu local 64", open1 + "load a#1, local[57]" + shut1, "outside the 64 bytes of local memory"},
	{"gpu local 64", open1 + "load a#1, local[56]" + shut1, ""},
	{"gpu local 64", open1 + "atomadd a#1, local[0], 1" + shut1, "there are no atomics"},
	{"gpu local 64", words + "load.u4 w#1, local[w#1]" + shutWords, "i32"},
	{"gpu shared 64", open1 + "load a#1, shared[-8]" + shut1, "outside the 64 bytes"},
	{"gpu shared 64", open1 + "load a#1, shared[a#1*8 - 8]" + shut1, ""},
	{"cpu", open1 + "set a#1" + shut1, "set needs a condition"},
	{"cpu", "if { / }", "if needs a condition"},
	{"cpu", open1 + "vreg x#2:f64 / i2f x#2, a#1 / fset.ult a#1, x#2, x#2 / clear x#2" + shut1, "no unsigned comparison"},
	{"cpu", open1 + "addx a#1, a#1, 1 !0" + shut1, "exit code 0 must be positive"},
	{"cpu", open2 + "add128x a#1, b#2, a#1, b#2, 1, 0 !-1" + shut2, "exit code -1 must be positive"},
	{"cpu", "yield !0", "exit code 0 must be positive"},
	{"cpu", "exit !0", ""},

	// Targets.
	{"gpu", "yield !1", "yield exists only on the cpu, target is gpu"},
	{"cpu|gpu", "yield !1", "yield exists only on the cpu, target is cpu|gpu"},
	{"gpu", open2 + "div128 a#1, b#2, a#1, b#2, 3" + shut2, "div128 exists only on the cpu"},
	{"gpu", open1 + "rem128 a#1, a#1, 0, 3" + shut1, "rem128 exists only on the cpu"},
	{"cpu", open1 + "special a#1, laneid" + shut1, "special exists only on the gpu"},
	{"cpu|gpu", open1 + "ballot a#1, a#1" + shut1, "ballot exists only on the gpu"},
	{"cpu", open1 + "shfl a#1, a#1, 0" + shut1, "shfl exists only on the gpu"},
	{"cpu", open1 + "shflxor a#1, a#1, 1" + shut1, "shflxor exists only on the gpu"},
	{"cpu", open1 + "shflup a#1, a#1, 1" + shut1, "shflup exists only on the gpu"},
	{"cpu", open1 + "shfldown a#1, a#1, 1" + shut1, "shfldown exists only on the gpu"},
	{"cpu", open1 + "match a#1, a#1" + shut1, "match exists only on the gpu"},
	{"cpu", "barrier", "barrier exists only on the gpu"},
	{"cpu|gpu", open1 + "addx a#1, a#1, 1 !1" + shut1, ""},

	// Scopes.
	{"cpu", "reg a#1:i64 / mov a#1, 1", "a#1 is used before its vreg"},
	{"cpu", "mov a#1, 1 / vreg a#1:i64 / clear a#1", "a#1 is used before its vreg"},
	{"cpu", open1 + "clear a#1 / mov a#1, 1", "instr 3: mov a#1, 1: register a#1 is used after its clear"},
	{"cpu", open1 + "clear a#1 / clear a#1", "a#1 is used after its clear"},
	{"cpu", open1 + "clear a#1 / exit.eq a#1, 1 !1", "a#1 is used after its clear"},
	{"cpu", open1 + "clear a#1 / store [ctx + a#1*8], 1", "a#1 is used after its clear"},
	{"cpu", open1 + "clear a#1 / vreg a#1:i64 / clear a#1", "a#1 was opened before, at instr 0"},
	{"cpu", "vreg a#1:i64 / vreg a#1:i64 / clear a#1", "a#1 was opened before"},
	{"cpu", "vreg a#1:i64", "at the end: register a#1 of instr 0 is not cleared"},
	{"cpu", open1 + "if.eq a#1, 0 { / clear a#1 / }", "a#1 was opened in another block, at instr 0"},
	{"cpu", "if.eq ctx, 0 { / vreg a#1:i64 / } / clear a#1", "a#1 of instr 1 is not cleared in its block"},
	{"cpu", "if.eq ctx, 0 { / vreg a#1:i64 / } else { / clear a#1 / }", "a#1 of instr 1 is not cleared in its block"},
	{"cpu", "loop L1 { / vreg a#1:i64 / } forever L1", "a#1 of instr 1 is not cleared in its block"},
	{"cpu", "vreg ctx", "the context register is open throughout and never assigned"},
	{"cpu", "clear ctx", "the context register is open throughout and never assigned"},
	{"cpu", "mov ctx, 1", "the context register is open throughout and never assigned"},
	{"cpu", open1 + "mulwide a#1, ctx, 1, 1" + shut1, "the context register is open throughout and never assigned"},

	// Nesting.
	{"cpu", "} else {", "else without if, outside any block"},
	{"cpu", "}", "end of an if, outside any block"},
	{"cpu", "if.eq ctx, 0 { / } else { / } else { / }", "else without if, inside the else of instr 1"},
	{"cpu", "if.eq ctx, 0 {", "block is not closed, inside the if of instr 0"},
	{"cpu", "loop L1 {", "block is not closed, inside the loop of instr 0"},
	{"cpu", "loop L1 { / }", "end of an if, inside the loop of instr 0"},
	{"cpu", "if.eq ctx, 0 { / } forever L1", "end of loop L1, inside the if of instr 0"},
	{"cpu", "loop L1 { / } forever L2", "end of loop L2, inside the loop of instr 0"},
	{"cpu", "loop L0 { / } forever L0", "label L0 must be positive"},
	{"cpu", "loop L1 { / break L1 / } forever L1 / loop L1 { / } forever L1", "a second loop L1"},
	{"cpu", "break L1", "not inside a loop L1"},
	{"cpu", "loop L1 { / break L2 / } forever L1", "not inside a loop L2"},
	{"cpu", "loop L1 { / break L1 / } forever L1 / continue L1", "not inside a loop L1"},
	{"cpu", "loop L1 { / if.eq ctx, 0 { / next L1 / } / } forever L1", "next must stand directly in its loop"},
	{"cpu", "loop L1 { / loop L2 { / next L1 / } forever L2 / } forever L1", "next must stand directly in its loop"},
	{"cpu", "next L1", "next must stand directly in its loop"},
	{"cpu", "loop L1 { / next L1 / next L1 / } forever L1", "a second next in loop L1"},
	{"cpu", "loop L1 { / next L1 / continue L1 / } forever L1", "continue stands after the next"},

	// Definite assignment.
	{"cpu", "vreg a#1:i64 / add a#1, a#1, 1" + shut1, "instr 1: add a#1, a#1, 1: register a#1 may be read before it is assigned"},
	{"cpu", "vreg a#1:i64 / load a#1, [ctx + a#1*8]" + shut1, "may be read before"},
	{"cpu", "vreg a#1:i64 / exit.eq a#1, 0 !1" + shut1, "may be read before"},
	{"cpu", "vreg a#1:i64 / if.eq ctx, 0 { / mov a#1, 1 / } / exit.eq a#1, 0 !1" + shut1, "may be read before"},
	{"cpu", "vreg a#1:i64 / if.eq ctx, 0 { / } else { / mov a#1, 1 / } / exit.eq a#1, 0 !1" + shut1, "may be read before"},
	{"cpu", "vreg a#1:i64 / if.eq ctx, 0 { / mov a#1, 2 / } else { / mov a#1, 1 / } / exit.eq a#1, 0 !1" + shut1, ""},
	{"cpu", "vreg a#1:i64 / if.eq ctx, 0 { / exit !1 / } else { / mov a#1, 1 / } / exit.eq a#1, 0 !1" + shut1, ""},
	{"cpu", "vreg a#1:i64 / loop L1 { / mov a#1, 1 / } while.eq L1 ctx, 0 / exit.eq a#1, 0 !1" + shut1, ""},
	{"cpu", "vreg a#1:i64 / loop L1 { / mov a#1, 1 / } while.eq L1 a#1, 0" + shut1, ""},
	{"cpu", "vreg a#1:i64 / loop L1 { / break.eq L1 ctx, 0 / mov a#1, 1 / } while.eq L1 ctx, 0 / exit.eq a#1, 0 !1" + shut1, "may be read before"},
	{"cpu", "vreg a#1:i64 / loop L1 { / mov a#1, 1 / break.eq L1 ctx, 0 / } while.eq L1 ctx, 0 / exit.eq a#1, 0 !1" + shut1, ""},
	{"cpu", "vreg a#1:i64 / loop L1 { / if.eq ctx, 0 { / mov a#1, 1 / break L1 / } / } forever L1 / exit.eq a#1, 0 !1" + shut1, ""},
	{"cpu", "vreg a#1:i64 / loop L1 { / if.eq ctx, 0 { / mov a#1, 1 / break L1 / } / } while.eq L1 ctx, 0 / exit.eq a#1, 0 !1" + shut1, "may be read before"},
	{"cpu", "vreg a#1:i64 / loop L1 { / continue.eq L1 ctx, 0 / mov a#1, 1 / } while.eq L1 ctx, 0 / exit.eq a#1, 0 !1" + shut1, "may be read before"},
	{"cpu", "vreg a#1:i64 / loop L1 { / continue.eq L1 ctx, 0 / mov a#1, 1 / } while.eq L1 a#1, 0" + shut1, "may be read before"},
	{"cpu", "vreg a#1:i64 / loop L1 { / continue.eq L1 ctx, 0 / mov a#1, 1 / next L1 / exit.eq a#1, 0 !1 / } forever L1" + shut1, "may be read before"},
	{"cpu", "vreg a#1:i64 / loop L1 { / continue.eq L1 ctx, 0 / next L1 / mov a#1, 1 / } while.eq L1 a#1, 0" + shut1, ""},
	{"cpu", "vreg a#1:i64 / loop L1 { / loop L2 { / break.eq L1 ctx, 0 / mov a#1, 1 / } while.eq L2 a#1, 0 / } while.eq L1 a#1, 0 / exit.eq a#1, 0 !1" + shut1, "may be read before"},
	{"cpu", "loop L1 { / continue.eq L1 ctx, 0 / vreg a#1:i64 / mov a#1, 1 / next L1 / exit.eq a#1, 0 !1 / clear a#1 / } forever L1", "may be read before"},
	{"cpu", "vreg a#1:i64 / exit !0 / add a#1, a#1, 1" + shut1, ""}, // never happens
	{"cpu", open1 + "yield !1 / exit.eq a#1, 0 !1" + shut1, ""},

	// Lanes: what depends on them.
	{"gpu", lane + "ballot m#2, v#1" + shutLane, ""},
	{"gpu", lane + "if.lt v#1, 3 { / ballot m#2, v#1 / }" + shutLane, "collective op under a lane-dependent condition (instr 4: if.lt v#1, 3 {)"},
	{"gpu", lane + "if.lt v#1, 3 { / } else { / match m#2, v#1 / }" + shutLane, "lane-dependent condition"},
	{"gpu", lane + "if.lt v#1, 3 { / shfl m#2, v#1, 0 / }" + shutLane, "lane-dependent condition"},
	{"gpu", lane + "if.lt v#1, 3 { / shflxor m#2, v#1, 0 / }" + shutLane, "lane-dependent condition"},
	{"gpu", lane + "if.lt v#1, 3 { / shflup m#2, v#1, 0 / }" + shutLane, "lane-dependent condition"},
	{"gpu", lane + "if.lt v#1, 3 { / shfldown m#2, v#1, 0 / }" + shutLane, "lane-dependent condition"},
	{"gpu", lane + "if.lt v#1, 3 { / barrier / }" + shutLane, "not uniform over the block"},
	{"gpu", lane + "if.lt v#1, 3 { / } / ballot m#2, v#1 / barrier" + shutLane, ""},
	{"gpu", lane + "special v#1, threadid / if.lt v#1, 3 { / ballot m#2, 1 / }" + shutLane, "lane-dependent condition"},
	{"gpu", lane + "special v#1, blockid / if.lt v#1, 3 { / ballot m#2, 1 / barrier / }" + shutLane, ""},
	{"gpu", lane + "load v#1, [ctx + 24] / if.lt v#1, 3 { / ballot m#2, 1 / barrier / }" + shutLane, ""},
	{"gpu", lane + "load v#1, [ctx + 16] / if.lt v#1, 3 { / ballot m#2, 1 / }" + shutLane, ""},
	{"gpu", lane + "load v#1, [ctx + 16] / if.lt v#1, 3 { / barrier / }" + shutLane, "not uniform over the block"},
	{"gpu", lane + "load.u4 v#1, [ctx + 20] / if.lt v#1, 3 { / barrier / }" + shutLane, "not uniform over the block"},
	{"gpu", lane + "load v#1, [ctx + m#2*8] / if.lt v#1, 3 { / ballot m#2, 1 / }" + shutLane, "lane-dependent condition"},
	{"gpu shared 8", lane + "load v#1, shared[0] / if.lt v#1, 3 { / ballot m#2, 1 / }" + shutLane, "lane-dependent condition"},
	{"gpu", lane + "atomadd v#1, [ctx + 24], 1 / if.lt v#1, 3 { / ballot m#2, 1 / }" + shutLane, "lane-dependent condition"},
	{"gpu", lane + "add m#2, v#1, 1 / mul m#2, m#2, 2 / if.lt m#2, 3 { / ballot m#2, 1 / }" + shutLane, "lane-dependent condition"},
	{"gpu", lane + "lea m#2, [ctx + v#1*8] / if.lt m#2, 3 { / ballot m#2, 1 / }" + shutLane, "lane-dependent condition"},
	{"gpu", lane + "sel.lt m#2, v#1, 3, 1, 0 / if.lt m#2, 3 { / ballot m#2, 1 / }" + shutLane, "lane-dependent condition"},
	{"gpu", lane + "mulwide v#1, m#2, v#1, 3 / if.lt m#2, 3 { / ballot m#2, 1 / }" + shutLane, "lane-dependent condition"},
	{"gpu", lane + "ballot m#2, v#1 / if.ne m#2, 0 { / ballot m#2, 1 / }" + shutLane, ""},
	{"gpu", lane + "ballot m#2, v#1 / if.ne m#2, 0 { / barrier / }" + shutLane, "not uniform over the block"},
	{"gpu", lane + "shfl v#1, v#1, 0 / if.ne v#1, 0 { / ballot m#2, 1 / }" + shutLane, ""},
	{"gpu", lane + "shfl v#1, v#1, 0 / if.ne v#1, 0 { / barrier / }" + shutLane, "not uniform over the block"},
	{"gpu", lane + "shfl v#1, v#1, v#1 / if.ne v#1, 0 { / ballot m#2, 1 / }" + shutLane, "lane-dependent condition"},
	{"gpu", lane + "shfl m#2, 7, v#1 / if.ne m#2, 0 { / barrier / }" + shutLane, ""},
	{"gpu", lane + "shflxor m#2, v#1, 1 / if.ne m#2, 0 { / ballot m#2, 1 / }" + shutLane, "lane-dependent condition"},
	{"gpu", lane + "match m#2, v#1 / if.ne m#2, 0 { / ballot m#2, 1 / }" + shutLane, "lane-dependent condition"},
	{"gpu", lane + "match m#2, 3 / if.ne m#2, 0 { / ballot m#2, 1 / }" + shutLane, ""},
	{"gpu", lane + "if.lt v#1, 3 { / mov m#2, 1 / } / if.eq m#2, 1 { / ballot m#2, 1 / }" + shutLane, "(instr 7: if.eq m#2, 1 {)"},
	{"gpu", lane + "if.lt v#1, 3 { / mov m#2, 1 / } / mov m#2, 1 / if.eq m#2, 1 { / ballot m#2, 1 / }" + shutLane, ""},
	{"gpu", lane + "ballot m#2, v#1 / vreg u#3:i64 / mov u#3, 0 / if.ne m#2, 0 { / mov u#3, 1 / } / if.ne u#3, 0 { / barrier / } / clear u#3" + shutLane, "not uniform over the block"},

	// Lanes: loops.
	{"gpu", lane + "loop L1 { / ballot m#2, 1 / add v#1, v#1, 1 / } while.lt L1 v#1, 9" + shutLane, "lane-dependent condition (instr 7: } while.lt L1 v#1, 9)"},
	{"gpu", lane + "loop L1 { / add v#1, v#1, 1 / } while.lt L1 v#1, 9 / ballot m#2, 1 / barrier" + shutLane, ""},
	{"gpu", lane + "loop L1 { / ballot m#2, 1 / break.lt L1 v#1, 9 / } forever L1" + shutLane, "(instr 6: break.lt L1 v#1, 9)"},
	{"gpu", lane + "loop L1 { / break.lt L1 v#1, 9 / ballot m#2, 1 / } forever L1" + shutLane, "lane-dependent condition"},
	{"gpu", lane + "loop L1 { / if.lt v#1, 9 { / break L1 / } / ballot m#2, 1 / } forever L1" + shutLane, "(instr 5: if.lt v#1, 9 {)"},
	{"gpu", lane + "loop L1 { / ballot m#2, v#1 / break.eq L1 m#2, 0 / } forever L1 / barrier" + shutLane, ""},
	{"gpu", lane + "loop L1 { / barrier / ballot m#2, v#1 / break.eq L1 m#2, 0 / } forever L1" + shutLane, "not uniform over the block"},
	{"gpu", lane + "loop L1 { / barrier / add m#2, m#2, 1 / } while.lt L1 m#2, 9" + shutLane, ""},
	{"gpu", lane + "loop L1 { / continue.lt L1 v#1, 9 / ballot m#2, 1 / next L1 / } while.lt L1 m#2, 9" + shutLane, "(instr 5: continue.lt L1 v#1, 9)"},
	{"gpu", lane + "loop L1 { / continue.lt L1 v#1, 9 / next L1 / ballot m#2, 1 / barrier / mov m#2, 1 / } while.lt L1 m#2, 9" + shutLane, ""},
	{"gpu", lane + "loop L1 { / ballot m#2, 1 / continue.lt L1 v#1, 9 / nop / } while.lt L1 m#2, 9 / barrier" + shutLane, ""},
	{"gpu", lane + "loop L1 { / loop L2 { / break.lt L1 v#1, 9 / } while.lt L2 m#2, 3 / ballot m#2, 1 / } while.lt L1 m#2, 9" + shutLane, "lane-dependent condition"},
	{"gpu", lane + "loop L1 { / loop L2 { / continue.lt L1 v#1, 9 / } while.lt L2 m#2, 3 / ballot m#2, 1 / } while.lt L1 m#2, 9" + shutLane, "lane-dependent condition"},
	{"gpu", lane + "loop L1 { / loop L2 { / continue.lt L1 v#1, 9 / } while.lt L2 m#2, 3 / next L1 / ballot m#2, 1 / } while.lt L1 m#2, 9" + shutLane, ""},
	{"gpu", lane + "loop L1 { / loop L2 { / ballot m#2, 1 / continue.lt L1 v#1, 9 / } while.lt L2 m#2, 3 / } while.lt L1 m#2, 9" + shutLane, "lane-dependent condition"},
	{"gpu", lane + "loop L1 { / loop L2 { / break.lt L2 v#1, 9 / } while.lt L2 m#2, 3 / ballot m#2, 1 / } while.lt L1 m#2, 9" + shutLane, ""},
	// The count of rounds differs where lanes leave one by one.
	{"gpu", lane + "loop L1 { / add m#2, m#2, 1 / break.lt L1 v#1, m#2 / } forever L1 / if.lt m#2, 3 { / ballot m#2, 1 / }" + shutLane, "lane-dependent condition"},
	// A value that comes around the loop: the fixpoint.
	{"gpu", lane + "vreg a#3:i64 / mov a#3, 0 / vreg b#4:i64 / mov b#4, 0 / " +
		"loop L1 { / if.lt a#3, 1 { / barrier / } / mov a#3, b#4 / mov b#4, v#1 / } while.lt L1 m#2, 9 / clear b#4 / clear a#3" + shutLane, "(instr 9: if.lt a#3, 1 {)"},
	{"gpu", lane + "vreg a#3:i64 / mov a#3, 0 / loop L1 { / if.lt a#3, 1 { / ballot m#2, 1 / } / mov a#3, v#1 / mov a#3, 1 / } while.lt L1 m#2, 9 / clear a#3" + shutLane, ""},
	// A register opened in the loop begins anew each time.
	{"gpu", lane + "loop L1 { / vreg a#3:i64 / mov a#3, 0 / if.lt a#3, 1 { / barrier / } / mov a#3, v#1 / clear a#3 / } while.lt L1 m#2, 9" + shutLane, ""},

	// Lanes: exits.
	{"gpu", lane + "exit.lt v#1, 3 !1 / ballot m#2, 1" + shutLane, "(instr 4: exit.lt v#1, 3 !1)"},
	{"gpu", lane + "ballot m#2, 1 / exit.lt v#1, 3 !1" + shutLane, ""},
	{"gpu", lane + "ballot m#2, v#1 / exit.eq m#2, 0 !1 / ballot m#2, 1" + shutLane, ""},
	{"gpu", lane + "ballot m#2, v#1 / exit.eq m#2, 0 !1 / barrier" + shutLane, "not uniform over the block"},
	{"gpu", lane + "loop L1 { / exit.lt v#1, 3 !1 / } while.lt L1 m#2, 9 / ballot m#2, 1" + shutLane, "lane-dependent condition"},
	{"gpu", lane + "loop L1 { / ballot m#2, 1 / exit.lt v#1, 3 !1 / } while.lt L1 m#2, 9" + shutLane, "lane-dependent condition"},
	{"gpu", lane + "if.lt v#1, 3 { / exit !1 / } / ballot m#2, 1" + shutLane, "lane-dependent condition"},
	{"gpu", lane + "load m#2, [ctx + 24] / if.lt m#2, 3 { / exit.lt v#1, 3 !1 / } else { / ballot m#2, 1 / }" + shutLane, ""},
	{"gpu", lane + "load m#2, [ctx + 24] / if.lt m#2, 3 { / exit.lt v#1, 3 !1 / } else { / nop / } / ballot m#2, 1" + shutLane, "lane-dependent condition"},
	// Checked arithmetic goes on, on the GPU.
	{"gpu", lane + "addx m#2, v#1, 3 !1 / ballot m#2, 1" + shutLane, ""},
}

func TestVerify(t *testing.T) {
	for _, c := range verifyCases {
		f, err := Parse(c.text())
		if err != nil {
			t.Errorf("%v in\n%s", err, c.text())
			continue
		}
		err = Verify(f)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%v in\n%s", err, f)
		case c.want != "" && err == nil:
			t.Errorf("no error, want %q in\n%s", c.want, f)
		case c.want != "" && !strings.Contains(err.Error(), c.want):
			t.Errorf("got  %v\nwant %q in\n%s", err, c.want, f)
		}
	}
}

// TestVerifyStruct has what the textual IR cannot say.
func TestVerifyStruct(t *testing.T) {
	regs := []RegInfo{{Name: "ctx"}, {Name: "a"}, {Name: "x", Type: F64}}
	for _, c := range []struct {
		in   Instr
		want string
	}{
		{Instr{Op: numOps}, "no such operation"},
		{Instr{Op: 255}, "no such operation"},
		{Instr{Op: Mov, D: NoReg, A: K(1)}, "there is no register #-1"},
		{Instr{Op: Mov, D: 3, A: K(1)}, "there is no register #3"},
		{Instr{Op: Mov, D: 1, A: Reg(-2).V()}, "there is no register #-2"},
		{Instr{Op: Load, D: 1, W: 8, M: At(9, 0)}, "there is no register #9"},
		{Instr{Op: Load, D: 1, W: 8, M: Mem{Space: 4}}, "no such address space"},
		{Instr{Op: FConst, D: 2, A: Reg(1).V()}, "a#1 stands where a constant must be"},
		{Instr{Op: MaskCmp, Cond: EQ, D: 1, A: K(1), B: K(1), C: K(1), C2: K(3), W: 8, M: At(0, 0)}, "3 bytes is not a size"},
		{Instr{Op: MaskCmp, Cond: EQ, D: 1, A: K(1), B: K(1), C: K(1), C2: Reg(1).V(), W: 8, M: At(0, 0)}, "a#1 stands where a constant must be"},
		{Instr{Op: MaskLut, D: 1, A: K(1), C: K(1), C2: K(0), W: 4, M: At(0, 0)}, "0 entries are none"},
		{Instr{Op: MaskLut, D: 1, A: K(1), C: K(1), C2: K(1), W: 8, M: At(0, 0)}, "a width of 8 bytes is not possible"},
		{Instr{Op: MaskBytes, D: 1, A: K(1), B: K(1), C: K(1), C2: K(64), M: At(0, 0)}, "a distance of 64"},
		{Instr{Op: Set, D: 1, Cond: UGE + 1}, "no such condition"},
		{Instr{Op: Vreg, D: NoReg}, "there is no register #-1"},
	} {
		err := Verify(&Func{Name: "f", Target: CPU, Regs: regs, Code: []Instr{c.in}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %q", c.in, err, c.want)
		}
	}
	for _, f := range []*Func{
		{Target: CPU},
		{Target: 8, Regs: regs},
		{Target: CPU, Regs: []RegInfo{{Name: "ctx"}, {Type: 7}}},
	} {
		if Verify(f) == nil {
			t.Errorf("no error in\n%s", f)
		}
	}
}

// TestTable: no operation is forgotten, no name is taken twice.
func TestTable(t *testing.T) {
	names := map[string]Op{}
	for op := range numOps {
		info := op.info()
		if info.name == "" {
			t.Errorf("op %d has no row", op)
		}
		if other, taken := names[info.name]; taken {
			t.Errorf("ops %d and %d are both called %s", other, op, info.name)
		}
		names[info.name] = op
		if strings.Contains(info.name, ".") {
			t.Errorf("%s: a dot begins a suffix", info.name)
		}
		if info.group != alone && info.only != GPU {
			t.Errorf("%s is collective, but a cpu has no lanes", info.name)
		}
		if info.cond == jumpCond && info.width != noWidth {
			t.Errorf("%s: a width cannot stand where a condition may be left out", info.name)
		}
	}
}
