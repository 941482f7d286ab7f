package funcs

import "testing"

// TestForeignNames: what is said to be missing is not there.
func TestForeignNames(t *testing.T) {
	if len(foreignNames()) < 1000 {
		t.Errorf("foreign.txt has %d names", len(foreignNames()))
	}
	for name, system := range foreignNames() {
		if Find(name) != nil || FindFold(name, false) != nil {
			t.Errorf("%s, of %s, is a function of ours: take it out of foreign.txt", name, system)
		}
	}
	if hint, ok := Absent("pg_get_triggerdef"); !ok || hint[:10] != "PostgreSQL" {
		t.Errorf("pg_get_triggerdef: %q", hint)
	}
	if _, ok := Absent("no_such_function"); ok {
		t.Error("no_such_function is known")
	}
}
