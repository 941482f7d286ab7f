// Package budget counts the memory that statements take and refuses what goes beyond a limit.
//
// An Account is that of a statement, held to its memory_limit. The process has limits of its own, by default a share
// of the machine, for everything together: tables, statements, and what is kept for later. What is kept goes before
// anything is refused. A refusal is an error with SQLSTATE 53200.
package budget
