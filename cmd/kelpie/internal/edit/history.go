package edit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"unicode/utf8"
)

// keep is how many entries a history has at most.
const keep = 5000

// History is what was entered before. The zero History lives only in memory.
type History struct {
	entries []string
	file    string
}

// LoadHistory reads the history of a file, to which new entries will be added. A file that is not
// there, or a line that is damaged, is no reason not to start.
func LoadHistory(file string) *History {
	h := &History{file: file}
	data, err := os.ReadFile(file)
	if err != nil {
		return h
	}
	for line := range bytes.Lines(data) {
		var entry string
		if json.Unmarshal(line, &entry) == nil && entry != "" {
			h.entries = append(h.entries, entry)
		}
	}
	if len(h.entries) > keep {
		h.entries = h.entries[len(h.entries)-keep:]
		h.rewrite()
	}
	return h
}

// rewrite replaces the file by what is kept.
func (h *History) rewrite() {
	tmp := h.file + ".new"
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	w := bufio.NewWriter(f)
	for _, e := range h.entries {
		w.Write(encode(e))
	}
	if w.Flush() == nil && f.Close() == nil {
		os.Rename(tmp, h.file)
	}
}

// encode is an entry as a line of the file: JSON, because entries may have several lines.
func encode(entry string) []byte {
	b, _ := json.Marshal(entry)
	return append(b, '\n')
}

// Len is the number of entries.
func (h *History) Len() int { return len(h.entries) }

// Add adds an entry, unless it is empty or the last one again.
func (h *History) Add(entry string) {
	entry = strings.TrimSpace(entry)
	if entry == "" || len(h.entries) > 0 && h.entries[len(h.entries)-1] == entry {
		return
	}
	h.entries = append(h.entries, entry)
	if h.file == "" {
		return
	}
	f, err := os.OpenFile(h.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	f.Write(encode(entry))
	f.Close()
}

// recall is how far back in the history the editor is; at == Len is the text being written.
type recall struct {
	at    int
	draft string
}

// older brings back the entry before, newer the one after.
func (e *Editor) older() { e.visit(e.recall.at - 1) }
func (e *Editor) newer() { e.visit(e.recall.at + 1) }

func (e *Editor) visit(at int) {
	n := e.History.Len()
	if at < 0 || at > n {
		return
	}
	if e.recall.at == n {
		e.recall.draft = e.text
	}
	e.recall.at = at
	if at == n {
		e.set(e.recall.draft)
	} else {
		e.set(e.History.entries[at])
	}
}

// search is Ctrl-R: it looks for the entry that was typed part of, and Ctrl-R again for older ones. Any key
// that is no letter takes what was found and does what it does.
func (e *Editor) search() (done bool, err error) {
	before := e.buffer
	pattern, at := "", e.History.Len()
	for {
		e.drawAs("(search '"+pattern+"') ", e.text, e.pos)
		k, err := e.keys.next()
		if err != nil {
			e.leave("")
			return true, err
		}
		from := at
		switch k.code {
		case keyRune:
			pattern += string(k.r)
			from = min(at+1, e.History.Len())
		case keyBackspace:
			_, size := utf8.DecodeLastRuneInString(pattern)
			pattern = pattern[:len(pattern)-size]
			from = e.History.Len()
		case keySearch:
		case keyCancel, keyInterrupt:
			e.buffer = before
			return false, nil
		default:
			if e.recall.at == e.History.Len() {
				e.recall.draft = before.text
			}
			e.recall.at = at
			return e.key(k)
		}
		if found := e.find(pattern, from); found >= 0 {
			at = found
			e.set(e.History.entries[at])
		}
	}
}

// find looks backwards for an entry that contains the pattern, in any case, before entry from. It is
// -1 if there is none.
func (e *Editor) find(pattern string, from int) int {
	pattern = strings.ToLower(pattern)
	for i := from - 1; i >= 0 && pattern != ""; i-- {
		if strings.Contains(strings.ToLower(e.History.entries[i]), pattern) {
			return i
		}
	}
	return -1
}
