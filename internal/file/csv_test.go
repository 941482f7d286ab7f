package file

import (
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/catalog"
)

// csvCases say which rows, or which error, a text gives.
var csvCases = []struct {
	name string
	opts Options
	cols string // of the table
	text string
	want string
}{
	{name: "plain", cols: "a INTEGER, b VARCHAR", text: "1,x\n2,y\n", want: "1 \"x\"\n2 \"y\"\n"},
	{name: "no final newline", cols: "a INTEGER, b VARCHAR", text: "1,x\n2,y", want: "1 \"x\"\n2 \"y\"\n"},
	{name: "CRLF", cols: "a INTEGER, b VARCHAR, c INTEGER", text: "1,x,3\r\n2,y,4\r\n", want: "1 \"x\" 3\n2 \"y\" 4\n"},
	{name: "CRLF, text last", cols: "a INTEGER, b VARCHAR", text: "1,x\r\n2,\"y\"\r\n3,\r\n4,z\r", want: "1 \"x\"\n2 \"y\"\n3 NULL\n4 \"z\"\n"},
	{name: "CR", cols: "a INTEGER, b VARCHAR", text: "1,x\r2,\"y\r\"\r", want: "1 \"x\"\n2 \"y\\r\"\n"},
	{name: "byte order mark", cols: "a INTEGER, b VARCHAR", text: "\ufeff1,x\n", want: "1 \"x\"\n"},
	{name: "byte order mark and quote", cols: "a VARCHAR, b VARCHAR", text: "\ufeff\"a,\n\",x\n", want: "\"a,\\n\" \"x\"\n"},
	{name: "empty", cols: "a INTEGER", text: "", want: ""},
	{name: "header only", opts: Options{Header: true, HasHeader: true}, cols: "a INTEGER", text: "a", want: ""},
	{name: "header with newline in it", opts: Options{Header: true, HasHeader: true}, cols: "a INTEGER, b INTEGER", text: "\"a\nb\",c\n1,2\n", want: "1 2\n"},
	{name: "names are a header", cols: "a INTEGER, b VARCHAR", text: "A,b\n1,x\n", want: "1 \"x\"\n"},
	{name: "blank lines", cols: "a INTEGER, b VARCHAR", text: "\n1,x\n\r\n\n2,y\n\n", want: "1 \"x\"\n2 \"y\"\n"},
	{name: "one column, blank line is NULL", cols: "a INTEGER", text: "1\n\n2\n", want: "1\nNULL\n2\n"},
	{name: "NULL and empty", cols: "a VARCHAR, b VARCHAR", text: ",\"\"\n\"\",\n", want: "NULL \"\"\n\"\" NULL\n"},
	{name: "NULL string", opts: Options{Null: "NA", HasNull: true}, cols: "a VARCHAR, b INTEGER", text: "NA,NA\n\"NA\",1\n,2\n", want: "NULL NULL\n\"NA\" 1\n\"\" 2\n"},
	{name: "NULL that looks like a number", opts: Options{Null: "-1", HasNull: true}, cols: "a INTEGER, b DOUBLE", text: "-1,-1\n1,-1.0\n", want: "NULL NULL\n1 -1\n"},
	{name: "quotes", cols: "a VARCHAR, b VARCHAR", text: "\"a,b\",\"c\"\"d\"\n\"x\ny\",\"\"\"\"\n", want: "\"a,b\" \"c\\\"d\"\n\"x\\ny\" \"\\\"\"\n"},
	{name: "quote inside of a field", cols: "a VARCHAR, b VARCHAR", text: "5\" disk,a\"b\"\n\"a\"b\"c,d\n", want: "\"5\\\" disk\" \"a\\\"b\\\"\"\n\"ab\\\"c\" \"d\"\n"},
	{name: "quoted numbers", cols: "a INTEGER, b DECIMAL(5,2), c DATE, d DOUBLE, e TIMESTAMP, f BOOLEAN",
		text: "\"1\",\"2.5\",\"2020-02-29\",\"1.25\",\"2020-02-29 01:02:03.5\",\"true\"\n", want: "1 2.50 2020-02-29 1.25 2020-02-29 01:02:03.5 true\n"},
	{name: "single quotes are data", cols: "a VARCHAR, b INTEGER", text: "'x',1\n", want: "\"'x'\" 1\n"},
	{name: "delimiter is seen", cols: "a VARCHAR, b INTEGER", text: "x,y|1\nz|2\n", want: "\"x,y\" 1\n\"z\" 2\n"},
	{name: "one column, delimiter in it", cols: "a VARCHAR", text: "x\ny,z\n", want: "ERROR: extra data after last expected column (22P04)\nDETAIL: file x.csv, line 2"},
	{name: "escape", opts: Options{Escape: '\\'}, cols: "a VARCHAR, b VARCHAR", text: "\"a\\\"b\",\"c\\\\\"\n\"d\\n\",\\\"e\n", want: "\"a\\\"b\" \"c\\\\\"\n\"d\\\\n\" \"\\\\\\\"e\"\n"},
	{name: "other quote", opts: Options{Quote: '\'', Delimiter: ';'}, cols: "a VARCHAR, b INTEGER", text: "'a;b''';1\n\"x\";2\n", want: "\"a;b'\" 1\n\"\\\"x\\\"\" 2\n"},
	{name: "trailing delimiter", opts: Options{Delimiter: '|'}, cols: "a INTEGER, b VARCHAR", text: "1|x|\n2|y|\r\n3||\n4|z\n", want: "1 \"x\"\n2 \"y\"\n3 NULL\n4 \"z\"\n"},
	{name: "trailing delimiter, number last", opts: Options{Delimiter: '|'}, cols: "a INTEGER, b INTEGER", text: "1|2|\n3|4|\r\n", want: "1 2\n3 4\n"},
	{name: "delimiter that is part of values", opts: Options{Delimiter: '-'}, cols: "a INTEGER, b VARCHAR", text: "1-x\n2-\"2020-01-01\"\n", want: "1 \"x\"\n2 \"2020-01-01\"\n"},
	{name: "blank as delimiter", opts: Options{Delimiter: ' '}, cols: "a TIMESTAMP, b INTEGER", text: "2020-01-01 7\n", want: "2020-01-01 00:00:00 7\n"},
	{name: "spaces around numbers", cols: "a INTEGER, b DOUBLE", text: " 1 , 2.5 \n", want: "1 2.5\n"},
	{name: "integers", cols: "a BIGINT", text: "9223372036854775807\n-9223372036854775808\n0\n-0\n+7\n00000000000000000000012\n123456789\n12345678\n",
		want: "9223372036854775807\n-9223372036854775808\n0\n0\n7\n12\n123456789\n12345678\n"},
	{name: "decimals", cols: "a DECIMAL(15,2)", text: "1\n-1.5\n.25\n-.25\n1.\n1.005\n1e3\n123456789.12\n9999999999999.99\n-0.004\n",
		want: "1.00\n-1.50\n0.25\n-0.25\n1.00\n1.01\n1000.00\n123456789.12\n9999999999999.99\n0.00\n"},
	{name: "wide decimals", cols: "a DECIMAL(38,10)", text: "1\n1234567890123456789012345678.0123456789\n-0.5\n", want: "1.0000000000\n1234567890123456789012345678.0123456789\n-0.5000000000\n"},
	{name: "floats", cols: "a DOUBLE, b REAL", text: "1.5,1.5\n1e300,1e30\n0.1,0.1\n-0,-0\nNaN,inf\n123456789012345678,16777217\n.5,5.\n3.141592653589793,2.718281828\n",
		want: "1.5 1.5\n1e+300 1e+30\n0.1 0.1\n-0 -0\nNaN Infinity\n1.2345678901234568e+17 1.6777216e+07\n0.5 5\n3.141592653589793 2.7182817\n"},
	{name: "dates", cols: "a DATE", text: "1970-01-01\n2000-02-29\n1600-01-01\n9999-12-31\n2020/3/1\n0044-03-15 BC\n20200101\n", want: "1970-01-01\n2000-02-29\n1600-01-01\n9999-12-31\n2020-03-01\n0044-03-15 BC\n2020-01-01\n"},
	{name: "timestamps", cols: "a TIMESTAMP", text: "2020-01-01\n2020-01-01T01:02:03\n2020-01-01 01:02:03.1234567\n2020-01-01 01:02\n1900-01-01 23:59:59.999999\n2020-01-01 00:00:00Z\n",
		want: "2020-01-01 00:00:00\n2020-01-01 01:02:03\n2020-01-01 01:02:03.123457\n2020-01-01 01:02:00\n1900-01-01 23:59:59.999999\n2020-01-01 00:00:00\n"},
	{name: "booleans and intervals", cols: "a BOOLEAN, b INTERVAL", text: "t,1 day\nFALSE,02:00\n1,1 year 2 mons\n", want: "true 1 day\nfalse 02:00:00\ntrue 1 year 2 mons\n"},
	{name: "VARCHAR(n)", cols: "a VARCHAR(3)", text: "abc\näöü\nab \nabc  \n", want: "\"abc\"\n\"äöü\"\n\"ab \"\n\"abc\"\n"},
	{name: "long texts", cols: "a VARCHAR, b INTEGER", text: strings.Repeat("x", 100000) + ",1\n", want: "\"" + strings.Repeat("x", 100000) + "\" 1\n"},

	{name: "text format", opts: Options{Format: Text}, cols: "a INTEGER, b VARCHAR", text: "1\tx\n\\N\t\\N\n2\t\n3\ta\\tb\\\\c\\n\n4\t\\x41\\102\\q\\\n!\n\\.\n", want: "1 \"x\"\nNULL NULL\n2 \"\"\n3 \"a\\tb\\\\c\\n\"\n4 \"ABq\\n!\"\n"},
	{name: "text format, backslash at the end", opts: Options{Format: Text}, cols: "a INTEGER, b VARCHAR", text: "1\tx\\", want: "1 \"x\\\\\"\n"},
	{name: "text format, empty number", opts: Options{Format: Text}, cols: "a INTEGER, b VARCHAR, c DATE", text: "\t\t\n", want: "NULL \"\" NULL\n"},
	{name: "text format, quotes are nothing", opts: Options{Format: Text}, cols: "a VARCHAR, b VARCHAR", text: "\"a\t\"b\"\n", want: "\"\\\"a\" \"\\\"b\\\"\"\n"},
	{name: "text format, tbl", opts: Options{Format: Text, Delimiter: '|'}, cols: "a INTEGER, b VARCHAR", text: "1|x|\r\n2|y\\|z|\n", want: "1 \"x\"\n2 \"y|z\"\n"},

	{name: "bad integer", cols: "a INTEGER, b VARCHAR", text: "1,x\nabc,y\n", want: "ERROR: invalid input syntax for type integer: \"abc\" (22P02)\nDETAIL: file x.csv, line 2, column \"a\""},
	{name: "bad first line", cols: "a INTEGER, b VARCHAR", text: "abc,y\n", want: "ERROR: invalid input syntax for type integer: \"abc\" (22P02)\nDETAIL: file x.csv, line 1, column \"a\"\nHINT: if the first line has the names of the columns, say HEADER"},
	{name: "empty quoted integer", cols: "a INTEGER, b VARCHAR", text: "1,x\n\"\",y\n", want: "ERROR: invalid input syntax for type integer: \"\" (22P02)\nDETAIL: file x.csv, line 2, column \"a\""},
	{name: "integer out of range", cols: "a SMALLINT, b VARCHAR", text: "1,x\n\n40000,y\n", want: "ERROR: value \"40000\" is out of range for type smallint (22003)\nDETAIL: file x.csv, line 3, column \"a\""},
	{name: "line after quoted newlines", cols: "a VARCHAR, b INTEGER", text: "\"x\n\n\",1\ny,z\n", want: "ERROR: invalid input syntax for type integer: \"z\" (22P02)\nDETAIL: file x.csv, line 4, column \"b\""},
	{name: "line after header", opts: Options{Header: true, HasHeader: true}, cols: "a INTEGER, b INTEGER", text: "a,\"b\n\"\n1,2\n3,x\n", want: "ERROR: invalid input syntax for type integer: \"x\" (22P02)\nDETAIL: file x.csv, line 4, column \"b\""},
	{name: "bad date", cols: "a DATE", text: "2021-01-01\n2021-02-29\n", want: "ERROR: date/time field value out of range: \"2021-02-29\" (22008)\nDETAIL: file x.csv, line 2, column \"a\""},
	{name: "decimal overflow", cols: "a DECIMAL(4,2)", text: "1\n100\n", want: "ERROR: numeric field overflow (22003)\nDETAIL: file x.csv, line 2, column \"a\""},
	{name: "too few fields", cols: "a INTEGER, b VARCHAR, c INTEGER", text: "1,x,2\n2,y\n", want: "ERROR: missing data for column \"c\" (22P04)\nDETAIL: file x.csv, line 2"},
	{name: "too many fields", cols: "a INTEGER, b VARCHAR", text: "1,x\n2,y,z\n", want: "ERROR: extra data after last expected column (22P04)\nDETAIL: file x.csv, line 2"},
	{name: "two delimiters too many", cols: "a INTEGER, b INTEGER", text: "1,2\n2,3,,\n", want: "ERROR: extra data after last expected column (22P04)\nDETAIL: file x.csv, line 2"},
	{name: "open quote", cols: "a INTEGER, b VARCHAR", text: "1,x\n2,\"y\n3,z\n", want: "ERROR: unterminated CSV quoted field (22P04)\nDETAIL: file x.csv, line 2, column \"b\""},
	{name: "not null", cols: "a INTEGER NOT NULL, b VARCHAR", text: "1,x\n,y\n", want: "ERROR: null value in column \"a\" of relation \"t\" violates not-null constraint (23502)\nDETAIL: file x.csv, line 2, column \"a\""},
	{name: "not UTF-8", cols: "a VARCHAR", text: "ä\n\xff\n", want: "ERROR: invalid byte sequence for encoding \"UTF8\" (22021)\nDETAIL: file x.csv, line 2, column \"a\"\nHINT: the file is not in UTF-8; the option ENCODING says what it is in: 'latin-1' or 'utf-16'"},
	{name: "too long", cols: "a VARCHAR(3)", text: "abc\nabcd\n", want: "ERROR: value too long for type character varying(3) (22001)\nDETAIL: file x.csv, line 2, column \"a\""},
	{name: "first of two mistakes", cols: "a INTEGER", text: "1\nx\ny\n", want: "ERROR: invalid input syntax for type integer: \"x\" (22P02)\nDETAIL: file x.csv, line 2, column \"a\""},
}

// splits are ways to cut the same text.
var splits = []func(*cutting){
	nil,
	func(s *cutting) { s.rows, s.chunk = 1, 1 },
	func(s *cutting) { s.rows, s.chunk = 2, 3 },
	func(s *cutting) { s.rows, s.chunk = 3, 7 },
	func(s *cutting) { s.rows, s.chunk = 1000, 2 },
}

func TestCSV(t *testing.T) {
	for _, c := range csvCases {
		t.Run(c.name, func(t *testing.T) {
			cols := defs(t, c.cols)
			path := write(t, "x.csv", c.text)
			c.opts.Columns = cols
			if c.opts.Format == Auto {
				c.opts.Format = CSV
			}
			for i, tune := range splits {
				for threads := 1; threads <= 3; threads += 2 {
					table, err := loadFile(path, c.opts, cols, tune, threads)
					got := message(err, path)
					if err == nil {
						got = dump(table)
					}
					if got != c.want {
						t.Errorf("split %d, %d threads:\n%s\nwant\n%s", i, threads, got, c.want)
					}
					if err != nil && table != nil && table.Snapshot().Rows != 0 {
						t.Error("a failed load left rows")
					}
				}
			}
		})
	}
}

func TestSniff(t *testing.T) {
	for _, c := range []struct{ name, file, text, cols, rows string }{
		{"types", "x.csv", "i,f,d,t,b,s\n1,1.5,2020-01-01,2020-01-01 10:00:00,true,x\n-2,3,2020-01-02,2020-01-02,false,7\n", "i BIGINT, f DOUBLE, d DATE, t TIMESTAMP, b BOOLEAN, s VARCHAR", "1 1.5 2020-01-01 2020-01-01 10:00:00 true \"x\"\n-2 3 2020-01-02 2020-01-02 00:00:00 false \"7\"\n"},
		{"no header", "x.csv", "1,a\n2,b\n", "column0 BIGINT, column1 VARCHAR", "1 \"a\"\n2 \"b\"\n"},
		{"many columns", "x.csv", "1,2,3,4,5,6,7,8,9,10,11\n", "column00 BIGINT, column01 BIGINT, column02 BIGINT, column03 BIGINT, column04 BIGINT, column05 BIGINT, column06 BIGINT, column07 BIGINT, column08 BIGINT, column09 BIGINT, column10 BIGINT", "1 2 3 4 5 6 7 8 9 10 11\n"},
		{"all text", "x.csv", "name,town\nann,york\nbob,bath\n", "name VARCHAR, town VARCHAR", "\"ann\" \"york\"\n\"bob\" \"bath\"\n"},
		{"header only", "x.csv", "a,b\n", "a VARCHAR, b VARCHAR", ""},
		{"one row of numbers", "x.csv", "1,2", "column0 BIGINT, column1 BIGINT", "1 2\n"},
		{"fraction in the first row only", "x.csv", "1.5\n2\n3\n", "column0 DOUBLE", "1.5\n2\n3\n"},
		{"NULLs", "x.csv", "a,b,c\n1,,\n,x,\n", "a BIGINT, b VARCHAR, c VARCHAR", "1 NULL NULL\nNULL \"x\" NULL\n"},
		{"semicolon", "x.csv", "a;b\n1,5;x\n2,5;y\n", "a VARCHAR, b VARCHAR", "\"1,5\" \"x\"\n\"2,5\" \"y\"\n"},
		{"tab", "x.txt", "a\tb\n1\tx y\n", "a BIGINT, b VARCHAR", "1 \"x y\"\n"},
		{"tsv", "x.tsv", "a,1\tb\n1\tx\n", "\"a,1\" BIGINT, b VARCHAR", "1 \"x\"\n"},
		{"tbl", "x.tbl", "1|a b|2.50|\n2|c|3.00|\n", "column0 BIGINT, column1 VARCHAR, column2 DOUBLE", "1 \"a b\" 2.5\n2 \"c\" 3\n"},
		{"single quotes", "x.csv", "a,b\n1,'x,y'\n2,'it''s'\n", "a BIGINT, b VARCHAR", "1 \"x,y\"\n2 \"it's\"\n"},
		{"apostrophes", "x.csv", "a,b\n1,'tis\n2,it's\n", "a BIGINT, b VARCHAR", "1 \"'tis\"\n2 \"it's\"\n"},
		{"same name twice", "x.csv", "a,A,\n1,2,3\n", "a BIGINT, A_1 BIGINT, column2 BIGINT", "1 2 3\n"},
		{"big numbers", "x.csv", "a\n1\n99999999999999999999\n", "a DECIMAL(38,0)", "1\n99999999999999999999\n"},
		{"numbers too big for anything", "x.csv", "a\n1\n999999999999999999999999999999999999999\n", "a VARCHAR", "\"1\"\n\"999999999999999999999999999999999999999\"\n"},
		{"negative and big", "x.csv", "a,b\n-9223372036854775808,-9223372036854775809\n9223372036854775807,+9223372036854775808\n", "a BIGINT, b DECIMAL(38,0)", "-9223372036854775808 -9223372036854775809\n9223372036854775807 9223372036854775808\n"},
		{"integers that DOUBLE would round", "x.csv", "a,b,c\n9007199254740993,9007199254740992,123456789012345678901\n1.5,1.5,0.5\n", "a VARCHAR, b DOUBLE, c VARCHAR", "\"9007199254740993\" 9.007199254740992e+15 \"123456789012345678901\"\n\"1.5\" 1.5 \"0.5\"\n"},
		{"leading zeros", "x.csv", "a,b,c,d,e\n01234,0,0.5,-007,00\n12345,1,10.5,8,1\n", "a VARCHAR, b BIGINT, c DOUBLE, d VARCHAR, e VARCHAR", "\"01234\" 0 0.5 \"-007\" \"00\"\n\"12345\" 1 10.5 \"8\" \"1\"\n"},
		{"leading zeros, no header", "x.csv", "01234,bath\n05678,york\n", "column0 VARCHAR, column1 VARCHAR", "\"01234\" \"bath\"\n\"05678\" \"york\"\n"},
		{"leading zeros in some rows, no header", "x.csv", "10115\n20095\n01067\n", "column0 VARCHAR", "\"10115\"\n\"20095\"\n\"01067\"\n"},
		{"years are names", "x.csv", "town,2020,2021\nbath,a,b\n", "town VARCHAR, 2020 VARCHAR, 2021 VARCHAR", "\"bath\" \"a\" \"b\"\n"},
		{"leading zeros below a header", "x.csv", "zip\n01234\n05678\n", "zip VARCHAR", "\"01234\"\n\"05678\"\n"},
		{"leading zeros of a fraction", "x.csv", "01.5\n2.5\n", "column0 VARCHAR", "\"01.5\"\n\"2.5\"\n"},
		{"dates have them", "x.csv", "a\n0999-01-01\n", "a DATE", "0999-01-01\n"},
		{"one column", "x.csv", "word\nfoo\nbar\n", "word VARCHAR", "\"foo\"\n\"bar\"\n"},
		{"CRLF", "x.csv", "a,b\r\n1,x\r\n", "a BIGINT, b VARCHAR", "1 \"x\"\n"},
		{"quoted header", "x.csv", "\"a\nb\",\"c,d\"\n1,2\n", "\"a\nb\" BIGINT, \"c,d\" BIGINT", "1 2\n"},
		{"no extension", "data", "a,b\n1,2\n", "a BIGINT, b BIGINT", "1 2\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, c.file, c.text)
			src, err := Open(path, Options{})
			if err != nil {
				t.Fatal(message(err, path))
			}
			var names []string
			for _, col := range src.Columns() {
				name := col.Name
				if strings.ContainsAny(name, ",\n") {
					name = "\"" + name + "\""
				}
				names = append(names, show([]catalog.ColumnDef{{Name: name, Type: col.Type, NotNull: col.NotNull}}))
			}
			if got := strings.Join(names, ", "); got != c.cols {
				t.Errorf("columns %s\nwant    %s", got, c.cols)
			}
			table, err := loadFile(path, Options{}, nil, nil, 2)
			if err != nil {
				t.Fatal(message(err, path))
			}
			if got := dump(table); got != c.rows {
				t.Errorf("rows\n%s\nwant\n%s", got, c.rows)
			}
		})
	}
}

// TestGuessedWrong: a value after the sample that is not of the type that the sample had.
func TestGuessedWrong(t *testing.T) {
	path := write(t, "x.csv", "k,v\n1,a\n2,b\nx,c\n")
	_, err := loadFile(path, Options{SampleRows: 3}, nil, nil, 1)
	same(t, "error", message(err, path), "ERROR: invalid input syntax for type bigint: \"x\" (22P02)\nDETAIL: file x.csv, line 4, column \"k\"\n"+
		"HINT: the type BIGINT was guessed from the first rows of the file; read_csv('…', sample_size => -1) looks at all, "+
		"and read_csv('…', all_varchar => true) leaves them as they are")
}
