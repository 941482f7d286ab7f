package phys

import "testing"

// TestSearch: texts are searched side by side where there are many, and long ones, and all of them would be read anyway.
func TestSearch(t *testing.T) {
	worth := Searchable{Rows: 1 << 24, Length: 32, Word: 3}
	for _, c := range []struct {
		x      Search
		change func(s *Searchable)
		want   bool
	}{
		{SearchAuto, func(*Searchable) {}, true},
		{SearchLane, func(*Searchable) {}, false},
		{SearchFlat, func(s *Searchable) { *s = Searchable{Rows: 1, Word: 1, Others: true, LooksUp: true, Shared: true} }, true},
		{SearchAuto, func(s *Searchable) { s.Rows-- }, false},
		{SearchAuto, func(s *Searchable) { s.Length, s.Rows = 31.9, 1<<30 }, false},
		{SearchAuto, func(s *Searchable) { s.Length, s.Rows = 64, 1<<23 }, true},
		{SearchAuto, func(s *Searchable) { s.Word = 2 }, false},
		{SearchAuto, func(s *Searchable) { s.Others = true }, false},
		{SearchAuto, func(s *Searchable) { s.LooksUp = true }, false},
		{SearchAuto, func(s *Searchable) { s.Shared = true }, false},
	} {
		s := worth
		c.change(&s)
		if got := c.x.Choose(s); got != c.want {
			t.Errorf("%s %+v: %v", c.x, s, got)
		}
	}
	for _, x := range []Search{SearchAuto, SearchLane, SearchFlat} {
		if got, err := ParseSearch(x.String()); got != x || err != nil {
			t.Error(x, got, err)
		}
	}
	if d := (Decision{Searched: Searched{"o_comment", "%a%"}}); d.String() != `flat search of o_comment for "%a%"` {
		t.Error(d)
	}
}
