package bind

import (
	"errors"
	"math"
	"time"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Env is what a statement may refer to. Names are folded already.
type Env interface {
	// Table finds a stored table; schema is "" if none was written.
	Table(schema, name string) (*catalog.Table, bool)
	// View finds a view.
	View(schema, name string) (*catalog.View, bool)
	// File opens FROM 'x.parquet' as a table; pos is the place of the name. The format is "" if
	// the file's name tells.
	File(f FileRef, pos int) (*catalog.Table, error)
	// TableNames lists tables and views, for hints.
	TableNames() []string
}

// Objects is an Env that has more than tables and views. An empty schema is looked for in the path.
type Objects interface {
	Sequence(schema, name string) (*catalog.Sequence, bool)
	Macro(schema, name string) *catalog.Macro
	Enum(schema, name string) *catalog.Enum
	HasSchema(name string) bool
	// Taken reports that there is a table, view or sequence of that name, in that schema.
	Taken(schema, name string) bool
	// Path is the schemas where names are looked for; CurrentSchema the one where new ones are made, "" if there is none.
	Path() []string
	CurrentSchema() string
	// Along is the same Env with another path.
	Along(path []string) Env
	// Numbers is the state of sequences that a session remembers.
	Numbers() *Numbers
}

// Clock is an Env that says what now() is.
type Clock interface{ Now() time.Time }

// Patient is an Env that says when binding is of no use any more.
type Patient interface{ Done() <-chan struct{} }

// Select binds a query.
func Select(env Env, stmt *ast.Query, params []types.Value) (q *plan.Query, err error) {
	defer diag.Recover("bind", &err)
	return newBinder(env, params).root(stmt), nil
}

// binder is the state of binding one statement.
type binder struct {
	unnests *scope                    // of the select list that is being bound
	lambdas map[*plan.Function]string // functions of lambdas, as their calls are written
	regs    map[plan.Expr]registered  // numbers beside the names that casts to regclass and its like give
	env     Env
	params  []types.Value
	cols    *plan.Columns
	shared  []*plan.SharedPlan
	ctes    *cte      // those in scope, innermost first
	agg     *aggFrame // the aggregate calls around what is being bound
	// free is the smallest depth of a scope to which a reference went since the field was
	// last reset: it tells a correlated query from one that stands alone.
	free int
	// lateral counts the LATERAL items seen; a join whose right side saw one must find out
	// whether it depends on the left.
	lateral int
	// beyond are relations of the same FROM that what is being bound does not see, and what to
	// do about it, for hints.
	beyond     []*rel
	beyondHint string
	views      []string                 // being expanded, to stop views that contain themselves
	queries    int                      // bound so far
	recursions int                      // likewise
	inAlias    map[*ast.SelectItem]bool // being bound in place of their names
	columns    *columnsCall             // of the item that is being bound
	aliases    int                      // bound so
	now        time.Time
	foreign    map[plan.ColID]*catalog.ColumnDef // columns that cannot be read
	patience   diag.Patience
	explain    bool                // the statement is only to be shown
	pending    map[string]*Pending // WITH queries that change rows, by their names
	uses       *Uses               // notes what is used; nil: nobody asks
	wholes     map[plan.Expr]bool  // values of SET that are assigned to a whole column
	// onColumn is told which column a name means; nil: nobody asks.
	onColumn func(e *ast.ColumnRef, r *rel, i int)
	// onTable is told which table a name in FROM means; nil: nobody asks.
	onTable func(t *ast.TableRef, table *catalog.Table)
}

const noDepth = math.MaxInt

// maxQueries bounds the subqueries of a statement. Views, CTEs that cannot be shared and
// operands that are needed twice are bound once per use, so that their number can
// grow exponentially with the length of the text.
const maxQueries = 10000

func newBinder(env Env, params []types.Value) *binder {
	b := &binder{env: env, params: params, cols: new(plan.Columns), free: noDepth}
	if p, ok := env.(Patient); ok {
		b.patience.Done = p.Done()
	}
	return b
}

// root binds a query that has no query around it and whose rows are wanted.
func (b *binder) root(q *ast.Query) *plan.Query {
	r := b.query(q, nil)
	for _, c := range r.cols {
		b.mustRead(c.id, c.pos)
	}
	return b.finish(r)
}

// finish makes a bound query a statement's plan.
func (b *binder) finish(r result) *plan.Query {
	b.byKeys(r.node)
	for _, s := range b.shared {
		b.byKeys(s.Plan)
	}
	q := &plan.Query{
		Cols: b.cols, Root: r.node, Shared: b.shared,
		Output: make([]plan.ColID, len(r.cols)), Names: make([]string, len(r.cols)),
	}
	for i, c := range r.cols {
		q.Output[i], q.Names[i] = c.id, c.name
	}
	if len(q.Shared) > 0 {
		dropUnused(q)
	}
	return q
}

// dropUnused takes away shared plans that nothing reads: a CTE without use was bound only to
// find its mistakes.
func dropUnused(q *plan.Query) {
	used := make([]bool, len(q.Shared))
	var visit func(n plan.Node)
	visit = func(n plan.Node) {
		plan.WalkNode(n, func(n plan.Node) bool {
			if s, ok := n.(*plan.SharedScan); ok && !used[s.Index] {
				used[s.Index] = true
				visit(q.Shared[s.Index].Plan)
			}
			plan.NodeExprs(n, func(e plan.Expr) {
				plan.WalkExpr(e, func(e plan.Expr) bool {
					if s, ok := e.(*plan.Subquery); ok {
						visit(s.Plan)
					}
					return true
				})
			})
			return true
		})
	}
	visit(q.Root)
	for i, ok := range used {
		if !ok {
			q.Shared[i] = nil
		}
	}
}

// result is a bound query: a plan and which of its columns are the query's.
type result struct {
	node plan.Node
	cols []outCol
}

// outCol is a column of a query's result.
type outCol struct {
	name string
	id   plan.ColID
	pos  int // of the expression, for type errors
	// lit is set when the column is a string literal or NULL whose type nobody has asked for
	// yet: UNION and INSERT read it as the type they want.
	lit *plan.Const
}

// typeOf is the type of a result's column; Unknown for a literal without context.
func (b *binder) typeOf(c outCol) types.Type {
	if c.lit != nil {
		return types.TUnknown
	}
	return b.cols.Get(c.id).Type
}

// fail leaves the binder with a user's error.
func fail(code string, pos int, format string, args ...any) {
	panic(diag.Errorf(code, pos, format, args...))
}

// unsupported leaves the binder with 0A000 "… is not supported".
func unsupported(pos int, format string, args ...any) {
	panic(diag.Unsupported(pos, format, args...))
}

// check leaves the binder if a helper of another package found a mistake in a
// value; pos is where the value was written.
func check(err error, pos int) {
	if err == nil {
		return
	}
	var te *types.Error
	if errors.As(err, &te) {
		panic(diag.Errorf(te.Code, pos, "%s", te.Msg))
	}
	var de *diag.Error
	if errors.As(err, &de) {
		panic(de.At(pos))
	}
	panic(diag.Errorf(diag.IOError, pos, "%w", err))
}

// ref is a reference to a column of the plan.
func (b *binder) ref(id plan.ColID) plan.Expr { return b.cols.NewRef(id) }

// newCol makes the column of a computed expression.
func (b *binder) newCol(name string, e plan.Expr) plan.ColID {
	return b.cols.New(name, e.Type(), b.notNull(e))
}
