package parse

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

func (p *parser) insert(with *ast.With) ast.Statement {
	s := &ast.Insert{Pos: p.pos(), With: with}
	p.next()
	if pos := p.pos(); p.accept(kOr) { // DuckDB's words for two cases of ON CONFLICT
		s.OnConflict = &ast.OnConflict{Pos: pos, Nothing: p.isWord("ignore"), Replace: p.isWord("replace")}
		if !p.acceptWord("ignore") {
			p.expectWord("replace")
		}
	}
	p.expect(kInto)
	s.Table = p.qualified()
	if p.accept(kAs) {
		s.Alias = p.name()
	}
	switch {
	case p.kind() == kDefault && p.peek(1) == kValues:
		p.next()
		p.next()
		s.DefaultValues = true
	default:
		// A parenthesis holds either the columns or the query.
		if p.kind() == tLParen && !p.queryAhead() {
			s.Columns = p.nameList()
		}
		if p.acceptWord("overriding") {
			if s.Overriding = !p.accept(kUser); s.Overriding {
				p.expectWord("system")
			} else {
				panic(diag.Unsupported(p.pos(), "OVERRIDING USER VALUE"))
			}
			p.expectWord("value")
		}
		if p.isWord("by") && (p.at(1).is("name") || p.peek(1) == kPosition) {
			if s.Columns != nil {
				p.unexpectedHint("the columns are listed already")
			}
			s.ByName = p.at(1).is("name")
			p.next()
			p.next()
		}
		if !p.queryAhead() {
			p.unexpected()
		}
		s.Query = p.query()
	}
	if p.kind() == kOn && p.at(1).is("conflict") {
		if s.OnConflict != nil {
			p.unexpectedHint("OR REPLACE and OR IGNORE say already what happens on conflicts")
		}
		s.OnConflict = p.onConflict()
	}
	s.Returning = p.returning()
	return s
}

// assignments reads a = x, (b, c) = (y, z) ...
func (p *parser) assignments() (list []ast.Assignment) {
	for {
		var a ast.Assignment
		if a.Several = p.kind() == tLParen; a.Several {
			a.Columns = p.nameList()
		} else {
			a.Columns = []ast.Ident{p.name()}
			for p.accept(tDot) {
				a.Fields = append(a.Fields, p.label())
			}
			if p.kind() == tLBracket {
				panic(diag.Unsupported(p.pos(), "the assignment to an element of a column").WithHint("assign the whole list"))
			}
		}
		p.expect(tEq)
		a.X = p.exprOrDefault()
		if list = append(list, a); !p.accept(tComma) {
			return list
		}
	}
}

// onConflict reads ON CONFLICT [(columns) | ON CONSTRAINT name] DO NOTHING | DO UPDATE SET ... [WHERE ...].
func (p *parser) onConflict() *ast.OnConflict {
	c := &ast.OnConflict{Pos: p.pos()}
	p.i += 2
	switch {
	case p.kind() == tLParen:
		if !p.peek(1).isName() || p.peek(2) != tComma && p.peek(2) != tRParen {
			panic(diag.Unsupported(p.pos(), "ON CONFLICT on an expression").WithHint("name the columns of a PRIMARY KEY or UNIQUE constraint"))
		}
		c.Columns = p.nameList()
		if p.kind() == kWhere {
			panic(diag.Unsupported(p.pos(), "ON CONFLICT with a partial index").WithHint("name the columns of a PRIMARY KEY or UNIQUE constraint"))
		}
	case p.accept(kOn):
		p.expect(kConstraint)
		c.Constraint = p.name()
	}
	if !p.acceptReserved("do") {
		p.unexpected()
	}
	if p.acceptWord("nothing") {
		c.Nothing = true
		return c
	}
	p.expectWord("update")
	p.expectWord("set")
	c.Set = p.assignments()
	if p.accept(kWhere) {
		c.Where = p.expr()
	}
	return c
}

// merge reads MERGE INTO t USING source ON condition WHEN [NOT] MATCHED ... THEN ...
func (p *parser) merge(with *ast.With) ast.Statement {
	s := &ast.Merge{Pos: p.pos(), With: with}
	p.next()
	p.expect(kInto)
	s.Table, s.Alias = p.target("")
	p.expect(kUsing)
	s.Using = p.table()
	p.expect(kOn)
	s.On = p.expr()
	for p.kind() == kWhen {
		s.Whens = append(s.Whens, p.mergeWhen())
	}
	if len(s.Whens) == 0 {
		p.unexpectedHint("MERGE needs WHEN MATCHED THEN … or WHEN NOT MATCHED THEN …")
	}
	if p.kind() == kReturning {
		panic(diag.Unsupported(p.pos(), "RETURNING of MERGE"))
	}
	return s
}

func (p *parser) mergeWhen() ast.MergeWhen {
	w := ast.MergeWhen{Pos: p.expect(kWhen)}
	w.Matched = !p.accept(kNot)
	p.expectWord("matched")
	if p.isWord("by") {
		panic(diag.Unsupported(p.pos(), "WHEN NOT MATCHED BY"))
	}
	if p.accept(kAnd) {
		w.And = p.expr()
	}
	p.expect(kThen)
	switch {
	case p.acceptReserved("do"):
		p.expectWord("nothing")
	case p.isWord("update") && w.Matched:
		p.next()
		p.expectWord("set")
		w.Action, w.Set = ast.MergeUpdate, p.assignments()
	case p.isWord("delete") && w.Matched:
		p.next()
		w.Action = ast.MergeDelete
	case p.isWord("insert") && !w.Matched:
		p.next()
		w.Action = ast.MergeInsert
		if p.kind() == kDefault {
			p.next()
			p.expect(kValues)
			return w
		}
		w.Columns = p.optNameList()
		p.expect(kValues)
		p.expect(tLParen)
		w.Values = append(w.Values, p.exprOrDefault())
		for p.accept(tComma) {
			w.Values = append(w.Values, p.exprOrDefault())
		}
		p.expect(tRParen)
	default:
		hint := "a row that is matched can be updated or deleted"
		if !w.Matched {
			hint = "a row that is not matched can be inserted"
		}
		p.unexpectedHint(hint)
	}
	return w
}

// changeInParens reads INSERT, UPDATE or DELETE in parentheses, if one is there.
func (p *parser) changeInParens(may bool) (s ast.Statement) {
	if p.kind() != tLParen {
		return nil
	}
	read := map[string]func(*ast.With) ast.Statement{"insert": p.insert, "update": p.update, "delete": p.delete}[p.at(1).text]
	switch {
	case p.at(1).is("merge"):
		panic(diag.Unsupported(int(p.at(1).pos), "MERGE in WITH"))
	case read == nil || p.peek(1) != tIdent:
		return nil
	case !may:
		panic(diag.Errorf(diag.FeatureNotSupported, int(p.at(1).pos), "WITH clause containing a data-modifying statement must be at the top level"))
	}
	p.enter()
	defer p.leave()
	p.next()
	s = read(nil)
	p.expect(tRParen)
	return s
}

func (p *parser) returning() []ast.SelectItem {
	if !p.accept(kReturning) {
		return nil
	}
	return p.selectItems()
}

// target reads the table of UPDATE and DELETE and its alias; stop is the word that
// may follow and is therefore no alias.
func (p *parser) target(stop string) (ast.Name, ast.Ident) {
	p.accept(kOnly)
	name := p.qualified()
	p.accept(tStar)
	var alias ast.Ident
	if p.accept(kAs) || p.kind().isName() && !p.isWord(stop) {
		alias = p.name()
	}
	return name, alias
}

func (p *parser) update(with *ast.With) ast.Statement {
	s := &ast.Update{Pos: p.pos(), With: with}
	p.next()
	s.Table, s.Alias = p.target("set")
	p.expectWord("set")
	s.Set = p.assignments()
	if p.accept(kFrom) {
		s.From = p.fromList()
	}
	if p.accept(kWhere) {
		s.Where = p.expr()
	}
	s.Returning = p.returning()
	return s
}

func (p *parser) delete(with *ast.With) ast.Statement {
	s := &ast.Delete{Pos: p.pos(), With: with}
	p.next()
	p.expect(kFrom)
	s.Table, s.Alias = p.target("")
	if p.accept(kUsing) {
		s.Using = p.fromList()
	}
	if p.accept(kWhere) {
		s.Where = p.expr()
	}
	s.Returning = p.returning()
	return s
}

func (p *parser) truncate() ast.Statement {
	s := &ast.Truncate{Pos: p.pos()}
	p.next()
	p.accept(kTable)
	p.accept(kOnly)
	s.Tables = p.names()
	if s.Restart = p.acceptWords("restart", "identity"); !s.Restart {
		p.acceptWords("continue", "identity")
	}
	s.Cascade = p.cascade()
	return s
}

// copy reads COPY t [(columns)] FROM | TO file and COPY (query) TO file.
func (p *parser) copy() ast.Statement {
	s := &ast.Copy{Pos: p.pos()}
	p.next()
	if p.kind() == tLParen {
		s.Query = p.queryInParens()
	} else {
		s.Table = p.qualified()
		s.Columns = p.optNameList()
	}
	switch {
	case p.kind() == kFrom && s.Query == nil:
		p.next()
		s.From = true
	case p.kind() == kFrom:
		p.unexpectedHint("a query can only be copied TO a file")
	default:
		p.expect(kTo)
	}
	s.FilePos = p.pos()
	switch {
	case p.kind() == tString:
		s.File = p.text()
		p.next()
	case s.From && p.acceptWord("stdin"), !s.From && p.acceptWord("stdout"):
		s.Stdio = true
	case p.isWord("program") && p.peek(1) == tString:
		p.refuseAfter("COPY … ", "programs are not run: pipe one into kelpie, with COPY … FROM STDIN, or out of it, with TO STDOUT", "program")
	default:
		p.unexpectedHint("the file name stands in single quotes")
	}
	p.accept(kWith)
	if p.kind() == tLParen {
		s.Options = p.options()
	} else {
		s.Options = p.oldCopyOptions()
	}
	return s
}

// oldCopyOptions reads the options as PostgreSQL wrote them before version 9, which
// scripts still do: CSV HEADER DELIMITER AS '|' NULL ”.
func (p *parser) oldCopyOptions() []ast.Option {
	var list []ast.Option
	for {
		p.accept(kUsing) // USING DELIMITERS '|'
		o := ast.Option{Pos: p.pos(), Name: p.text()}
		switch {
		case p.isWord("csv"), p.isWord("text"), p.isWord("parquet"), p.kind() == kwOtherTypeFunc && o.Name == "binary":
			o.Name, o.Value = "format", p.literal(ast.LitString)
		case p.isWord("header"):
			p.next()
		case p.isWord("delimiter"), p.isWord("delimiters"), p.isWord("quote"), p.isWord("escape"), p.isWord("encoding"),
			p.kind() == kNull:
			p.next()
			p.accept(kAs)
			if p.kind() != tString {
				p.unexpected()
			}
			if o.Name == "delimiters" {
				o.Name = "delimiter"
			}
			o.Value = p.literal(ast.LitString)
		case p.isWord("force"): // FORCE QUOTE *, FORCE NOT NULL a, b
			p.next()
			switch {
			case p.acceptWord("quote"):
				o.Name = "force_quote"
			case p.accept(kNot):
				p.expect(kNull)
				o.Name = "force_not_null"
			default:
				p.expect(kNull)
				o.Name = "force_null"
			}
			if p.kind() == tStar {
				o.Value = &ast.Star{Pos: p.expect(tStar)}
				break
			}
			row := &ast.Row{Pos: p.pos()}
			for again := true; again; again = p.accept(tComma) {
				row.Elems = append(row.Elems, p.settingValue())
			}
			o.Value = row
		default:
			return list
		}
		list = append(list, o)
	}
}
