package catalog

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/types"
)

func TestCatalog(t *testing.T) {
	c := New()
	cols := []ColumnDef{{Name: "a", Type: types.TInt32}}
	tab, err := c.CreateTable("Orders", cols, nil, Fail)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.CreateView(&View{Name: "v", SQL: "select 1"}, Fail); err != nil {
		t.Fatal(err)
	}
	for _, schema := range []string{"", "main", "PUBLIC"} {
		if r, err := c.Lookup(schema, "ORDERS"); err != nil || r != tab {
			t.Errorf("%s: %v, %v", schema, r, err)
		}
	}
	check := func(want string, err error) { t.Helper(); wantError(t, err, want) }
	_, err = c.Lookup("other", "orders")
	check(`schema "other" does not exist (3F000)`, err)
	_, err = c.Lookup("", "nope")
	check(`relation "nope" does not exist (42P01)`, err)
	_, err = c.Table("v")
	check(`"v" is not a table (42809)`, err)
	_, err = c.Table("nope")
	check(`relation "nope" does not exist (42P01)`, err)
	_, err = c.CreateTable("orders", cols, nil, Fail)
	check(`relation "orders" already exists (42P07)`, err)
	_, err = c.CreateTable("x", append(cols, ColumnDef{Name: "A"}), nil, Fail)
	check(`column "A" specified more than once (42701)`, err)
	check(`relation "V" already exists (42P07)`, c.CreateView(&View{Name: "V"}, Fail))
	check(`"orders" is not a view (42809)`, c.CreateView(&View{Name: "orders"}, Replace))
	_, err = c.CreateTable("v", cols, nil, Keep)
	check(`"v" is not a table (42809)`, err)
	check(`table "nope" does not exist (42P01)`, c.DropTable("nope", false))
	check(`view "nope" does not exist (42P01)`, c.DropView("nope", false))
	check(`"v" is not a table (42809)`, c.DropTable("v", false))

	version := c.Version()
	if same, err := c.CreateTable("orders", cols, nil, Keep); err != nil || same != tab || c.Version() != version {
		t.Error("IF NOT EXISTS")
	}
	if err := c.DropTable("nope", true); err != nil || c.Version() != version {
		t.Error("IF EXISTS")
	}
	other, err := c.CreateTable("orders", cols, nil, Replace)
	if err != nil || other == tab || c.Version() == version {
		t.Error("OR REPLACE")
	}
	if err := c.AddTable(NewTable("b", cols, nil, c.Encoding), Fail); err != nil {
		t.Error(err)
	}
	if got := strings.Join(c.Names(), " "); got != "b orders v" {
		t.Error(got)
	}
	if len(c.Tables()) != 2 || len(c.Views()) != 1 || c.Tables()[1] != other {
		t.Error(c.Tables(), c.Views())
	}
	if err := c.DropView("V", false); err != nil {
		t.Error(err)
	}
	if err := c.DropTable("B", false); err != nil || len(c.Names()) != 1 {
		t.Error(err)
	}
	c.Encoding = column.Options{}
	plain, err := c.CreateTable("plain", cols, nil, Fail)
	if err != nil || plain.Encoding() != (column.Options{}) {
		t.Error(err)
	}
}

func TestCatalogConcurrent(t *testing.T) {
	c := New()
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 100 {
				name := fmt.Sprint("t", (i+g)%5)
				c.CreateTable(name, []ColumnDef{{Name: "a", Type: types.TInt32}}, nil, IfExists(i%3))
				c.Lookup("", name)
				c.Tables()
				c.DropTable(name, true)
			}
		}()
	}
	wg.Wait()
}
