package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

// What is done once, and has to last, however often the gateway is killed and
// however much of the record is dropped: a right that is given, one that is
// taken, and everything that is redacted.

func order(kind, payload string) *parley.Envelope {
	return &parley.Envelope{ID: client.NewID(), Kind: kind, Payload: jsontext.Value(payload)}
}

// rights gives the novice a right and takes it of the thief.
func (l *load) rights(ctx context.Context) error {
	_, err := l.insist(ctx, "boss", order(parley.KindGrant, `{"recipient":"novice","capabilities":["acme/*"]}`))
	if err == nil {
		_, err = l.insist(ctx, "boss", order(parley.KindRevoke, `{"recipient":"thief","capabilities":["acme/*"]}`))
	}
	if err != nil {
		return fmt.Errorf("rights cannot be given and taken: %w", err)
	}
	return nil
}

// use does what only the right that was given allows.
func (l *load) use(ctx context.Context, rnd *rand.Rand) {
	for l.pause(ctx, time.Duration(rnd.IntN(int(60*time.Millisecond)))) {
		_, err := l.insist(ctx, "novice", order("acme/status", `{}`))
		if errors.Is(err, &parley.Error{Code: parley.CapabilityViolation}) {
			l.ledger.Add(Promise{Type: Bereft, Who: "novice"})
		}
	}
}

// steal tries to do what the right that was taken allowed.
func (l *load) steal(ctx context.Context, rnd *rand.Rand) {
	for l.pause(ctx, time.Duration(rnd.IntN(int(60*time.Millisecond)))) {
		if at, err := l.insist(ctx, "thief", order("acme/status", `{}`)); err == nil {
			l.ledger.Add(Promise{Type: Stolen, Who: "thief", Seq: at.Seq})
		}
	}
}

// erase says things, and has them redacted.
func (l *load) erase(ctx context.Context, rnd *rand.Rand) {
	for l.pause(ctx, time.Duration(rnd.IntN(int(400*time.Millisecond)))) {
		secret := client.NewChat("a secret")
		secret.ID = client.NewID()
		if _, err := l.insist(ctx, "boss", secret); err != nil {
			continue
		}
		_, _ = l.insist(ctx, "boss", order(parley.KindRedact, fmt.Sprintf(`{"id":%q}`, secret.ID))) // what is on record counts
	}
}
