package catalog

import "github.com/kelpiedb/kelpie/internal/types"

// Enum is a type with labels that has a name.
type Enum struct {
	Schema, Name string
	Type         types.Type
	Comment      string
}

func (e *Enum) relationName() string { return e.Name }
func (e *Enum) key() string          { return "type\x00" + relKey(e.Schema, e.Name) }

// Enum finds a type; nil if there is none.
func (tx *Tx) Enum(schema, name string) *Enum {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	e, _ := tx.find((&Enum{Schema: schema, Name: name}).key()).(*Enum)
	return e
}
