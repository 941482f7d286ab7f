package lab

import (
	"fmt"
	"strings"
)

// prefixes tests texts of 76 characters for a prefix of 50. Texts that are no match differ at a random place, most near the beginning.
func prefixes(b *bench, r *Result) error {
	n := b.rows(5_000_000)
	r.Workload = fmt.Sprintf("%d texts of 76 characters, prefix of 50, without dictionaries", n)
	prefix := strings.Repeat("abcdefghi ", 5)
	list := append(b.ways("refill", "off", "flush", "list"), way{"one row per lane", "set row_front = off"}, way{"expand warp", "set expand = warp"})
	r.Table.Columns = []string{"match rate"}
	for _, w := range list {
		r.Table.Columns = append(r.Table.Columns, w.name)
	}
	r.Table.Columns = append(r.Table.Columns, "memory, ms at least", "MB through memory", "rows that match")
	measure := func(name, texts, sql string) error {
		if err := b.here("drop table if exists titles", "set dictionaries = off", fmt.Sprintf("create table titles as select %s as title from (select i, i::bigint * 2654435761 %% 1000003 as h from generate_series(0, %d) t(i)) t", texts, n-1)); err != nil {
			return err
		}
		values, err := b.costs(list, sql)
		if err != nil {
			return err
		}
		p, err := b.explain(sql)
		if err != nil {
			return err
		}
		m := p.Summary.Moved
		r.Table.add(name, append(values, m.BoundMS, m.Memory/1e6, float64(p.Pipelines[0].Source.Actual))...)
		return nil
	}
	for _, rate := range []int{1, 32} {
		texts := fmt.Sprintf("case when h %% 100 < %d then '%s' else substr('%s', 1, 49 - (h / 128 %% 50 * (h / 8192 %% 50) / 50)::int) || 'X' || substr('%s', 1, (h / 128 %% 50 * (h / 8192 %% 50) / 50)::int) end || lpad(i::text, 26, '-')", rate, prefix, prefix, prefix)
		if err := measure(fmt.Sprintf("%d%%", rate), texts, fmt.Sprintf("select count(*) from titles where title like '%s%%'", prefix)); err != nil {
			return err
		}
	}
	// Beyond the paper's figure: every 16th text has the first word of a pattern, and rows wait before the second is looked for.
	words := "case when h % 16 = 3 then 'some special kind of a title, and requests for ' else 'another title that has neither of the words in it' end || lpad(i::text, 28, '-')"
	if err := measure("two words", words, "select count(*) from titles where title like '%special%requests%'"); err != nil {
		return err
	}
	few, many := r.Table.Rows[0].Values, r.Table.Rows[1].Values
	r.Claim = "lane refill is 2.5× faster where 1% match and 1.7× where 32% do; without it 32% take 2.7 times as long as 1%"
	whole := len(list) - 1
	r.Ours = fmt.Sprintf("32%% matches cost %s of 1%%: prefixes are compared by words, not by characters; by all lanes of a warp for one row after the other they cost %s and %s of that",
		times(many[0]/few[0]), times(few[whole]/few[0]), times(many[whole]/many[0]))
	if two := r.Table.Rows[2].Values; len(list) > 3 {
		r.Ours += fmt.Sprintf("; where rows wait before the second word of a pattern is looked for, which every 16th has the first of, that costs %s", times(two[2]/two[0]))
	}
	var cols []int
	for k := range list {
		cols = append(cols, k)
	}
	r.Picture = r.chart(r.Cost, cols...).Bars()
	return nil
}
