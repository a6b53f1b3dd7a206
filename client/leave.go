package client

import "context"

// Leave takes no more requests, waits until those that there are were answered,
// or until ctx ends, and closes the room. Unlike [Room.Close] it lets handlers
// finish. It must not be called from a [Handler] or from OnState.
func (r *Room) Leave(ctx context.Context) {
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		r.endServing()
	}()
	select {
	case <-answered:
	case <-ctx.Done():
	}
	r.Close()
	<-answered
}
