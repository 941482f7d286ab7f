// Package trial has the values on which functions are tried: for each letter of the registry NULL, the empty, the
// extreme and the multi-byte ones, and some that are as usual; likewise columns for aggregates and window functions. Calls,
// AggregateCalls and WindowCalls make of them the calls of the table that every function must have
// (testdata/function_table.txt of session), and bench picks from them at random. All of it is SQL that PostgreSQL reads alike.
package trial
