package plan

// window prints the functions of a window operator.
func (p *printer) window(x *Window) {
	p.b.WriteString("Window(")
	for i := range x.Funcs {
		if i > 0 {
			p.b.WriteString(", ")
		}
		p.col(x.Funcs[i].Col)
		p.b.WriteString(" = ")
		p.windowFunc(x, &x.Funcs[i])
	}
}

func (p *printer) windowFunc(x *Window, f *WindowFunc) {
	switch {
	case f.Func == WinAgg && f.Agg == CountStar:
		p.b.WriteString("count(*)")
	case f.Fold != nil:
		p.windowFold(f)
	case f.Func == WinAgg:
		p.b.WriteString(f.Agg.String() + "(")
		p.ids(f.Args)
		p.b.WriteByte(')')
	default:
		p.b.WriteString(f.Func.String() + "(")
		p.ids(f.Args)
		p.b.WriteByte(')')
	}
	if f.IgnoreNulls {
		p.b.WriteString(" ignore nulls")
	}
	p.b.WriteString(" over (")
	p.windowSpec(&x.Specs[f.Spec])
	if f.Func.Framed() && f.Frame != DefaultFrame() {
		p.frame(&f.Frame, len(x.Specs[f.Spec].Partition)+len(x.Specs[f.Spec].Order) > 0)
	}
	p.b.WriteByte(')')
}

func (p *printer) windowFold(f *WindowFunc) {
	p.b.WriteString(f.Fold.Name + "(")
	if f.Fold.Distinct {
		p.b.WriteString("distinct ")
	}
	p.ids(f.Args)
	for _, v := range f.Fold.Direct {
		p.b.WriteString(", ")
		p.expr(&Const{V: v}, 0)
	}
	if len(f.Fold.Order) > 0 {
		p.b.WriteString(" order by ")
		p.sortKeys(f.Fold.Order)
	}
	p.b.WriteByte(')')
	if f.Fold.Filter != 0 {
		p.b.WriteString(" filter (")
		p.col(f.Fold.Filter)
		p.b.WriteByte(')')
	}
}

func (p *printer) windowSpec(s *WindowSpec) {
	sep := ""
	if len(s.Partition) > 0 {
		p.b.WriteString("partition by ")
		p.ids(s.Partition)
		sep = " "
	}
	if len(s.Order) > 0 {
		p.b.WriteString(sep + "order by ")
		p.sortKeys(s.Order)
	}
}

func (p *printer) frame(f *Frame, after bool) {
	if after {
		p.b.WriteByte(' ')
	}
	p.b.WriteString(f.Unit.String() + " between ")
	p.bound(&f.Start)
	p.b.WriteString(" and ")
	p.bound(&f.End)
	p.b.WriteString([...]string{"", " exclude current row", " exclude group", " exclude ties"}[f.Exclude])
}

func (p *printer) bound(b *FrameBound) {
	if b.Kind == Preceding || b.Kind == Following {
		p.expr(&Const{V: b.Offset}, 0)
		p.b.WriteByte(' ')
	}
	p.b.WriteString([...]string{"unbounded preceding", "preceding", "current row", "following", "unbounded following"}[b.Kind])
}

// WindowFunc prints a function of a window operator, without its column.
func (f Names) WindowFunc(x *Window, w *WindowFunc) string {
	p := printer{name: f}
	p.windowFunc(x, w)
	return p.b.String()
}
