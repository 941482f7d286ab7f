package file

import (
	"testing"
)

func TestPartitionsOf(t *testing.T) {
	for path, want := range map[string]string{
		"x.parquet":                              "",
		"a=1/x.parquet":                          "a:1",
		"/data/a=1/b=x%2Fy%3Dz/c.parquet":        "a:1 b:x/y=z",
		"data/a%20b=1/x=2.parquet":               "a b:1",
		"a=1/a=2/b=/=3/x.parquet":                "a:2 b:",
		"a=%zz/b=x=y/c.parquet":                  "a:%zz b:x=y",
		"a=__HIVE_DEFAULT_PARTITION__/x.parquet": "a:NULL",
		"./ä=ö/x.csv":                            "ä:ö",
	} {
		got := ""
		for i, p := range partitionsOf(path) {
			if i > 0 {
				got += " "
			}
			if p.null {
				p.text = "NULL"
			}
			got += p.name + ":" + p.text
		}
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

func TestPartitionTypes(t *testing.T) {
	for _, c := range []struct {
		values []string
		want   string
	}{
		{[]string{"1", "2", "-3"}, "BIGINT"},
		{[]string{"01", "02", "12"}, "BIGINT"},
		{[]string{"01", "2"}, "VARCHAR"},
		{[]string{"007", "123"}, "VARCHAR"},
		{[]string{"1", "-0"}, "VARCHAR"},
		{[]string{"1", "9223372036854775808"}, "VARCHAR"},
		{[]string{"1.5"}, "VARCHAR"},
		{[]string{"2024-01-01", "2024-02-29"}, "DATE"},
		{[]string{"2024-01-01", "2024-02-30"}, "VARCHAR"},
		{[]string{"2024-01-01 10:00:00"}, "TIMESTAMP"},
		{[]string{"true"}, "VARCHAR"},
		{[]string{"nan"}, "VARCHAR"},
		{[]string{"", "5"}, "BIGINT"},
		{[]string{""}, "VARCHAR"},
		{nil, "VARCHAR"},
	} {
		var list []*partition
		for _, v := range c.values {
			list = append(list, &partition{text: v}, nil)
		}
		if got := partitionType(list).String(); got != c.want {
			t.Errorf("%q: %s, want %s", c.values, got, c.want)
		}
	}
}
