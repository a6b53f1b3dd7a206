package participant

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/modelspec"
	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

const (
	method = "sampling/createMessage"

	// patientCall is how long a request may take where the space does not say.
	patientCall = 5 * time.Minute
)

// serve answers one request.
func (p *participant) serve(ctx context.Context, q *client.Request) (any, error) {
	if q.Kind.Method != method {
		return nil, client.MethodNotFound(q.Kind.Method)
	}
	asked, err := read(q)
	if err != nil {
		return nil, refuse(client.CodeInvalidParams, invalid, 0, "%v", err)
	}
	a := p.asking(asked)
	settle, no := p.ledger.begin(q.Envelope.From, weigh(asked)+p.most(a, asked), time.Now())
	if no != nil {
		p.log.Info("an asker has reached a bound", "from", q.Envelope.From, "bound", no.says, "again_in", no.after)
		return nil, no.broke()
	}
	defer func() { settle(a.spent) }()
	return p.answer(ctx, q, a, asked)
}

// read takes a request that can be sent to a model.
func read(q *client.Request) (*sampling.Request, error) {
	asked, err := sampling.ReadRequest(q.Params)
	if err != nil {
		return nil, err
	}
	own := slices.DeleteFunc(slices.Clone(asked.Tools), func(t sampling.Tool) bool { return t.Name == sampling.SchemaTool })
	if len(asked.Tools)-len(own) > 1 {
		return nil, fmt.Errorf("two tools are called %s", sampling.SchemaTool)
	}
	if asked.MaxTokens < 1 {
		return nil, errors.New("maxTokens: a reply has at least one token")
	}
	return asked, errors.Join(sampling.CheckTools(own), asked.Check())
}

// asking is a request with the models that are to be asked.
func (p *participant) asking(q *sampling.Request) *asking {
	order := Order(p.document.Models, q.Preferences)
	if !p.document.Fallback {
		order = order[:1]
	}
	retries := modelspec.DefaultRetries
	if p.document.Retries != nil {
		retries = *p.document.Retries
	}
	return &asking{models: p.models, order: order, retries: retries, log: p.log, heard: new(progress)}
}

// most is how many tokens the reply may have.
func (p *participant) most(a *asking, q *sampling.Request) int64 {
	return provider.Config{MaxTokens: p.document.Models[a.order[0]].MaxTokens}.Tokens(q)
}

// answer asks, for as long as somebody waits and time lasts.
func (p *participant) answer(serving context.Context, q *client.Request, a *asking, asked *sampling.Request) (any, error) {
	began := time.Now()
	ctx, giveUp := context.WithCancelCause(serving)
	defer giveUp(nil)
	defer context.AfterFunc(p.leaving, func() { giveUp(errLeaving) })()
	defer p.here.enter(q.Envelope.From, giveUp)()
	timeout := cmp.Or(q.Room().Welcome().Space.Limits.CallTimeout, patientCall)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errLate)
	defer cancel()
	if wanted(q) {
		var reporting sync.WaitGroup
		reporting.Go(func() { a.heard.send(ctx, q.Progress) })
		defer reporting.Wait()
		defer cancel()
	}
	reply, err := a.ask(ctx, asked)
	if err == nil && p.tells(reply) {
		err = &provider.Error{Kind: provider.Garbled, Message: "the reply holds a secret of the participant's"}
	}
	if err != nil {
		err = explain(ctx, err, a.lastAsked, p.clean)
	}
	log := p.log.With("from", q.Envelope.From, "id", q.Envelope.ID, "model", a.lastAsked, "tokens", a.spent, "took", time.Since(began).Round(time.Millisecond))
	if err != nil {
		log.Info("a request was worked on in vain", "error", err)
		return nil, err
	}
	log.Info("a request was worked on")
	return reply, nil
}
