package plot

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Chart is what a picture shows.
type Chart struct {
	Title string
	Note  string // a line under the title
	X, Y  string // what the axes mean
	// Labels name the places on the x axis, from left to right: groups of bars, or rows of Shares. Lines may have X values instead.
	Labels []string
	Series []Series
	// LogX and LogY make an axis logarithmic: each step is a factor. Values that are not above 0 are left out there.
	LogX, LogY bool
}

// Series is one row of numbers, drawn in one color.
type Series struct {
	Name string
	// Values go with the chart's labels, or with At. NaN: there is none.
	Values []float64
	// At are the x values of a line; nil: the labels stand at equal distances.
	At []float64
	// Bounds are marks across the bars, such as the least time that is possible; nil: none. NaN: none here.
	Bounds []float64
}

// None is a value that is missing.
var None = math.NaN()

// Bars draws the values of each label side by side, as columns from 0, or from the axis' least value where it is logarithmic.
func (c *Chart) Bars() string {
	width := len(c.Labels) * max(len(c.Series), 1) * 14
	p := c.page(max(width, 480), 260)
	y := p.axisY(c.yScale(true))
	slot := p.w / float64(max(len(c.Labels), 1))
	bar := math.Min(slot*0.8/float64(max(len(c.Series), 1)), 46)
	for i, label := range c.Labels {
		mid := p.x + slot*(float64(i)+0.5)
		p.labelX(mid, slot, label)
		for k, s := range c.Series {
			x := mid + bar*(float64(k)-float64(len(c.Series))/2)
			if v := s.at(i); drawable(v, c.LogY) {
				top := y.at(v)
				p.rect(x+0.5, top, bar-1, p.y+p.h-top, color(k), s.Name+", "+label+": "+Number(v))
			}
			if b := s.bound(i); drawable(b, c.LogY) {
				p.line(x-1, y.at(b), x+bar+1, y.at(b), ink, 2)
			}
		}
	}
	p.legend(c.Series, len(c.Series) > 1)
	return p.done()
}

// Lines draws a line with points for each series.
func (c *Chart) Lines() string {
	p := c.page(480, 260)
	y := p.axisY(c.yScale(false))
	place := p.placesX(c)
	for k, s := range c.Series {
		var points [][2]float64
		var names []string
		for i, v := range s.Values {
			if x, ok := place(s, i); ok && drawable(v, c.LogY) {
				points = append(points, [2]float64{x, y.at(v)})
				names = append(names, s.Name+": "+Number(v))
			}
		}
		p.path(points, color(k))
		for i, q := range points {
			p.point(q[0], q[1], k, names[i])
		}
	}
	p.legend(c.Series, true)
	return p.done()
}

// Shares draws a horizontal bar for each label, cut into the parts that the series have of its sum: dark is the last series.
// Behind it stands the label's note, if there is one.
func (c *Chart) Shares(notes []string) string {
	const row = 22
	left := 0
	for _, l := range c.Labels {
		left = max(left, textWidth(l))
	}
	p := c.page(480, len(c.Labels)*row)
	p.shift(left + 12)
	for i, label := range c.Labels {
		sum := 0.0
		for _, s := range c.Series {
			if v := s.at(i); v > 0 {
				sum += v
			}
		}
		y := p.y + float64(i*row)
		p.text(p.x-8, y+14, "end", 11, label)
		x := p.x
		for k, s := range c.Series {
			v := s.at(i)
			if !(v > 0) {
				continue
			}
			w := p.w * v / sum
			p.rect(x, y+3, w, row-6, shade(k, len(c.Series)), fmt.Sprintf("%s, %s: %s (%.1f%%)", label, s.Name, Number(v), 100*v/sum))
			x += w
		}
		if i < len(notes) {
			p.note(p.x+p.w+8, y+14, notes[i])
		}
	}
	p.shades(c.Series)
	return p.done()
}

func (s *Series) at(i int) float64    { return pick(s.Values, i) }
func (s *Series) bound(i int) float64 { return pick(s.Bounds, i) }

func pick(list []float64, i int) float64 {
	if i >= len(list) {
		return None
	}
	return list[i]
}

// drawable reports that a value has a place on an axis.
func drawable(v float64, log bool) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0) && (!log || v > 0)
}

// Number writes a value with three digits, as 1,230 or 0.0456.
func Number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	if v == 0 { // -0, too
		return "0"
	}
	digits := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	if v == math.Trunc(v) {
		digits = 0
	}
	s := strconv.FormatFloat(v, 'f', max(digits, 0), 64)
	whole := len(s)
	if i := strings.IndexByte(s, '.'); i >= 0 {
		whole = i
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	for i := whole - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
