package main

import "strings"

// complete reports whether what was typed can be run: nothing at all, statements of which the last one has its semicolon,
// or a command in the last line. Semicolons and backslashes in strings, quoted names and comments do not count.
func complete(text string) bool {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || trimmed[0] == '.' && dotCommand(trimmed) && !strings.Contains(trimmed, "\n") {
		return true
	}
	switch strings.ToLower(trimmed) {
	case "exit", "quit", "help":
		return true
	}
	ended := false
	for i := 0; i < len(text); {
		end, kind := token(text, i)
		switch {
		case end < 0:
			return false // a string or comment that is still open
		case kind == tokenSpace:
		case text[i] == '\\' && !strings.Contains(strings.TrimRight(text[i:], " \t\n"), "\n"):
			return true
		default:
			ended = text[i] == ';'
		}
		i = end
	}
	return ended
}

// The kinds of tokens that matter here.
type tokenKind uint8

const (
	tokenSpace tokenKind = iota // blanks and comments
	tokenWord
	tokenNumber
	tokenString
	tokenOther // a single character
)

// token finds the end of the token that begins at i, -1 if the text ends inside of it. It knows just
// enough SQL to find semicolons and to color a line: the parser decides what is right.
func token(text string, i int) (end int, kind tokenKind) {
	rest := text[i:]
	switch c := text[i]; {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f':
		return i + 1, tokenSpace
	case strings.HasPrefix(rest, "--"):
		if n := strings.IndexByte(rest, '\n'); n >= 0 {
			return i + n + 1, tokenSpace
		}
		return len(text), tokenSpace
	case strings.HasPrefix(rest, "/*"):
		return blockComment(text, i), tokenSpace
	case (c == 'e' || c == 'E') && len(rest) > 1 && rest[1] == '\'':
		return quoted(text, i+1, true), tokenString
	case c == '\'':
		return quoted(text, i, false), tokenString
	case c == '"':
		return quoted(text, i, false), tokenWord
	case c == '$':
		if tag := dollarTag(rest); tag != "" {
			if n := strings.Index(rest[len(tag):], tag); n >= 0 {
				return i + n + 2*len(tag), tokenString
			}
			return -1, tokenString
		}
	case c >= '0' && c <= '9':
		return i + span(rest, func(c byte) bool { return wordByte(c) || c == '.' }), tokenNumber
	case wordByte(c):
		return i + span(rest, wordByte), tokenWord
	}
	return i + 1, tokenOther
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}

func span(s string, ok func(byte) bool) int {
	n := 0
	for n < len(s) && ok(s[n]) {
		n++
	}
	return n
}

// quoted finds the end of a string or name that begins with a quote at i. A doubled quote is two
// strings in a row to us, which comes to the same.
func quoted(text string, i int, backslash bool) int {
	for k := i + 1; k < len(text); k++ {
		switch {
		case text[k] == '\\' && backslash:
			k++
		case text[k] == text[i]:
			return k + 1
		}
	}
	return -1
}

// blockComment finds the end of a comment; they nest.
func blockComment(text string, i int) int {
	depth := 0
	for ; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], "/*"):
			depth++
			i++
		case strings.HasPrefix(text[i:], "*/"):
			depth--
			i++
			if depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// dollarTag is the opening $tag$ of a string, "" if there is none.
func dollarTag(s string) string {
	n := 1 + span(s[1:], wordByte)
	if n < len(s) && s[n] == '$' && !(n > 1 && s[1] >= '0' && s[1] <= '9') {
		return s[:n+1]
	}
	return ""
}
