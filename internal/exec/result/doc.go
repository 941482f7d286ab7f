// Package result is what a finished query leaves: tuples in memory, columns of a table, or a stream
// of segments. A Reader copies a window of its rows, column by column, from wherever they are: to
// Arrow arrays, to a table's builders (append.go) or value by value (receiver.go). Who wants all
// rows once takes them part by part (parts.go).
//
// Whoever runs queries makes a Result by OfTuples, OfTable or OfStream; who reads one need not know
// who made it. Close gives the query's memory back.
package result
