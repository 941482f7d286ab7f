// Package lab repeats the experiments of the papers that Kelpie descends from, one file for each figure or table.
//
// In: a device, a scale, and the name of a figure. Out: a Result: what was run, a table, a picture, and the paper's claim beside what
// the numbers here say. On the simulated GPU costs are warp instructions, which are exact; on others they are times. lab.go has the
// list, page.go writes files and the page that shows them, bench.go what all figures measure with. Figures whose
// switches do not exist yet are listed with the reason.
package lab
