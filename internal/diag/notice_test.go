package diag

import (
	"context"
	"reflect"
	"sync"
	"testing"
)

func TestNotices(t *testing.T) {
	Notice(context.Background(), "nobody listens") // and nothing happens
	ctx, n := WithNotices(context.Background())
	below, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { Notice(below, "column %q is in UTC", "ts") })
	}
	wg.Wait()
	Notice(ctx, "100%%")
	if want := []string{`column "ts" is in UTC`, "100%"}; !reflect.DeepEqual(n.List(), want) {
		t.Errorf("got %q, want %q", n.List(), want)
	}
	inner, own := WithNotices(ctx) // a statement inside a statement has its own
	Notice(inner, "inside")
	if len(own.List()) != 1 || len(n.List()) != 2 {
		t.Errorf("got %q and %q", own.List(), n.List())
	}
}
