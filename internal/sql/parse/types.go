package parse

import (
	"strconv"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// unifyType gives one name to the standard's synonyms that differ in more than case.
func unifyType(name string) string {
	switch name {
	case "character", "nchar", "bpchar":
		return "char"
	}
	return name
}

// typeName reads a type: name, modifiers, time zone words, array brackets.
func (p *parser) typeName() ast.TypeName {
	t := ast.TypeName{Pos: p.pos()}
	switch k := p.kind(); k {
	case kTime, kTimestamp:
		t.Name = p.text()
		p.next()
		t.Mods = p.typeMods()
		switch {
		case p.kind() == kWith && p.peek(1) == kTime && p.at(2).is("zone"):
			p.i += 3
			t.Name += "tz"
		case p.isWord("without") && p.peek(1) == kTime && p.at(2).is("zone"):
			p.i += 3
		}
	case kInterval:
		t.Name = "interval"
		p.next()
		var precision int
		t.Fields, precision = p.intervalUnit()
		if precision >= 0 {
			t.Mods = []int64{int64(precision)}
		} else {
			t.Mods = p.typeMods()
		}
	case kNational, kChar, kCharacter, kNchar, kBit:
		t.Name = "char"
		if k == kBit {
			t.Name = "bit"
		}
		p.next()
		if k == kNational {
			if p.kind() != kChar && p.kind() != kCharacter {
				p.unexpected()
			}
			p.next()
		}
		if p.acceptWord("varying") {
			t.Name = "var" + t.Name
			if k == kBit {
				t.Name = "varbit"
			}
		}
		t.Mods = p.typeMods()
	default:
		p.plainType(&t)
	}
	p.arrayDims(&t)
	return t
}

func (p *parser) plainType(t *ast.TypeName) {
	k := p.kind()
	if p.nestedType(t) {
		return
	}
	if !k.isName() && !(k > kwFirst && classOf[k] == ast.TypeFunc) {
		p.unexpected()
	}
	if p.isWord("double") && p.peek(1) == kPrecision {
		t.Name = "double precision"
		p.next()
		p.next()
		return
	}
	t.Name = unifyType(p.text())
	p.next()
	if p.kind() == tDot {
		p.next()
		t.Schema = t.Name
		t.Name = unifyType(p.label().Name)
	}
	if t.Name == "decimal" || t.Name == "numeric" || t.Name == "dec" {
		p.refuseMods()
	}
	t.Mods = p.typeMods()
}

// nestedType reads struct(a int, b text), row(a int), map(text, int) and enum('a', 'b'), if one of them is here.
func (p *parser) nestedType(t *ast.TypeName) bool {
	if p.peek(1) != tLParen || !p.isWord("struct") && !p.isWord("map") && !p.isWord("enum") && p.kind() != kRow {
		return false
	}
	t.Name = p.text()
	p.next()
	p.next()
	for i := 0; p.kind() != tRParen; i++ {
		p.link(i)
		if t.Name == "enum" {
			t.Labels = append(t.Labels, p.text())
			p.expect(tString)
		} else {
			var m ast.TypeMember
			if t.Name != "map" {
				m.Name = p.label()
			}
			m.Type = p.typeName()
			t.Members = append(t.Members, m)
		}
		if !p.accept(tComma) {
			break
		}
	}
	p.expect(tRParen)
	if t.Members == nil && t.Labels == nil {
		t.Members = []ast.TypeMember{}
	}
	return true
}

// refuseMods leaves if a modifier of a DECIMAL is a word, a text or a number that is not an integer: to
// PostgreSQL that is no mistake of syntax but a text that does not read as an integer.
func (p *parser) refuseMods() {
	if p.kind() != tLParen {
		return
	}
	for i := 1; ; i += 2 {
		if p.peek(i) == tMinus {
			i++
		}
		t := p.at(i)
		switch k := p.peek(i + 1); {
		case k != tComma && k != tRParen:
			return
		case t.kind == tString || t.kind == tDecimal || t.kind == tFloat || t.kind.isName():
			p.fail(int(t.pos), diag.InvalidTextRepresentation, "invalid input syntax for type integer: \"%s\"", t.text)
		case t.kind == tInt:
			if _, err := strconv.ParseInt(t.text, 10, 32); err != nil {
				p.fail(int(t.pos), diag.NumericOutOfRange, "value \"%s\" is out of range for type integer", t.text)
			}
			if k == tRParen {
				return
			}
		default:
			return
		}
	}
}

// typeMods reads (15, 2) if it is there. A scale may be negative.
func (p *parser) typeMods() []int64 {
	if p.kind() != tLParen {
		return nil
	}
	p.next()
	var mods []int64
	for {
		sign := ""
		if p.accept(tMinus) {
			sign = "-"
		}
		m, err := strconv.ParseInt(sign+p.text(), 10, 32)
		if p.kind() != tInt || err != nil {
			p.unexpected()
		}
		p.next()
		mods = append(mods, m)
		if !p.accept(tComma) {
			break
		}
	}
	p.expect(tRParen)
	return mods
}

// arrayDims reads [] and [3] (the length means nothing, as in PostgreSQL) and ARRAY.
func (p *parser) arrayDims(t *ast.TypeName) {
	if p.kind() == kArray {
		p.next()
		t.Dims++
	}
	for p.kind() == tLBracket && (p.peek(1) == tRBracket || p.peek(1) == tInt && p.peek(2) == tRBracket) {
		p.next()
		p.accept(tInt)
		p.next()
		t.Dims++
		p.link(t.Dims)
	}
}
