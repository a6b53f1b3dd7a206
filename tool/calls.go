package tool

import "sync"

// calls counts the calls under way. A sync.WaitGroup does not do: calls may
// begin while somebody waits.
type calls struct {
	mu   sync.Mutex
	n    int           // guarded by mu
	idle chan struct{} // closed when n gets to 0; nil: nobody waits; guarded by mu
}

func (c *calls) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
}

func (c *calls) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n--; c.n == 0 && c.idle != nil {
		close(c.idle)
		c.idle = nil
	}
}

func (c *calls) wait() {
	c.mu.Lock()
	if c.n == 0 {
		c.mu.Unlock()
		return
	}
	if c.idle == nil {
		c.idle = make(chan struct{})
	}
	idle := c.idle
	c.mu.Unlock()
	<-idle
}
