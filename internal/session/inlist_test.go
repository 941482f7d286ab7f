package session

import (
	"fmt"
	"strings"
	"testing"
)

// TestInList: lists of every length and spread find what a join with the same values finds.
func TestInList(t *testing.T) {
	s := New(NewDB())
	rowsOf(t, s, `SET check = on`)
	rowsOf(t, s, `create table n as select cast(i as bigint) - 50 as k, case when i % 11 = 0 then null else (i - 200) * 922337203685477 end as far,
		'text number ' || cast(i % 90 as text) as few, 'k' || cast(i * 7919 as text) || 'ohne Sinn und Zweck' as many,
		cast(i as double precision) / 4 as f, cast(i as decimal(38, 2)) * 123456789012345678 as w from generate_series(0, 999) as g(i)`)
	for col, item := range map[string]func(i int) string{
		"k":    func(i int) string { return fmt.Sprint(i*3 - 60) },
		"far":  func(i int) string { return fmt.Sprint((i*7 - 210) * 922337203685477) },
		"few":  func(i int) string { return fmt.Sprintf("'text number %d'", i*2) },
		"many": func(i int) string { return fmt.Sprintf("'k%dohne Sinn und Zweck'", i*3*7919) },
		"f":    func(i int) string { return fmt.Sprintf("%d.75e0", i) },
		"w":    func(i int) string { return fmt.Sprintf("%d.00", i*123456789012345678) },
	} {
		for _, n := range []int{1, 2, 3, 5, 6, 7, 8, 20, 70, 400} {
			var list []string
			for i := range n {
				list = append(list, item(i))
			}
			in := strings.Join(list, ", ")
			want := rowsOf(t, s, fmt.Sprintf("select count(*), min(k), sum(k) from n where exists (select 1 from (values (%s)) as v(x) where x = %s)",
				strings.Join(list, "), ("), col))
			if got := rowsOf(t, s, fmt.Sprintf("select count(*), min(k), sum(k) from n where %s in (%s)", col, in)); got != want {
				t.Errorf("%s in a list of %d: got %s, want %s", col, n, got, want)
			}
			parts := rowsOf(t, s, fmt.Sprintf("select (select count(*) from n where %[1]s in (%[2]s)) + (select count(*) from n where %[1]s not in (%[2]s)) + (select count(*) from n where (%[1]s in (%[2]s)) is null) - (select count(*) from n)", col, in))
			if strings.TrimSpace(parts) != "0" {
				t.Errorf("%s, %d items: true, false and unknown do not add up: %s", col, n, parts)
			}
			if got := rowsOf(t, s, fmt.Sprintf("select count(*) from n where %s not in (%s, null)", col, in)); strings.TrimSpace(got) != "0" {
				t.Errorf("%s, %d items: NOT IN with NULL finds %s", col, n, got)
			}
		}
	}
	if got := rowsOf(t, s, "select count(*) from n where far in (-9223372036854775808, 1, 2, 3, 4, 5, 6, 7, 8, -184467440737095400) or k in (-9223372036854775808, 9223372036854775807, 0, 1, 2, 3, 4, 5)"); strings.TrimSpace(got) != "6" {
		t.Errorf("the ends of 64 bits: %s", got)
	}
}
