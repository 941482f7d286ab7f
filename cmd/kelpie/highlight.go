package main

import (
	"slices"
	"strings"
)

// SGR codes of the colors of a statement.
const (
	bold  = 1
	dim   = 2
	green = 32
	cyan  = 36
)

// highlight gives each byte of a statement its color while it is typed.
func highlight(text string) []uint8 {
	styles := make([]uint8, len(text))
	for i := 0; i < len(text); {
		end, kind := token(text, i)
		if end < 0 { // an open string or comment
			end = len(text)
		}
		style := uint8(0)
		switch part := text[i:end]; {
		case kind == tokenString:
			style = green
		case kind == tokenNumber:
			style = cyan
		case kind == tokenSpace && strings.TrimSpace(part) != "": // a comment
			style = dim
		case kind == tokenWord && isKeyword(part):
			style = bold
		}
		for ; i < end; i++ {
			styles[i] = style
		}
	}
	return styles
}

func isKeyword(word string) bool {
	_, found := slices.BinarySearch(keywords, strings.ToLower(word))
	return found
}
