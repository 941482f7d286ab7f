package main

import (
	"slices"
	"strings"
)

// highlight colors a line while it is typed: keywords bold, strings green, numbers cyan, comments
// dim. Terminals that want no color say so with NO_COLOR, which the shell checks.
func highlight(line []rune) string {
	text := string(line)
	var b strings.Builder
	for i := 0; i < len(text); {
		end, kind := token(text, i)
		if end < 0 {
			end = len(text)
		}
		part := text[i:end]
		style := ""
		switch {
		case kind == tokenString:
			style = "32"
		case kind == tokenNumber:
			style = "36"
		case kind == tokenSpace && strings.TrimSpace(part) != "":
			style = "2"
		case kind == tokenWord && isKeyword(part):
			style = "1"
		}
		if style == "" {
			b.WriteString(part)
		} else {
			b.WriteString("\x1b[" + style + "m" + part + "\x1b[0m")
		}
		i = end
	}
	return b.String()
}

func isKeyword(word string) bool {
	_, found := slices.BinarySearch(keywords, strings.ToLower(word))
	return found
}
