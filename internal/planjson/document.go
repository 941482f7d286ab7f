package planjson

// version is that of the form; what a later one could not read gets another.
const version = 1

// document is a plan.
type document struct {
	Version  int               `json:"kelpie_plan"`
	Settings map[string]string `json:"settings,omitempty"` // of the session that runs it
	Optimize bool              `json:"optimize,omitempty"` // all passes of the optimizer
	Shared   []shared          `json:"shared,omitempty"`   // computed once; each may read those before it
	Plan     *operator         `json:"plan"`
	Output   []output          `json:"output"`
}

// shared is a plan whose result several operators read.
type shared struct {
	Name    string    `json:"name,omitempty"`
	Plan    *operator `json:"plan"`
	Columns []string  `json:"columns"`
}

// output is a column of the result.
type output struct {
	Column string `json:"column"`
	Name   string `json:"name"`
}

// operator is any operator; fields says which of the others each has.
type operator struct {
	Op string `json:"op"`
	// Cut: the result is kept, so that what comes above is another pipeline.
	Cut bool `json:"cut,omitempty"`
	// Switches hold for this operator, or for the pipeline that begins with it: names and values as SET has them.
	Switches map[string]string `json:"switches,omitempty"`

	Table  string    `json:"table,omitempty"`
	Schema string    `json:"schema,omitempty"`
	Alias  string    `json:"alias,omitempty"`
	Where  []operand `json:"where,omitempty"`

	Shared *int        `json:"shared,omitempty"`
	Keep   []string    `json:"keep,omitempty"`
	Cols   []column    `json:"columns,omitempty"`
	Rows   [][]operand `json:"rows,omitempty"`
	From   int64       `json:"from,omitempty"`
	Step   int64       `json:"step,omitempty"`
	Count  int64       `json:"count,omitempty"`
	Times  *operand    `json:"times,omitempty"`
	As     string      `json:"as,omitempty"`
	Type   string      `json:"type,omitempty"`

	Kind   string    `json:"kind,omitempty"`
	On     []operand `json:"on,omitempty"`
	Keys   []joinKey `json:"keys,omitempty"`
	Mark   string    `json:"mark,omitempty"`
	Build  string    `json:"build,omitempty"`
	Unique bool      `json:"unique,omitempty"`
	Gate   bool      `json:"gate,omitempty"`

	By    []column    `json:"by,omitempty"`
	Aggs  []aggregate `json:"aggregates,omitempty"`
	Order []sortKey   `json:"order,omitempty"`
	Limit *int64      `json:"limit,omitempty"`
	Skip  int64       `json:"offset,omitempty"`

	Windows   []windowSpec `json:"windows,omitempty"`
	Functions []windowFunc `json:"functions,omitempty"`

	Name     string     `json:"name,omitempty"`
	Number   int        `json:"number,omitempty"`
	Distinct bool       `json:"distinct,omitempty"`
	Sources  [][]string `json:"sources,omitempty"`

	Input  *operator   `json:"input,omitempty"`
	Left   *operator   `json:"left,omitempty"`
	Right  *operator   `json:"right,omitempty"`
	Inputs []*operator `json:"inputs,omitempty"`
}

// fields are those of each operator, besides op, cut and switches.
var fields = map[string]string{
	"scan":      "table schema alias columns where",
	"values":    "columns rows",
	"series":    "as type from step count",
	"shared":    "shared columns",
	"filter":    "where input",
	"project":   "keep columns input",
	"join":      "kind on keys mark build unique gate left right",
	"group":     "by aggregates input",
	"union all": "sources columns inputs",
	"repeat":    "times as input",
	"sort":      "order limit offset input",
	"window":    "windows functions input",
	"recursive": "name number distinct sources columns inputs",
	"work":      "name number columns",
}

// column is a column that an operator makes.
type column struct {
	As     string   `json:"as"`
	Column string   `json:"column,omitempty"` // of the table, of the shared plan or of the recursion
	Value  *operand `json:"value,omitempty"`
	Type   string   `json:"type,omitempty"`
}

// joinKey is an equality between the sides of a join.
type joinKey struct {
	Left     operand `json:"left"`
	Right    operand `json:"right"`
	NullSafe bool    `json:"null_safe,omitempty"` // NULLs are equal
}

// aggregate is a computation over the rows of a group.
type aggregate struct {
	As       string      `json:"as"`
	Function string      `json:"function"`
	Args     []operand   `json:"args,omitempty"`
	Type     string      `json:"type"`
	Distinct bool        `json:"distinct,omitempty"`
	Filter   *operand    `json:"filter,omitempty"`
	Fold     bool        `json:"fold,omitempty"`   // Go computes it from all rows of the group
	Within   bool        `json:"within,omitempty"` // WITHIN GROUP
	Direct   []operand   `json:"direct,omitempty"` // arguments that are the same for all rows
	Order    []foldOrder `json:"order,omitempty"`
}

// foldOrder is an element of an aggregate's ORDER BY.
type foldOrder struct {
	Value      operand `json:"value"`
	Desc       bool    `json:"desc,omitempty"`
	NullsFirst bool    `json:"nulls_first,omitempty"`
}

// sortKey is an element of an order.
type sortKey struct {
	Column     string `json:"column"`
	Desc       bool   `json:"desc,omitempty"`
	NullsFirst bool   `json:"nulls_first,omitempty"`
}

// windowSpec is a window.
type windowSpec struct {
	Partition []string  `json:"partition,omitempty"`
	Order     []sortKey `json:"order,omitempty"`
}

// windowFunc is a function of one.
type windowFunc struct {
	As          string   `json:"as"`
	Function    string   `json:"function"`
	Aggregate   bool     `json:"aggregate,omitempty"`
	Args        []string `json:"args,omitempty"`
	Type        string   `json:"type"`
	Window      int      `json:"window,omitempty"`
	Unit        string   `json:"unit,omitempty"`
	Start       bound    `json:"start"`
	End         bound    `json:"end"`
	Exclude     string   `json:"exclude,omitempty"`
	Key         string   `json:"key,omitempty"`
	Desc        bool     `json:"desc,omitempty"`
	IgnoreNulls bool     `json:"ignore_nulls,omitempty"`
	// Of folds, which Go computes from all rows of a frame.
	Fold     bool      `json:"fold,omitempty"`
	Direct   []operand `json:"direct,omitempty"`
	Filter   string    `json:"filter,omitempty"`
	Distinct bool      `json:"distinct,omitempty"`
	Order    []sortKey `json:"order,omitempty"`
}

// bound is where a frame begins or ends.
type bound struct {
	Kind   string   `json:"kind,omitempty"`
	Offset *operand `json:"offset,omitempty"`
}

// operand is an expression: a column, which is written as a string; a literal; an operation or a function.
type operand struct {
	Column   string    `json:"-"`
	Value    *string   `json:"value,omitempty"` // as text
	Null     bool      `json:"null,omitempty"`
	Op       string    `json:"op,omitempty"`
	Function string    `json:"function,omitempty"`
	Args     []operand `json:"args,omitempty"`
	Type     string    `json:"type,omitempty"`
}
