package kelpie

import (
	"sync/atomic"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/session"
)

// DB is a database in memory. Its methods may be called from several goroutines.
type DB struct {
	inner  *session.DB
	config config
	closed atomic.Bool
}

// Open makes an empty database. Options are the defaults of its sessions; an option that makes no
// sense is an error here, not at the first query.
func Open(opts ...Option) (*DB, error) {
	db := &DB{inner: session.NewDB()}
	for _, o := range opts {
		o(&db.config)
	}
	if err := db.config.apply(session.New(db.inner)); err != nil {
		return nil, export(err)
	}
	if n := db.config.total; n != nil {
		session.SetTotalMemory(*n)
	}
	for _, x := range db.config.settings {
		if x.name == "device" {
			db.inner.Prepare(x.value)
		}
	}
	return db, nil
}

// Session opens a session: a user of the database with settings (SET threads = 4) and a transaction
// (BEGIN) of its own. Close it to roll an open transaction back; a session without one needs no closing.
func (db *DB) Session() *Session {
	s := session.New(db.inner)
	_ = db.config.apply(s) // was tried by Open
	return &Session{db: db, inner: s}
}

// GPUBytes is how many bytes columns and dictionaries take in the memory of the device "gpu" now.
func (db *DB) GPUBytes() int64 { return db.inner.GPUBytes() }

// GPUColumn is what a table's column takes in a GPU's memory.
type GPUColumn struct {
	Table  string `json:"table"`
	Column string `json:"column"`
	Bytes  int64  `json:"bytes"`
	// Bits is how many each value has where they are packed, 0 where they have whole bytes.
	Bits int `json:"packed_bits,omitempty"`
}

// GPUColumns lists the columns in the memory of the device "gpu", the largest first.
func (db *DB) GPUColumns() (out []GPUColumn) {
	for _, c := range db.inner.GPUColumns() {
		out = append(out, GPUColumn(c))
	}
	return out
}

// Close ends the database: statements that start from now on fail. Results that are open can
// still be read.
func (db *DB) Close() error {
	db.closed.Store(true)
	db.inner.Rest()
	return nil
}

// Table describes a table or view.
type Table struct {
	Name    string
	View    bool
	Columns []Column
	Rows    int64  // 0 for a view
	Bytes   int64  // what the table's columns take in memory, dictionaries not counted
	SQL     string // the statement that makes one like it, without a semicolon
	Schema  string // "" if it needs none before its name
}

// Tables lists tables and views by name, as far as they are committed.
func (db *DB) Tables() []Table { return db.Session().Tables() }

// Tables lists tables and views by name, as the session's transaction sees them.
func (s *Session) Tables() []Table {
	var out []Table
	for _, rel := range s.inner.View().Relations() {
		switch rel := rel.(type) {
		case *catalog.Table:
			snap := rel.Snapshot()
			t := Table{Schema: rel.Schema, Name: rel.Name, Rows: snap.Rows, Bytes: snap.MemBytes(), SQL: tableSQL(rel)}
			for _, c := range rel.Columns {
				t.Columns = append(t.Columns, Column{c.Name, c.Type.String(), !c.NotNull})
			}
			out = append(out, t)
		case *catalog.View:
			out = append(out, Table{Schema: rel.Schema, Name: rel.Name, View: true, Columns: s.viewColumns(rel), SQL: viewSQL(rel)})
		}
	}
	return out
}

// Qualified is the table's name with its schema, if it needs one, and with quotes, if they need them.
func (t *Table) Qualified() string { return qualified(t.Schema, t.Name) }

// viewColumns are the columns of a view; none if it does not fit its tables any more.
func (s *Session) viewColumns(v *catalog.View) []Column {
	cols, err := s.inner.ViewColumns(v)
	if err != nil {
		return nil
	}
	out := make([]Column, len(cols))
	for i, c := range cols {
		out[i] = Column{c.Name, c.Type.String(), c.Nullable}
	}
	return out
}

// errClosed is what a closed database answers.
func errClosed() error {
	return diag.Errorf(diag.AdminShutdown, diag.NoPos, "the database is closed")
}
