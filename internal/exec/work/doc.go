// Package work is the threads of one query. What can be cut into independent parts runs on all of
// them by Parallel and its kin, which end when a part fails or the query is canceled, and turn a
// panic or a fault in a part into an error of the query.
//
// Whoever sorts, merges or builds takes a Team and needs to know nothing else of the query.
package work
