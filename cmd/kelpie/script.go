package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/kelpiedb/kelpie"
)

// script cuts a text that comes line by line into statements and commands, as soon as they are complete. A command
// begins with a backslash wherever a statement could go on, or with a dot where one could begin, and ends with its line.
type script struct {
	name  string // of the file; "" for others
	in    *bufio.Reader
	known bool // the whole text is there, and looked through before any of it runs
	open  bool // a statement without a semicolon at the end waits for more
	ended bool
	data  io.Reader // what COPY FROM STDIN reads; nil: the lines that follow it, up to one with \.

	// text is what was read, from the beginning of a line, which so many others precede. Items end before at, and before
	// seen there is nothing more to find. It is what room holds, if that is whole, so that lines are added fast.
	text  string
	lines int
	line  int // where the line begins that at is in
	at    int
	seen  int
	room  strings.Builder
	whole bool

	command bool // what ran last was one
}

// item is a statement, or a command.
type item struct {
	text    string
	command bool
	// Where it stands, for messages: lines before the one it begins in, what is before it there, and what comes after.
	line       int
	head, tail string
}

func newScript(name string, in io.Reader) *script {
	return &script{name: name, in: bufio.NewReaderSize(in, 1<<16)}
}

// scriptOf is a script whose text is known.
func scriptOf(name, text string) *script {
	s := newScript(name, strings.NewReader(text))
	s.known = true
	return s
}

// next is the next item, or io.EOF. Text at the end that has no semicolon is a statement, too.
func (s *script) next() (item, error) {
	for {
		if it, ok := s.cut(); ok {
			return it, nil
		}
		if s.ended {
			if s.open || blank(s.text[s.at:]) {
				return item{}, io.EOF
			}
			return s.take(len(s.text)), nil
		}
		line, err := s.in.ReadString('\n')
		s.add(line)
		if err == io.EOF {
			s.ended = true
		} else if err != nil {
			return item{}, err
		}
	}
}

// add adds a line to the text, and drops those of which nothing is needed any more.
func (s *script) add(line string) {
	if !s.whole || s.line > len(s.text)/2 {
		s.text = s.text[s.line:]
		s.at, s.seen, s.line = s.at-s.line, s.seen-s.line, 0
		s.room = strings.Builder{}
		s.room.WriteString(s.text)
	}
	s.room.WriteString(line)
	s.text, s.whole = s.room.String(), true
}

// cut takes an item off the text if there is a complete one.
func (s *script) cut() (item, bool) {
	for s.seen < len(s.text) {
		i := s.seen
		switch c := s.text[i]; {
		case c == '\\' || c == '.' && blank(s.text[s.at:i]) && dotCommand(s.text[i:]):
			end := len(s.text)
			if n := strings.IndexByte(s.text[i:], '\n'); n >= 0 {
				end = i + n + 1
			} else if !s.ended {
				return item{}, false
			}
			it := item{text: strings.TrimSpace(s.text[i:end]), command: true}
			// What is before it stays: \p shows it, \g runs it.
			s.text, s.whole = s.text[:i]+s.text[end:], false
			s.lines++
			return it, true
		case c == ';':
			return s.take(i + 1), true
		}
		end, _ := token(s.text, i)
		if end < 0 { // a string or comment goes on
			return item{}, false
		}
		s.seen = end
	}
	return item{}, false
}

// take takes the statement that ends there off the text.
func (s *script) take(end int) item {
	start := end - len(strings.TrimLeft(s.text[s.at:end], " \t\r\n\f"))
	s.goTo(start)
	it := item{text: s.text[start:end], line: s.lines, head: s.text[s.line:start], tail: s.text[end:]}
	s.goTo(end)
	return it
}

func (s *script) goTo(at int) {
	if n := strings.Count(s.text[s.at:at], "\n"); n > 0 {
		s.lines += n
		s.line = strings.LastIndexByte(s.text[:at], '\n') + 1
	}
	s.at, s.seen = at, at
}

// survey reads the whole script, looks for mistakes in its statements, and counts those that will answer with rows.
func (s *script) survey(ctx context.Context) (results int, err error) {
	text, err := io.ReadAll(s.in)
	if err != nil {
		return 0, err
	}
	s.in.Reset(bytes.NewReader(text))
	for all := newScript(s.name, bytes.NewReader(text)); ; {
		it, err := all.next()
		if err != nil {
			return results, nil
		}
		if it.command || blank(strings.TrimSuffix(it.text, ";")) {
			continue
		}
		stmts, err := kelpie.Parse(it.text)
		if err != nil {
			return 0, it.failed(ctx, s.name, err)
		}
		for _, st := range stmts {
			if st.GivesRows() {
				results++
			}
			if st.CopiesIn() && s.data == nil {
				io.Copy(io.Discard, all.copied())
			}
		}
	}
}

// pending is the statement that has begun.
func (s *script) pending() string { return strings.TrimSpace(s.text[s.at:]) }

// drop forgets the statement that has begun, and returns it.
func (s *script) drop() item { return s.take(len(s.text)) }

// blank reports that there are nothing but spaces and comments.
func blank(text string) bool {
	for i := 0; i < len(text); {
		end, kind := token(text, i)
		if end < 0 || kind != tokenSpace {
			return false
		}
		i = end
	}
	return true
}

// dotCommand reports a word behind the dot, so that it is no number.
func dotCommand(text string) bool {
	return len(text) > 1 && (text[1] >= 'a' && text[1] <= 'z' || text[1] >= 'A' && text[1] <= 'Z')
}

// deepest bounds scripts that include scripts, perhaps themselves.
const deepest = 64

// run runs statements and commands as they come, up to the first error, which it reports.
func (r *runner) run(ctx context.Context, s *script) error {
	outer := r.script
	r.script, r.depth = s, r.depth+1
	defer func() { r.script, r.depth = outer, r.depth-1 }()
	if r.depth > deepest {
		return fmt.Errorf("%s: scripts include each other more than %d deep", s.name, deepest)
	}
	for {
		it, err := s.next()
		s.command = it.command
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case it.command:
			err = r.command(ctx, it.text)
		default:
			err = r.statement(ctx, it)
		}
		if err != nil {
			return err
		}
	}
}

// statement runs a statement and prints its result, and what is wrong with it.
func (r *runner) statement(ctx context.Context, it item) error {
	if blank(strings.TrimSuffix(it.text, ";")) {
		return nil
	}
	r.last = it.text
	stmts, err := r.session.Parse(it.text)
	for _, st := range stmts {
		if err == nil {
			err = r.answer(ctx, st)
		}
	}
	if err == nil {
		return nil
	}
	return it.failed(ctx, r.script.name, err)
}

// failed reports an error of the item's text, with its place in the whole script.
func (it item) failed(ctx context.Context, name string, err error) error {
	var e *kelpie.Error
	src := source{file: name}
	if errors.As(err, &e) && e.Position >= 0 {
		before := strings.Repeat("\n", it.line) + it.head
		after, _, _ := strings.Cut(it.tail, "\n")
		moved := *e
		moved.Position += len(before)
		err, src.text = &moved, before+it.text+after
	}
	return failed(ctx, err, src)
}
