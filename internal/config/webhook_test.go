package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/webhook"
)

const webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// A webhook of the gateway is one of every space, before those of its own.
func TestWebhooks(t *testing.T) {
	c, err := parse(t, `
webhooks:
  - {name: all, url: "https://hooks.example.org/T0/sesame", secret: `+webhookSecret+`}
spaces:
  other:
  demo:
    participants:
      you: {token: "${env:YOU_TOKEN}"}
      agent: {token: "${env:AGENT_TOKEN}"}
    webhooks:
      - name: few
        url: http://10.0.0.1/
        allow_http: on
        secret: [`+webhookSecret+`, "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"]
        events: [bridge.failed, proposal.*, proposal.opened]
        kinds: mcp/proposal:tools/call:write_*
        from: [agent, agent]
        approvers: [you]
        content: full
        timeout: 5s
        retries: 0
`)
	if err != nil {
		t.Fatal(err)
	}
	if hooks := c.Spaces["other"].Webhooks; len(hooks) != 1 || hooks[0].Name != "all" {
		t.Errorf("%+v", hooks)
	}
	hooks := c.Spaces["demo"].Webhooks
	if len(hooks) != 2 || hooks[0] != c.Spaces["other"].Webhooks[0] {
		t.Fatalf("%+v", hooks)
	}
	all, few := *hooks[0], *hooks[1]
	for _, h := range []*Webhook{&all, &few} {
		h.place, h.senders, h.deciders = value{}, nil, nil
	}
	if want := (Webhook{
		Name: "all", URL: NewSecret("https://hooks.example.org/T0/sesame"), Secrets: []Secret{NewSecret(webhookSecret)},
		Events: webhook.DefaultEvents(), Content: ContentIDs, Timeout: 15 * time.Second, Retries: 9,
	}); !reflect.DeepEqual(all, want) {
		t.Errorf("got %+v", all)
	}
	if slices.Contains(all.Events, webhook.EnvelopeRefused) || len(all.Events) != len(webhook.EventTypes())-1 {
		t.Errorf("by default it gets %q", all.Events)
	}
	if want := (Webhook{
		Name: "few", URL: NewSecret("http://10.0.0.1/"), AllowHTTP: true,
		Secrets: []Secret{NewSecret(webhookSecret), NewSecret("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")},
		Events:  append(webhook.MatchEvents("proposal.*"), webhook.BridgeFailed),
		Kinds:   parley.Capabilities{parley.MustCapability("mcp/proposal:tools/call:write_*")},
		From:    []string{"agent"}, Approvers: []string{"you"}, Content: ContentFull, Timeout: 5 * time.Second,
	}); !reflect.DeepEqual(few, want) {
		t.Errorf("got %+v", few)
	}
	for _, w := range c.Warnings {
		if strings.Contains(w.Message, "sesame") || strings.Contains(w.Message, webhookSecret) {
			t.Errorf("a secret shows: %+v", w)
		}
	}
}

func TestTooManyWebhooks(t *testing.T) {
	one := `{name: n, url: "https://e.org/", secret: ` + webhookSecret + `},`
	_, err := parse(t, "webhooks: ["+strings.Repeat(one, mostWebhooks+1)+"]")
	if err == nil || !strings.Contains(err.Error(), "there are 17 webhooks, and there can be 16") {
		t.Error(err)
	}
}
