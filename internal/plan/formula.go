package plan

// Formula is what code computes of a count, which is operand 0, and of doubles, which are the others. Doubles may leave their range on the way: no
// error comes of that, as in Go. Where the count is not 0 no operand is NULL.
type Formula struct {
	Over      int64  // it is NULL unless the count is more
	NotZero   []int  // it is NULL where one of these operands is zero
	OneIfZero int    // it is one where this operand is zero; 0: there is none
	Steps     string // reverse Polish: the numbers of operands, one, + - * / sqrt
}
