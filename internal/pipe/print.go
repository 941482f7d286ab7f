package pipe

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/plan"
)

// Text is a pipeline in words: a part for its source, for each operator and for its sink.
type Text struct {
	Pipeline *Pipeline
	After    []int // pipelines that must have run before
	Source   Part
	Ops      []Part
	Sink     Part
}

// Part is one of them.
type Part struct {
	Kind string    // one word: scan, filter, probe, group …
	What string    // the rest of its line
	More []string  // further lines
	Node plan.Node // the plan's operator whose rows leave here; nil: none alone
}

// Format prints a program: a block of lines for each pipeline, in the order in which they
// run, with estimates of the rows that leave each part.
func Format(prog *Program) string {
	var b strings.Builder
	for i, t := range Describe(prog) {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, l := range t.Lines("", t.Estimate) {
			b.WriteString(l)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// Name is what a pipeline is called, in listings too.
func (p *Pipeline) Name() string { return fmt.Sprintf("pipe%d", p.ID) }

// Describe puts every pipeline into words.
func Describe(prog *Program) []*Text {
	var out []*Text
	for _, p := range prog.Pipelines {
		// Columns are called by their names, with their numbers where a name stands for two.
		short := prog.Query.Cols.Short()
		ids := map[string]plan.ColID{}
		twice := map[string]bool{}
		d := describer{prog, func(id plan.ColID) string {
			name := short(id)
			if o, ok := ids[name]; ok && o != id {
				twice[name] = true
			}
			ids[name] = id
			return name
		}}
		t := d.pipeline(p)
		if len(twice) > 0 {
			d.names = func(id plan.ColID) string {
				if name := short(id); twice[name] {
					return fmt.Sprintf("%s#%d", name, id)
				}
				return short(id)
			}
			t = d.pipeline(p)
		}
		out = append(out, t)
	}
	return out
}

// At is part i: -1 is the source, len(Ops) the sink.
func (t *Text) At(i int) *Part {
	switch {
	case i < 0:
		return &t.Source
	case i < len(t.Ops):
		return &t.Ops[i]
	}
	return &t.Sink
}

// Changes reports that part i may give another number of rows than it gets.
func (t *Text) Changes(i int) bool {
	p := t.At(i)
	return i < len(t.Ops) && p.Node != nil && p.Kind != "map" && p.Kind != "union"
}

// Estimate is how many rows the optimizer expects to leave part i, as text.
func (t *Text) Estimate(i int) string {
	n := t.At(i).Node
	if !t.Changes(i) || n.Props().Rows <= 0 {
		return ""
	}
	for k := i + 1; k < len(t.Ops); k++ { // the estimate is for the last part of an operator
		if t.Changes(k) && t.Ops[k].Node == n {
			return ""
		}
	}
	return "~" + plan.FormatRows(n.Props().Rows)
}

// noteColumn is where notes begin, if the line leaves room.
const noteColumn = 72

// Lines prints the pipeline; head follows its name, note(i) the first line of part i.
func (t *Text) Lines(head string, note func(i int) string) []string {
	first := t.Pipeline.Name()
	for i, id := range t.After {
		first += fmt.Sprintf([]string{" after pipe%d", ", pipe%d"}[min(i, 1)], id)
	}
	if head != "" {
		first += "  " + head
	}
	out := []string{first}
	width := 0
	text := func(i int) string { return fmt.Sprintf("  %-8s%s", t.At(i).Kind, t.At(i).What) }
	for i := -1; i <= len(t.Ops); i++ {
		if w := utf8.RuneCountInString(text(i)); w <= noteColumn && note(i) != "" {
			width = max(width, w)
		}
	}
	for i := -1; i <= len(t.Ops); i++ {
		l := text(i)
		if n := note(i); n != "" {
			l += strings.Repeat(" ", max(width-utf8.RuneCountInString(l), 0)+2) + n
		}
		if l = strings.TrimRight(l, " "); l == "  map" { // of nothing
			continue
		}
		out = append(out, l)
		for _, m := range t.At(i).More {
			out = append(out, strings.Repeat(" ", 10)+m)
		}
	}
	return out
}

// Short is the pipeline on one line: scan t | filter | group.
func (t *Text) Short() string {
	s := t.Source.Kind + " " + strings.SplitN(t.Source.What, ":", 2)[0]
	for _, p := range t.Ops {
		s += " | " + p.Kind
	}
	return s + " | " + t.Sink.Kind
}

type describer struct {
	prog  *Program
	names plan.Names
}

func (d *describer) pipeline(p *Pipeline) *Text {
	t := &Text{Pipeline: p}
	for _, q := range p.needs {
		t.After = append(t.After, q.ID)
	}
	slices.Sort(t.After)
	t.After = slices.Compact(t.After)
	t.Source = d.source(p.Source)
	for _, op := range p.Ops {
		t.Ops = append(t.Ops, d.op(op))
	}
	t.Sink = d.sink(p.Sink)
	return t
}

// SinkName is how texts refer to what a sink holds.
func (prog *Program) SinkName(s Sink) string {
	switch s := s.(type) {
	case *Build:
		return fmt.Sprintf("table %d", s.ID)
	case *Aggregate:
		return fmt.Sprintf("groups %d", s.ID)
	case *Fold:
		return fmt.Sprintf("groups %d", s.ID)
	case *Rounds:
		return fmt.Sprintf("rounds %d", s.ID)
	case *Collect:
		if s == prog.Result {
			return "result"
		}
		return fmt.Sprintf("rows %d", s.ID)
	case *Stage:
		return "the stage before"
	}
	return "nothing"
}

func (d *describer) source(s Source) Part {
	switch s := s.(type) {
	case *Table:
		p := Part{Kind: "scan", What: s.Scan.Table.Name, Node: s.Scan}
		if a := s.Scan.Alias; a != "" && a != s.Scan.Table.Name {
			p.What += " " + a
		}
		if len(s.Scan.Cols) > 0 {
			p.What += ": " + d.names.Cols(s.Scan.Cols)
		}
		if len(s.Filter) > 0 {
			p.More = append(p.More, "where "+d.names.And(s.Filter))
		}
		for _, r := range s.Reduce {
			p.More = append(p.More, fmt.Sprintf("semi-join filter: %s in %s", d.names(r.Col), d.key(r.Build, r.Key)))
		}
		return p
	case *Buffer:
		p := Part{Kind: "scan", What: d.prog.SinkName(s.Of), Node: s.Node}
		if s.Work {
			p.What += ", the last"
		}
		switch s.Flag {
		case Matched:
			p.What += ", those with a match"
		case Unmatched:
			p.What += ", those without a match"
		}
		return p
	case *Series:
		return Part{Kind: "series", What: fmt.Sprintf("%s: %s", plural(int(s.Node.N), "row"), d.names(s.Node.Col)), Node: s.Node}
	case *Constants:
		p := Part{Kind: "values", What: plural(len(s.Rows), "row"), Node: s.Node}
		if len(s.Cols) > 0 {
			p.What += ": " + d.names.Cols(s.Cols)
		}
		return p
	}
	return Part{Kind: kindOf(s)}
}

// key names key number k of a build side.
func (d *describer) key(b *Build, k int) string {
	table := d.prog.SinkName(b)
	if len(b.Keys) == 1 {
		return table
	}
	return fmt.Sprintf("%s (%s)", table, d.prog.Query.Cols.Short().Expr(b.Keys[k]))
}

func (d *describer) op(op Op) Part {
	switch op := op.(type) {
	case *Filter:
		return Part{Kind: "filter", What: d.names.And(op.Preds), Node: op.Node}
	case *Map:
		p := Part{Kind: "map", Node: op.Node}
		var list []string
		for i, e := range op.Exprs {
			list = append(list, d.names.Define(op.Cols[i], e))
		}
		p.put(list)
		return p
	case *Compute:
		p := Part{Kind: "compute", What: "in Go"}
		var list []string
		for i, e := range op.Exprs {
			list = append(list, d.names.Define(op.Cols[i], e))
		}
		p.put(list)
		return p
	case *Probe:
		return d.probe(op)
	case *Rename:
		p := Part{Kind: "union", Node: op.Node}
		var list []string
		short := d.prog.Query.Cols.Short()
		for i, from := range op.From {
			if f, t := short(from), short(op.To[i]); f != t {
				list = append(list, f+" as "+t)
			}
		}
		p.put(list)
		return p
	case *Repeat:
		return Part{Kind: "repeat", What: d.names(op.Col) + " < " + d.names.Expr(op.Count), Node: op.Node}
	case *Nulls:
		return Part{Kind: "nulls", What: d.names.Cols(op.Cols)}
	}
	return Part{Kind: kindOf(op)}
}

func (d *describer) probe(op *Probe) Part {
	p := Part{Kind: "probe", What: d.prog.SinkName(op.Build) + ", " + op.Kind.String(), Node: op.Join}
	if op.Kind == ProbeMark {
		p.What += " " + d.names(op.Mark)
	}
	var list []string
	for i, k := range op.Keys {
		list = append(list, d.names.Equal(k, op.Build.Keys[i], op.NullSafe != nil && op.NullSafe[i]))
	}
	if len(list) > 0 {
		p.What += ": " + strings.Join(list, " and ")
	}
	if len(op.On) > 0 {
		p.More = append(p.More, "on "+d.names.And(op.On))
	}
	if op.SetFlag {
		p.More = append(p.More, "flags the tuples that match")
	}
	return p
}

func (d *describer) sink(s Sink) Part {
	name := d.prog.SinkName(s)
	switch s := s.(type) {
	case *Build:
		p := Part{Kind: "build", What: name}
		for i, k := range s.Keys {
			p.What += []string{" by ", ", "}[min(i, 1)] + d.names.Expr(k)
		}
		if len(s.Payload) > 0 {
			p.What += " with " + d.names.Cols(s.Payload)
		}
		return p
	case *Aggregate:
		p := Part{Kind: "group", What: name}
		for i, k := range s.Group.Keys {
			text := d.names.Expr(k)
			if _, plain := k.(*plan.Ref); !plain {
				text = d.names.Define(s.Group.KeyCols[i], k)
			}
			p.What += []string{" by ", ", "}[min(i, 1)] + text
		}
		var list, any []string // any: columns that depend on the keys
		for _, a := range s.Group.Aggs {
			if r, ok := a.Arg.(*plan.Ref); ok && a.Func == plan.AnyValue {
				any = append(any, d.names(r.ID))
				continue
			}
			list = append(list, d.prog.Query.Cols.Short()(a.Col)+" = "+d.names.Agg(a))
		}
		if len(any) > 0 {
			p.What += " with " + strings.Join(any, ", ")
		}
		p.put(list)
		return p
	case *Rounds:
		p := Part{Kind: "collect", What: name + ": " + d.names.Cols(s.Cols)}
		if s.Distinct {
			p.More = append(p.More, "those that are new")
		}
		if s.Wanted >= 0 {
			p.More = append(p.More, fmt.Sprintf("until there are %d", s.Wanted))
		}
		return p
	case *Fold:
		p := Part{Kind: "fold", What: name}
		for i, k := range s.Group.Keys {
			p.What += []string{" by ", ", "}[min(i, 1)] + d.names.Expr(k)
		}
		p.What += " in Go"
		var list []string
		for _, a := range s.Group.Aggs {
			list = append(list, d.prog.Query.Cols.Short()(a.Col)+" = "+d.names.Agg(a))
		}
		p.put(list)
		return p
	case *Collect:
		p := Part{Kind: "collect", What: name}
		if len(s.Cols) > 0 {
			p.What += ": " + d.names.Cols(s.Cols)
		}
		switch {
		case len(s.Keys) > 0 && s.Limit >= 0:
			p.Kind = "top-N"
		case len(s.Keys) > 0:
			p.Kind = "sort"
		case s.Limit >= 0 || s.Offset > 0:
			p.Kind = "limit"
		}
		order := ""
		if len(s.Keys) > 0 {
			order = "by " + d.names.SortKeys(s.Keys)
		}
		if s.Limit >= 0 {
			order += fmt.Sprintf(" limit %d", s.Limit)
		}
		if s.Offset > 0 {
			order += fmt.Sprintf(" offset %d", s.Offset)
		}
		if order = strings.TrimSpace(order); order != "" {
			p.More = append(p.More, order)
		}
		if w := s.Window; w != nil {
			p.Kind = "window"
			for i := range w.Funcs {
				p.More = append(p.More, d.prog.Query.Cols.Short()(w.Funcs[i].Col)+" = "+d.names.WindowFunc(w, &w.Funcs[i])+", in Go")
			}
		}
		return p
	case *Discard:
		return Part{Kind: "discard", What: "rows: only the flags matter"}
	}
	return Part{Kind: kindOf(s)}
}

// put adds a list to the line, or where it is long below it.
func (p *Part) put(list []string) {
	text := strings.Join(list, ", ")
	switch {
	case text == "":
	case p.What == "":
		p.What = text
	case len(p.What)+len(text) < 100:
		p.What += ": " + text
	default:
		p.More = append(p.More, list...)
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// kindOf names a part that has no words of its own here.
func kindOf(x any) string {
	s := fmt.Sprintf("%T", x)
	return strings.ToLower(s[strings.LastIndexByte(s, '.')+1:])
}
