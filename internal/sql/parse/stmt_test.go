package parse

import (
	"testing"
)

var stmtTests = []struct{ in, out string }{
	{"insert into t values (1, default), (2, 'x')", `Insert{Table:t Query:<VALUES (1, DEFAULT), (2, 'x')>}`},
	{"insert into s.t (a, b) select 1, 2", `Insert{Table:s.t Columns:[a b] Query:<SELECT 1, 2>}`},
	{"insert into t (select 1)", `Insert{Table:t Query:<SELECT 1>}`},
	{"insert into t default values returning a", `Insert{Table:t DefaultValues:true Returning:[SelectItem{X:<a>}]}`},
	{"with x as (select 1) insert into t table x", `Insert{With:With{CTEs:[CTE{Name:x Query:<SELECT 1>}]} Table:t Query:<SELECT * FROM x>}`},
	{"update t set a = 1, (b, c) = (2, default_value) from u where t.x = u.x",
		`Update{Table:t Set:[Assignment{Columns:[a] X:<1>} Assignment{Columns:[b c] Several:true X:<(2, default_value)>}] From:[TableRef{Name:u}] Where:<t.x = u.x>}`},
	{"update only t as x set a = default returning *", `Update{Table:t Alias:x Set:[Assignment{Columns:[a] X:<DEFAULT>}] Returning:[SelectItem{X:<*>}]}`},
	{"delete from t", `Delete{Table:t}`},
	{"delete from t x using u where x.a = u.a", `Delete{Table:t Alias:x Using:[TableRef{Name:u}] Where:<x.a = u.a>}`},
	{"truncate table a, b restart identity cascade", `Truncate{Tables:[a b] Restart:true Cascade:true}`},

	{"create table t (a int not null, b varchar(10) default 'x' not null, c decimal(15,2) null, primary key (a, b))",
		`CreateTable{Name:t Columns:[ColumnDef{Name:a Type:int NotNull:true} ColumnDef{Name:b Type:varchar(10) NotNull:true Default:<'x'>} ColumnDef{Name:c Type:decimal(15,2)}] Constraints:[Constraint{Columns:[a b]}]}`},
	{"create or replace temp table if not exists s.t (a bigint primary key, b text unique references u (x) on delete set null, check (a > 0), constraint f foreign key (b) references v)",
		`CreateTable{OrReplace:true IfNotExists:true Temp:true Name:s.t Columns:[ColumnDef{Name:a Type:bigint NotNull:true PrimaryKey:true} ColumnDef{Name:b Type:text Unique:true Constraints:[Constraint{Kind:2 Columns:[b] References:References{Table:u Columns:[x] OnDelete:3}}]}] Constraints:[Constraint{Kind:3 Check:<a > 0>} Constraint{Name:f Kind:2 Columns:[b] References:References{Table:v}}]}`},
	{"create table t (date date, time time, timestamp timestamp, \"order\" int, value double precision, year interval)",
		`CreateTable{Name:t Columns:[ColumnDef{Name:date Type:date} ColumnDef{Name:"time" Type:time} ColumnDef{Name:"timestamp" Type:timestamp} ColumnDef{Name:"order" Type:int} ColumnDef{Name:value Type:double precision} ColumnDef{Name:year Type:interval}]}`},
	{"create table t as select 1", `CreateTable{Name:t As:<SELECT 1>}`},
	{"create table t (a, b) as values (1, 2) with no data", `CreateTable{Name:t As:<VALUES (1, 2)> AsColumns:[a b] NoData:true}`},
	{"create table t as from 'x.parquet' with data", `CreateTable{Name:t As:<SELECT * FROM 'x.parquet'>}`},
	{"create or replace view v (a) as select 1 /* x */ ;", `CreateView{OrReplace:true Name:v Columns:[a] Query:<SELECT 1> QueryText:"select 1"}`},
	{"drop table if exists a, s.b cascade", `Drop{IfExists:true Names:[a s.b] Cascade:true}`},
	{"drop view v restrict", `Drop{Kind:1 Names:[v]}`},

	{"describe t", `Describe{Table:t}`},
	{"desc table s.t", `Describe{Table:s.t}`},
	{"describe select 1", `Describe{Query:<SELECT 1>}`},
	{"describe 'x.parquet'", `Describe{File:"x.parquet"}`},
	{"describe (select 1)", `Describe{Query:<SELECT 1>}`},
	{"show tables", `ShowTables{}`},
	{"show all", `Show{All:true}`},
	{"show a.b", `Show{Name:"a.b"}`},
	{"show time zone", `Show{Name:"timezone"}`},
	{"show transaction isolation level", `Show{Name:"transaction_isolation"}`},
	{"set threads = 4", `Set{Name:"threads" Values:[<4>]}`},
	{"set session memory_limit to '1GB'", `Set{Name:"memory_limit" Values:[<'1GB'>]}`},
	{"set local search_path = a, \"B\"", `Set{Local:true Name:"search_path" Values:[<'a'> <'B'>]}`},
	{"set device to gpu", `Set{Name:"device" Values:[<'gpu'>]}`},
	{"set x = on", `Set{Name:"x" Values:[<'on'>]}`},
	{"set x = -1.5", `Set{Name:"x" Values:[<-1.5>]}`},
	{"set x to default", `Set{Name:"x" Default:true}`},
	{"set session = true", `Set{Name:"session" Values:[<TRUE>]}`},
	{"set time zone 'utc'", `Set{Name:"timezone" Values:[<'utc'>]}`},
	{"set names 'utf8'", `Set{Name:"client_encoding" Values:[<'utf8'>]}`},
	{"set session characteristics as transaction read only", `Transaction{Kind:6 ReadOnly:true Session:true}`},
	{"set transaction isolation level serializable, read write", `Transaction{Kind:6 Isolation:"serializable" ReadWrite:true}`},
	{"reset all", `Reset{All:true}`},
	{"reset threads", `Reset{Name:"threads"}`},

	{"copy t from 'x.csv' with (format csv, header true, delimiter '|', null '', force_quote (a, b), force_null *, header)",
		`Copy{Table:t From:true File:"x.csv" Options:[Option{Name:"format" Value:<'csv'>} Option{Name:"header" Value:<TRUE>} Option{Name:"delimiter" Value:<'|'>} Option{Name:"null" Value:<''>} Option{Name:"force_quote" Value:<('a', 'b')>} Option{Name:"force_null" Value:<*>} Option{Name:"header"}]}`},
	{"copy s.t (a, b) to 'x.parquet' (format parquet)", `Copy{Table:s.t Columns:[a b] File:"x.parquet" Options:[Option{Name:"format" Value:<'parquet'>}]}`},
	{"copy (select 1) to stdout", `Copy{Query:<SELECT 1> Stdio:true}`},
	{"copy t from stdin with csv header delimiter as '|' null ''",
		`Copy{Table:t From:true Stdio:true Options:[Option{Name:"format" Value:<'csv'>} Option{Name:"header"} Option{Name:"delimiter" Value:<'|'>} Option{Name:"null" Value:<''>}]}`},
	{"copy t from stdin binary", `Copy{Table:t From:true Stdio:true Options:[Option{Name:"format" Value:<'binary'>}]}`},

	{"explain select 1", `Explain{Stmt:<SELECT 1>}`},
	{"explain analyze verbose select 1", `Explain{Analyze:true Verbose:true Stmt:<SELECT 1>}`},
	{"explain (plan, pipelines, ir, x64, ptx, analyze, format json) select 1",
		`Explain{Analyze:true Options:[Option{Name:"plan"} Option{Name:"pipelines"} Option{Name:"ir"} Option{Name:"x64"} Option{Name:"ptx"} Option{Name:"format" Value:<'json'>}] Stmt:<SELECT 1>}`},
	{"explain (analyze false) select 1", `Explain{Stmt:<SELECT 1>}`},
	{"explain (select 1)", `Explain{Stmt:<SELECT 1>}`},
	{"explain analyze (ir) (select 1) union select 2", `Explain{Analyze:true Options:[Option{Name:"ir"}] Stmt:<SELECT 1 UNION SELECT 2>}`},
	{"explain insert into t select 1", `Explain{Stmt:Insert{Table:t Query:<SELECT 1>}}`},
	{"call dbgen(sf => 1, dir := 'x')", `Call{Func:<dbgen(sf => 1, dir => 'x')>}`},

	{"begin", `Transaction{}`},
	{"begin transaction isolation level repeatable read read only not deferrable", `Transaction{Isolation:"repeatable read" ReadOnly:true}`},
	{"start transaction read write, isolation level read committed", `Transaction{Isolation:"read committed" ReadWrite:true}`},
	{"commit work", `Transaction{Kind:1}`},
	{"end", `Transaction{Kind:1}`},
	{"rollback and no chain", `Transaction{Kind:2}`},
	{"abort", `Transaction{Kind:2}`},
	{"commit and chain", `Transaction{Kind:1 Chain:true}`},
	{"savepoint a", `Transaction{Kind:3 Name:a}`},
	{"release savepoint a", `Transaction{Kind:4 Name:a}`},
	{"rollback to savepoint a", `Transaction{Kind:5 Name:a}`},

	{"prepare p (int, text) as select $1, $2", `Prepare{Name:p Types:[int text] Stmt:<SELECT $1, $2> Text:"select $1, $2"}`},
	{"execute p (1, 'x')", `Execute{Name:p Args:[<1> <'x'>]}`},
	{"execute p", `Execute{Name:p}`},
	{"deallocate prepare p", `Deallocate{Name:p}`},
	{"deallocate all", `Deallocate{All:true}`},
}

func TestStatement(t *testing.T) {
	for _, c := range stmtTests {
		script, err := Parse(c.in)
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if len(script) != 1 {
			t.Errorf("%s: %d statements", c.in, len(script))
			continue
		}
		if got := dump(script[0].Stmt, false); got != c.out {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, c.out)
		}
	}
}

func TestScript(t *testing.T) {
	text := " ; select $2, ? -- one\n ; ;/* two */ values (1) ;\n"
	script, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		text   string
		params int
	}{{"select $2, ?", 2}, {"values (1)", 0}}
	if len(script) != len(want) {
		t.Fatalf("%d statements, want %d", len(script), len(want))
	}
	for i, w := range want {
		s := script[i]
		if s.Text != w.text || text[s.Pos:s.End] != w.text || s.Params != w.params {
			t.Errorf("statement %d: %q (%d:%d) with %d parameters", i, s.Text, s.Pos, s.End, s.Params)
		}
	}
	if script, err := Parse("select 1; selct"); err == nil || script != nil {
		t.Errorf("after an error: %v, %v", script, err)
	}
	for _, empty := range []string{"", " ", ";;", "-- nothing\n", "/* nothing */"} {
		if script, err := Parse(empty); err != nil || script != nil {
			t.Errorf("%q: got %v, %v", empty, script, err)
		}
	}
}
