package opt

import "github.com/kelpiedb/kelpie/internal/funcs"

// likeLiteral takes a pattern apart: the text before the first wildcard, whether that is
// all of it, and the number of literal characters in total. A pattern that ends with a backslash is never whole:
// matching it is an error, which comparing with a text would hide.
func likeLiteral(pattern string) (prefix string, whole bool, literals int) {
	var b []byte
	whole = true
	complete := funcs.EachLike(pattern, func(t funcs.LikeToken, c byte) {
		if t != funcs.LikeByte {
			whole = false
			return
		}
		literals++
		if whole {
			b = append(b, c)
		}
	})
	whole = whole && complete
	return string(b), whole, literals
}
