package session

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Set is SET name = 'value' from Go.
func (s *Session) Set(name, value string) error {
	st, err := findSetting(name, diag.NoPos)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := st.set(&s.settings, types.TextValue(value)); err != nil {
		return diag.Errorf(diag.InvalidParameter, diag.NoPos, "invalid value for parameter %q: %v", name, err)
	}
	return nil
}
