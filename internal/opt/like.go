package opt

// likeLiteral takes a pattern apart: the text before the first wildcard, whether that is
// all of it, and the number of literal characters in total.
func likeLiteral(pattern string) (prefix string, whole bool, literals int) {
	var b []byte
	whole = true
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		if c == '%' || c == '_' {
			whole = false
			continue
		}
		if c == '\\' && i+1 < len(pattern) {
			i++
			c = pattern[i]
		}
		literals++
		if whole {
			b = append(b, c)
		}
	}
	return string(b), whole, literals
}
