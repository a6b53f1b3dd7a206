package syntax

import (
	"container/list"
	"sync"
)

// Identity says which state of which file something was made of. Two that are
// equal are taken for the same content.
type Identity struct {
	Path     string
	Language Language
	Size     int64
	ModTime  int64  // nanoseconds
	Inode    uint64 // 0 where the platform has none
	Changed  int64  // nanoseconds; 0 where the platform has none. A time of modification can be set back.
}

// Cache keeps parsed files, the least recently used ones thrown out first.
// It is made by [NewCache].
//
// All methods may be called from any goroutine.
type Cache struct {
	most int64 // bytes

	mu    sync.Mutex
	used  int64
	files map[string]*list.Element // by path; guarded by mu
	order *list.List               // of *cached, most recently used first; guarded by mu
}

type cached struct {
	identity Identity
	file     *File
}

// NewCache makes a cache of at most so many bytes, as [File.Bytes] counts them.
func NewCache(most int64) *Cache {
	return &Cache{most: most, files: map[string]*list.Element{}, order: list.New()}
}

// Get is the file of that identity, or nil.
func (c *Cache) Get(id Identity) *File {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.files[id.Path]
	if !ok || e.Value.(*cached).identity != id {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*cached).file
}

// Put keeps a file, instead of another state of the same one.
func (c *Cache) Put(id Identity, f *File) {
	size := f.Bytes()
	if size > c.most {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(c.files[id.Path])
	c.files[id.Path] = c.order.PushFront(&cached{id, f})
	for c.used += size; c.used > c.most; {
		c.drop(c.order.Back())
	}
}

// drop removes an entry; c.mu is held.
func (c *Cache) drop(e *list.Element) {
	if e == nil {
		return
	}
	gone := c.order.Remove(e).(*cached)
	delete(c.files, gone.identity.Path)
	c.used -= gone.file.Bytes()
}

// Used is how many bytes the files in the cache take.
func (c *Cache) Used() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used
}
