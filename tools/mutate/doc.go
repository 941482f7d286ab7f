// Mutate asks whether the tests would notice a mistake. It makes small mistakes in the code, one at
// a time (`<` for `<=`, a check left out, `&&` for `||`), and runs the tests that ought to fail.
//
// All mutants of a run are compiled at once: find.go lists the places, rewrite.go writes both
// meanings of each into an overlay, switched by the environment variable KELPIE_MUTANT, and run.go
// builds the test binaries once and starts them per mutant. Which mutants belong to the set is
// decided by a hash of their key (room, function, kind, text), so that a change elsewhere in the
// code, or a file that moves between the packages of a room, does not move the set; pinned.txt names some that always belong to it, explained.txt says why
// a mutant that no test can kill is not a mistake. A survivor without an explanation fails the run.
//
//	go run ./tools/mutate                     the whole set
//	go run ./tools/mutate -sample 20          20 of them, the same ones every time
//	go run ./tools/mutate -only 'addMonths'   those whose key matches
//	go run ./tools/mutate -list               the keys, without running anything
//	go run ./tools/mutate -verdicts FILE      the whole set but for what was killed in runs before with that
//	                                          file: an interrupted run goes on, survivors are tried again
package main
