package file

import (
	"container/list"
	"sync"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/column"
)

// Cache keeps chunks that were read from files, up to a number of bytes; those not used for longest
// go first. A nil cache keeps nothing.
type Cache struct {
	mu    sync.Mutex
	limit int64
	used  int64
	byKey map[cacheKey]*list.Element
	order *list.List // of *cached, the last used first
}

// cacheKey names a chunk. The table stands for the files as they were; when they change, another
// one is made.
type cacheKey struct {
	t      *parquetTable
	f      *parquetFile
	group  int
	lo, hi int64
	col    int
	shape  column.Shape
	dict   *textDict
}

type cached struct {
	key  cacheKey
	c    *column.Chunk
	size int64
}

// NewCache makes an empty cache.
func NewCache(limit int64) *Cache {
	k := &Cache{limit: limit, byKey: map[cacheKey]*list.Element{}, order: list.New()}
	budget.Spare(k, (*Cache).Clear)
	return k
}

func (k *Cache) get(key cacheKey) *column.Chunk {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.byKey[key]
	if e == nil {
		return nil
	}
	k.order.MoveToFront(e)
	return e.Value.(*cached).c
}

// put keeps a chunk. most, if it is not 0, bounds what the cache holds then.
func (k *Cache) put(key cacheKey, c *column.Chunk, most int64) {
	if k == nil {
		return
	}
	_, size := c.Memory()
	k.mu.Lock()
	defer k.mu.Unlock()
	if most == 0 || most > k.limit {
		most = k.limit
	}
	if int64(size) > most || k.byKey[key] != nil {
		return
	}
	k.byKey[key] = k.order.PushFront(&cached{key, c, int64(size)})
	k.used += int64(size)
	k.shrink(most)
}

// shrink drops chunks until no more than so many bytes are kept. Those that no query reads any more go with the
// next collection, which is asked for if they are many.
func (k *Cache) shrink(most int64) {
	lost := k.used
	for k.used > most {
		k.drop(k.order.Back())
	}
	column.Unreachable(lost - k.used)
}

// Clear drops everything.
func (k *Cache) Clear() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.shrink(0)
}

func (k *Cache) drop(e *list.Element) {
	c := k.order.Remove(e).(*cached)
	delete(k.byKey, c.key)
	k.used -= c.size
}

// SetLimit changes the number of bytes that may be kept.
func (k *Cache) SetLimit(limit int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.limit = limit
	k.shrink(limit)
}

// Used is the number of bytes that are kept.
func (k *Cache) Used() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.used
}
