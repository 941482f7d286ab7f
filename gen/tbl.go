package gen

import (
	"io"
	"strconv"
)

// WriteTbl writes the rows of b as the reference's .tbl files have them: every field followed by '|',
// decimals with two digits, dates as yyyy-mm-dd.
func WriteTbl(w io.Writer, b *Batch) error {
	_, err := w.Write(AppendTbl(nil, b))
	return err
}

// AppendTbl appends the rows of b in .tbl format to dst.
func AppendTbl(dst []byte, b *Batch) []byte {
	// Kinds are looked up once: parsing the type for every cell would cost more than the cell.
	kinds := make([]Kind, len(b.Columns))
	for i, c := range b.Columns {
		kinds[i] = c.Kind()
	}
	for row := range b.Rows {
		for col := range kinds {
			v := &b.Vectors[col]
			switch kinds[col] {
			case String:
				dst = append(dst, v.At(row)...)
			case Date:
				dst = AppendDate(dst, v.Ints[row])
			case Decimal:
				if b.Columns[col].Whole {
					dst = strconv.AppendInt(dst, v.Ints[row]/100, 10)
				} else {
					dst = appendMoney(dst, v.Ints[row])
				}
			default:
				dst = strconv.AppendInt(dst, v.Ints[row], 10)
			}
			dst = append(dst, '|')
		}
		dst = append(dst, '\n')
	}
	return dst
}

func appendMoney(dst []byte, cents int64) []byte {
	if cents < 0 {
		dst = append(dst, '-')
		cents = -cents
	}
	dst = strconv.AppendInt(dst, cents/100, 10)
	return append(dst, '.', byte('0'+cents/10%10), byte('0'+cents%10))
}

// AppendDate appends the date that is the given number of days after 1970-01-01 as yyyy-mm-dd. The year
// must have four digits.
func AppendDate(dst []byte, days int64) []byte {
	y, m, d := CivilDate(days)
	return append(dst,
		byte('0'+y/1000), byte('0'+y/100%10), byte('0'+y/10%10), byte('0'+y%10), '-',
		byte('0'+m/10), byte('0'+m%10), '-',
		byte('0'+d/10), byte('0'+d%10))
}

// CivilDate splits a number of days since 1970-01-01 into year, month and day of the Gregorian calendar.
func CivilDate(days int64) (year, month, day int) {
	// Count from 0000-03-01, so that the leap day is the last day of its year; 146097 days are 400
	// years, and 153 days are the five months March to July, a pattern that then repeats.
	z := days + 719468
	era := z / 146097
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	d := doy - (153*mp+2)/5 + 1
	m := mp + 3
	y := yoe + era*400
	if m > 12 {
		m -= 12
		y++
	}
	return int(y), int(m), int(d)
}
