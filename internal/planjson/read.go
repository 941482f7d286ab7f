package planjson

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Plan is what a document holds.
type Plan struct {
	Query    *plan.Query
	Settings map[string]string
	Optimize bool // it wants all passes of the optimizer
}

// Lookup is what a document refers to.
type Lookup struct {
	// Table finds a table; schema may be "".
	Table func(schema, name string) (*catalog.Table, error)
	// Named finds a type by the name that somebody gave it, as SQL writes that.
	Named func(name string) (types.Type, bool)
	// Switch tells what is wrong with a switch of an operator; nil: nothing is.
	Switch func(op, name, value string) error
}

// Read makes a plan of a document. Errors name the place in the document.
func Read(text []byte, find Lookup) (out *Plan, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case mistake:
			out, err = nil, e.Error
		default:
			panic(e)
		}
	}()
	d := decode(text)
	if d.Version != version {
		fail("$.kelpie_plan", "version %d; this is version %d", d.Version, version)
	}
	r := &reader{q: &plan.Query{Cols: &plan.Columns{}}, Lookup: find, names: map[string]plan.ColID{}}
	r.q.Cols.New("", types.TUnknown, false) // none
	for i, s := range d.Shared {
		path := fmt.Sprintf("$.shared[%d]", i)
		n := r.node(s.Plan, path+".plan")
		r.q.Shared = append(r.q.Shared, &plan.SharedPlan{Name: s.Name, Plan: n, Cols: r.refs(s.Columns, plan.Produced(n), path+".columns")})
		r.shares = append(r.shares, len(r.q.Shared)-1)
	}
	r.q.Root = r.node(d.Plan, "$.plan")
	if len(d.Output) == 0 {
		fail("$.output", "a query has at least one column")
	}
	have := plan.Produced(r.q.Root)
	for i, o := range d.Output {
		path := fmt.Sprintf("$.output[%d]", i)
		r.q.Output = append(r.q.Output, r.ref(o.Column, have, path+".column"))
		r.q.Names = append(r.q.Names, o.Name)
	}
	if err := plan.Check(r.q); err != nil {
		fail("$", "%v", err)
	}
	return &Plan{r.q, d.Settings, d.Optimize}, nil
}

type reader struct {
	q *plan.Query
	Lookup
	names   map[string]plan.ColID
	shares  []int           // where the document's shared plans are among the query's, which has those of cuts as well
	working []recursionPart // around what is read
}

// recursionPart is a recursion whose step is read.
type recursionPart struct {
	number int
	cols   []plan.ColID
}

// define makes a column.
func (r *reader) define(name string, t types.Type, notNull bool, path string) plan.ColID {
	if name == "" {
		fail(path, "a column needs a name")
	}
	if r.names[name] != 0 {
		fail(path, "there are two columns %q", name)
	}
	short := name
	if i := strings.LastIndexByte(name, '#'); i > 0 {
		short = name[:i]
	}
	id := r.q.Cols.New(short, t, notNull)
	r.names[name] = id
	return id
}

// ref finds a column that must be among those in have.
func (r *reader) ref(name string, have plan.ColSet, path string) plan.ColID {
	id := r.names[name]
	if id == 0 {
		fail(path, "there is no column %q%s", name, r.guess(name))
	}
	if !have.Has(id) {
		fail(path, "column %q is not visible here", name)
	}
	return id
}

func (r *reader) guess(name string) string {
	if hint := diag.DidYouMean(name, keysOf(r.names)); hint != "" {
		return "; " + hint
	}
	return ""
}

func (r *reader) refs(names []string, have plan.ColSet, path string) []plan.ColID {
	out := make([]plan.ColID, len(names))
	for i, name := range names {
		out[i] = r.ref(name, have, fmt.Sprintf("%s[%d]", path, i))
	}
	return out
}

func (r *reader) typeAt(text, path string) types.Type {
	if text == "" {
		fail(path, "a type is missing")
	}
	t, err := types.ReadTypeOf(text, r.Named)
	if err != nil {
		fail(path, "%v", err)
	}
	return t
}

// choice finds a name in a table.
func choice[T any](m map[string]T, name, what, path string) T {
	v, ok := m[name]
	if !ok {
		if hint := diag.DidYouMean(name, keysOf(m)); hint != "" {
			fail(path, "there is no %s %q; %s", what, name, hint)
		}
		all := keysOf(m)
		if len(all) > 20 {
			fail(path, "there is no %s %q", what, name)
		}
		fail(path, "there is no %s %q, but %s", what, name, strings.Join(all, ", "))
	}
	return v
}

// node reads an operator. What is cut off below another one becomes a shared plan with one reader.
func (r *reader) node(o *operator, path string) plan.Node {
	if o == nil {
		fail(path, "an operator is missing")
	}
	r.check(o, path)
	n := r.operator(o, path)
	n.Props().Switches = o.Switches
	if !o.Cut {
		return n
	}
	if plan.Works(n) {
		fail(path+".cut", "what reads the rows of a round cannot be kept")
	}
	made := plan.Produced(n).Slice()
	scan := &plan.SharedScan{Index: len(r.q.Shared), Source: made}
	r.q.Shared = append(r.q.Shared, &plan.SharedPlan{Name: fmt.Sprintf("cut%d", len(r.q.Shared)), Plan: n, Cols: made})
	for _, id := range made {
		c := *r.q.Cols.Get(id)
		to := r.q.Cols.New(c.Name, c.Type, c.NotNull)
		scan.Cols = append(scan.Cols, to)
		for name, old := range r.names { // from here on, the name is that of the kept column
			if old == id {
				r.names[name] = to
			}
		}
	}
	return scan
}

// check refuses fields that another operator has.
func (r *reader) check(o *operator, path string) {
	may := strings.Fields(choice(fields, o.Op, "operator", path+".op"))
	for _, f := range setFields(o) {
		if f != "op" && f != "cut" && f != "switches" && !slices.Contains(may, f) {
			fail(path+"."+f, "the operator %s has no such field, but %s", o.Op, strings.Join(may, ", "))
		}
	}
	for _, name := range keysOf(o.Switches) {
		if err := r.Switch(o.Op, name, o.Switches[name]); err != nil {
			fail(path+".switches."+name, "%v", err)
		}
	}
}

// inputs reads the inputs of a node whose rows come from several, column by column.
func (r *reader) inputs(o *operator, path string, each func(i int)) (nodes []plan.Node, from [][]plan.ColID) {
	if len(o.Inputs) != len(o.Sources) || len(o.Inputs) == 0 {
		fail(path+".sources", "%d inputs, but columns of %d", len(o.Inputs), len(o.Sources))
	}
	for i := range o.Inputs {
		each(i)
		n := r.node(o.Inputs[i], fmt.Sprintf("%s.inputs[%d]", path, i))
		nodes = append(nodes, n)
		at := fmt.Sprintf("%s.sources[%d]", path, i)
		if len(o.Sources[i]) != len(o.Cols) {
			fail(at, "%d columns instead of %d", len(o.Sources[i]), len(o.Cols))
		}
		from = append(from, r.refs(o.Sources[i], plan.Produced(n), at))
	}
	return nodes, from
}

// typed makes columns with types that the document gives.
func (r *reader) typed(cols []column, path string) []plan.ColID {
	out := make([]plan.ColID, len(cols))
	for i, c := range cols {
		at := fmt.Sprintf("%s[%d]", path, i)
		out[i] = r.define(c.As, r.typeAt(c.Type, at+".type"), false, at+".as")
	}
	return out
}
