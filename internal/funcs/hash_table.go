package funcs

import (
	"crypto/md5"
	"crypto/sha1"
	"encoding/base64"
	"encoding/hex"
	"hash/crc32"
	"net/url"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// hashRows are functions of the bytes of texts.
var hashRows = []Row{
	fn("base64", "t", tText, "base64('Hello') → SGVsbG8=", encoded(base64.StdEncoding.EncodeToString), size(doubled)),
	fn("crc32", "t", tBigint, "crc32('abc') → 891568578", func(a []types.Value, t types.Type) (types.Value, error) {
		return number(t, int64(crc32.ChecksumIEEE([]byte(a[0].S))))
	}),
	fn("encode", "tt", tText, "encode('123', 'base64') → MTIz", encode, size(func(a []types.Value) int64 { return 4 * int64(len(a[0].S)) })),
	fn("hash", "*…", tBigint, "hash('a') = hash('a') → true", hashOf, seesNull),
	fn("hex", "t", tText, "hex('Kelpie') → 4B656C706965", func(a []types.Value, _ types.Type) (types.Value, error) {
		return text(strings.ToUpper(hex.EncodeToString([]byte(a[0].S))))
	}, size(doubled)),
	fn("hex", "i", tText, "hex(42) → 2A", func(a []types.Value, t types.Type) (types.Value, error) {
		v, err := inBase(16)(a, t)
		v.S = strings.ToUpper(v.S)
		return v, err
	}),
	fn("md5", "t", tText, "md5('abc') → 900150983cd24fb0d6963f7d28e17f72", func(a []types.Value, _ types.Type) (types.Value, error) {
		h := md5.Sum([]byte(a[0].S))
		return text(hex.EncodeToString(h[:]))
	}),
	fn("sha1", "t", tText, "sha1('abc') → a9993e364706816aba3e25717850c26c9cd0d89d", func(a []types.Value, _ types.Type) (types.Value, error) {
		h := sha1.Sum([]byte(a[0].S))
		return text(hex.EncodeToString(h[:]))
	}),
	fn("to_base64", "t", tText, "to_base64('Hello') → SGVsbG8=", encoded(base64.StdEncoding.EncodeToString), size(doubled)),
	fn("url_decode", "t", tText, "url_decode('a%20b') → a b", func(a []types.Value, _ types.Type) (types.Value, error) {
		s, err := url.PathUnescape(a[0].S)
		if err != nil || !validText(s) {
			return fail(diag.InvalidParameter, "%q is no URL-encoded text", a[0].S)
		}
		return text(s)
	}, fails),
	fn("url_encode", "t", tText, "url_encode('a b/c') → a%20b%2Fc", encoded(func(b []byte) string {
		return strings.ReplaceAll(url.QueryEscape(string(b)), "+", "%20")
	}), size(func(a []types.Value) int64 { return 3 * int64(len(a[0].S)) })),
}

func doubled(a []types.Value) int64 { return 2*int64(len(a[0].S)) + 4 }

func encoded(f func([]byte) string) Eval {
	return func(a []types.Value, _ types.Type) (types.Value, error) { return text(f([]byte(a[0].S))) }
}

// encode writes bytes in letters.
func encode(a []types.Value, _ types.Type) (types.Value, error) {
	s := a[0].S
	switch strings.ToLower(a[1].S) {
	case "hex":
		return text(hex.EncodeToString([]byte(s)))
	case "base64": // in lines of 76 letters
		var b strings.Builder
		for all := base64.StdEncoding.EncodeToString([]byte(s)); all != ""; {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			n := min(len(all), 76)
			b.WriteString(all[:n])
			all = all[n:]
		}
		return text(b.String())
	case "escape":
		var b strings.Builder
		for i := range len(s) {
			switch c := s[i]; {
			case c == '\\':
				b.WriteString(`\\`)
			case c == 0 || c >= 0x80:
				b.WriteByte('\\')
				b.WriteByte('0' + c>>6)
				b.WriteByte('0' + c>>3&7)
				b.WriteByte('0' + c&7)
			default:
				b.WriteByte(c)
			}
		}
		return text(b.String())
	}
	return fail(diag.InvalidParameter, "unrecognized encoding: %q", a[1].S)
}

// hashOf is the same number for the same values in every process.
func hashOf(a []types.Value, t types.Type) (types.Value, error) {
	h := uint64(0xcbf29ce484222325)
	add := func(s string) {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * 0x100000001b3
		}
	}
	for _, v := range a {
		if v.Null {
			add("\x00")
			continue
		}
		add(v.String())
		add("\x01")
	}
	h ^= h >> 32
	h *= 0x9e3779b97f4a7c15
	return number(t, int64(h>>1))
}
