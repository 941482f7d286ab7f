package session

import (
	"github.com/kelpiedb/kelpie/internal/catalog"
)

// env is what a statement of this session may refer to.
type env struct{ s *Session }

func (s *Session) env() env { return env{s} }

func (e env) Table(schema, name string) (*catalog.Table, bool) {
	r, err := e.s.DB.Catalog.Lookup(schema, name)
	if err != nil {
		return nil, false
	}
	t, ok := r.(*catalog.Table)
	return t, ok
}

func (e env) View(name string) (*catalog.View, bool) {
	r, err := e.s.DB.Catalog.Lookup("", name)
	if err != nil {
		return nil, false
	}
	v, ok := r.(*catalog.View)
	return v, ok
}

func (e env) TableNames() []string { return e.s.DB.Catalog.Names() }
