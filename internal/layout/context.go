package layout

import "github.com/kelpiedb/kelpie/internal/ir"

// Fixed words of the context block, behind those of the IR. The sink's state keeps its place whatever
// shape the source has, because workers change between variants of a pipeline in the middle of it.
const (
	CtxLo       = ir.CtxFree       // first row of the morsel
	CtxHi       = ir.CtxFree + 8   // end of the morsel
	CtxSource   = ir.CtxFree + 16  // buffer sources: tuples, or their addresses
	CtxCur      = ir.CtxFree + 24  // sink: where the next tuple goes
	CtxEnd      = ir.CtxFree + 32  // sink: end of the space for tuples
	CtxDir      = ir.CtxFree + 40  // group sink: directory or array
	CtxMask     = ir.CtxFree + 48  // group sink: number of directory slots - 1
	CtxRoom     = ir.CtxFree + 56  // group sink: groups that may still be added before it must grow
	CtxState    = ir.CtxFree + 64  // ungrouped sink: the one tuple
	CtxKeyLo    = CtxDir           // build sink of a GPU: the smallest value of the first key, if that is an integer
	CtxKeyHi    = CtxMask          // likewise the largest
	CtxGaps     = CtxState         // tuple sink of a GPU: where warps note what they took and did not use: first byte and end
	CtxGapCount = CtxRoom          // how many those are, times GapUnit, and their bytes
	CtxPlaces   = CtxState         // tuple sink of a GPU, in passes: a word of 4 bytes for each row of the source
	CtxCounts   = CtxDir           // tuple sink of a GPU, in parts: 1: rows are only counted; CtxPlaces has a word for each part and block
	CtxNullKey  = ir.CtxFree + 72  // build sink: set to 1 when a key was NULL
	CtxParts    = ir.CtxFree + 80  // hashed groups: cur and end (as above) of each part; the part is bits of the hash
	CtxPartMask = ir.CtxFree + 88  // hashed groups: (number of parts - 1) * 16
	CtxBound    = ir.CtxFree + 96  // top-N sink: a tuple, all that is worse is dropped; 0: none yet
	CtxTie      = ir.CtxFree + 104 // top-N sink: 1: what equals the bound is dropped, too
	CtxFirst    = ir.CtxFree + 112 // top-N sink: the bound's first key, if it is an integer; else one that drops nothing
	CtxWords    = ir.CtxFree + 120 // what the fragment allots begins here
)

// GapUnit counts gaps in a word with their bytes.
const GapUnit = 1 << 40

// Statuses with which generated code yields, to be entered again where it was. Those of errors are below.
const (
	YieldGrow  = 1<<20 + iota // make room in the sink
	YieldTick                 // look around: joins with many matches per row can make a morsel last long
	YieldText                 // more space for texts
	YieldLower                // a text in lower case
	YieldUpper                // a text in upper case
)

// What the worker's space for texts looks like to generated code, in bytes from its beginning.
const (
	TextCur   = 0  // where the next text goes
	TextEnd   = 8  // texts end before
	TextStart = 16 // where the current piece of space begins
	TextArg   = 24 // what a Yield asks for: a number of bytes, or a text's address and length, of which the answer takes the place
	TextSpace = 40
)

// WarpLanes is how many lanes of a GPU go in step.
const WarpLanes = 32
