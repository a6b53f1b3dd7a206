package load

import (
	"context"
	"fmt"

	"github.com/parleyhq/parley"
)

// fillWindow is how many messages of Fill may be unanswered.
const fillWindow = 256

// Fill sends n messages, and returns once the server has answered all of them.
func Fill(ctx context.Context, t Target, n int) error {
	p := protocols[t.Protocol]
	if p == nil {
		return fmt.Errorf("there is no protocol %q", t.Protocol)
	}
	feed, err := p.Send(ctx, t, 0)
	if err != nil {
		return err
	}
	defer feed.Conn.Close()
	defer context.AfterFunc(ctx, func() { feed.Conn.Close() })()
	answered := 0
	walk := newWalker(&feed.Stream, answerBuffer, func(answer []byte) error {
		if feed.Check != nil {
			if err := feed.Check(answer); err != nil {
				return err
			}
		}
		answered++
		return nil
	})
	var buf []byte
	for sent := 0; answered < n; {
		buf = buf[:0]
		for range min(n-sent, fillWindow-(sent-answered)) {
			sent++
			buf = feed.Append(buf, int64(sent))
		}
		if _, err = feed.Conn.Write(buf); err == nil {
			err = walk.read()
		}
		if err != nil {
			break
		}
	}
	switch {
	case answered >= n:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return parley.Errorf(parley.Unavailable, "%d of %d messages were taken: %v", answered, n, err)
}

// Visit opens a receiving connection, and closes it once it was welcomed.
func Visit(ctx context.Context, t Target) error {
	p := protocols[t.Protocol]
	if p == nil {
		return fmt.Errorf("there is no protocol %q", t.Protocol)
	}
	s, err := p.Receive(ctx, t, 0)
	if err != nil {
		return err
	}
	return s.Conn.Close()
}
