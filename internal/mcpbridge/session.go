package mcpbridge

import (
	"context"
	"log/slog"

	"github.com/go-json-experiment/json/jsontext"
)

// session is one connection to the server and what belongs to it.
type session struct {
	up        *Upstream
	log       *slog.Logger
	catalogue catalogue
}

// offer is what the server offers in this session. ctx bounds waiting for it.
func (s *session) offer(ctx context.Context) (*Offer, error) {
	return s.catalogue.get(ctx, "", s.up.start, func() (*Offer, error) {
		return readOffer(s.up.ctx, s.up.Info(), &lister{ask: s.ask, warn: s.log.Warn})
	})
}

// ask makes a call of our own.
func (s *session) ask(ctx context.Context, method string, params jsontext.Value) (jsontext.Value, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, listTimeout, errTimeout)
	defer cancel()
	return s.up.Call(ctx, method, params, nil)
}
