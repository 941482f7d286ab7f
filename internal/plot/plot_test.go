package plot

import (
	"encoding/xml"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// wellFormed fails unless a text is XML with one svg element around all.
func wellFormed(t *testing.T, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for first := true; ; first = false {
		tok, err := d.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		if s, ok := tok.(xml.StartElement); first && (!ok || s.Name.Local != "svg") {
			t.Fatalf("begins with %v", tok)
		}
	}
}

// boxes are the rectangles with titles: what shows data.
func boxes(svg string) (out [][4]float64) {
	re := regexp.MustCompile(`<rect x="([^"]*)" y="([^"]*)" width="([^"]*)" height="([^"]*)" fill="[^"]*"><title>`)
	for _, m := range re.FindAllStringSubmatch(svg, -1) {
		var b [4]float64
		for i := range b {
			b[i], _ = strconv.ParseFloat(m[i+1], 64)
		}
		out = append(out, b)
	}
	return out
}

func TestBars(t *testing.T) {
	c := &Chart{Title: `a < b & "c"`, Note: "größer", X: "query", Y: "ms", Labels: []string{"q1", "q2", "q3"},
		Series: []Series{{Name: "one", Values: []float64{1, 2, None}, Bounds: []float64{0.5, None, None}}, {Name: "two", Values: []float64{4, 0}}}}
	svg := c.Bars()
	wellFormed(t, svg)
	b := boxes(svg)
	if len(b) != 4 { // two of each: what is missing or not given is not drawn
		t.Fatalf("%d bars in\n%s", len(b), svg)
	}
	if b[0][3]*4 < b[1][3]*0.98 || b[0][3]*4 > b[1][3]*1.02 || b[2][3]*2 < b[1][3]*0.98 || b[3][3] != 0 {
		t.Errorf("heights %v are not as 1, 4, 2, 0", b)
	}
	bottom := b[1][1] + b[1][3]
	for _, x := range b {
		if math.Abs(x[1]+x[3]-bottom) > 0.11 {
			t.Errorf("a bar ends at %v, others at %v", x[1]+x[3], bottom)
		}
	}
	if strings.Count(svg, `stroke-width="2"`) != 2 { // the bound and its legend
		t.Errorf("bounds in\n%s", svg)
	}
	if svg != c.Bars() {
		t.Error("the same chart is drawn in two ways")
	}
}

func TestLogarithm(t *testing.T) {
	c := &Chart{Labels: []string{"a", "b", "c", "d"}, LogY: true, Series: []Series{{Values: []float64{1, 10, 100, 0}}}}
	b := boxes(c.Bars())
	if len(b) != 3 { // 0 has no place
		t.Fatalf("%d bars", len(b))
	}
	if d := (b[0][1] - b[1][1]) - (b[1][1] - b[2][1]); math.Abs(d) > 0.21 {
		t.Errorf("1, 10, 100 lie at %v, %v, %v: not at equal distances", b[0][1], b[1][1], b[2][1])
	}
}

func TestLines(t *testing.T) {
	c := &Chart{LogX: true, LogY: true, Series: []Series{{Name: "x", At: []float64{1, 2, 4, 8, 0}, Values: []float64{1, None, 3, 4, 5}}, {Name: "y", At: []float64{1}, Values: []float64{7}}}}
	svg := c.Lines()
	wellFormed(t, svg)
	if n := strings.Count(svg, "<circle"); n != 3 { // not the missing one, nor that at 0
		t.Errorf("%d points in\n%s", n, svg)
	}
	if strings.Count(svg, "<polyline") != 1 { // one point is no line
		t.Errorf("lines in\n%s", svg)
	}
	wellFormed(t, (&Chart{Labels: []string{"a"}, Series: []Series{{Values: []float64{1}}}}).Lines())
	wellFormed(t, (&Chart{}).Lines())
	wellFormed(t, (&Chart{LogX: true, LogY: true}).Bars())
}

func TestShares(t *testing.T) {
	c := &Chart{Labels: []string{"scan", "join"}, Series: []Series{{Name: "1", Values: []float64{1, 0}}, {Name: "2", Values: []float64{3, 9}}}}
	svg := c.Shares([]string{"4 iterations"})
	wellFormed(t, svg)
	b := boxes(svg)
	if len(b) != 3 || math.Abs(b[1][2]-3*b[0][2]) > 0.3 || math.Abs(b[0][2]+b[1][2]-b[2][2]) > 0.2 || math.Abs(b[0][0]+b[0][2]-b[1][0]) > 0.11 {
		t.Errorf("parts %v", b)
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		values []float64
		log    bool
		want   string
	}{
		{[]float64{0, 10}, false, "0 2 4 6 8 10"},
		{[]float64{97}, false, "0 20 40 60 80 100"},
		{[]float64{0.0031}, false, "0 0.001 0.002 0.003 0.004"},
		{[]float64{-3, 3}, false, "-4 -2 0 2 4"},
		{nil, false, "0 0.2 0.4 0.6 0.8 1"},
		{[]float64{3, 70}, true, "2 5 10 20 50 100"},
		{[]float64{1, 1e6}, true, "1 10 100 1,000 10,000 100,000 1,000,000"},
		{[]float64{0, 1, math.Inf(1)}, true, "0.5 1 2"},
	} {
		var got []string
		for _, v := range around(c.values, c.log).ticks() {
			got = append(got, Number(v))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%v: %s, not %s", c.values, s, c.want)
		}
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1: "1", 1234567: "1,234,567", -1000: "-1,000", 0.045678: "0.0457", 12.345: "12.3", 1234.5: "1,234", 999: "999", -12.34: "-12.3"} {
		if got := Number(v); got != want {
			t.Errorf("%v is %s, not %s", v, got, want)
		}
	}
}
