package cuda

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

func TestCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	c := NewCache(dir, 1<<20)
	key := Key("text", "sm_90")
	if got := c.Get(key); got != nil {
		t.Fatalf("an empty cache gives %q", got)
	}
	if err := c.Put(key, []byte("code")); err != nil {
		t.Fatal(err)
	}
	if got := string(c.Get(key)); got != "code" {
		t.Fatalf("got %q", got)
	}
	if got := c.Get(Key("text", "sm_80")); got != nil {
		t.Fatalf("another device's code: %q", got)
	}
	if Key("ab", "c") == Key("a", "bc") {
		t.Error("lists run together")
	}
}

// TestCacheDamaged: whatever bytes a file has, they are the code or a miss.
func TestCacheDamaged(t *testing.T) {
	c := NewCache(t.TempDir(), 1<<20)
	key := Key("k")
	name := filepath.Join(c.dir, key+suffix)
	for _, damage := range []func([]byte) []byte{
		func(b []byte) []byte { return b[:len(b)-1] },
		func(b []byte) []byte { return b[:5] },
		func(b []byte) []byte { return nil },
		func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		func(b []byte) []byte { return append(b, 0) },
	} {
		if err := c.Put(key, []byte("machine code")); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, damage(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := c.Get(key); got != nil {
			t.Errorf("a damaged file gave %q", got)
		}
	}
}

// TestCacheBound: the least recently used files go first, and abandoned ones with them.
func TestCacheBound(t *testing.T) {
	c := NewCache(t.TempDir(), 10_000)
	code := bytes.Repeat([]byte{7}, 1000-32)
	past := func(name string, ago time.Duration) {
		at := time.Now().Add(-ago)
		if err := os.Chtimes(filepath.Join(c.dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 10 {
		key := Key(fmt.Sprint(i))
		if err := c.Put(key, code); err != nil {
			t.Fatal(err)
		}
		past(key+suffix, time.Duration(100-i)*time.Minute)
	}
	for name, ago := range map[string]time.Duration{"new-dead": 2 * time.Hour, "new-alive": time.Minute} {
		if err := os.WriteFile(filepath.Join(c.dir, name), code, 0o600); err != nil {
			t.Fatal(err)
		}
		past(name, ago)
	}
	if c.Used(Key("0")); c.Get(Key("0")) == nil { // the oldest is used again, which saves it
		t.Fatal("full is not too full")
	}
	if err := c.Put(Key("one more"), code); err != nil {
		t.Fatal(err)
	}
	kept := map[string]bool{}
	for i := range 10 {
		kept[fmt.Sprint(i)] = c.Get(Key(fmt.Sprint(i))) != nil
	}
	want := map[string]bool{"0": true, "1": false, "2": false, "3": false, "4": false, "5": true, "6": true, "7": true, "8": true, "9": true}
	for k, w := range want {
		if kept[k] != w {
			t.Errorf("file %s kept: %v, want %v", k, kept[k], w)
		}
	}
	if _, err := os.Stat(filepath.Join(c.dir, "new-dead")); err == nil {
		t.Error("an abandoned file stays")
	}
	if _, err := os.Stat(filepath.Join(c.dir, "new-alive")); err != nil {
		t.Error("another process's file was taken away")
	}
}

// TestCacheShared: many writers and readers of a small folder never see half a file.
func TestCacheShared(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			c := NewCache(dir, 4000)
			for i := range 40 {
				k := fmt.Sprint((w + i) % 7)
				code := bytes.Repeat([]byte(k), 900)
				if got := c.Get(Key(k)); got != nil && !bytes.Equal(got, code) {
					t.Errorf("other bytes than were put")
				}
				if err := c.Put(Key(k), code); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
