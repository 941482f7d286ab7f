package types

import (
	"slices"
	"strconv"
	"strings"
)

// ReadTypeOf reads a type as Type.String writes it, or by any other name of it; named finds types that have names of their own, as SQL writes them.
func ReadTypeOf(text string, named func(name string) (Type, bool)) (Type, error) {
	text = strings.TrimSpace(text)
	if t, ok := named(text); ok {
		return t, nil
	}
	wrong := errf(codeUndefinedType, "%q is not a type", text)
	if strings.EqualFold(text, TUnknown.String()) {
		return TUnknown, nil
	}
	if elem, ok := strings.CutSuffix(text, "[]"); ok {
		t, err := ReadTypeOf(elem, named)
		if err != nil || !CanList(t) {
			return Type{}, wrong
		}
		return TList(t), nil
	}
	name, rest, ok := strings.Cut(text, "(")
	if !ok {
		return ParseType(text, nil)
	}
	if rest, ok = strings.CutSuffix(rest, ")"); !ok {
		return Type{}, wrong
	}
	parts := splitType(rest)
	name = strings.ToLower(strings.TrimSpace(name))
	switch name {
	case "enum":
		labels, ok := readLabels(parts)
		if !ok {
			return Type{}, wrong
		}
		return TEnum("", labels), nil
	case "struct", "row":
		var fields []Member
		for _, p := range parts {
			field, typ, ok := cutName(p)
			if !ok {
				return Type{}, wrong
			}
			t, err := ReadTypeOf(typ, named)
			if err != nil || !CanList(t) {
				return Type{}, wrong
			}
			fields = append(fields, Member{field, t})
		}
		if name == "row" {
			return TRow(fields), nil
		}
		return TStruct(fields), nil
	case "map":
		if len(parts) != 2 {
			return Type{}, wrong
		}
		k, err := ReadTypeOf(parts[0], named)
		v, err2 := ReadTypeOf(parts[1], named)
		if err != nil || err2 != nil || !CanList(k) || !CanList(v) {
			return Type{}, wrong
		}
		return TMap(k, v), nil
	}
	var args []int
	for _, a := range parts {
		n, err := strconv.Atoi(a)
		if err != nil {
			return Type{}, wrong
		}
		args = append(args, n)
	}
	return ParseType(name, args)
}

// readLabels reads those of an enum, of which none comes twice.
func readLabels(parts []string) (out []string, ok bool) {
	for _, p := range parts {
		if len(p) < 2 || p[0] != '\'' || p[len(p)-1] != '\'' {
			return nil, false
		}
		label := strings.ReplaceAll(p[1:len(p)-1], "''", "'")
		if slices.Contains(out, label) {
			return nil, false
		}
		out = append(out, label)
	}
	return out, true
}

// splitType cuts at the commas that are neither in parentheses nor in quotes.
func splitType(s string) (parts []string) {
	depth, start, inside := 0, 0, byte(0)
	for i := range len(s) {
		switch c := s[i]; {
		case inside != 0:
			if c == inside {
				inside = 0
			}
		case c == '"' || c == '\'':
			inside = c
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			parts, start = append(parts, strings.TrimSpace(s[start:i])), i+1
		}
	}
	if last := strings.TrimSpace(s[start:]); last != "" || len(parts) > 0 {
		parts = append(parts, last)
	}
	return parts
}

// cutName cuts a name, which may be in quotes, off what follows it.
func cutName(s string) (name, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		return strings.Cut(s, " ")
	}
	for i := 1; i < len(s); i++ {
		if s[i] != '"' {
			continue
		}
		if i+1 < len(s) && s[i+1] == '"' {
			i++
			continue
		}
		return strings.ReplaceAll(s[1:i], `""`, `"`), s[i+1:], true
	}
	return "", "", false
}
