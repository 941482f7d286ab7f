package gen

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestCivilDate(t *testing.T) {
	for days := int64(-200_000); days < 200_000; days++ {
		year, month, day := time.Unix(days*24*60*60, 0).UTC().Date()
		if y, m, d := CivilDate(days); y != year || m != int(month) || d != day {
			t.Fatalf("day %d is %d-%d-%d, not %d-%d-%d", days, year, month, day, y, m, d)
		}
	}
}

func TestTbl(t *testing.T) {
	b := Batch{
		Columns: []Column{
			{Name: "i", Type: "INTEGER"},
			{Name: "m", Type: "DECIMAL(15,2)"},
			{Name: "w", Type: "DECIMAL(15,2)", Whole: true},
			{Name: "d", Type: "DATE"},
			{Name: "s", Type: "VARCHAR(5)"},
		},
		Rows: 2,
		Vectors: []Vector{
			{Ints: []int64{1, -2}},
			{Ints: []int64{1234, -5}},
			{Ints: []int64{1700, 100}},
			{Ints: []int64{8035, 9298}},
			{Bytes: []byte("abc"), Offsets: []int32{0, 0, 3}},
		},
	}
	var got strings.Builder
	if err := WriteTbl(&got, &b); err != nil {
		t.Fatal(err)
	}
	if want := "1|12.34|17|1992-01-01||\n-2|-0.05|1|1995-06-17|abc|\n"; got.String() != want {
		t.Errorf("got  %q\nwant %q", got.String(), want)
	}
}

// numbers is a table of the numbers from 0 on.
type numbers struct{}

func (numbers) Units(sf float64) int64              { return int64(sf) }
func (numbers) Rows(sf float64) int64               { return int64(sf) }
func (numbers) Count(_ float64, lo, hi int64) int64 { return hi - lo }

func (numbers) Fill(_ float64, lo, hi int64, b *Batch) {
	b.Rows = int(hi - lo)
	for i := range b.Vectors[0].MakeInts(b.Rows) {
		b.Vectors[0].Ints[i] = lo + int64(i)
	}
}

var table = Table{Name: "numbers", Columns: []Column{{Name: "n", Type: "BIGINT"}}, Source: numbers{}}

type brokenPipe struct{ after int }

var errBroken = errors.New("broken pipe")

func (p *brokenPipe) Write(b []byte) (int, error) {
	if p.after--; p.after < 0 {
		return 0, errBroken
	}
	return len(b), nil
}

// TestWriteError expects an error of the writer to end the workers' work and to come back.
func TestWriteError(t *testing.T) {
	for _, after := range []int{0, 3} {
		if err := WriteTable(&brokenPipe{after}, table, 1e6, 4); !errors.Is(err, errBroken) {
			t.Errorf("after %d writes: %v", after, err)
		}
	}
}

func TestRangeCheck(t *testing.T) {
	for _, r := range [][2]int64{{-1, 2}, {2, 1}, {0, 11}} {
		func() {
			defer func() {
				if s, _ := recover().(string); !strings.Contains(s, "table numbers, which has 10 units") {
					t.Errorf("range %v: %q", r, s)
				}
			}()
			table.Generate(10, r[0], r[1], new(Batch))
		}()
	}
}

// TestBatchReuse fills one batch from tables of different shapes.
func TestBatchReuse(t *testing.T) {
	var b Batch
	b.reset([]Column{{Type: "VARCHAR(1)"}, {Type: "DATE"}})
	b.Vectors[0].MakeStrings(3, 3)
	table.Generate(10, 0, 10, &b)
	if len(b.Vectors) != 1 || b.Vectors[0].Offsets != nil || b.Rows != 10 {
		t.Errorf("%+v", b)
	}
	if n := testing.AllocsPerRun(10, func() { table.Generate(10, 2, 8, &b) }); n > 0 {
		t.Errorf("a batch that is used again allocates %g times", n)
	}
}
