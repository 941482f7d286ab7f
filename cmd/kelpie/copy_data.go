package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/kelpiedb/kelpie"
)

// copyStreams runs COPY FROM STDIN or TO STDOUT. Rows that are written are all that is shown.
func (r *runner) copyStreams(ctx context.Context, st *kelpie.Statement) error {
	var data *copyData
	if st.CopiesIn() {
		data = r.script.copied()
		if r.interactive && r.depth == 1 {
			fmt.Fprintln(r.output, "Enter data to be copied followed by a newline.\nEnd with a backslash and a period on a line by itself, or Ctrl-D.")
		}
		r.session.Streams(data, nil)
	} else {
		r.session.Streams(nil, r.output)
	}
	defer r.session.Streams(nil, nil)
	res, err := r.session.Run(ctx, st)
	if data != nil && data.begun { // what is left of the data is no statement
		io.Copy(io.Discard, data)
	}
	if err != nil {
		return err
	}
	defer res.Close()
	if st.CopiesOut() {
		return nil
	}
	return r.print(ctx, res)
}

// copyData is the data of a COPY FROM STDIN: lines, up to one that is \. or the end.
type copyData struct {
	next  func() (string, error)
	line  string // what is left of it
	begun bool
	ended bool
}

// copied is the data that follows the statement that was taken last.
func (s *script) copied() *copyData {
	if s.data != nil {
		in := bufio.NewReader(s.data)
		return &copyData{next: func() (string, error) { return in.ReadString('\n') }}
	}
	first := true
	return &copyData{next: func() (string, error) {
		for {
			line, err := s.dataLine()
			if !first || err != nil {
				return line, err
			}
			first = false // what stands behind the statement
			if strings.TrimSpace(line) != "" {
				return line, nil
			}
		}
	}}
}

// dataLine takes a line off the text that is no statement.
func (s *script) dataLine() (string, error) {
	for {
		if n := strings.IndexByte(s.text[s.at:], '\n'); n >= 0 {
			line := s.text[s.at : s.at+n+1]
			s.goTo(s.at + n + 1)
			return line, nil
		}
		if s.ended {
			line := s.text[s.at:]
			s.goTo(len(s.text))
			return line, io.EOF
		}
		line, err := s.in.ReadString('\n')
		s.add(line)
		if err == io.EOF {
			s.ended = true
		} else if err != nil {
			return "", err
		}
	}
}

func (d *copyData) Read(p []byte) (int, error) {
	d.begun = true
	if d.line == "" {
		if d.ended {
			return 0, io.EOF
		}
		line, err := d.next()
		if strings.TrimRight(line, "\r\n") == `\.` {
			line, err = "", io.EOF
		}
		if err != nil {
			d.ended = true
			if err != io.EOF {
				return 0, err
			}
		}
		d.line = line
	}
	n := copy(p, d.line)
	d.line = d.line[n:]
	if n == 0 && d.ended {
		return 0, io.EOF
	}
	return n, nil
}
