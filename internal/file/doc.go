// Package file reads CSV, PostgreSQL's text format, Parquet, JSON and Arrow into tables, and writes
// them from Arrow record batches: what is behind COPY and FROM 'x.parquet'.
//
// In: a path, which may be a glob, and Options. Open looks at the files and says which
// Columns they have; Load reads them, with many goroutines, into the segments of a table, in
// the order of the files, and publishes all rows at once or none. Out: NewWriter makes a
// file appear under its name when it is complete, and not before.
//
// Damaged or malformed files are errors that name the file, and in CSV the line; a file can
// never make us panic.
//
// Read source.go first. CSV: csv_split.go cuts the text into blocks of whole rows,
// csv_rows.go reads the rows of a block with the scanners of csv_scan.go, leaving unusual fields to
// csv_field.go, and csv_sniff.go guesses what the options leave open, the columns in csv_columns.go, csv_guess.go and
// csv_names.go. pipe.go has what can be read only once. Parquet: parquet_schema.go, then for
// Load parquet_load.go and parquet_read.go. Queries read Parquet files as they run: scan.go makes segments without
// data of footers (footer.go) and page indexes (scan_pages.go), and chunk.go makes their data of pages (pages.go), straight into the arrays of a
// column.Chunk, by the decoders in snappy.go, hybrid.go, unpack.go, delta*.go and values_*.go. Files are mapped (map.go); what
// *_amd64.s does by vector instructions is written in Go beside it, for other machines and for tests. scan_stats.go and scan_keys.go find out
// what the optimizer wants to know.
// JSON: json_split.go cuts files into blocks of whole objects, json_rows.go reads the rows of a block by the
// parser in json_parse.go, and json_guess.go finds the columns. What CSV and JSON have in common is in text_block.go: Load
// makes a table's segments of blocks (text_load.go), a query those that it needs just now (text_stream.go).
// Arrow files are loaded as a whole: arrow_read.go, by the values of arrow_foreign.go, after arrow_check.go has looked at their ends.
// hive.go makes columns of the names of folders, hive_parquet.go those of Parquet files.
// Writing: write.go; parquet_choose.go decides how columns are encoded.
package file
