// Package load brings the data of files to pipelines: which segments of a scan are read at all
// (choose.go, skip.go), of what shapes (shapes.go), and when and by whom their columns are loaded
// (segment.go, sieve.go). What texts a stream's segments leave behind, kept.go holds.
//
// A Loader says what loading needs of a query; the segments are catalog's, their bytes file's.
// Nothing here knows what is done with the rows.
package load
