package trial

import (
	"strings"

	"github.com/kelpiedb/kelpie/internal/funcs"
)

// Class is a sort of value.
type Class int

const (
	Null Class = iota
	Empty
	Extreme
	Multibyte
	Plain
	classes
)

// Values are the values of a letter, by their class. A letter without multi-byte values has none to try.
var Values = map[byte][classes][]string{
	't': {{"null::text"}, {"''"}, {"repeat('ab', 300)", "'\\'", "'('", "' '"}, {"'aé日𝄞b'", "'Straße ΑΣ'", "'É'", "'日'"}, {"'abc'", "'Hello World'", "'b'", "'12'", "'a,b,,c'"}},
	'i': {{"null::int"}, {"0"}, {"2147483647", "'-2147483648'::int", "9223372036854775807", "'-9223372036854775808'::bigint"}, nil, {"1", "-1", "3", "2", "17"}},
	'e': {{"null::int"}, {"0"}, {"'-2147483648'::int", "9223372036854775807", "32767::smallint", "'-9223372036854775808'::bigint"}, nil, {"7", "12", "-3", "1"}},
	'f': {{"null::double precision"}, {"0::double precision"}, {"'infinity'::double precision", "'nan'::double precision", "1e308::double precision", "'-infinity'::double precision",
		"5e-324::double precision", "'-0'::double precision", "-1e15::double precision"}, nil, {"0.5::double precision", "-2.25::double precision", "1::double precision", "30::double precision"}},
	'm': {{"null::numeric(10,2)"}, {"0.00"}, {"99999999999999999999999999999999999999", "-99999999999999999999.999999999", "0.000000001"}, nil, {"12.50", "-7.25", "7", "100.005"}},
	'n': {{"null::int"}, {"0"}, {"9223372036854775807", "-99999999999999999999.999999999", "1e308::double precision", "'-32768'::smallint", "'nan'::double precision"}, nil, {"12.50", "-7", "2.5::double precision", "3::bigint"}},
	'b': {{"null::boolean"}, {"false"}, {"true"}, nil, {"true", "false"}},
	'D': {{"null::date"}, {"date '1970-01-01'"}, {"date '5874897-12-31'", "date '4713-01-01 BC'"}, nil, {"date '2024-02-29'", "date '1999-12-31'"}},
	'C': {{"null::time"}, {"time '00:00'"}, {"time '24:00'", "time '23:59:59.999999'"}, nil, {"time '12:34:56.789'", "time '08:15'"}},
	'T': {{"null::timestamp"}, {"timestamp '1970-01-01 00:00:00'"}, {"timestamp '294240-12-31 23:59:59.999999'", "timestamp '4713-01-01 00:00:00 BC'", "timestamp '0044-03-15 12:00:00 BC'", "timestamp '0001-01-01 00:00:00'"}, nil,
		{"timestamp '2024-02-29 13:37:42.123456'", "timestamp '2021-01-03 00:00:01'", "timestamp '1999-12-31 23:59:59.9'"}},
	'Z': {{"null::timestamptz"}, {"timestamptz '1970-01-01 00:00:00+00'"}, {"timestamptz '294240-12-31 23:59:59.999999+00'", "timestamptz '0044-03-15 12:00:00+00 BC'"}, nil,
		{"timestamptz '2024-02-29 13:37:42.123456+05:30'", "timestamptz '2024-03-31 01:30:00+00'"}},
	'B': {{"null::bytea"}, {`'\x'::bytea`}, {`'\x00ff'::bytea`, `'\x80'::bytea`}, {`'\xc3a9e697a5'::bytea`}, {`'\x616263'::bytea`, `'\x5c00'::bytea`}},
	'J': {{"null::jsonb"}, {`'{}'::jsonb`, `'[]'::jsonb`}, {`'[[[[1e100]]]]'::jsonb`, `'null'::jsonb`, `'-0.5'::jsonb`}, {`'{"ä": ["日", {"a": "é"}]}'::jsonb`, `'"𝄞"'::jsonb`}, {`'[1, null, {"a": true}]'::jsonb`, `'{"a": {"b": [1, 2]}}'::jsonb`}},
	'X': {{"null::text[]"}, {"array[]::text[]"}, {"array['', null]", "array['-1']"}, {"array['ä', '0']"}, {"array['a', 'b']", "array['0']"}},
	'L': {{"null::int[]"}, {"array[]::int[]"}, {"array[2147483647, null, '-2147483648'::int]", "array[null, null]::int[]"}, nil, {"array[1, 2, 3]", "array[7, 7]", "array[3, null, 1]"}},
	'E': {{"null::int"}, {"0"}, {"2147483647", "'-2147483648'::int"}, nil, {"7", "3", "1"}},
	'V': {{"null::interval"}, {"interval '0'"}, {"interval '178000000 years'", "interval '-178000000 years'", "interval '2147483647 days'", "interval '-2562047788:00:54.775807'"}, nil, {"interval '1 mon -3 days 04:05:06.789'", "interval '1 day'", "interval '-2 years 36:00'"}},
	'd': {{"null::timestamp"}, {"timestamp '1970-01-01 00:00:00'", "interval '0'"}, {"timestamp '294240-12-31 23:59:59.999999'", "date '5874897-12-31'", "date '4713-01-01 BC'", "interval '-178000000 years'"}, nil,
		{"date '2024-02-29'", "timestamp '2024-02-29 13:37:42.123456'", "time '12:34:56.789'", "interval '1 mon -3 days 04:05:06.789'", "timestamptz '2024-02-29 01:02:03+00'"}},
	'W': {{"null::text"}, {"''::text"}, {"repeat('ab', 300)", "'\\'::text"}, {"'aé日𝄞b'::text"}, {"'abc'::text", "'b'::text"}},
	'*': {{"null::text"}, {"''::text"}, {"repeat('ab', 300)", "'\\'::text"}, {"'aé日𝄞b'::text"}, {"'abc'::text", "'b'::text"}},
}

// meant are values for parameters that only take some: by the name of the function and the place of the parameter.
var meant = map[string]map[int][]string{}

func init() {
	fields := []string{"'year'", "'month'", "'day'", "'week'", "'quarter'", "'hour'", "'minute'", "'second'", "'decade'", "'century'", "'millennium'", "'microseconds'", "'milliseconds'"}
	parts := append([]string{"'dow'", "'doy'", "'isodow'", "'isoyear'", "'epoch'", "'julian'"}, fields...)
	encodings := []string{"'hex'", "'base64'", "'escape'"}
	patterns := []string{"'b'", "'[a-c]+'", "'(a)(b)?'", "'^H'", "'o$'", "'l+'", "'é|日'", "'.'", "'\\w+'", "'\\s'", "'x*'", "'a.*b'"}
	likes := []string{"'%b%'", "'a%'", "'%c'", "'_b_'", "'%'", "'a_日%'", "'abc'", "''"}
	stamps := []string{"'YYYY-MM-DD HH24:MI:SS.US'", "'Day, DD Month YYYY'", "'FMDay FMDDth Mon, BC'", "'IYYY-IW-ID DDD Q J'", "'HH12:MI AM'", "'\"ä\" CC W WW'"}
	digits := []string{"'999.99'", "'S9,999.0'", "'FM00000.000'", "'9.99EEEE'", "'RN'", "'999PR'", "'L99'"}
	strf := []string{"'%Y-%m-%d'", "'%H:%M:%S.%f'", "'%a %b %j ä'"}
	zones := []string{"'UTC'", "'Europe/Berlin'", "'America/New_York'", "'+05:30'", "'Asia/Kolkata'"}
	set := func(place int, values []string, names ...string) {
		for _, n := range names {
			if meant[n] == nil {
				meant[n] = map[int][]string{}
			}
			meant[n][place] = values
		}
	}
	paths := []string{"'$'", "'$.a[*] ? (@.b > 0)'", "'strict $.a'", "'$.** ? (@ == \"é\")'", "'$.ä[last]'", "'$[*] > 1'", "'$[*] ? (@ > $x)'", "''", "'$['", "'$.size() + $.a'"}
	set(1, paths, "jsonb_path_exists", "jsonb_path_match", "jsonb_path_query", "jsonb_path_query_array", "jsonb_path_query_first", "@?", "@@")
	set(2, []string{`'{"x": 0}'`, `'{}'`, `'[]'`}, "jsonb_path_exists", "jsonb_path_match", "jsonb_path_query", "jsonb_path_query_array", "jsonb_path_query_first")
	set(1, []string{"'$.a'", "'$.ä[0]'", "'/a/b/1'", "'a'", "'$[#-1]'", "'$'", "'$.'"}, "json_extract", "json_extract_string", "json_keys", "json_type", "json_exists", "json_value", "json_array_length")
	set(4, []string{"'delete_key'", "'return_target'", "'use_json_null'", "'raise_exception'", "'x'"}, "jsonb_set_lax")
	set(0, fields, "date_trunc", "datetrunc", "date_trunc interval", "date_diff", "datediff", "date_sub", "datesub")
	set(0, parts, "date_part", "datepart")
	set(1, encodings, "encode", "decode")
	set(0, []string{"'616263'", "'YWJj'", "'a\\000b'"}, "decode")
	set(1, []string{"'UTF8'", "'UTF-8'", "'LATIN1'"}, "convert_from", "convert_to")
	set(1, patterns, "~", "~*", "!~", "!~*", "regexp_count", "regexp_extract", "regexp_full_match", "regexp_instr", "regexp_like", "regexp_replace", "regexp_substr", "similar to")
	set(2, []string{"''", "'X'", "'<\\1>'", "'日\\&'"}, "regexp_replace")
	set(2, []string{"'i'", "'g'", "''"}, "regexp_like", "regexp_full_match")
	set(3, []string{"'g'", "'gi'", "''"}, "regexp_replace", "regexp_count")
	set(4, []string{"'i'", "''"}, "regexp_substr")
	set(5, []string{"'i'", "''"}, "regexp_instr", "regexp_replace")
	set(1, likes, "like", "like escape", "ilike escape", "like_escape", "ilike_escape", "not_like_escape", "not_ilike_escape", "glob")
	set(2, []string{"'!'", "'\\'", "''", "'é'"}, "like escape", "ilike escape", "like_escape", "ilike_escape", "not_like_escape", "not_ilike_escape", "similar to", "substring")
	set(1, stamps, "to_char")
	set(1, digits, "to_char(mt)", "to_char(ft)")
	set(1, []string{"'HH24:MI:SS'", "'YY MM DD'"}, "to_char(Vt)")
	set(1, []string{"'YYYY-MM-DD'", "'DD Mon YYYY'"}, "to_date", "to_timestamp")
	set(0, []string{"'2024-02-29'", "'05 Dec 2000'", "'12'"}, "to_date", "to_timestamp")
	set(0, []string{"'12'", "'-1,234.5'", "'+7.25'"}, "to_number")
	set(1, digits, "to_number")
	set(1, strf, "strftime", "strptime", "try_strptime")
	set(0, []string{"'2024-02-29'", "'12'"}, "strptime", "try_strptime")
	set(0, zones, "timezone(t*)")
	set(2, zones, "date_trunc")
	set(6, zones, "make_timestamptz")
	set(1, []string{"timestamp '2024-02-29 13:37:42.123456'", "timestamptz '2024-03-31 01:30:00+00'", "timestamp '2024-03-31 02:30:00'"}, "timezone(t*)", "timezone(V*)")
	set(0, []string{"interval '1 day'", "interval '15 minutes'", "interval '3 hours'"}, "date_bin", "time_bucket")
	set(1, []string{"'$.a'", "'$[0]'", "'a'"}, "json_extract", "json_extract_string")
	for _, f := range []string{"->", "->>", "json_extract_path", "jsonb_extract_path", "json_extract_path_text", "jsonb_extract_path_text"} {
		set(1, []string{"'a'", "'ä'", "'0'"}, f)
	}
	set(0, []string{"'Hello %s'", "'%%'", "'%1$s é %I %L'"}, "format")
	set(0, []string{"true", "false"}, "if", "iff")
	set(0, []string{"2024", "1", "-44", "9999"}, "make_date", "make_timestamp", "make_timestamptz")
	set(1, []string{"2", "12"}, "make_date", "make_timestamp", "make_timestamptz")
	set(2, []string{"29", "1"}, "make_date", "make_timestamp", "make_timestamptz")
	set(1, []string{"5", "0", "-1", "20"}, "lpad", "rpad", "repeat", "left", "right", "round", "trunc", "<<", ">>", "round_even", "roundbankers")
	// Series are short: between extremes there is no end.
	set(0, []string{"1", "-1", "3"}, "generate_series(ee?e)")
	set(1, []string{"5", "3", "2::bigint"}, "generate_series(ee?e)")
	set(2, []string{"1", "2", "-1", "0"}, "generate_series(ee?e)")
	set(0, []string{"1.5", "-1", "2.125"}, "generate_series(mm?m)")
	set(1, []string{"2.25", "-3.5", "3"}, "generate_series(mm?m)")
	set(2, []string{"0.5", "-0.25", "0.0", "0.125"}, "generate_series(mm?m)")
	for letter, cast := range map[string]string{"T": "timestamp", "Z": "timestamptz"} {
		name := "generate_series(" + letter + letter + "V)"
		set(0, []string{cast + " '2024-02-28 00:00:00+00'", cast + " '2024-03-01 12:00:00+00'"}, name)
		set(1, []string{cast + " '2024-03-02 00:00:00+00'", cast + " '2024-02-28 12:00:00+00'"}, name)
		set(2, []string{"interval '1 day'", "interval '-12 hours'", "interval '1 month'"}, name)
	}
	set(1, []string{"2", "10", "36"}, "to_base")
	set(0, []string{"'\\0041b'", "'d\\u00e9'"}, "unistr")
	set(0, []string{"'6162'", "'616'"}, "unhex", "from_hex")
	set(0, []string{"'YWJj'", "'#'"}, "from_base64")
}

// Meant are the values that a parameter of a function is made for; nil if any of its type will do.
func Meant(r *funcs.Row, place int) []string {
	if of := meant[r.Name+"("+r.Args+")"][place]; of != nil {
		return of
	}
	of := meant[r.Name][place]
	letters, _ := Letters(r)
	if of == nil || strings.HasPrefix(of[0], "'") != (letters[place] == 't') && letters[place] != '*' && !strings.Contains(of[0], " '") {
		return nil // it is for another row of that name
	}
	return of
}
