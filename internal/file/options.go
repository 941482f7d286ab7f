package file

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Format is a file format.
type Format uint8

const (
	Auto    Format = iota // by the file's name, else by its content
	CSV                   // RFC 4180 and what people make of it
	Text                  // PostgreSQL's text format: backslash escapes, \N; dbgen's .tbl files
	Parquet               //
	JSON                  // objects, one after the other or in an array
	Arrow                 // Arrow's file format, also known as Feather
)

// String is the format's name in SQL.
func (f Format) String() string {
	return [...]string{"auto", "csv", "text", "parquet", "json", "arrow"}[f]
}

// Options are those of COPY. A zero value means "not given": readers then look at the file,
// writers take the default.
type Options struct {
	Format Format

	// Header says whether the first line has the columns' names, if HasHeader.
	Header, HasHeader bool
	MatchHeader       bool // and those must be the columns' names
	Delimiter         byte
	Quote             byte
	Escape            byte // inside quotes; default: the quote
	// Null is how NULL is written, if HasNull; default: nothing in CSV, \N in text. In CSV a quoted
	// value is never NULL.
	Null    string
	HasNull bool

	// Columns, if not nil, are the columns of a CSV or text file, in order, or the keys of a JSON file, as when the
	// file is for a known table. Then neither their types nor their number are guessed.
	Columns []catalog.ColumnDef
	// ForceNull are those of Columns in which a value in quotes may be NULL, too; ForceNotNull, those in which none is.
	ForceNull, ForceNotNull []bool
	// SampleRows is how many rows of a file to look at for guessing types; 0 = 20480, as many as DuckDB;
	// less: all. Of small files all rows are looked at anyway.
	SampleRows int
	// Zone is that of timestamps with time zone that do not say theirs; nil: UTC.
	Zone *types.Zone
	// AllText makes every column of a text file VARCHAR, whatever its values look like.
	AllText bool

	// What read_csv and its like say besides; see file/reading.go.
	Nulls        []string   // more ways to write NULL in CSV; HasNull is true
	Skip         int        // lines at the beginning of each CSV file that are no rows
	Comment      byte       // begins lines of CSV files that are no rows; 0: none does
	Names        []string   // of the first columns of CSV files, in the place of their own
	Types        []TypeOf   // of columns whose types are not to be guessed
	ParseDate    ParseValue // how a DATE of a CSV file is read; nil: as in SQL
	ParseTime    ParseValue // and a TIMESTAMP
	IgnoreErrors bool       // rows of CSV files that cannot be read are left out …
	Rejects      *Rejects   // … and noted here; nil: nowhere
	Encoding     Encoding   // of CSV files and text
	Filename     bool       // there is one more column, with the path of the row's file
	NoFolders    bool       // the names of folders are no columns
	Named        bool       // Columns are what somebody says of the files, not those of a table

	// Compression of a written file. Parquet: snappy, zstd, gzip, lz4, brotli,
	// none; default: snappy where it pays. CSV, text and JSON: gzip, zstd, none; default: by the name's last extension.
	// Readers see by themselves how a file is compressed.
	Compression string
	// Array puts all objects of a written JSON file into an array; default: one in a line.
	Array bool
	// ForceQuote are columns of written CSV whose values are always in quotes, unless they are NULL.
	ForceQuote []bool
	// Stream writes Arrow's stream format in the place of its file format.
	Stream bool
	// Schema is that of the batches that are written to an Arrow file.
	Schema *arrow.Schema
	// RowGroupSize is the most rows of a written Parquet row group; 0 = 122880, as many as DuckDB.
	RowGroupSize int64
	// buffer is the bytes of a written file that wait to be written; 0 = 256 kB.
	buffer int
}

const (
	defaultSampleRows   = 20480
	defaultRowGroupSize = 122880
)

// extension is a file's extension in lower case, not counting that of compression.
func extension(path string) string {
	name := strings.ToLower(filepath.Base(path))
	for _, ext := range []string{".gz", ".zst", ".bz2"} {
		name = strings.TrimSuffix(name, ext)
	}
	return filepath.Ext(name)
}

// FormatByName is the format that a file's name says; Auto if it has no extension. One that we do not know is
// an error: to take any file for CSV makes one column of rubbish of it.
func FormatByName(path string) (Format, error) {
	ext := extension(path)
	if last := strings.ToLower(filepath.Ext(path)); last != ext && slices.Contains(arrowExtensions, ext) {
		ext = last // Arrow files are not compressed as a whole
	}
	switch ext {
	case ".parquet", ".pq":
		return Parquet, nil
	case ".tbl":
		return Text, nil
	case ".csv", ".tsv", ".txt":
		return CSV, nil
	case ".json", ".ndjson", ".jsonl":
		return JSON, nil
	case ".arrow", ".arrows", ".feather", ".ipc":
		return Arrow, nil
	case "", ".":
		return Auto, nil
	default:
		return Auto, diag.Errorf(diag.InvalidParameter, diag.NoPos, "the format of file %q is not known by its extension %q", path, ext).
			WithHint("known are %s, also with .gz, .zst or .bz2 behind; "+
				"read_csv('…'), read_parquet('…') and read_json('…') read files of any name, and COPY has the option FORMAT", knownExtensions)
	}
}

const knownExtensions = ".parquet, .pq, .csv, .tsv, .txt, .tbl, .json, .ndjson, .jsonl, .arrow, .arrows and .feather"

// arrowExtensions are those of Arrow files; .arrows is the stream format, in which the others may be, too, if they are read.
var arrowExtensions = []string{".arrow", ".arrows", ".feather", ".ipc"}

// delimiterByName is the delimiter that a file's name says; 0 if none.
func delimiterByName(path string) byte {
	switch extension(path) {
	case ".tsv":
		return '\t'
	case ".tbl":
		return '|'
	}
	return 0
}

// dialect is how a text file is written, all questions answered.
type dialect struct {
	text     bool // backslash escapes instead of quotes
	delim    byte
	quote    byte
	hasQuote bool
	escape   byte // in quotes; may be the quote
	nl       byte // ends a row: '\n', also after '\r'; or '\r' alone
	null     string
	nulls    []string // more of them
	header   bool
	lenient  bool // an empty field is NULL where it cannot be a value
}

// check refuses characters that would make a file ambiguous.
func (o *Options) check() error {
	bad := func(format string, args ...any) error {
		return diag.Errorf(diag.InvalidParameter, diag.NoPos, format, args...)
	}
	for _, c := range []struct {
		name string
		b    byte
	}{{"delimiter", o.Delimiter}, {"quote", o.Quote}, {"escape", o.Escape}} {
		if c.b == '\n' || c.b == '\r' {
			return bad("COPY %s cannot be newline or carriage return", c.name)
		}
		if c.b >= 0x80 {
			return bad("COPY %s must be a single one-byte character", c.name)
		}
	}
	if strings.ContainsAny(o.Null, "\r\n") {
		return bad("COPY null representation cannot use newline or carriage return")
	}
	if o.Delimiter == 0 {
		return nil
	}
	if o.Format != Text && (o.Delimiter == o.Quote || o.Quote == 0 && o.Delimiter == '"') {
		return bad("COPY delimiter and quote must be different")
	}
	if o.HasNull && strings.IndexByte(o.Null, o.Delimiter) >= 0 {
		return bad("COPY delimiter character must not appear in the NULL specification")
	}
	if o.Format == Text && o.Delimiter == '\\' {
		return bad("COPY delimiter cannot be %q", "\\")
	}
	return nil
}

// defaultDelimiter sets the delimiter if nothing else has.
func (d *dialect) defaultDelimiter() {
	switch {
	case d.delim != 0:
	case d.text:
		d.delim = '\t'
	default:
		d.delim = ','
	}
}

// newDialect is the dialect of the options, with the defaults of the format.
func (o *Options) newDialect(format Format) dialect {
	d := dialect{text: format == Text, delim: o.Delimiter, nl: '\n', header: o.HasHeader && o.Header}
	if d.text {
		d.null, d.lenient = `\N`, !o.HasNull
	} else {
		d.quote, d.hasQuote = '"', true
		if o.Quote != 0 {
			d.quote = o.Quote
		}
		d.escape = d.quote
		if o.Escape != 0 {
			d.escape = o.Escape
		}
	}
	if o.HasNull {
		d.null, d.nulls = o.Null, o.Nulls
	}
	return d
}
