package session

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Set is SET name = 'value' from Go.
func (s *Session) Set(name, value string) error {
	st, err := findSetting(name, diag.NoPos)
	if err != nil {
		return err
	}
	return s.assign(st, types.TextValue(value), false, diag.NoPos)
}

// SetDefault is Set of what RESET brings back, too.
func (s *Session) SetDefault(name, value string) error {
	if err := s.Set(name, value); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.initial = s.settings
	return nil
}

// change changes settings. What a transaction does not change for itself only (local) holds after its end.
func (s *Session) change(local bool, f func(*Settings)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.settings)
	if s.open != nil && !local {
		f(&s.open.onCommit)
	}
}

// assign gives a setting a value, if it is one that makes sense.
func (s *Session) assign(st *setting, v types.Value, local bool, pos int) error {
	try := s.Settings()
	var own *diag.Error
	switch err := st.set(&try, v); {
	case errors.As(err, &own):
		return own.At(pos)
	case err != nil:
		return diag.Errorf(diag.InvalidParameter, pos, "invalid value for parameter %q: %v", st.name, err)
	}
	s.change(local, func(set *Settings) { _ = st.set(set, v) }) // was tried
	return nil
}

// findSetting finds a setting by its name.
func findSetting(name string, pos int) (*setting, error) {
	all := allSettings()
	names := make([]string, len(all))
	for i := range all {
		if names[i] = all[i].name; names[i] == name {
			return &all[i], nil
		}
	}
	if hint, ok := foreignSettings[strings.ToLower(name)]; ok {
		return nil, diag.Unsupported(pos, "the parameter %q of PostgreSQL or DuckDB", name).WithHint("%s", hint)
	}
	if strings.Contains(name, ".") {
		return ownSetting(name), nil
	}
	return nil, diag.Errorf(diag.UndefinedObject, pos, "unrecognized configuration parameter %q", name).
		WithHint(diag.DidYouMean(name, names))
}

// allSettings are those of the engine and those of the client, by name.
func allSettings() []setting {
	all := slices.Concat(settings, clientSettings, inEffect)
	slices.SortFunc(all, func(a, b setting) int { return strings.Compare(a.name, b.name) })
	return all
}

// set is SET and RESET.
func (s *Session) set(b *bind.Set, t Timing) (*Result, error) {
	r := done("SET", t)
	if b.Reset {
		r.Tag = "RESET"
	}
	if b.Local && s.Status() == Idle {
		return r.warn(diag.NoActiveTransaction, "SET LOCAL can only be used in transaction blocks"), nil
	}
	s.mu.Lock()
	initial := s.initial
	s.mu.Unlock()
	if b.All {
		s.change(false, func(set *Settings) { *set = initial })
		return r, nil
	}
	if transactionSettings[b.Name] != nil {
		return nil, diag.Errorf(diag.CantChangeParam, b.Pos, "parameter %q cannot be changed by SET", b.Name).WithHint("write SET TRANSACTION")
	}
	st, err := findSetting(b.Name, b.Pos)
	if err != nil {
		return nil, err
	}
	v := types.TextValue(st.show(&initial))
	if b.Name == totalMemory {
		v = types.TextValue(formatBytes(budget.DefaultLimit()))
	}
	if !b.Default {
		var parts []string
		for _, x := range b.Values {
			parts = append(parts, x.String())
		}
		v = types.TextValue(strings.Join(parts, ", "))
		if len(b.Values) == 1 && b.Values[0].Type.Kind != types.Text {
			v = b.Values[0]
			v.S = v.String()
		}
	}
	return r, s.assign(st, v, b.Local, b.Pos)
}

// transactionSettings are what SHOW tells of the transaction that is open.
var transactionSettings = map[string]func(tr *transaction) string{
	"transaction_isolation": func(tr *transaction) string { return tr.isolation },
	"transaction_read_only": func(tr *transaction) string { return onOff(tr.readOnly) },
}

// transactionSetting is a setting of the open transaction, or of the one that the statement is.
func (s *Session) transactionSetting(of func(*transaction) string) string {
	cur := s.Settings()
	s.mu.Lock()
	tr := s.open
	s.mu.Unlock()
	if tr == nil {
		tr = &transaction{isolation: cur.client.isolation, readOnly: cur.client.readOnly}
	}
	return of(tr)
}

// shownSetting finds a setting that has a value.
func (s *Session) shownSetting(name string, pos int) (*setting, error) {
	cur := s.Settings()
	if _, ok := cur.client.own[name]; !ok && strings.Contains(name, ".") {
		return nil, diag.Errorf(diag.UndefinedObject, pos, "unrecognized configuration parameter %q", name)
	}
	return findSetting(name, pos)
}

// ownSetting is a setting that means nothing to us: its name has a point.
func ownSetting(name string) *setting {
	return &setting{name, "a setting of the client's own",
		func(s *Settings) string { return s.client.own[name] },
		func(s *Settings, v types.Value) error {
			own := maps.Clone(s.client.own) // settings are copied, and each copy has its own
			if own == nil {
				own = map[string]string{}
			}
			own[name], s.client.own = v.String(), own
			return nil
		}}
}

// show is SHOW.
func (s *Session) show(ctx context.Context, tx *catalog.Tx, b *bind.Show, t Timing) (*Result, error) {
	table := func(names []string, rows [][]string) *Result { return texts(names, rows, t) }
	cur := s.Settings()
	var rows [][]string
	switch {
	case b.Tables:
		for _, name := range tx.Names() {
			rows = append(rows, []string{name})
		}
		return table([]string{"name"}, rows), nil
	case b.All:
		for _, st := range allSettings() {
			rows = append(rows, []string{st.name, st.show(&cur), st.doc})
		}
		return table([]string{"name", "setting", "description"}, rows), nil
	}
	if of := transactionSettings[b.Name]; of != nil {
		return table([]string{b.Name}, [][]string{{s.transactionSetting(of)}}), nil
	}
	st, err := s.shownSetting(b.Name, b.Pos)
	if err != nil {
		if d := s.relation(ctx, tx, b.Name); d != nil { // as DuckDB has it
			return describe(d, t), nil
		}
		return nil, err
	}
	return table([]string{b.Name}, [][]string{{st.show(&cur)}}), nil
}
