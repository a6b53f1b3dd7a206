package client

import "context"

// Leave takes no more requests, which are answered with [CodeBusy], waits until
// those that there are were answered, and until the gateway has what the room says by
// itself, such as that a request is cancelled, or until ctx ends, and closes the room.
// Unlike [Room.Close] it lets handlers finish. It must not be called from a [Handler] or from OnState.
func (r *Room) Leave(ctx context.Context) {
	r.mu.Lock()
	r.server.leaving = true
	r.mu.Unlock()
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		r.endServing()
	}()
	select {
	case <-answered:
	case <-ctx.Done():
	}
	select {
	case <-r.outbox.drained():
	case <-ctx.Done():
	}
	r.Close()
	<-answered
}
