package kelpie_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/kelpiedb/kelpie"
)

var ctx = context.Background()

func open(t testing.TB, opts ...kelpie.Option) *kelpie.Session {
	t.Helper()
	db, err := kelpie.Open(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db.Session()
}

// TestParameters gives Go values to $1 and looks at what SQL makes of them.
func TestParameters(t *testing.T) {
	type name string
	type count int32
	s, seven, gone := open(t), 7, (*int)(nil)
	noon := time.Date(2024, 2, 29, 12, 30, 0, 5000, time.FixedZone("", 3600))
	for _, c := range []struct {
		arg  any
		sql  string
		want string
	}{
		{7, "$1 + 1", "8"},
		{int8(7), "$1", "7"},
		{count(7), "$1 * 2", "14"},
		{uint64(math.MaxUint64), "$1", "18446744073709551615"},
		{int64(math.MinInt64), "$1", "-9223372036854775808"},
		{&seven, "$1", "7"},
		{gone, "coalesce($1, 1)", "1"},
		{nil, "$1 is null", "true"},
		{[]byte(nil), "$1 is null", "true"},
		{1.5, "$1 * 2", "3"},
		{float32(0.1), "$1", "0.1"},
		{true, "not $1", "false"},
		{"it's", "$1 || '!'", "it's!"},
		{name("x"), "$1", "x"},
		{[]byte("bytes"), "upper($1)", "BYTES"},
		{"12.50", "$1 + 0.25", "12.75"},
		{"1998-09-02", "date '1998-09-03' > $1", "true"},
		{"1998-09-02", "$1::date + 1", "1998-09-03"},
		{noon, "$1", "2024-02-29 12:30:00.000005"},
		{noon, "$1::date", "2024-02-29"},
		{noon, "date '2024-03-01' > $1", "true"},
		{sql.NullInt64{}, "$1 is null", "true"},
		{sql.NullInt64{Int64: 3, Valid: true}, "$1", "3"},
		{3, "date '2024-01-01' + $1", "2024-01-04"},
		{2, "substring('kelpie', $1, 3)", "elp"},
		{2, "x from (values (1), (2), (3)) t(x) order by x limit 1 offset $1", "3"},
	} {
		var got string
		if err := s.QueryRow(ctx, "select "+c.sql, c.arg).Scan(&got); err != nil {
			t.Errorf("select %s with %v: %v", c.sql, c.arg, err)
		} else if got != c.want {
			t.Errorf("select %s with %v: %s, want %s", c.sql, c.arg, got, c.want)
		}
	}
	for _, c := range []struct {
		args []any
		want string
	}{
		{[]any{struct{}{}}, "parameter $1: a Go value of type struct {} has no SQL type (42804)"},
		{[]any{"\xff"}, "parameter $1 is not valid UTF-8 (22021)"},
		{[]any{1, 2}, "2 values were given for 1 parameters (08P01)"},
		{nil, "there is no parameter $1 (42P02)"},
		{[]any{time.Date(500000, 1, 1, 0, 0, 0, 0, time.UTC)}, "parameter $1: timestamp out of range (22008)"},
	} {
		if _, err := s.Query(ctx, "select $1", c.args...); err == nil || err.Error() != c.want {
			t.Errorf("%v: %v, want %s", c.args, err, c.want)
		}
	}
}

// TestScan scans SQL values into Go variables.
func TestScan(t *testing.T) {
	s := open(t)
	for _, c := range []struct {
		sql  string
		dest any
		want string
	}{
		{"42", new(int), "42"},
		{"42", new(int8), "42"},
		{"42", new(uint16), "42"},
		{"42", new(float64), "42"},
		{"42", new(string), "42"},
		{"42.00", new(int64), "42"},
		{"42.50", new(float32), "42.5"},
		{"42.50", new(string), "42.50"},
		{"42.50", new(any), "42.50"},
		{"12345678901234567890.12345678", new(any), "12345678901234567890.12345678"},
		{"true", new(bool), "true"},
		{"1.5::double", new(any), "1.5"},
		{"'text'", new([]byte), "text"},
		{"date '2024-02-29'", new(time.Time), "2024-02-29 00:00:00 +0000 UTC"},
		{"timestamp '1969-12-31 23:59:59.5'", new(time.Time), "1969-12-31 23:59:59.5 +0000 UTC"},
		{"date '2024-02-29'", new(string), "2024-02-29"},
		{"interval '1 month 2 days'", new(string), "1 mon 2 days"},
		{"null::int", new(*int), "<nil>"},
		{"7", new(*int), "7"},
		{"null", new(any), "<nil>"},
		{"null::text", new(sql.NullString), "{ false}"},
		{"'x'", new(sql.Null[string]), "{x true}"},
		{"date '2024-02-29'", new(sql.NullTime), "{2024-02-29 00:00:00 +0000 UTC true}"},
	} {
		if err := s.QueryRow(ctx, "select "+c.sql).Scan(c.dest); err != nil {
			t.Errorf("%s into %T: %v", c.sql, c.dest, err)
		} else if got := show(c.dest); got != c.want {
			t.Errorf("%s into %T: %s, want %s", c.sql, c.dest, got, c.want)
		}
	}
	for _, c := range []struct {
		sql  string
		dest any
		want string
	}{
		{"300 as x", new(int8), `column "x": 300 does not fit in a int8 (42804)`},
		{"-1 as x", new(uint), `column "x": -1 does not fit in a uint (42804)`},
		{"1.5 as x", new(int), `column "x": cannot scan DECIMAL(2,1) 1.5 into a *int (42804)`},
		{"'1' as x", new(int), `column "x": cannot scan VARCHAR 1 into a *int (42804)`},
		{"null::int as x", new(int), `column "x": cannot scan NULL into a *int: a pointer to it or a sql.Null takes NULL (42804)`},
		{"1 as x", 5, `column "x": cannot scan into a int: it is no pointer (42804)`},
		{"1, 2", new(int), `Scan was given 1 variables for 2 columns (42804)`},
	} {
		if err := s.QueryRow(ctx, "select "+c.sql).Scan(c.dest); err == nil || err.Error() != c.want {
			t.Errorf("%s into %T: %v, want %s", c.sql, c.dest, err, c.want)
		}
	}
	if err := s.QueryRow(ctx, "select 1 limit 0").Scan(new(int)); err != kelpie.ErrNoRows {
		t.Error(err)
	}
}

// show prints what a pointer points to.
func show(p any) string {
	switch p := p.(type) {
	case **int:
		if *p == nil {
			return "<nil>"
		}
		return fmt.Sprint(**p)
	case *[]byte:
		return string(*p)
	case *any:
		return fmt.Sprint(*p)
	}
	return strings.TrimPrefix(fmt.Sprint(deref(p)), "&")
}

func deref(p any) any {
	switch p := p.(type) {
	case *int:
		return *p
	case *int8:
		return *p
	case *uint16:
		return *p
	case *int64:
		return *p
	case *float32:
		return *p
	case *float64:
		return *p
	case *string:
		return *p
	case *bool:
		return *p
	case *time.Time:
		return *p
	case *sql.NullTime:
		return *p
	}
	return p
}

// TestBatches reads a result of several batches in the three ways that there are.
// TestScanKeeps: scanned texts stay what they are when later batches take the memory of earlier ones.
func TestScanKeeps(t *testing.T) {
	s := open(t)
	res, err := s.Query(ctx, "select i, 'text number ' || i from generate_series(1, 60000) as g(i)")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[int]string{}
	for res.Next() {
		var i int
		var x string
		if err := res.Scan(&i, &x); err != nil {
			t.Fatal(err)
		}
		texts[i] = x
	}
	for i, x := range texts {
		if want := fmt.Sprintf("text number %d", i); x != want {
			t.Fatalf("%d has %q", i, x)
		}
	}
	if len(texts) != 60000 {
		t.Errorf("%d rows", len(texts))
	}
}

func TestBatches(t *testing.T) {
	s := open(t)
	const query, n, want = "select i from generate_series(1, 30000) as t(i)", 30000, 30000 * 30001 / 2
	sum := func(b arrow.RecordBatch) (sum int64) {
		for _, x := range b.Column(0).(*array.Int32).Int32Values() {
			sum += int64(x)
		}
		return sum
	}
	var got int64
	res, err := s.Query(ctx, query)
	if err != nil {
		t.Fatal(err)
	}
	if res.Len() != n || res.Tag() != "SELECT 30000" || res.Tag().Rows() != n {
		t.Errorf("%d rows, tag %s", res.Len(), res.Tag())
	}
	batches := 0
	for b, err := range res.Batches() {
		if err != nil {
			t.Fatal(err)
		}
		got += sum(b)
		batches++
	}
	if got != want || batches < 2 {
		t.Errorf("sum %d in %d batches", got, batches)
	}

	res, _ = s.Query(ctx, query)
	rd, got := res.Reader(), int64(0)
	for rd.Next() {
		got += sum(rd.RecordBatch())
	}
	rd.Release()
	if got != want || rd.Err() != nil {
		t.Errorf("sum %d, %v", got, rd.Err())
	}

	res, _ = s.Query(ctx, query)
	got = 0
	for res.Next() {
		var x int64
		if err := res.Scan(&x); err != nil {
			t.Fatal(err)
		}
		got += x
	}
	if got != want || res.Err() != nil {
		t.Errorf("sum %d, %v", got, res.Err())
	}

	// A result that is closed early has no more rows, but says so.
	res, _ = s.Query(ctx, query)
	res.Next()
	res.Close()
	res.Close()
	if res.Next() || res.Err() == nil {
		t.Errorf("rows after Close, %v", res.Err())
	}
}

func TestStatements(t *testing.T) {
	s := open(t)
	tag, err := s.Exec(ctx, "create table t (a int); insert into t values (1), (2), ($1)", 3)
	if err != nil || tag != "INSERT 0 3" || tag.Rows() != 3 {
		t.Fatalf("%q, %v", tag, err)
	}
	stmts, err := kelpie.Parse("select count(*) from t where a > $1; select 2")
	if err != nil || len(stmts) != 2 || stmts[0].Params() != 1 || stmts[1].Text() != "select 2" {
		t.Fatalf("%v, %v", stmts, err)
	}
	for arg, want := range map[int]string{0: "[3]", 1: "[2]", 5: "[0]"} {
		res, err := s.Run(ctx, stmts[0], arg)
		if err != nil {
			t.Fatal(err)
		}
		if res.Next(); fmt.Sprint(res.Values()) != want {
			t.Errorf("%d: %v, want %s", arg, res.Values(), want)
		}
		res.Close()
	}
	res, err := s.Query(ctx, "create table if not exists t (a int)")
	if err != nil || len(res.Notices()) != 1 || len(res.Columns()) != 0 || res.Next() {
		t.Errorf("%v, %v", res, err)
	}
	if res, err := s.Query(ctx, " -- nothing"); err != nil || res.Next() {
		t.Error(err)
	}
}

func TestTables(t *testing.T) {
	db, err := kelpie.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := db.Session()
	if _, err := s.Exec(ctx, `create table "A b" (x int not null, y decimal(5,1)); insert into "A b" values (1, 2);
		create view v as select y * 2 as twice from "A b"`); err != nil {
		t.Fatal(err)
	}
	got := db.Tables()
	for i := range got {
		got[i].Bytes = 0
	}
	if s := fmt.Sprint(got); s != "[{A b false [{x INTEGER false} {y DECIMAL(5,1) true}] 1 0} {v true [{twice DECIMAL(7,1) true}] 0 0}]" &&
		!strings.Contains(s, "{v true [{twice") {
		t.Error(s)
	}
}

func TestErrors(t *testing.T) {
	s := open(t)
	_, err := s.Query(ctx, "select 1;\nselect x")
	var e *kelpie.Error
	if !errors.As(err, &e) || e.Code != "42703" || e.Position != 17 || e.Message != `column "x" does not exist` {
		t.Errorf("%+v", e)
	}
	if got := e.Format("select 1;\nselect x"); !strings.HasSuffix(got, "LINE 2: select x\n               ^") {
		t.Error(got)
	}
	stop, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.Query(stop, "select 1"); !errors.As(err, &e) || e.Code != "57014" || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := s.Exec(ctx, "set threads = 0"); !errors.As(err, &e) || e.Code != "22023" {
		t.Error(err)
	}
	db, _ := kelpie.Open()
	s = db.Session()
	db.Close()
	if _, err := s.Query(ctx, "select 1"); !errors.As(err, &e) || e.Code != "57P01" {
		t.Error(err)
	}
}

func TestOptions(t *testing.T) {
	s := open(t, kelpie.WithThreads(3), kelpie.WithMemoryLimit(1<<20), kelpie.WithDevice("cpu"))
	for name, want := range map[string]string{"threads": "3", "memory_limit": "1MiB", "device": "cpu"} {
		var got string
		if err := s.QueryRow(ctx, "show "+name).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	_, err := s.Query(ctx, "select i, count(*) from generate_series(1, 200000) as t(i) group by i")
	if e := (*kelpie.Error)(nil); !errors.As(err, &e) || e.Code != "53200" {
		t.Errorf("%v", err)
	}
	for _, o := range []kelpie.Option{kelpie.WithThreads(0), kelpie.WithMemoryLimit(-1), kelpie.WithDevice("tpu")} {
		if _, err := kelpie.Open(o); err == nil {
			t.Error("a senseless option was taken")
		}
	}
}

func TestProgress(t *testing.T) {
	var seen []kelpie.Progress
	s := open(t, kelpie.WithProgress(func(p kelpie.Progress) { seen = append(seen, p) }))
	if _, err := s.Exec(ctx, "call tpch(sf => 0.01)"); err != nil {
		t.Fatal(err)
	}
	if len(seen) == 0 || !strings.HasPrefix(seen[0].Stage, "generating ") || seen[0].Total == 0 {
		t.Errorf("%+v", seen)
	}
	path := filepath.Join(t.TempDir(), "lineitem.csv")
	for _, c := range []struct{ sql, stage string }{
		{"copy lineitem to '" + path + "'", "writing"},
		{"create table copied as select * from lineitem", "loading"},
		{"copy copied from '" + path + "'", "reading"},
		{"create table other as select * from '" + path + "'", "loading"},
	} {
		seen = nil
		if _, err := s.Exec(ctx, c.sql); err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(seen, func(p kelpie.Progress) bool {
			return p.Stage == c.stage && p.Rows > 0 && (p.Done <= p.Total || p.Total == 0)
		}) {
			t.Errorf("%s: %+v", c.sql, seen)
		}
	}
}

// TestTableSQL: the statements of tables and views make them again.
func TestTableSQL(t *testing.T) {
	s := open(t)
	if _, err := s.Exec(ctx, `create table "A b" (a int primary key, "select" decimal(5,2) default 1.5 not null, c varchar(3), unique (c, a)); create view v (x) as select a from "A b"`); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, x := range s.Tables() {
		texts[x.Name] = x.SQL
	}
	again := open(t)
	for _, name := range []string{"A b", "v"} {
		if _, err := again.Exec(ctx, texts[name]); err != nil {
			t.Fatalf("%s: %v", texts[name], err)
		}
	}
	for _, x := range again.Tables() {
		if x.SQL != texts[x.Name] {
			t.Errorf("%s\nbecomes\n%s", texts[x.Name], x.SQL)
		}
	}
	if _, err := again.Exec(ctx, `insert into "A b" (a, c) values (1, 'x'), (1, 'y')`); err == nil {
		t.Error("the key is lost")
	}
}

func TestWriteParquet(t *testing.T) {
	s := open(t)
	res, err := s.Query(ctx, "select 1 as a, 'x' as b, interval '1 day' as c union all select null, null, null")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(res.WriteParquet(ctx, f), f.Close()); err != nil {
		t.Fatal(err)
	}
	var n, rows int64
	if err := s.QueryRow(ctx, "select sum(a), count(*) from '"+path+"' where a = 1 and b = 'x' or b is null").Scan(&n, &rows); err != nil || n != 1 || rows != 2 {
		t.Errorf("%d in %d rows, %v", n, rows, err)
	}
}

// What a statement changed can be asked for with it.
func TestReturning(t *testing.T) {
	db, err := kelpie.Open()
	if err != nil {
		t.Fatal(err)
	}
	s, ctx := db.Session(), context.Background()
	if _, err := s.Exec(ctx, "create table t(a int primary key, n int)"); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int64{5, 6} {
		res, err := s.Query(ctx, "insert into t values ($1, 5) on conflict (a) do update set n = t.n + 1 returning n", 1)
		if err != nil {
			t.Fatal(err)
		}
		var n int64
		if !res.Next() || res.Scan(&n) != nil || n != want || res.Tag() != "INSERT 0 1" || res.Tag().Rows() != 1 {
			t.Errorf("round %d: %d, tag %s; want %d", i, n, res.Tag(), want)
		}
		res.Close()
	}
}

// TestEnums takes labels as Go strings, in and out.
func TestEnums(t *testing.T) {
	s := open(t)
	for _, sql := range []string{"create type mood as enum ('sad', 'ok', 'happy')", "create table p(m mood)"} {
		if _, err := s.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range []any{"happy", "sad", nil} {
		if _, err := s.Exec(ctx, "insert into p values ($1)", m); err != nil {
			t.Fatal(m, err)
		}
	}
	if _, err := s.Exec(ctx, "insert into p values ($1)", "bad"); err == nil || !strings.Contains(err.Error(), "22P02") {
		t.Error(err)
	}
	var m, list string
	if err := s.QueryRow(ctx, "select min(m), enum_range($1::mood, null)::text from p where m > $2", "ok", "sad").Scan(&m, &list); err != nil || m != "happy" || list != "{ok,happy}" {
		t.Error(m, list, err)
	}
}

// TestNarrowIntegers scans integers of which PostgreSQL has no type.
func TestNarrowIntegers(t *testing.T) {
	var a int8
	var b uint8
	var c int
	var d any
	if err := open(t).QueryRow(ctx, "select (-128)::tinyint, 255::utinyint, 65535::usmallint, 4294967295::uinteger").Scan(&a, &b, &c, &d); err != nil || a != -128 || b != 255 || c != 65535 {
		t.Error(a, b, c, err)
	}
	if fmt.Sprint(d) != "4294967295" {
		t.Errorf("%T %v", d, d)
	}
}
