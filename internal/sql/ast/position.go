package ast

// Position methods: one per node, so that positions reach errors through Node.

func (n *Literal) Position() int      { return n.Pos }
func (n *TypedLiteral) Position() int { return n.Pos }
func (n *Interval) Position() int     { return n.Pos }
func (n *Param) Position() int        { return n.Pos }
func (n *ColumnRef) Position() int    { return n.Pos }
func (n *Star) Position() int         { return n.Pos }
func (n *Default) Position() int      { return n.Pos }
func (n *Unary) Position() int        { return n.Pos }
func (n *Binary) Position() int       { return n.Pos }
func (n *Logical) Position() int      { return n.Pos }
func (n *Not) Position() int          { return n.Pos }
func (n *IsNull) Position() int       { return n.Pos }
func (n *IsBool) Position() int       { return n.Pos }
func (n *IsDistinct) Position() int   { return n.Pos }
func (n *Between) Position() int      { return n.Pos }
func (n *InList) Position() int       { return n.Pos }
func (n *InQuery) Position() int      { return n.Pos }
func (n *Like) Position() int         { return n.Pos }
func (n *Quantified) Position() int   { return n.Pos }
func (n *Cast) Position() int         { return n.Pos }
func (n *Collate) Position() int      { return n.Pos }
func (n *AtTimeZone) Position() int   { return n.Pos }
func (n *Subscript) Position() int    { return n.Pos }
func (n *Field) Position() int        { return n.Pos }
func (n *Extract) Position() int      { return n.Pos }
func (n *Func) Position() int         { return n.Pos }
func (n *Case) Position() int         { return n.Pos }
func (n *Subquery) Position() int     { return n.Pos }
func (n *Exists) Position() int       { return n.Pos }
func (n *Array) Position() int        { return n.Pos }
func (n *ArrayQuery) Position() int   { return n.Pos }
func (n *Row) Position() int          { return n.Pos }

func (n *Query) Position() int         { return n.Pos }
func (n *Select) Position() int        { return n.Pos }
func (n *Values) Position() int        { return n.Pos }
func (n *SetOp) Position() int         { return n.Pos }
func (n *TableRef) Position() int      { return n.Pos }
func (n *FileRef) Position() int       { return n.Pos }
func (n *FuncTable) Position() int     { return n.Pos }
func (n *SubqueryTable) Position() int { return n.Pos }
func (n *Join) Position() int          { return n.Pos }

func (n *Insert) Position() int      { return n.Pos }
func (n *Update) Position() int      { return n.Pos }
func (n *Merge) Position() int       { return n.Pos }
func (n *Delete) Position() int      { return n.Pos }
func (n *Truncate) Position() int    { return n.Pos }
func (n *CreateTable) Position() int { return n.Pos }
func (n *CreateView) Position() int  { return n.Pos }
func (n *Drop) Position() int        { return n.Pos }
func (n *Describe) Position() int    { return n.Pos }
func (n *ShowTables) Position() int  { return n.Pos }
func (n *Show) Position() int        { return n.Pos }
func (n *Set) Position() int         { return n.Pos }
func (n *Reset) Position() int       { return n.Pos }
func (n *Copy) Position() int        { return n.Pos }
func (n *Explain) Position() int     { return n.Pos }
func (n *Call) Position() int        { return n.Pos }
func (n *Transaction) Position() int { return n.Pos }
func (n *Prepare) Position() int     { return n.Pos }
func (n *Execute) Position() int     { return n.Pos }
func (n *Deallocate) Position() int  { return n.Pos }
