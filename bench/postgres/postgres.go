// Package postgres asks a PostgreSQL server what is right: the answers of the corpus, and those of
// queries made at random. KELPIE_PG says where the server is, such as "host=/tmp port=5432 user=postgres";
// scripts/with-postgres starts one for a command.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/kelpiedb/kelpie/internal/corpus"
	"github.com/kelpiedb/kelpie/internal/types"
)

// DB is a database of its own, with one connection.
type DB struct {
	admin string // the server's address
	name  string
	conn  *pgconn.PgConn
}

// patience is how long a statement may take.
const patience = 20 * time.Second

// Open makes a new database on the server of KELPIE_PG, for the time of a test, which is skipped if there is none.
// Texts compare byte by byte, as Kelpie's do.
func Open(t testing.TB) *DB {
	t.Helper()
	d := &DB{admin: os.Getenv("KELPIE_PG"), name: fmt.Sprintf("kelpie_%d_%d", os.Getpid(), time.Now().UnixNano())}
	if d.admin == "" {
		t.Skip("KELPIE_PG is not set: scripts/with-postgres COMMAND starts a server")
	}
	if err := d.manage("create database " + d.name + " template template0 encoding 'UTF8' lc_collate 'C' lc_ctype 'C.UTF-8'"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if d.conn != nil {
			d.conn.Close(context.Background())
		}
		if err := d.manage("drop database " + d.name); err != nil {
			t.Error(err)
		}
	})
	if err := d.Reset(); err != nil {
		t.Fatal(err)
	}
	return d
}

// manage runs a statement in the server's own database.
func (d *DB) manage(sql string) error {
	ctx := context.Background()
	conn, err := pgconn.Connect(ctx, d.admin+" dbname=postgres")
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql).ReadAll()
	return err
}

// Reset begins anew: an empty database and another connection.
func (d *DB) Reset() (err error) {
	ctx := context.Background()
	if d.conn != nil {
		d.conn.Close(ctx)
	}
	if d.conn, err = pgconn.Connect(ctx, d.admin+" dbname="+d.name); err != nil {
		return err
	}
	return d.Run(fmt.Sprintf(`set client_min_messages = error;
		do $$ declare s text; begin
			for s in select nspname from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema' loop execute format('drop schema %%I cascade', s); end loop;
		end $$;
		create schema public;
		set statement_timeout = %d; set timezone = 'UTC'; set intervalstyle = postgres; set datestyle = 'ISO, YMD'; set jit = off`, patience.Milliseconds()))
}

// Run runs statements without looking at rows.
func (d *DB) Run(sql string) error {
	_, err := d.conn.Exec(context.Background(), sql).ReadAll()
	return err
}

// Code is the SQLSTATE of an error, "" if it has none.
func Code(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Cells runs a statement and gives its rows as the corpus has them.
func (d *DB) Cells(sql string) ([][]corpus.Cell, error) {
	res, err := d.last(sql)
	if err != nil {
		return nil, err
	}
	var rows [][]corpus.Cell
	for _, raw := range res.Rows {
		row := make([]corpus.Cell, len(raw))
		for i, b := range raw {
			c := corpus.Cell{Null: b == nil, Text: string(b)}
			switch res.FieldDescriptions[i].DataTypeOID {
			case pgtype.BoolOID:
				c.Text = map[string]string{"t": "true", "f": "false"}[c.Text]
			case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.NumericOID:
				c.Kind = corpus.Exact
			case pgtype.Float4OID:
				c.Kind = corpus.Single
			case pgtype.Float8OID:
				c.Kind = corpus.Double
			}
			row[i] = c
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// Rows runs a query and gives its rows as Kelpie's values. Numbers with more digits than Kelpie has are
// texts.
func (d *DB) Rows(sql string) ([][]types.Value, error) {
	res, err := d.last(sql)
	if err != nil {
		return nil, err
	}
	rows := make([][]types.Value, 0, len(res.Rows))
	for _, raw := range res.Rows {
		row := make([]types.Value, len(raw))
		for i, b := range raw {
			row[i] = value(res.FieldDescriptions[i].DataTypeOID, b)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func value(oid uint32, b []byte) types.Value {
	text := string(b)
	t := types.TText
	switch oid {
	case pgtype.BoolOID:
		t = types.TBool
	case pgtype.Int2OID:
		t = types.TInt16
	case pgtype.Int4OID:
		t = types.TInt32
	case pgtype.Int8OID:
		t = types.TInt64
	case pgtype.NumericOID:
		_, fraction, _ := strings.Cut(text, ".")
		t = types.TDecimal(38, min(len(fraction), 38))
	case pgtype.Float4OID:
		t = types.TFloat32
	case pgtype.Float8OID:
		t = types.TFloat64
	case pgtype.DateOID:
		t = types.TDate
	case pgtype.TimestampOID:
		t = types.TTimestamp
	case pgtype.IntervalOID:
		t = types.TInterval
	}
	if b == nil {
		return types.NullOf(t)
	}
	v, err := types.ParseValue(t, text)
	if err != nil {
		return types.TextValue(text)
	}
	return v
}

// last runs statements and gives the result of the last one.
func (d *DB) last(sql string) (*pgconn.Result, error) {
	results, err := d.conn.Exec(context.Background(), sql).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(results) == 0 {
		return &pgconn.Result{}, nil
	}
	return results[len(results)-1], nil
}
