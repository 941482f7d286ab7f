package plot

import (
	"encoding/xml"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// Colors that can be told apart, by people who see few of them, too; beside each other they differ in brightness.
var palette = []string{"#0b6e99", "#e8903a", "#5a9e6f", "#b5485d", "#8a7cc2", "#c9b037", "#6d6d6d", "#4fb3bf", "#8c564b", "#d68fb8"}

const (
	ink   = "#24292f" // lines and text
	faint = "#d0d7de" // the grid
	paper = "#ffffff"
)

func color(k int) string { return palette[k%len(palette)] }

// shade is a color between light and dark.
func shade(k, n int) string {
	f := 1.0
	if n > 1 {
		f = float64(k) / float64(n-1)
	}
	mix := func(light, dark float64) int { return int(math.Round(light + (dark-light)*f)) }
	return fmt.Sprintf("#%02x%02x%02x", mix(0xf3, 0x0b), mix(0xd9, 0x4f), mix(0xb8, 0x6c))
}

// page is a drawing: a box for the data, and what is around it.
type page struct {
	b          strings.Builder
	x, y, w, h float64 // of the box
	width      float64 // of all so far
	foot       float64 // how much is used under the box
	slanted    bool    // labels of the x axis do not fit side by side
}

const em = 6.2 // of a letter with 11 points, about

func textWidth(s string) int { return int(math.Ceil(em * float64(utf8.RuneCountInString(s)))) }

// page begins a drawing whose box has a size.
func (c *Chart) page(w, h int) *page {
	p := &page{x: 64, y: 34, w: float64(w), h: float64(h), foot: 8}
	p.text(12, 20, "start", 14, c.Title)
	for _, line := range wrapped(c.Note, (w+100)/6) {
		p.text(12, p.y+4, "start", 11, line)
		p.y += 15
	}
	p.y += 6
	if c.Y != "" {
		p.text(12, p.y+4, "start", 11, c.Y)
		p.y += 14
	}
	p.reach(12 + float64(textWidth(c.Title))*1.25)
	p.reach(p.x + p.w + 16)
	longest := 0
	for _, l := range c.Labels {
		longest = max(longest, textWidth(l))
	}
	if n := len(c.Labels); n > 0 && h > 0 {
		p.slanted = float64(longest+6) > p.w/float64(n)
	}
	if c.X != "" {
		y := p.y + p.h + 34
		if p.slanted {
			y += float64(longest) * 0.7
		}
		p.text(p.x+p.w/2, y, "middle", 11, c.X)
		p.foot = y - p.y - p.h + 8
	}
	return p
}

// wrapped cuts a text into lines of about so many letters.
func wrapped(s string, most int) []string {
	var out []string
	for _, word := range strings.Fields(s) {
		if n := len(out); n > 0 && utf8.RuneCountInString(out[n-1])+1+utf8.RuneCountInString(word) <= most {
			out[n-1] += " " + word
			continue
		}
		out = append(out, word)
	}
	return out
}

// reach makes the drawing as wide as that.
func (p *page) reach(x float64) { p.width = math.Max(p.width, x) }

// shift moves the left side of the box.
func (p *page) shift(left int) {
	p.x = float64(left)
	p.reach(p.x + p.w + 16)
}

// axisY draws the grid and its numbers.
func (p *page) axisY(s scale) scale {
	s.from, s.to = p.y+p.h, p.y
	for _, v := range s.ticks() {
		y := s.at(v)
		p.line(p.x, y, p.x+p.w, y, faint, 1)
		p.text(p.x-6, y+4, "end", 11, Number(v))
	}
	p.line(p.x, p.y+p.h, p.x+p.w, p.y+p.h, ink, 1)
	return s
}

// labelX writes a label under the axis.
func (p *page) labelX(x, slot float64, label string) {
	y := p.y + p.h
	if !p.slanted {
		p.text(x, y+15, "middle", 11, label)
		p.foot = math.Max(p.foot, 22)
		return
	}
	fmt.Fprintf(&p.b, `<text transform="translate(%s %s) rotate(-45)" text-anchor="end" font-size="11" fill="%s">%s</text>`+"\n",
		num(x+4), num(y+12), ink, escape(label))
	p.foot = math.Max(p.foot, 18+0.75*float64(textWidth(label)))
}

// placesX draws the x axis and returns where the values of a line lie on it.
func (p *page) placesX(c *Chart) func(s Series, i int) (float64, bool) {
	var at []float64
	for _, s := range c.Series {
		at = append(at, s.At...)
	}
	if len(at) == 0 {
		slot := p.w / float64(max(len(c.Labels), 1))
		for i, l := range c.Labels {
			p.labelX(p.x+slot*(float64(i)+0.5), slot, l)
		}
		return func(_ Series, i int) (float64, bool) { return p.x + slot*(float64(i)+0.5), i < len(c.Labels) }
	}
	sc := around(at, c.LogX)
	if c.LogX { // no need for round ends: the points are what is read
		sc.lo, sc.hi = math.Inf(1), 0
		for _, v := range at {
			if v > 0 {
				sc.lo, sc.hi = math.Min(sc.lo, v), math.Max(sc.hi, v)
			}
		}
		if sc.lo >= sc.hi {
			sc.lo, sc.hi = sc.lo/2, sc.hi*2
		}
	}
	sc.from, sc.to = p.x+10, p.x+p.w-10
	for _, v := range sc.ticks() {
		x := sc.at(v)
		p.line(x, p.y+p.h, x, p.y+p.h+4, ink, 1)
		p.text(x, p.y+p.h+16, "middle", 11, Number(v))
	}
	p.foot = math.Max(p.foot, 22)
	return func(s Series, i int) (float64, bool) {
		if i >= len(s.At) || !drawable(s.At[i], c.LogX) {
			return 0, false
		}
		return sc.at(s.At[i]), true
	}
}

// legend names the series under the box, and what bounds are.
func (p *page) legend(list []Series, names bool) {
	x, y := p.x, p.y+p.h+p.foot+14
	bounds := false
	put := func(name string, draw func()) {
		if w := float64(textWidth(name)) + 30; x > p.x && x+w > p.x+p.w {
			x, y = p.x, y+17
		}
		draw()
		p.text(x+16, y, "start", 11, name)
		x += float64(textWidth(name)) + 30
		p.reach(x)
	}
	for k, s := range list {
		bounds = bounds || s.Bounds != nil
		if names && s.Name != "" {
			put(s.Name, func() { p.rect(x, y-9, 11, 11, color(k), "") })
		}
	}
	if bounds {
		put("bound", func() { p.line(x, y-4, x+11, y-4, ink, 2) })
	}
	if x > p.x {
		p.foot = y - p.y - p.h + 6
	}
}

// shades names the parts of Shares.
func (p *page) shades(list []Series) {
	x, y := p.x, p.y+p.h+p.foot+12
	for k, s := range list {
		p.rect(x, y-9, 11, 11, shade(k, len(list)), "")
		p.text(x+15, y, "start", 11, s.Name)
		x += float64(textWidth(s.Name)) + 28
	}
	p.reach(x)
	p.foot = y - p.y - p.h + 8
}

// note writes a line that may make the drawing wider.
func (p *page) note(x, y float64, s string) {
	p.text(x, y, "start", 11, s)
	p.reach(x + float64(textWidth(s)) + 8)
}

// rect draws a box; title shows when somebody points at it.
func (p *page) rect(x, y, w, h float64, fill, title string) {
	fmt.Fprintf(&p.b, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s"`, num(x), num(y), num(math.Max(w, 0)), num(math.Max(h, 0)), fill)
	p.titled("rect", title)
}

func (p *page) titled(tag, title string) {
	if title == "" {
		p.b.WriteString("/>\n")
		return
	}
	fmt.Fprintf(&p.b, "><title>%s</title></%s>\n", escape(title), tag)
}

func (p *page) line(x1, y1, x2, y2 float64, stroke string, width float64) {
	fmt.Fprintf(&p.b, `<line x1="%s" y1="%s" x2="%s" y2="%s" stroke="%s" stroke-width="%s"/>`+"\n", num(x1), num(y1), num(x2), num(y2), stroke, num(width))
}

func (p *page) path(points [][2]float64, stroke string) {
	if len(points) < 2 {
		return
	}
	var at []string
	for _, q := range points {
		at = append(at, num(q[0])+","+num(q[1]))
	}
	fmt.Fprintf(&p.b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(at, " "), stroke)
}

// point draws a dot whose form differs between series, as colors do.
func (p *page) point(x, y float64, k int, title string) {
	switch k % 3 {
	case 0:
		fmt.Fprintf(&p.b, `<circle cx="%s" cy="%s" r="3.5" fill="%s"`, num(x), num(y), color(k))
		p.titled("circle", title)
	case 1:
		p.rect(x-3, y-3, 6, 6, color(k), title)
	default:
		fmt.Fprintf(&p.b, `<path d="M%s %sl4 7h-8z" fill="%s"`, num(x), num(y-4), color(k))
		p.titled("path", title)
	}
}

func (p *page) text(x, y float64, anchor string, size int, s string) {
	if s == "" {
		return
	}
	fmt.Fprintf(&p.b, `<text x="%s" y="%s" text-anchor="%s" font-size="%d" fill="%s">%s</text>`+"\n", num(x), num(y), anchor, size, ink, escape(s))
}

// done is the document. It has a background of its own, since pages may be dark.
func (p *page) done() string {
	h := p.y + p.h + p.foot + 8
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" font-family="system-ui, sans-serif">`+"\n", num(math.Ceil(p.width)), num(math.Ceil(h)), num(math.Ceil(p.width)), num(math.Ceil(h))) +
		fmt.Sprintf(`<rect width="100%%" height="100%%" fill="%s"/>`+"\n", paper) + p.b.String() + "</svg>\n"
}

// num is a coordinate with one digit after the point at most.
func num(f float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", f), ".0") }

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder never fails
	return b.String()
}
