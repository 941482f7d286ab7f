// Picture draws what `kelpie bench --json` has measured: the time of each query on a logarithmic scale, as SVG.
//
//	go run ./tools/picture -title "SSB at scale factor 100" -gpu ssb100.json -cpu ssb100-cpu.json -peers lab/peers.json > lab/ssb.svg
//
// In: results of a GPU and, if there are any, of the CPU beside it and of others, by the name of the suite, the scale factor and the query.
// Out: one row per query with marks for the bound, kernels, all that the query takes, and the others.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
)

// results is what bench writes, as far as it is drawn.
type results struct {
	Suite   string  `json:"suite"`
	SF      float64 `json:"sf"`
	Queries []struct {
		Name  string  `json:"name"`
		Total float64 `json:"total_ms"`
		GPU   *struct {
			Kernel float64 `json:"kernel_ms"`
			Bound  float64 `json:"bound_ms"`
		} `json:"gpu"`
	} `json:"queries"`
}

// peer is what somebody else has reached on the same GPU, in ms.
type peer struct {
	Name    string             `json:"name"`
	Suite   string             `json:"suite"`
	SF      float64            `json:"sf"`
	Queries map[string]float64 `json:"queries"`
}

func main() {
	title := flag.String("title", "", "over the picture")
	gpu := flag.String("gpu", "", "results on a GPU")
	cpu := flag.String("cpu", "", "results on a CPU")
	peers := flag.String("peers", "", "what others reach")
	flag.Parse()
	if err := run(os.Stdout, *title, *gpu, *cpu, *peers); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, title, gpu, cpu, peers string) error {
	var g, c results
	var others []peer
	if err := read(gpu, &g); err != nil {
		return err
	}
	if cpu != "" {
		if err := read(cpu, &c); err != nil {
			return err
		}
		if c.Suite != g.Suite || c.SF != g.SF {
			return fmt.Errorf("%s is %s at scale factor %v, and %s is %s at %v", gpu, g.Suite, g.SF, cpu, c.Suite, c.SF)
		}
	}
	if peers != "" {
		if err := read(peers, &others); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, draw(title, &g, &c, others))
	return err
}

func read(file string, to any) error {
	text, err := os.ReadFile(file)
	if err == nil {
		if err = json.Unmarshal(text, to); err != nil {
			err = fmt.Errorf("%s: %w", file, err)
		}
	}
	return err
}

// series is a mark per query.
type series struct {
	name, color string
	shape       string // bar: from the left edge on; else a stroke
	at          map[string]float64
}

// draw is the picture.
func draw(title string, g, c *results, others []peer) string {
	bound, kernels := map[string]float64{}, map[string]float64{}
	total, onCPU := map[string]float64{}, map[string]float64{}
	for _, q := range g.Queries {
		total[q.Name] = q.Total
		if q.GPU != nil {
			bound[q.Name], kernels[q.Name] = q.GPU.Bound, q.GPU.Kernel
		}
	}
	for _, q := range c.Queries {
		onCPU[q.Name] = q.Total
	}
	all := []series{{"Kelpie, text to rows", "#a6c8e8", "bar", total}, {"its kernels", "#2f6fab", "bar", kernels}, {"bound of memory", "#000000", "stroke", bound}}
	for i, p := range others {
		if p.Suite == g.Suite && p.SF == g.SF {
			all = append(all, series{p.Name, []string{"#d1495b", "#8b5fbf"}[i%2], "stroke", p.Queries})
		}
	}
	if len(onCPU) > 0 {
		all = append(all, series{"Kelpie on the CPU", "#3a8f4f", "stroke", onCPU})
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, s := range all {
		for _, x := range s.at {
			if x > 0 {
				lo, hi = min(lo, math.Floor(math.Log10(x))), max(hi, math.Ceil(math.Log10(x)))
			}
		}
	}
	if hi <= lo {
		hi = lo + 1
	}
	const left, width, row, top = 60, 700, 18, 70
	height := top + row*len(g.Queries) + 30
	x := func(ms float64) float64 { return left + width*(math.Log10(ms)-lo)/(hi-lo) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n", left+width+40, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="white"/><text x="%d" y="20" font-size="15">%s</text>`+"\n", left, escape(title))
	for i, s := range all { // what the marks mean
		at := left + i%3*240
		y := 38 + i/3*16
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="12" height="10" fill="%s"/><text x="%d" y="%d">%s</text>`+"\n", at, y-9, s.color, at+17, y, escape(s.name))
	}
	for d := lo; d <= hi; d++ {
		at := x(math.Pow(10, d))
		fmt.Fprintf(&b, `<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="#dddddd"/><text x="%.1f" y="%d" text-anchor="middle">%v ms</text>`+"\n",
			at, at, top-5, height-25, at, height-10, math.Pow(10, d))
	}
	for i, q := range g.Queries {
		y := top + row*i
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", left-6, y+12, escape(q.Name))
		for _, s := range all {
			v := s.at[q.Name]
			switch {
			case v <= 0:
			case s.shape == "bar":
				fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"><title>%s: %.2f ms</title></rect>`+"\n", left, y+2, x(v)-left, row-5, s.color, escape(s.name), v)
			default:
				fmt.Fprintf(&b, `<rect x="%.1f" y="%d" width="3" height="%d" fill="%s"><title>%s: %.2f ms</title></rect>`+"\n", x(v)-1.5, y, row-1, s.color, escape(s.name), v)
			}
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func escape(s string) string { return escaper.Replace(s) }
