package plan

// opInfo is what the rest of the engine needs to know of an operation.
type opInfo struct {
	name  string
	infix bool
	// strict: NULL when an operand is, and, but for what infiniteNull reports, only then.
	strict bool
	// total: never NULL, whatever the operands.
	total bool
	// fails: may raise an error at run time (overflow, division by zero, bad input), so it must not
	// be evaluated on rows on which the query text does not evaluate it.
	fails bool
}

var ops = [numOps]opInfo{
	OpNone:      {name: "none"},
	Add:         {name: "+", infix: true, strict: true, fails: true},
	Sub:         {name: "-", infix: true, strict: true, fails: true},
	Mul:         {name: "*", infix: true, strict: true, fails: true},
	Div:         {name: "/", infix: true, strict: true, fails: true},
	Mod:         {name: "%", infix: true, strict: true, fails: true},
	Neg:         {name: "neg", strict: true, fails: true},
	Eq:          {name: "=", infix: true, strict: true},
	Ne:          {name: "<>", infix: true, strict: true},
	Lt:          {name: "<", infix: true, strict: true},
	Le:          {name: "<=", infix: true, strict: true},
	Gt:          {name: ">", infix: true, strict: true},
	Ge:          {name: ">=", infix: true, strict: true},
	NotDistinct: {name: "is not distinct from", infix: true, total: true},
	And:         {name: "and", infix: true},
	Or:          {name: "or", infix: true},
	Not:         {name: "not", strict: true},
	IsNull:      {name: "isnull", total: true},
	IsTrue:      {name: "istrue", total: true},
	Case:        {name: "case"},
	Coalesce:    {name: "coalesce"},
	NullIf:      {name: "nullif"},
	InList:      {name: "in"},
	Like:        {name: "like", infix: true, strict: true},
	Substring:   {name: "substring", strict: true, fails: true},
	Length:      {name: "length", strict: true},
	OctetLength: {name: "octet_length", strict: true},
	Lower:       {name: "lower", strict: true},
	Upper:       {name: "upper", strict: true},
	Concat:      {name: "||", infix: true, strict: true},
	Trim:        {name: "trim", strict: true},
	Ltrim:       {name: "ltrim", strict: true},
	Rtrim:       {name: "rtrim", strict: true},
	Replace:     {name: "replace", strict: true},
	Position:    {name: "position", strict: true},
	StartsWith:  {name: "starts_with", strict: true},
	LeftStr:     {name: "left", strict: true},
	RightStr:    {name: "right", strict: true},
	Extract:     {name: "extract", strict: true, fails: true},
	DateAdd:     {name: "date_add", strict: true, fails: true},
	DateSub:     {name: "date_sub", strict: true, fails: true},
	DateTrunc:   {name: "date_trunc", strict: true, fails: true},
	AddInterval: {name: "add_interval", strict: true, fails: true},
	Abs:         {name: "abs", strict: true, fails: true},
	Round:       {name: "round", strict: true, fails: true},
	Floor:       {name: "floor", strict: true},
	Ceil:        {name: "ceil", strict: true},
	Trunc:       {name: "trunc", strict: true},
	Sqrt:        {name: "sqrt", strict: true, fails: true},
	Sign:        {name: "sign", strict: true},
	Power:       {name: "power", strict: true, fails: true},
	Exp:         {name: "exp", strict: true, fails: true},
	Ln:          {name: "ln", strict: true, fails: true},
	Log10:       {name: "log10", strict: true, fails: true},
	Greatest:    {name: "greatest"},
	Least:       {name: "least"},
	Cast:        {name: "cast", strict: true, fails: true},
	Apply:       {name: "apply"},
}

// String is the operation's name in plans.
func (op Op) String() string { return ops[op].name }

// Name is that of the operation, or of the function that is applied.
func (x *Call) Name() string {
	if x.Op == Apply {
		return x.Fn.Name
	}
	return ops[x.Op].name
}

// Strict reports that the result is NULL when an operand is. That of an operation is so only then, unless times are infinite;
// a function may find other reasons (Function.NullOut).
func (x *Call) Strict() bool {
	if x.Op == Apply {
		return x.Fn.Strict
	}
	return ops[x.Op].strict
}

// MayFail reports that computing it from its operands can raise an error at run time.
func (x *Call) MayFail() bool {
	if x.Op == Apply {
		return x.Fn.Fails
	}
	return ops[x.Op].fails
}

// IsComparison reports Eq … Ge.
func (op Op) IsComparison() bool { return op >= Eq && op <= Ge }

// Mirror is the comparison with its operands exchanged: a < b is b > a.
func (op Op) Mirror() Op {
	switch op {
	case Lt:
		return Gt
	case Le:
		return Ge
	case Gt:
		return Lt
	case Ge:
		return Le
	}
	return op
}

// Inverse is the comparison that is true where op is false, and NULL where it is NULL.
// OpNone if there is none.
func (op Op) Inverse() Op {
	switch op {
	case Eq:
		return Ne
	case Ne:
		return Eq
	case Lt:
		return Ge
	case Le:
		return Gt
	case Gt:
		return Le
	case Ge:
		return Lt
	}
	return OpNone
}
