package types

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
)

// BYTEA is bytes as they are. UUID is its text, 36 letters in lower case: these order as the bytes do.

// ParseBytes reads \x and hexadecimal digits, or text in which a backslash begins \\ or three octal digits.
func ParseBytes(s string) (string, error) {
	if strings.HasPrefix(s, `\x`) {
		digits := strings.Map(func(r rune) rune {
			if r == ' ' || r == '\n' || r == '\t' || r == '\r' {
				return -1
			}
			return r
		}, s[2:])
		for i := range len(digits) {
			if !isHex(digits[i]) {
				return "", errf(codeBadParameter, "invalid hexadecimal digit: %s", quoted(digits[i:i+1]))
			}
		}
		b, err := hex.DecodeString(digits)
		if err != nil {
			return "", errf(codeBadParameter, "invalid hexadecimal data: odd number of digits")
		}
		return string(b), nil
	}
	if strings.IndexByte(s, '\\') < 0 {
		return s, nil
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		octal := func(k int) bool { return i+k < len(s) && s[i+k] >= '0' && s[i+k] <= '7' }
		switch {
		case s[i] != '\\':
			b = append(b, s[i])
		case i+1 < len(s) && s[i+1] == '\\':
			b = append(b, '\\')
			i++
		case octal(1) && s[i+1] <= '3' && octal(2) && octal(3):
			b = append(b, (s[i+1]-'0')<<6|(s[i+2]-'0')<<3|(s[i+3]-'0'))
			i += 3
		default:
			return "", errf(codeSyntax, "invalid input syntax for type bytea")
		}
	}
	return string(b), nil
}

// AppendBytes appends bytes as \x and hexadecimal digits.
func AppendBytes(dst []byte, s string) []byte {
	return hex.AppendEncode(append(dst, `\x`...), []byte(s))
}

// ParseUUID reads 32 hexadecimal digits, in braces or not, with hyphens after any group of four.
func ParseUUID(s string) (string, error) {
	bad := func() (string, error) { return "", syntaxError(TUUID, s) }
	t := s
	if strings.HasPrefix(t, "{") {
		if !strings.HasSuffix(t, "}") {
			return bad()
		}
		t = t[1 : len(t)-1]
	}
	b := make([]byte, 0, 36)
	n := 0
	for i := range len(t) {
		switch c := t[i]; {
		case c == '-' && n%4 == 0 && n > 0 && n < 32 && t[i-1] != '-':
		case !isHex(c) || n == 32:
			return bad()
		default:
			if n == 8 || n == 12 || n == 16 || n == 20 {
				b = append(b, '-')
			}
			if c >= 'A' && c <= 'F' {
				c += 32
			}
			b = append(b, c)
			n++
		}
	}
	if n != 32 || t[len(t)-1] == '-' {
		return bad()
	}
	return string(b), nil
}

func isHex(c byte) bool { return isDigit(c) || c|32 >= 'a' && c|32 <= 'f' }

// RandomUUID is a new one, of version 4.
func RandomUUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// UUIDBytes are the 16 bytes that a UUID writes.
func UUIDBytes(s string) []byte {
	b, _ := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
	return b
}
