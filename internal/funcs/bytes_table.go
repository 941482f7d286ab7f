package funcs

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

var tBytes = types.TBytes

// bytesRows are functions of bytes, and of UUIDs.
var bytesRows = []Row{
	fn("bit_count", "B", tBigint, `bit_count('\xff01'::bytea) → 9`, func(a []types.Value, t types.Type) (types.Value, error) {
		n := 0
		for i := range len(a[0].S) {
			n += bits.OnesCount8(a[0].S[i])
		}
		return number(t, int64(n))
	}),
	fn("bit_length", "B", tInt, "bit_length('abc'::bytea) → 24", byteLength(8)),
	fn("convert_from", "Bt", tText, "convert_from('abc'::bytea, 'UTF8') → abc", convertFrom, fails),
	fn("convert_to", "tt", tBytes, "convert_to('abc', 'UTF8') → \\x616263", convertTo, fails),
	fn("decode", "tt", tBytes, "decode('TWE=', 'base64') → \\x4d61", decode, fails),
	fn("decode", "B", tText, "decode('abc'::bytea) → abc", convertFrom, fails),
	fn("encode", "Bt", tText, "encode('abc'::bytea, 'hex') → 616263", encode, size(func(a []types.Value) int64 { return 4 * int64(len(a[0].S)) })),
	fn("from_base64", "t", tBytes, "from_base64('TWE=') → \\x4d61", func(a []types.Value, _ types.Type) (types.Value, error) { return decodeBase64(a[0].S) }, fails),
	fn("from_hex", "t", tBytes, "from_hex('4d61') → \\x4d61", func(a []types.Value, _ types.Type) (types.Value, error) { return decodeHex(a[0].S) }, fails),
	fn("unhex", "t", tBytes, "unhex('4d61') → \\x4d61", func(a []types.Value, _ types.Type) (types.Value, error) { return decodeHex(a[0].S) }, fails),
	fn("gen_random_uuid", "", types.TUUID, "", randomUUID, volatile),
	fn("uuid", "", types.TUUID, "", randomUUID, volatile),
	fn("get_byte", "Bi", tInt, "get_byte('\\x4d61'::bytea, 1) → 97", getByte, fails),
	fn("length", "B", tInt, "length('\\x00ff'::bytea) → 2", byteLength(1)),
	fn("md5", "B", tText, "md5('abc'::bytea) → 900150983cd24fb0d6963f7d28e17f72", func(a []types.Value, _ types.Type) (types.Value, error) {
		h := md5.Sum([]byte(a[0].S))
		return text(hex.EncodeToString(h[:]))
	}),
	fn("octet_length", "B", tInt, "octet_length('\\x00ff'::bytea) → 2", byteLength(1)),
	fn("set_byte", "Bii", tBytes, "set_byte('\\x4d61'::bytea, 1, 98) → \\x4d62", setByte, fails),
	fn("substr", "Bi?i", tBytes, "substr('\\x010203'::bytea, 2) → \\x0203", byteSubstring, fails),
	fn("substring", "Bi?i", tBytes, "substring('\\x010203'::bytea, 2, 1) → \\x02", byteSubstring, fails),
}

func bytesValue(b []byte) (types.Value, error) { return types.Value{Type: tBytes, S: string(b)}, nil }

func byteLength(unit int64) Eval {
	return func(a []types.Value, t types.Type) (types.Value, error) { return number(t, unit*int64(len(a[0].S))) }
}

// convertFrom is a text of bytes in an encoding. Texts have no zero bytes.
func convertFrom(a []types.Value, _ types.Type) (types.Value, error) {
	name := "UTF8"
	if len(a) > 1 {
		name = a[1].S
	}
	latin, err := isLatin1(name, "source")
	if err != nil {
		return types.Value{}, err
	}
	s := a[0].S
	if strings.IndexByte(s, 0) >= 0 || !latin && !utf8.ValidString(s) {
		return fail(diag.CharacterNotInRepertoire, "invalid byte sequence for encoding %q", strings.ToUpper(name))
	}
	if latin {
		runes := make([]rune, len(s))
		for i := range runes {
			runes[i] = rune(s[i])
		}
		s = string(runes)
	}
	return text(s)
}

// convertTo are the bytes of a text in an encoding.
func convertTo(a []types.Value, _ types.Type) (types.Value, error) {
	latin, err := isLatin1(a[1].S, "destination")
	if err != nil || !latin {
		return types.Value{Type: tBytes, S: a[0].S}, err
	}
	var b []byte
	for _, r := range a[0].S {
		if r > 0xff {
			return fail(diag.UntranslatableCharacter, "character %q has no equivalent in encoding \"LATIN1\"", r)
		}
		b = append(b, byte(r))
	}
	return bytesValue(b)
}

// isLatin1 tells the two encodings that there are apart, UTF-8 and LATIN1.
func isLatin1(name, role string) (bool, error) {
	switch plain := strings.Map(alphanumeric, strings.ToLower(name)); {
	case plain == "utf8" || plain == "unicode" || plain == "sqlascii":
		return false, nil
	case plain == "latin1" || plain == "iso88591":
		return true, nil
	case slices.ContainsFunc(otherEncodings, func(e string) bool { return strings.HasPrefix(plain, e) }):
		return false, errorf(diag.FeatureNotSupported, "the encoding %q is not supported", name)
	}
	return false, errorf(diag.InvalidParameter, "invalid %s encoding name %q", role, name)
}

// alphanumeric drops what does not count in the name of an encoding.
func alphanumeric(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
		return r
	}
	return -1
}

// otherEncodings are beginnings of the names of those that PostgreSQL has besides.
var otherEncodings = []string{"big5", "euc", "gb18030", "gbk", "iso8859", "johab", "koi8", "latin", "mskanji", "mule", "shiftjis", "sjis", "shift", "tcvn", "uhc", "vscii", "win", "abc", "alt"}

// decode is what encode made.
func decode(a []types.Value, _ types.Type) (types.Value, error) {
	switch strings.ToLower(a[1].S) {
	case "hex":
		return decodeHex(a[0].S)
	case "base64":
		return decodeBase64(a[0].S)
	case "escape":
		s, err := types.ParseBytes(strings.TrimPrefix(a[0].S, `\x`))
		return types.Value{Type: tBytes, S: s}, err
	}
	return fail(diag.InvalidParameter, "unrecognized encoding: %q", a[1].S)
}

func decodeHex(s string) (types.Value, error) {
	b, err := types.ParseBytes(`\x` + s)
	return types.Value{Type: tBytes, S: b}, err
}

func decodeBase64(s string) (types.Value, error) {
	b, err := base64.StdEncoding.DecodeString(strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\r\n", r) {
			return -1
		}
		return r
	}, s))
	if err != nil {
		return fail(diag.InvalidParameter, "invalid base64 end sequence or symbol in %q", s)
	}
	return bytesValue(b)
}

func getByte(a []types.Value, t types.Type) (types.Value, error) {
	if a[1].I < 0 || a[1].I >= int64(len(a[0].S)) {
		return fail("2202E", "index %d out of valid range, 0..%d", a[1].I, len(a[0].S)-1)
	}
	return number(t, int64(a[0].S[a[1].I]))
}

func setByte(a []types.Value, _ types.Type) (types.Value, error) {
	if a[1].I < 0 || a[1].I >= int64(len(a[0].S)) {
		return fail("2202E", "index %d out of valid range, 0..%d", a[1].I, len(a[0].S)-1)
	}
	b := []byte(a[0].S)
	b[a[1].I] = byte(a[2].I)
	return bytesValue(b)
}

// byteSubstring counts from 1, and bytes before the first count, too.
func byteSubstring(a []types.Value, t types.Type) (types.Value, error) {
	n := int64(len(a[0].S))
	from, to := a[1].I, n+1
	if len(a) > 2 {
		if a[2].I < 0 {
			return fail(diag.SubstringError, "negative substring length not allowed")
		}
		if end := from + a[2].I; end >= from { // no overflow
			to = min(to, end)
		}
	}
	if from = max(from, 1); from >= to {
		return types.Value{Type: t}, nil
	}
	return types.Value{Type: t, S: a[0].S[from-1 : to-1]}, nil
}

func randomUUID([]types.Value, types.Type) (types.Value, error) {
	return types.Value{Type: types.TUUID, S: types.RandomUUID()}, nil
}
