package webhook

import (
	"context"
	"time"

	"github.com/parleyhq/parley/internal/journal"
)

// resume takes up where the webhook stood, or begins at the end of the record. The
// error is the journal's: to begin anew would skip what is on record.
func (c *courier) resume(ctx context.Context) error {
	s, err := c.desk.store.read(c.hook)
	if err != nil {
		c.log.Error("where the webhook stood cannot be read, so that it begins now", "error", err)
		if err := c.desk.store.putAside(c.hook); err != nil {
			c.log.Error("the file of the webhook cannot be put aside", "error", err)
		}
	}
	url := urlHash(c.hook.URL)
	if s == nil {
		c.state = state{at: c.feed.end, url: url}
		c.write()
		return nil
	}
	c.state = *s
	c.saved = c.at
	c.putForward()
	stands, err := c.stands(ctx)
	if err != nil {
		return err
	}
	if !stands {
		c.log.Warn("the record is another one than the webhook has read, so that it begins now: was it restored?",
			"index", c.at.index, "end", c.feed.end.index)
		c.at = c.feed.end
		c.soon()
	}
	if c.url != url {
		c.disabled, c.url = nil, url
		c.soon()
	}
	return nil
}

// putForward sends at once what is to wait longer than anything does: the clock was
// set back meanwhile.
func (c *courier) putForward() {
	now := time.Now()
	for _, it := range c.pending {
		if it.Next.Sub(now) > longest {
			it.Next = now
		}
	}
}

// stands reports whether the record that was read last is still there, or has been
// dropped by retention since.
func (c *courier) stands(ctx context.Context) (bool, error) {
	end := c.feed.end
	switch {
	case c.at.index == 0:
		return true, nil
	case c.at.index > end.index:
		return false, nil
	case c.at == end:
		return true, nil
	}
	log, err := c.desk.journal.Reader(ctx, c.hook.Space)
	if err != nil {
		return false, err
	}
	for r, err := range log.Read(ctx, journal.Query{Chain: true, After: c.at.index - 1, Limit: 1}) {
		return err == nil && (r.Index > c.at.index || r.Hash == c.at.hash), err
	}
	return true, nil
}
