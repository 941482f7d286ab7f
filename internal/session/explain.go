package session

import (
	"context"
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/gpu"
	"github.com/kelpiedb/kelpie/internal/opt"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
	"github.com/kelpiedb/kelpie/internal/types"
)

// explainForms are the stages that EXPLAIN shows, in the order of the walk.
var explainForms = []string{"plan", "pipelines", "ir", "x64", "ptx"}

// explainOptions are what stands between EXPLAIN and the statement.
type explainOptions struct {
	forms    map[string]bool
	analyze  bool
	verbose  bool
	json     bool
	document bool // the plan alone, in a form that runs again
	svg      bool // a picture of the lanes
	lanes    bool // how many of them had rows, with ANALYZE
	timing   bool // of pipelines, with ANALYZE
	summary  bool // where the time went, with ANALYZE
}

// explanation is what EXPLAIN knows of a query; explain_text.go and explain_json.go print it.
type explanation struct {
	explainOptions
	session *Session
	set     Settings
	acct    *budget.Account
	prog    *pipe.Program
	passes  []opt.PassInfo
	note    string // about the statement around the query
	refused string // why the CPU runs the query although a GPU should; set says so, then
	timing  Timing

	// With ANALYZE.
	stats  *exec.Stats
	rows   int64
	actual map[plan.Node]int64
}

// explain shows how a query is run, and with ANALYZE how it went. Without ANALYZE nothing
// is executed.
func (s *Session) explain(ctx context.Context, tx *catalog.Tx, b *bind.Explain, t Timing) (*Result, error) {
	o, err := explainOptionsOf(b)
	if err != nil {
		return nil, err
	}
	q, note, err := explained(b.Stmt, o.analyze)
	if err != nil {
		return nil, err
	}
	if o.document {
		if _, ok := b.Stmt.(*bind.Query); !ok {
			return nil, diag.Errorf(diag.FeatureNotSupported, diag.NoPos, "only the plans of queries can be written as JSON").WithHint("write the SELECT by itself")
		}
		set := s.Settings()
		text, err := s.planJSON(ctx, tx, q, &set)
		if err != nil {
			return nil, err
		}
		return explainResult([]string{text}, t), nil
	}
	x := &explanation{explainOptions: o, session: s, set: s.Settings(), note: note, timing: t}
	x.acct = budget.New(x.set.Memory)
	if x.prog, x.passes, err = s.plan(ctx, q, &x.set, x.acct, &x.timing); err != nil {
		return nil, err
	}
	if o.analyze {
		if err := x.run(ctx); err != nil {
			return nil, err
		}
	}
	if what := gpu.Refuses(x.prog); what != "" && x.set.Device != "cpu" {
		x.refused, x.set.Device = what+" is not for GPUs", "cpu"
	}
	var lines []string
	if o.svg {
		lines = []string{strings.TrimRight(x.lanesPicture(), "\n")}
	} else if o.json {
		text, err := x.document()
		if err != nil {
			return nil, err
		}
		lines = []string{text}
	} else {
		lines = x.lines()
	}
	return explainResult(lines, x.timing), nil
}

// explainResult is what EXPLAIN answers.
func explainResult(lines []string, t Timing) *Result {
	rows := make([][]types.Value, len(lines))
	for i, l := range lines {
		rows[i] = []types.Value{types.TextValue(l)}
	}
	r := literal([]string{"QUERY PLAN"}, []types.Type{types.TText}, rows, t)
	r.Tag = "EXPLAIN"
	return r
}

// run executes the query for its numbers; its rows are dropped.
func (x *explanation) run(ctx context.Context) error {
	opts := x.session.options(&x.set)
	opts.Account = x.acct
	opts.Times = x.explainOptions.timing
	opts.Lanes = x.lanes
	opts.Count, opts.Profile = true, x.explainOptions.timing && x.forms["pipelines"]
	opts.Listing = x.forms["ir"] || x.forms["x64"] || x.forms["ptx"]
	res, stats, err := x.session.runProgram(ctx, x.prog, &x.set, opts)
	if err != nil {
		return err
	}
	x.rows, x.stats = res.Len(), stats
	x.timing.Compile, x.timing.Exec = stats.Compile, stats.Exec
	x.actual = actualRows(x.prog, x.stats, x.rows)
	res.Close()
	return nil
}

// explained is the query inside a statement, and what to say of the rest.
func explained(b bind.Bound, analyze bool) (q *plan.Query, note string, err error) {
	switch b := b.(type) {
	case *bind.Query:
		return b.Plan, "", nil
	case *bind.Insert:
		q, note = b.Query, "INSERT INTO "+b.Table.Name
	case *bind.WithChanges:
		return explained(b.Main, analyze)
	case *bind.Change:
		verb, _, _ := strings.Cut(b.Verb, " ")
		q, note = b.Query, map[string]string{"DELETE": "DELETE FROM ", "UPDATE": "UPDATE ", "INSERT": "INSERT INTO ", "MERGE": "MERGE INTO "}[verb]+b.Table.Name
	case *bind.CreateTable:
		q, note = b.Query, "CREATE TABLE "+b.Name+" AS"
	case *bind.Copy:
		to := "'" + b.Path + "'"
		if b.Stdio {
			to = "STDOUT"
		}
		q, note = b.Query, "COPY TO "+to
	}
	if q == nil {
		return nil, "", diag.Errorf(diag.FeatureNotSupported, -1, "EXPLAIN works for queries, INSERT, UPDATE, DELETE, MERGE, CREATE TABLE AS and COPY TO only").
			WithHint("write the SELECT by itself")
	}
	if analyze {
		note += " (only its query was run; nothing was stored)"
	}
	return q, note, nil
}

// explainOptionsOf reads the options.
func explainOptionsOf(b *bind.Explain) (explainOptions, error) {
	o := explainOptions{forms: map[string]bool{}, analyze: b.Analyze, verbose: b.Verbose, timing: true, summary: true}
	flags := map[string]*bool{"timing": &o.timing, "summary": &o.summary, "lanes": &o.lanes}
	at := map[string]int{} // where options stand that need another
	for _, a := range b.Options {
		name := strings.ToLower(a.Name)
		switch {
		case name == "format":
			switch v := strings.ToLower(a.Value.String()); v {
			case "text", "json", "svg", "plan-json", "plan_json":
				o.json, o.svg, o.document = v == "json", v == "svg", strings.HasPrefix(v, "plan")
				at[v] = a.Pos
			default:
				return o, diag.Errorf(diag.InvalidParameter, a.Pos, "unrecognized value for EXPLAIN option \"format\": %q", a.Value.String()).
					WithHint("the formats are text, json, plan-json and, for LANES, svg")
			}
		case slices.Contains([]string{"costs", "buffers", "wal", "settings", "generic_plan", "memory", "serialize"}, name):
			// PostgreSQL's; there is nothing to leave out or to add.
		case flags[name] != nil || slices.Contains(explainForms, name):
			on, err := boolOf(a.Value)
			if err != nil {
				return o, diag.Errorf(diag.InvalidParameter, a.Pos, "EXPLAIN option %q: %v", name, err)
			}
			if flag := flags[name]; flag != nil {
				*flag, at[name] = on, a.Pos
			} else {
				o.forms[name] = on
			}
		default:
			known := append([]string{"analyze", "verbose", "format", "timing", "summary", "lanes"}, explainForms...)
			hint := diag.DidYouMean(name, known)
			if hint == "" {
				hint = "the options are " + strings.Join(append(explainForms[:len(explainForms):len(explainForms)],
					"analyze", "verbose", "timing", "summary", "lanes", "format text|json|plan-json|svg"), ", ")
			}
			return o, diag.Errorf(diag.SyntaxError, a.Pos, "unrecognized EXPLAIN option %q", a.Name).WithHint(hint)
		}
	}
	if o.document && o.analyze {
		return o, diag.Errorf(diag.InvalidParameter, diag.NoPos, "EXPLAIN ANALYZE has no format plan-json").WithHint("without ANALYZE it writes the plan")
	}
	if o.lanes && !o.analyze {
		return o, diag.Errorf(diag.InvalidParameter, at["lanes"], "EXPLAIN option LANES requires ANALYZE").WithHint("write EXPLAIN (ANALYZE, LANES)")
	}
	if o.svg && !o.lanes {
		return o, diag.Errorf(diag.InvalidParameter, at["svg"], "EXPLAIN format SVG requires LANES").WithHint("write EXPLAIN (ANALYZE, LANES, FORMAT svg)")
	}
	any := false
	for _, on := range o.forms {
		any = any || on
	}
	if !any { // the plan; with numbers the pipelines too, since time is theirs
		o.forms["plan"], o.forms["pipelines"] = true, o.analyze
	}
	return o, nil
}
