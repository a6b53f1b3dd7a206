package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/nearest"
	"github.com/parleyhq/parley/internal/webhook"
)

// Webhook is where events of a space are sent.
type Webhook struct {
	Name      string
	URL       Secret   // of which many hold a secret
	Secrets   []Secret // the newest first; each signs
	Events    []webhook.EventType
	Kinds     parley.Capabilities // patterns; empty is every kind
	From      []string            // empty is everybody
	Content   Content
	Approvers []string
	Timeout   time.Duration
	Retries   int
	AllowHTTP bool

	// As they stand in the file.
	place    value   // the name
	senders  []value // From
	deciders []value // Approvers
}

// Content is what leaves the house.
type Content string

// The values of content.
const (
	ContentIDs  Content = "ids"  // ids, names and kinds; the default
	ContentFull Content = "full" // what participants wrote, too
)

var webhookKeys = []string{"name", "url", "secret", "events", "kinds", "from", "content", "approvers", "timeout", "retries", "allow_http"}

// Bounds of lists.
const (
	mostWebhooks      = 16 // of the gateway, and of each space besides
	mostWebhookPeople = 64
)

// webhooks reads a list of webhooks.
func (r *reader) webhooks(v value) []*Webhook {
	items := r.items(v)
	if len(items) > mostWebhooks {
		r.fail(v, "", "there are %d webhooks, and there can be %d", len(items), mostWebhooks)
		return nil
	}
	var list []*Webhook
	for _, item := range items {
		if !item.written() {
			r.fail(item, "", "%s has no value", item.title())
			continue
		}
		one := r.webhook(item)
		if one == nil {
			continue
		}
		if hasWebhook(list, one.Name) {
			r.fail(one.place, "choose another name", "another webhook is called %s", showKey(one.Name))
			continue
		}
		list = append(list, one)
	}
	return list
}

func hasWebhook(list []*Webhook, name string) bool {
	return slices.ContainsFunc(list, func(h *Webhook) bool { return h.Name == name })
}

// sharedWebhooks reads those of the gateway, which every space has as if they stood
// there.
func (r *reader) sharedWebhooks(v value, spaces map[string]*Space) {
	list := r.webhooks(v)
	r.checkWebhooks(list, slices.Collect(maps.Values(spaces))...)
	for name, s := range Sorted(spaces) {
		for _, h := range list {
			if hasWebhook(s.Webhooks, h.Name) {
				r.fail(h.place, "choose another name", "the space %s has a webhook %s of its own", name, showKey(h.Name))
			}
		}
		s.Webhooks = append(slices.Clone(list), s.Webhooks...)
	}
}

// webhook is nil where it has no name that could be used.
func (r *reader) webhook(v value) *Webhook {
	m := r.keys(v, webhookKeys)
	if v.kind != mapNode {
		return nil // told already
	}
	h := &Webhook{
		Events: webhook.DefaultEvents(), Timeout: webhook.DefaultTimeout, Retries: webhook.MostRetries,
		Kinds:     r.kinds(m["kinds"]),
		Content:   choose(r, m["content"], ContentIDs, ContentFull),
		From:      r.webhookPeople(m["from"]),
		Approvers: r.webhookPeople(m["approvers"]),
		AllowHTTP: r.flag(m["allow_http"], false),
	}
	r.duration(m["timeout"], &h.Timeout, webhook.LeastTimeout, webhook.MostTimeout)
	r.count(m["retries"], &h.Retries, 0, webhook.MostRetries)
	if m["events"].written() {
		h.Events = r.webhookEvents(m["events"])
	}
	h.senders, h.deciders = r.quietly(m["from"]), r.quietly(m["approvers"])
	h.URL = r.webhookURL(v, m["url"], h.AllowHTTP)
	h.Secrets = r.webhookSecrets(v, m["secret"])
	if len(h.Approvers) > 0 && !slices.Contains(h.Events, webhook.ProposalOpened) {
		r.fail(m["approvers"], "add proposal.opened to events", "approvers get links with proposal.opened, which this webhook is not sent")
	}
	var ok bool
	h.place = m["name"]
	if h.Name, ok = r.text(h.place); !ok {
		if !m["name"].written() {
			r.fail(v, "write name: and a word for it", "a webhook has no name")
		}
		return nil
	}
	if !parley.ValidParticipantID(h.Name) {
		r.fail(m["name"], "a name is 1 to 64 of a-z, 0-9, dots and dashes, and starts with a letter or digit", "%q cannot be the name of a webhook", showKey(h.Name))
		return nil
	}
	return h
}

func (r *reader) webhookURL(owner, v value, plain bool) Secret {
	if !v.written() {
		r.fail(owner, "write url: https://…", "a webhook has no url")
		return Secret{}
	}
	text, ok := r.secret(v)
	if !ok {
		return Secret{}
	}
	if err := webhook.CheckURL(text, plain); err != nil {
		message, hint, _ := strings.Cut(err.Error(), ": ")
		r.fail(v, hint, "url %s", message)
	}
	return NewSecret(text)
}

// webhookSecrets are one or, while an old one gives way to a new one, several.
func (r *reader) webhookSecrets(owner, v value) (secrets []Secret) {
	const hint = "parley webhook secret prints one"
	each := []value{v}
	if v.written() && v.kind == listNode {
		each = r.items(v)
	}
	switch {
	case !v.written():
		r.fail(owner, `write secret: "${env:NAME}"; `+hint, "a webhook has no secret")
		return nil
	case len(each) == 0 || len(each) > webhook.MostSecrets:
		r.fail(v, hint, "a webhook has 1 to %d secrets", webhook.MostSecrets)
		return nil
	}
	for _, one := range each {
		text, ok := r.secret(one)
		switch {
		case !one.written():
			r.fail(one, hint, "%s has no value", one.title())
		case !ok:
		default:
			if err := webhook.CheckSecret(text); err != nil {
				r.fail(one, hint, "%v", err)
			} else if !strings.Contains(one.text, "${") && !r.literal.written() {
				r.literal = one
			}
			secrets = append(secrets, NewSecret(text))
		}
	}
	return secrets
}

func (r *reader) webhookEvents(v value) (list []webhook.EventType) {
	items := r.items(v)
	if v.kind == listNode && len(items) == 0 {
		r.fail(v, "leave the key out for all but envelope.refused", "events is an empty list")
	}
	for _, item := range items {
		text, ok := r.entry(item)
		if !ok {
			continue
		}
		match := webhook.MatchEvents(text)
		if len(match) == 0 {
			r.fail(item, eventHint(text), "%s is no event", item.title())
		}
		list = append(list, match...)
	}
	wanted := slices.Clone(list)
	return slices.DeleteFunc(webhook.EventTypes(), func(t webhook.EventType) bool { return !slices.Contains(wanted, t) })
}

func eventHint(text string) string {
	var names []string
	for _, t := range webhook.EventTypes() {
		names = append(names, string(t))
	}
	if near := nearest.To(text, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "there are " + strings.Join(names, ", ") + ", and groups as proposal.*"
}

// webhookPeople is a list of ids.
func (r *reader) webhookPeople(v value) (ids []string) {
	items := r.items(v)
	if len(items) > mostWebhookPeople {
		r.fail(v, "", "%s names %d, and can name %d", v.title(), len(items), mostWebhookPeople)
		return nil
	}
	for _, item := range items {
		text, ok := r.entry(item)
		switch {
		case !ok:
		case !parley.ValidParticipantID(text):
			r.fail(item, "write the id of a participant", "%s cannot be a participant's id", item.title())
		case !slices.Contains(ids, text):
			ids = append(ids, text)
		}
	}
	return ids
}

// quietly is the items of a list that was read already.
func (r *reader) quietly(v value) []value {
	if !v.written() || v.kind != listNode {
		return nil
	}
	return r.items(v)
}

// checkWebhooks sees that who is named by a space's own webhooks is there, or by the
// gateway's, in one space at least. Servers and models decide on nothing.
func (r *reader) checkWebhooks(list []*Webhook, spaces ...*Space) {
	var people, all []string
	for _, s := range spaces {
		people = slices.AppendSeq(people, maps.Keys(s.Participants))
		all = slices.AppendSeq(slices.AppendSeq(all, maps.Keys(s.MCPServers)), maps.Keys(s.Models))
	}
	all = append(all, people...)
	for _, h := range list {
		r.checkNamed(h.senders, all)
		r.checkNamed(h.deciders, people)
	}
}

func (r *reader) checkNamed(names []value, known []string) {
	slices.Sort(known)
	for _, v := range names {
		id, ok := r.entryOf(v)
		if !ok || slices.Contains(known, id) {
			continue
		}
		hint := "name a participant of the space"
		if near := nearest.To(id, known); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		r.fail(v, hint, "there is no participant %q", showKey(id))
	}
}

// entryOf is the text of an item that was read already.
func (r *reader) entryOf(v value) (string, bool) {
	if !v.written() || v.kind == listNode || v.kind == mapNode || !parley.ValidParticipantID(v.text) {
		return "", false
	}
	return v.text, true
}
