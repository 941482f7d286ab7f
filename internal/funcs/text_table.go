package funcs

import (
	"strings"
	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// textRows are PostgreSQL's functions of texts.
var textRows = []Row{
	fn("ascii", "t", tInt, "ascii('é') → 233", func(a []types.Value, t types.Type) (types.Value, error) {
		if a[0].S == "" {
			return number(t, 0)
		}
		r, _ := utf8.DecodeRuneInString(a[0].S)
		return number(t, int64(r))
	}),
	fn("bit_length", "t", tInt, "bit_length('jose') → 32", func(a []types.Value, t types.Type) (types.Value, error) {
		return number(t, 8*int64(len(a[0].S)))
	}),
	op("btrim", "t?t", tText, plan.Trim, "btrim('xyxtrimyyx', 'xyz') → trim"),
	op("char_length", "t", tInt, plan.Length, "char_length('josé') → 4"),
	op("character_length", "t", tInt, plan.Length, "character_length('josé') → 4"),
	fn("chr", "i", tText, "chr(228) → ä", chr, fails),
	made("concat", "*…", "concat('abc', 2, NULL, 22) → abc222"),
	fn("concat_ws", "t*…", tText, "concat_ws(',', 'abc', 2, NULL, 22) → abc,2,22", concatWS, seesNull),
	fn("printf", "t?*…", tText, "printf('%s: %05d, %.2f', 'a', 42, 1.5) → a: 00042, 1.50", printf, size(printfSize)),
	fn("format", "t?*…", tText, "format('Hello %s, %1$s', 'World') → Hello World, World", format, seesNull, size(formatSize)),
	fn("initcap", "t", tText, "initcap('hi THOMAS') → Hi Thomas", func(a []types.Value, _ types.Type) (types.Value, error) {
		return text(initcap(a[0].S))
	}),
	op("left", "ti", tText, plan.LeftStr, "left('abcde', 2) → ab"),
	op("length", "t", tInt, plan.Length, "length('jose') → 4"),
	op("lower", "t", tText, plan.Lower, "lower('TOM') → tom"),
	fn("lpad", "ti?t", tText, "lpad('hi', 5, 'xy') → xyxhi", pad(true), size(padSize)),
	op("ltrim", "t?t", tText, plan.Ltrim, "ltrim('zzzytest', 'xyz') → test"),
	op("octet_length", "t", tInt, plan.OctetLength, "octet_length('josé') → 5"),
	fn("overlay", "tti?i", tText, "overlay('Txxxxas' placing 'hom' from 2 for 4) → Thomas", overlay, fails),
	made("position", "tt", "position('om' in 'Thomas') → 3"),
	fn("quote_ident", "t", tText, `quote_ident('Foo bar') → "Foo bar"`, func(a []types.Value, _ types.Type) (types.Value, error) {
		return text(quoteIdent(a[0].S))
	}),
	fn("quote_literal", "*", tText, "quote_literal(42.5) → '42.5'", func(a []types.Value, _ types.Type) (types.Value, error) {
		return text(quoteLiteral(a[0].String()))
	}),
	fn("quote_nullable", "*", tText, "quote_nullable(NULL) → NULL", func(a []types.Value, _ types.Type) (types.Value, error) {
		if a[0].Null {
			return text("NULL")
		}
		return text(quoteLiteral(a[0].String()))
	}, seesNull),
	fn("repeat", "ti", tText, "repeat('Pg', 4) → PgPgPgPg", func(a []types.Value, _ types.Type) (types.Value, error) {
		return text(strings.Repeat(a[0].S, int(max(a[1].I, 0))))
	}, size(func(a []types.Value) int64 { return times(int64(len(a[0].S)), a[1].I) })),
	op("replace", "ttt", tText, plan.Replace, "replace('abcdefabcdef', 'cd', 'XX') → abXXefabXXef"),
	fn("reverse", "t", tText, "reverse('añb') → bña", func(a []types.Value, _ types.Type) (types.Value, error) {
		return text(reverse(a[0].S))
	}),
	op("right", "ti", tText, plan.RightStr, "right('abcde', 2) → de"),
	fn("rpad", "ti?t", tText, "rpad('hi', 5, 'xy') → hixyx", pad(false), size(padSize)),
	op("rtrim", "t?t", tText, plan.Rtrim, "rtrim('testxxzx', 'xyz') → test"),
	fn("split_part", "tti", tText, "split_part('abc~@~def~@~ghi', '~@~', 2) → def", splitPart, fails),
	op("starts_with", "tt", tBool, plan.StartsWith, "starts_with('alphabet', 'alph') → true"),
	op("strpos", "tt", tInt, plan.Position, "strpos('high', 'ig') → 2"),
	made("substr", "ti?i", "substr('alphabet', 3, 2) → ph"),
	made("substring", "ti?i", "substring('Thomas' from 2 for 3) → hom"),
	fn("substring", "tt?t", tText, "substring('Thomas' from '...$') → mas", substringPattern, fails, nullOut, matching(substringUse)),
	fn("to_hex", "e", tText, "to_hex(2147483647) → 7fffffff", toHex),
	fn("translate", "ttt", tText, "translate('12345', '143', 'ax') → a2x5", func(a []types.Value, _ types.Type) (types.Value, error) {
		return text(translate(a[0].S, a[1].S, a[2].S))
	}),
	made("trim", "t?t", "trim(both 'xyz' from 'yxTomxx') → Tom"),
	fn("unistr", "t", tText, `unistr('d\0061t\+000061') → data`, unistr, fails),
	op("upper", "t", tText, plan.Upper, "upper('tom') → TOM"),
}

// moreTextRows are what DuckDB's users type, and those of PostgreSQL's extension for likeness.
var moreTextRows = []Row{
	fn("bar", "fff?f", tText, "bar(5, 0, 20, 8) → ██", bar, size(func(a []types.Value) int64 {
		if len(a) > 3 && a[3].F > 1000 {
			return 1 << 40
		}
		return 4096
	})),
	fn("contains", "tt", tBool, "contains('abc', 'b') → true", func(a []types.Value, _ types.Type) (types.Value, error) {
		return boolean(strings.Contains(a[0].S, a[1].S))
	}),
	fn("damerau_levenshtein", "tt", tBigint, "damerau_levenshtein('duckdb', 'udckbd') → 2", distance(damerau), fails),
	fn("difference", "tt", tInt, "difference('Anne', 'Andrew') → 2", func(a []types.Value, t types.Type) (types.Value, error) {
		x, y := soundex(a[0].S), soundex(a[1].S)
		n := int64(0)
		for i := 0; i < 4 && i < len(x) && i < len(y); i++ {
			if x[i] == y[i] {
				n++
			}
		}
		return number(t, n)
	}),
	fn("editdist3", "tt", tBigint, "editdist3('duck', 'db') → 3", distance(levenshtein), fails),
	fn("ends_with", "tt", tBool, "ends_with('abc', 'c') → true", hasSuffix),
	fn("hamming", "tt", tBigint, "hamming('duck', 'luck') → 1", hamming, fails),
	op("instr", "tt", tInt, plan.Position, "instr('test', 'es') → 2"),
	fn("jaccard", "tt", tDouble, "jaccard('duck', 'luck') → 0.6", jaccard, fails),
	fn("jaro_similarity", "tt", tDouble, "jaro_similarity('duck', 'duckdb') → 0.8888888888888888", func(a []types.Value, _ types.Type) (types.Value, error) {
		if err := comparable(a); err != nil {
			return types.Value{}, err
		}
		return double(jaro([]rune(a[0].S), []rune(a[1].S)))
	}, fails),
	fn("jaro_winkler_similarity", "tt", tDouble, "jaro_winkler_similarity('duck', 'duckdb') → 0.9333333333333333", func(a []types.Value, _ types.Type) (types.Value, error) {
		if err := comparable(a); err != nil {
			return types.Value{}, err
		}
		return double(jaroWinkler([]rune(a[0].S), []rune(a[1].S)))
	}, fails),
	op("lcase", "t", tText, plan.Lower, "lcase('TOM') → tom"),
	op("len", "t", tInt, plan.Length, "len('josé') → 4"),
	fn("levenshtein", "tt", tInt, "levenshtein('GUMBO', 'GAMBOL') → 2", distance(levenshtein), fails),
	fn("mismatches", "tt", tBigint, "mismatches('duck', 'luck') → 1", hamming, fails),
	fn("ord", "t", tInt, "ord('ü') → 252", func(a []types.Value, t types.Type) (types.Value, error) {
		if a[0].S == "" {
			return number(t, 0)
		}
		r, _ := utf8.DecodeRuneInString(a[0].S)
		return number(t, int64(r))
	}),
	fn("parse_dirpath", "t", tText, "parse_dirpath('a/b/c.csv') → a/b", func(a []types.Value, _ types.Type) (types.Value, error) {
		return text(a[0].S[:max(strings.LastIndexByte(a[0].S, '/'), 0)])
	}),
	fn("parse_filename", "t?b", tText, "parse_filename('a/b/c.csv') → c.csv", func(a []types.Value, _ types.Type) (types.Value, error) {
		name := a[0].S[strings.LastIndexByte(a[0].S, '/')+1:]
		if i := strings.LastIndexByte(name, '.'); len(a) > 1 && a[1].I != 0 && i > 0 {
			name = name[:i]
		}
		return text(name)
	}),
	op("prefix", "tt", tBool, plan.StartsWith, "prefix('abc', 'ab') → true"),
	fn("soundex", "t", tText, "soundex('hello world!') → H464", func(a []types.Value, _ types.Type) (types.Value, error) {
		return text(soundex(a[0].S))
	}),
	op("strlen", "t", tInt, plan.OctetLength, "strlen('josé') → 5"),
	fn("suffix", "tt", tBool, "suffix('abc', 'bc') → true", hasSuffix),
	op("ucase", "t", tText, plan.Upper, "ucase('tom') → TOM"),
	fn("unicode", "t", tInt, "unicode('ü') → 252", func(a []types.Value, t types.Type) (types.Value, error) {
		if a[0].S == "" {
			return number(t, -1)
		}
		r, _ := utf8.DecodeRuneInString(a[0].S)
		return number(t, int64(r))
	}),
}

func hasSuffix(a []types.Value, _ types.Type) (types.Value, error) {
	return boolean(strings.HasSuffix(a[0].S, a[1].S))
}

func chr(a []types.Value, _ types.Type) (types.Value, error) {
	switch c := a[0].I; {
	case c == 0:
		return fail(diag.ProgramLimitExceeded, "null character not permitted")
	case c < 0:
		return fail(diag.InvalidParameter, "character number must be positive")
	case c > utf8.MaxRune:
		return fail(diag.ProgramLimitExceeded, "requested character too large for encoding: %d", c)
	case !utf8.ValidRune(rune(c)):
		return fail(diag.ProgramLimitExceeded, "requested character not valid for encoding: %d", c)
	default:
		return text(string(rune(c)))
	}
}

// times is a product of sizes; a negative one is nothing.
func times(n, count int64) int64 {
	if n <= 0 || count <= 0 {
		return 0
	}
	if count > (1<<40)/n {
		return 1 << 40
	}
	return n * count
}
