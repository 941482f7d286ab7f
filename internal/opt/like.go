package opt

// likeLiteral takes a pattern apart: the text before the first wildcard, whether that is
// all of it, and the number of literal characters in total. A pattern that ends with a backslash is never whole:
// matching it is an error, which comparing with a text would hide.
func likeLiteral(pattern string) (prefix string, whole bool, literals int) {
	var b []byte
	whole = true
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		if c == '%' || c == '_' {
			whole = false
			continue
		}
		if c == '\\' {
			if i++; i == len(pattern) {
				return string(b), false, literals
			}
			c = pattern[i]
		}
		literals++
		if whole {
			b = append(b, c)
		}
	}
	return string(b), whole, literals
}
