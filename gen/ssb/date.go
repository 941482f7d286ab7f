package ssb

import (
	"fmt"
	"time"

	"github.com/kelpiedb/kelpie/gen"
	"github.com/kelpiedb/kelpie/gen/internal/dbgen"
)

// The columns of date.
const (
	dDatekey = iota
	dDate
	dDayofweek
	dMonth
	dYear
	dYearmonthnum
	dYearmonth
	dDaynuminweek
	dDaynuminmonth
	dDaynuminyear
	dMonthnuminyear
	dWeeknuminyear
	dSellingseason
	dLastdayinweekfl
	dLastdayinmonthfl
	dHolidayfl
	dWeekdayfl
)

func fillDate(_ float64, lo int64, n int, v []gen.Vector) {
	for i := range v {
		switch i {
		case dDate, dDayofweek, dMonth, dYearmonth, dSellingseason:
			v[i].MakeStrings(n, 0)
		default:
			v[i].MakeInts(n)
		}
	}
	for row := range n {
		fillDay(v, row, time.Unix((dbgen.FirstDay+lo+int64(row))*24*60*60, 0).UTC())
	}
}

// fillDay writes one row. It keeps the reference's peculiarities: the day of the week is one too late, and
// the year's first week has six days.
func fillDay(v []gen.Vector, row int, t time.Time) {
	str := func(col int, s string) {
		v[col].Bytes = append(v[col].Bytes, s...)
		v[col].End(row)
	}
	num := func(col, x int) { v[col].Ints[row] = int64(x) }
	flag := func(col int, f bool) {
		num(col, 0)
		if f {
			num(col, 1)
		}
	}
	year, month, day := t.Date()
	weekday := (t.Weekday() + 1) % 7

	num(dDatekey, year*10000+int(month)*100+day)
	str(dDate, fmt.Sprintf("%s %d, %d", month, day, year))
	str(dDayofweek, weekday.String())
	str(dMonth, month.String())
	num(dYear, year)
	num(dYearmonthnum, year*100+int(month))
	str(dYearmonth, fmt.Sprintf("%.3s%d", month, year))
	num(dDaynuminweek, int(weekday)+1)
	num(dDaynuminmonth, day)
	num(dDaynuminyear, t.YearDay())
	num(dMonthnuminyear, int(month))
	num(dWeeknuminyear, t.YearDay()/7+1)
	str(dSellingseason, season(month))
	flag(dLastdayinweekfl, weekday == time.Saturday)
	flag(dLastdayinmonthfl, t.AddDate(0, 0, 1).Month() != month)
	flag(dHolidayfl, holiday(month, day))
	flag(dWeekdayfl, weekday != time.Sunday && weekday != time.Saturday)
}

func season(month time.Month) string {
	switch {
	case month >= time.November:
		return "Christmas"
	case month >= time.September:
		return "Fall"
	case month >= time.May:
		return "Summer"
	case month == time.April:
		return "Spring"
	}
	return "Winter"
}

func holiday(month time.Month, day int) bool {
	switch month {
	case time.January:
		return day == 1
	case time.December:
		return day == 24
	case time.March, time.June:
		return false
	}
	return day == 20
}
