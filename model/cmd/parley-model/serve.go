package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/parleyhq/parley/internal/modelspec"
	"github.com/parleyhq/parley/model/internal/participant"
	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/model/internal/providers"
)

// program is what runs.
type program struct {
	stdout, stderr io.Writer
	log            *slog.Logger
}

// serve joins, and serves until ctx ends or whoever supervises the program
// does.
func (p *program) serve(ctx context.Context, d *modelspec.Document, more instructions) error {
	models, err := connect(d)
	if err != nil {
		return err
	}
	if d.Space == "" {
		if d.Space, err = onlySpace(ctx, d.URL, d.Token.Reveal()); err != nil {
			return ended(ctx, err)
		}
	}
	var unanswered chan string
	if d.Supervised {
		unanswered = make(chan string)
		supervised, end := context.WithCancel(ctx)
		defer end()
		ctx = supervised
		// Nothing ends a read of standard input, so nobody waits for this one: it
		// ends with the process.
		go func() {
			defer end()
			obey(ctx, more, unanswered)
		}()
	}
	return ended(ctx, participant.Run(ctx, participant.Options{
		Document: d, Models: models, Unanswered: unanswered, Log: p.log,
		OnJoin: func(id string) { p.joined(id, d) },
	}))
}

// ended is no error where the program was told to end.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// connect makes ready to ask the models. All share connections.
func connect(d *modelspec.Document) ([]participant.Model, error) {
	connections := &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}
	models := make([]participant.Model, len(d.Models))
	for i, m := range d.Models {
		asked, err := providers.New(provider.Config{
			Name: m.Name, Kind: provider.Kind(m.Kind), Model: m.Model, URL: m.URL, Key: m.Key.Reveal(),
			MaxTokens: m.MaxTokens, HTTPClient: connections,
		})
		if err != nil {
			return nil, fmt.Errorf("the model %s: %w", m.Name, err)
		}
		models[i] = participant.Model{Spec: m, Provider: asked}
	}
	return models, nil
}

// joined says who is in the room, to people and to whoever supervises.
func (p *program) joined(id string, d *modelspec.Document) {
	var models []string
	for _, m := range d.Models {
		models = append(models, fmt.Sprintf("%s (%s %s)", m.Name, m.Kind, m.Model))
	}
	fmt.Fprintf(p.stderr, "%s is in the space %s of %s, with %s\n", id, d.Space, d.URL, strings.Join(models, ", "))
	if !d.Supervised {
		return
	}
	line, err := json.Marshal(modelspec.Joined{Event: modelspec.JoinedEvent, Participant: id})
	if err == nil {
		_, err = p.stdout.Write(append(line, '\n'))
	}
	if err != nil {
		p.log.Warn("whoever started this program does not listen", "error", err)
	}
}

// obey reads what whoever supervises the program says, until it says no more.
func obey(ctx context.Context, more instructions, unanswered chan<- string) {
	for {
		value, err := more.ReadValue()
		if err != nil {
			return
		}
		var said modelspec.Unanswered
		if json.Unmarshal(value, &said) != nil {
			continue // a later version says more
		}
		for _, id := range said.IDs {
			select {
			case unanswered <- id:
			case <-ctx.Done():
				return
			}
		}
	}
}
