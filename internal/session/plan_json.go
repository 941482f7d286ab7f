package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit/scalar"
	"github.com/kelpiedb/kelpie/internal/opt"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/planjson"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
	"github.com/kelpiedb/kelpie/internal/types"
)

// runPlan is CALL run_plan('…'): the rows of a plan that is a JSON document.
func (s *Session) runPlan(ctx context.Context, tx *catalog.Tx, b *bind.Call, t Timing) (*Result, error) {
	if len(b.Args) != 1 || b.Args[0].Name != "" || b.Args[0].Value.Type.Kind != types.Text || b.Args[0].Value.Null {
		return nil, diag.Errorf(diag.InvalidParameter, b.Pos, "run_plan has one argument: a plan as JSON").
			WithHint("EXPLAIN (FORMAT plan-json) SELECT … writes one")
	}
	start := time.Now()
	e := s.env(ctx, tx)
	p, err := planjson.Read([]byte(b.Args[0].Value.S), planjson.Lookup{Switch: phys.CheckSwitch, Named: enumsOf(tx), Table: func(schema, name string) (*catalog.Table, error) {
		if t, ok := e.Table(schema, name); ok {
			return t, nil
		}
		hint := diag.DidYouMean(name, e.TableNames())
		if hint != "" {
			hint = "; " + hint
		}
		return nil, fmt.Errorf("table %q does not exist%s", name, hint)
	}})
	if err != nil {
		return nil, err
	}
	set := s.Settings()
	for name, value := range p.Settings {
		st, err := findSetting(name, diag.NoPos)
		if err == nil {
			err = st.set(&set, types.TextValue(value))
		}
		if err != nil {
			return nil, diag.Errorf(diag.InvalidParameter, diag.NoPos, "plan, at $.settings.%s: %v", name, err)
		}
	}
	if !p.Optimize {
		set.leavePlan()
	}
	t.Plan += time.Since(start)
	return s.runQuery(ctx, p.Query, &set, s.options(&set), t)
}

// planJSON is the plan of a query as JSON, with the engine's settings that are not the session's first ones.
func (s *Session) planJSON(ctx context.Context, tx *catalog.Tx, q *plan.Query, set *Settings) (string, error) {
	q, _, err := opt.Optimize(q, opt.Options{Disabled: set.Disabled, Check: set.Check, Emits: scalar.CanEmit, Done: ctx.Done()})
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	initial := s.initial
	s.mu.Unlock()
	changed := map[string]string{}
	for _, st := range settings {
		if v := st.show(set); v != st.show(&initial) && !slices.Contains([]string{"check", "threads", "memory_limit"}, st.name) {
			changed[st.name] = v
		}
	}
	e := s.env(ctx, tx)
	text, err := planjson.Write(q, changed, func(n *plan.Scan) (string, error) {
		schema := n.Table.Schema
		if t, ok := e.Table(schema, n.Table.Name); !ok || t != n.Table {
			return "", fmt.Errorf("%s, which is no table of the database,", n.Table.Name)
		}
		return schema, nil
	}, enumsOf(tx))
	return string(text), err
}

// enumsOf finds enums as SQL writes their names.
func enumsOf(tx *catalog.Tx) func(name string) (types.Type, bool) {
	enums := map[string]types.Type{}
	for _, r := range tx.Relations() {
		if e, ok := r.(*catalog.Enum); ok {
			enums[e.Type.EnumName()] = e.Type
		}
	}
	return func(name string) (t types.Type, ok bool) {
		t, ok = enums[name]
		return t, ok
	}
}

// leavePlan disables the passes that would change a plan, but for filters that a document has no words for.
func (s *Settings) leavePlan() {
	reduce := !s.Disabled["reduce"]
	s.Disabled = map[string]bool{}
	for _, pass := range opt.Passes() {
		s.Disabled[pass.Name] = !pass.Required && !(pass.Name == "reduce" && reduce)
	}
}
