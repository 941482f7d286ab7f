package parse

import (
	"errors"
	"testing"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// Every word with a kind must be one that package ast calls a keyword: an unreserved
// word with a kind of its own would stop being a name.
func TestKeywords(t *testing.T) {
	for w, k := range named {
		if ast.Class(w) == ast.Unreserved {
			t.Errorf("%s has kind %d but is unreserved", w, k)
		}
		if len(w) > maxKeyword {
			t.Errorf("%s is longer than maxKeyword", w)
		}
	}
	seen := map[kind]string{}
	for w, k := range named {
		if seen[k] != "" {
			t.Errorf("%s and %s share a kind", w, seen[k])
		}
		seen[k] = w
	}
	ast.EachKeyword(func(w string, class ast.WordClass) {
		if got := classOf[words[w].kind]; got != class {
			t.Errorf("%s: class %d, want %d", w, got, class)
		}
	})
}

// checkError holds every error to the contract: a user's error, in the text.
func checkError(t *testing.T, text string, err error) {
	t.Helper()
	var e *diag.Error
	if !errors.As(err, &e) {
		t.Errorf("not a user's error: %v", err)
		return
	}
	if e.Code == "" || e.Msg == "" || e.Pos < 0 || e.Pos > len(text) {
		t.Errorf("bad error %+v", e)
	}
	diag.Format(err, text)
}
