package types

import "slices"

// An ENUM is one of a few labels. Its values are the numbers of the labels, from 0 on, so that their order is that of the
// labels, and generated code sees small integers. A type is made of its name and labels: one to which a label is added is another.

// TEnum is the type of one of some labels. The name is as SQL writes it, "" for ENUM('a', 'b') in the place of a type.
func TEnum(name string, labels []string) Type {
	index := make(map[string]int64, len(labels))
	for i, l := range labels {
		index[l] = int64(i)
	}
	return shaped(Enum, shape{name: name, labels: labels, index: index})
}

// Labels are those of an enum, in order. They are not to be changed.
func (t Type) Labels() []string { return t.shape().labels }

// EnumName is the name of an enum, as SQL writes it.
func (t Type) EnumName() string { return t.shape().name }

// EnumValue is the value of the label numbered i.
func EnumValue(t Type, i int) Value { return Value{Type: t, I: int64(i)} }

// label is the text of an enum's value.
func (v Value) label() string {
	if labels := v.Type.Labels(); v.I >= 0 && v.I < int64(len(labels)) {
		return labels[v.I]
	}
	return ""
}

// enumName is ENUM('a', 'b'), or the name of the type.
func enumName(t Type) string {
	if name := t.EnumName(); name != "" {
		return name
	}
	text := "ENUM("
	for i, l := range t.Labels() {
		if i > 0 {
			text += ", "
		}
		text += TextValue(l).Literal()
	}
	return text + ")"
}

// parseEnum finds a label.
func parseEnum(t Type, text string) (Value, error) {
	i, ok := t.shape().index[text]
	if !ok {
		return Value{}, errf(codeSyntax, "invalid input value for enum %s: %s", t.SQLName(), quoted(text))
	}
	return Value{Type: t, I: i}, nil
}

// sameEnum reports two enums of which one is what ALTER TYPE made of the other.
func sameEnum(a, b Type) bool { return a == b || a.EnumName() != "" && a.EnumName() == b.EnumName() }

// castEnum converts to what ALTER TYPE made of the type: where it has renamed a label there are as many as before.
func castEnum(v Value, to Type) (Value, error) {
	if len(v.Type.Labels()) == len(to.Labels()) {
		return Value{Type: to, I: v.I}, nil
	}
	return parseEnum(to, v.label())
}

// InFiles is t with texts in the place of what files have not: enums, whose labels they do not know, and times of day with a zone.
func (t Type) InFiles() Type {
	return t.eachEnd(func(e Type) Type {
		if e.Kind == Enum || e.Kind == TimeTZ {
			return TText
		}
		return e
	})
}

// WithEnum is t with one enum in the place of another.
func (t Type) WithEnum(was, now Type) Type {
	return t.eachEnd(func(e Type) Type {
		if e == was {
			return now
		}
		return e
	})
}

// eachEnd is t with something else in the place of what is not nested in it.
func (t Type) eachEnd(instead func(Type) Type) Type {
	if !t.IsNested() {
		return instead(t)
	}
	fields := slices.Clone(t.Fields())
	for i := range fields {
		fields[i].Type = fields[i].Type.eachEnd(instead)
	}
	switch {
	case t.Kind == List:
		return TList(fields[0].Type)
	case t.Kind == Map:
		return TMap(fields[0].Type, fields[1].Type)
	case t.IsRow():
		return TRow(fields)
	}
	return TStruct(fields)
}
