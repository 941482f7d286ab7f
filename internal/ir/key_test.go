package ir

import (
	"reflect"
	"testing"
)

// TestKey changes all that a function consists of, one thing at a time: each has another key, but for comments and names of registers.
func TestKey(t *testing.T) {
	plain := func() *Func {
		return &Func{Name: "f", Target: GPU, Regs: []RegInfo{{Name: "ctx"}, {Name: "a", Type: I32}}, Texts: []string{"says", "nothing"},
			Code: []Instr{{Op: Comment}, {Op: Add, D: 1, A: Reg(1).V(), B: K(1)}, {Op: Sub}}}
	}
	known := map[[32]byte]string{plain().Key(): "itself"}
	differs := func(what string, f *Func) {
		t.Helper()
		if other := known[f.Key()]; other != "" {
			t.Errorf("a function with another %s has the key of %s", what, other)
		}
		known[f.Key()] = what
	}
	// change gives each number and name in v another value, and tells of it.
	var change func(path string, v reflect.Value, tell func(path string))
	change = func(path string, v reflect.Value, tell func(string)) {
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				if v.Type().Field(i).IsExported() {
					change(path+"."+v.Type().Field(i).Name, v.Field(i), tell)
				}
			}
		case reflect.Bool:
			v.SetBool(!v.Bool())
			tell(path)
			v.SetBool(!v.Bool())
		case reflect.String:
			old := v.String()
			v.SetString(old + "x")
			tell(path)
			v.SetString(old)
		case reflect.Uint8:
			v.SetUint(v.Uint() ^ 64)
			tell(path)
			v.SetUint(v.Uint() ^ 64)
		case reflect.Int, reflect.Int32, reflect.Int64:
			for bit := range v.Type().Bits() - 1 {
				v.SetInt(v.Int() ^ 1<<bit)
				tell(path)
				v.SetInt(v.Int() ^ 1<<bit)
			}
		case reflect.Slice: // each by itself, below
		default:
			t.Fatalf("%s is a %s: it must be in the key, and here", path, v.Kind())
		}
	}
	f := plain()
	change("Func", reflect.ValueOf(f).Elem(), func(path string) { differs(path, f) })
	change("Instr", reflect.ValueOf(&f.Code[1]).Elem(), func(path string) { differs(path, f) })
	change("Type", reflect.ValueOf(&f.Regs[1].Type).Elem(), func(path string) { differs(path, f) })

	f.Code[1], f.Code[2] = f.Code[2], f.Code[1]
	differs("order", f)
	f = plain()
	f.Code = append(f.Code, Instr{Op: Sub})
	differs("end", f)
	f = plain()
	f.Regs = append(f.Regs, RegInfo{Type: I32})
	differs("number of registers", f)

	same := plain()
	same.Regs[1].Name, same.Texts[0], same.Code[0].Code = "b", "something", 1
	same.Code = append(same.Code, Instr{Op: Comment, Code: 1})
	if same.Key() != plain().Key() {
		t.Error("comments and names of registers matter")
	}
}
