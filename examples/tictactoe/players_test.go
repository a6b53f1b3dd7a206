package main

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/tool/sampling"
)

// players are both sides of a game, who answer from scripts. The model is a
// strict endpoint besides: it refuses what real ones refuse.
//
// A line of the model's script is a cell's number, the input of a call as JSON, or
// what it says instead of a call. One of the human's is a cell's number, what the
// form holds as JSON, "decline" or "cancel".
type players struct {
	model, human string // lines

	mu       sync.Mutex
	turns    map[side]int
	requests []*sampling.Request // that the model was asked
	forms    []string            // messages that the human was shown
	fault    error               // what the endpoint, or the human's client, refused first
}

// next is the line that comes next.
func (p *players) next(s side, script string) (string, error) {
	if p.turns == nil {
		p.turns = map[side]int{}
	}
	lines := strings.Split(script, "\n")
	at := p.turns[s]
	p.turns[s]++
	if at >= len(lines) {
		return "", fmt.Errorf("the %s is asked for the %dth time, and its script has %d lines", s, at+1, len(lines))
	}
	return lines[at], nil
}

// refuse remembers the first fault, so that the test fails with it and not with
// what becomes of it.
func (p *players) refuse(err error) error {
	if p.fault == nil {
		p.fault = err
	}
	return err
}

// sample answers sampling/createMessage.
func (p *players) sample(params jsontext.Value) (jsontext.Value, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r, err := sampling.ReadRequest(params)
	if err == nil {
		err = strict(r)
	}
	if err != nil {
		return nil, p.refuse(fmt.Errorf("%w\n%s", err, params))
	}
	p.requests = append(p.requests, r)
	line, err := p.next(model, p.model)
	if err != nil {
		return nil, p.refuse(err)
	}
	// Many models count their calls from the same number in each reply.
	use := sampling.ToolUse{ID: "call_0", Name: sampling.SchemaTool}
	reply := sampling.Result{Role: sampling.Assistant, Model: "scripted", StopReason: sampling.ToolUseWanted}
	if use.Input = said(line); use.Input.Kind() == '{' {
		reply.Content = []sampling.Block{use}
	} else {
		reply.StopReason = sampling.EndTurn
		reply.Content = []sampling.Block{sampling.Text{Text: line}}
	}
	return reply.MarshalJSON()
}

// said is a line of the model's script in full.
func said(line string) jsontext.Value {
	if strings.Trim(line, "0123456789") == "" {
		return jsontext.Value(`{"cell":` + line + `,"why":"the script says so"}`)
	}
	return jsontext.Value(line)
}

// strict is what models' endpoints refuse, beside what breaks the pairing rule: a
// history that begins with the assistant or ends with it, ids that come twice, and
// a typed answer that is not asked for as it has to be.
func strict(r *sampling.Request) error {
	if err := r.Check(); err != nil {
		return err
	}
	if r.Messages[0].Role != sampling.User || r.Messages[len(r.Messages)-1].Role != sampling.User {
		return errors.New("the first and the last message are not the user's")
	}
	seen := map[string]bool{}
	for _, m := range r.Messages {
		for _, use := range m.ToolUses() {
			if seen[use.ID] {
				return fmt.Errorf("the id %q comes twice", use.ID)
			}
			seen[use.ID] = true
		}
	}
	if len(r.Tools) != 1 || r.Tools[0].Name != sampling.SchemaTool || r.ToolChoice.Mode != sampling.Required || r.MaxTokens <= 0 {
		return errors.New("this is no question for a typed answer")
	}
	return nil
}

// elicit answers elicitation/create.
func (p *players) elicit(params jsontext.Value) (jsontext.Value, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var form struct {
		Mode            string `json:"mode"`
		Message         string `json:"message"`
		RequestedSchema struct {
			Type       string   `json:"type"`
			Required   []string `json:"required"`
			Properties map[string]struct {
				Type    string  `json:"type"`
				Minimum float64 `json:"minimum"`
				Maximum float64 `json:"maximum"`
			} `json:"properties"`
		} `json:"requestedSchema"`
	}
	if err := json.Unmarshal(params, &form); err != nil {
		return nil, p.refuse(err)
	}
	cell := form.RequestedSchema.Properties["cell"]
	if form.Mode != "" && form.Mode != "form" || form.RequestedSchema.Type != "object" || len(form.RequestedSchema.Required) != 1 ||
		cell.Type != "integer" || cell.Minimum != 1 || cell.Maximum != 9 || form.RequestedSchema.Properties["why"].Type != "string" {
		return nil, p.refuse(fmt.Errorf("this is no form for a move: %s", params))
	}
	p.forms = append(p.forms, form.Message)
	line, err := p.next(human, p.human)
	if err != nil {
		return nil, p.refuse(err)
	}
	switch {
	case strings.Trim(line, "0123456789") == "":
		return jsontext.Value(`{"action":"accept","content":{"cell":` + line + `}}`), nil
	case line[0] == '{':
		return jsontext.Value(`{"action":"accept","content":` + line + `}`), nil
	}
	return jsontext.Value(`{"action":"` + line + `"}`), nil
}
