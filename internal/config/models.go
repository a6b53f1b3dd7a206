package config

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/modelspec"
	"github.com/parleyhq/parley/internal/nearest"
)

// ModelParticipant is a participant that answers sampling/createMessage out of
// models, and runs as a program beside the gateway.
type ModelParticipant struct {
	settings modelspec.Settings // without the keys
	keys     []Secret           // of the models, in their order
	places   map[string]Problem // of the budgets of single participants
}

// Settings are what the program is started with: the keys show in it where it
// is written as JSON.
func (p *ModelParticipant) Settings() modelspec.Settings {
	s := p.settings
	s.Models = slices.Clone(s.Models)
	for i := range s.Models {
		s.Models[i].Key = modelspec.Secret(p.keys[i].Reveal())
	}
	return s
}

// Names are the names of its models, the preferred one first.
func (p *ModelParticipant) Names() []string {
	names := make([]string, len(p.settings.Models))
	for i, m := range p.settings.Models {
		names[i] = m.Name
	}
	return names
}

// ModelCapabilities is what a participant of models may send: answers, and
// notifications of how far they are.
func ModelCapabilities() parley.Capabilities {
	return parley.Capabilities{
		parley.MustCapability("mcp/response:*"),
		parley.MustCapability("mcp/request:notifications/*"),
	}
}

// models reads the participants of a space that are models; nil where there are
// none.
func (r *reader) models(v value, s *Space) map[string]*ModelParticipant {
	all := map[string]*ModelParticipant{}
	for _, entry := range r.all(v) {
		if !r.id(entry) {
			continue
		}
		_, participant := s.Participants[entry.name]
		_, server := s.MCPServers[entry.name]
		if participant || server {
			r.failKey(entry, "rename one of them; a model needs no token, and no capabilities", "%q is a participant already", entry.name)
		}
		all[entry.name] = r.modelParticipant(entry)
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

func (r *reader) modelParticipant(v value) *ModelParticipant {
	m := r.keys(v, modelsKeys)
	p := new(ModelParticipant)
	p.settings.Budget = r.budget(m)
	p.settings.Fallback = r.flag(m["fallback"], false)
	if m["retries"].written() {
		p.settings.Retries = new(modelspec.DefaultRetries)
		r.count(m["retries"], p.settings.Retries, 0, modelspec.MaxRetries)
	}
	r.count(m["concurrency"], &p.settings.Concurrency, 1, modelspec.MaxConcurrency)
	for _, one := range r.all(m["participants"]) {
		if !r.id(one) {
			continue
		}
		if p.settings.Participants == nil {
			p.settings.Participants, p.places = map[string]modelspec.Budget{}, map[string]Problem{}
		}
		p.settings.Participants[one.name] = r.budget(r.keys(one, budgetKeys))
		one.node = nil // the place is that of the key
		p.places[one.name] = one.problem("", "")
	}
	if v.written() && v.kind != mapNode {
		return p // told already
	}
	r.modelList(v, m["models"], p)
	return p
}

// modelList reads which models there are.
func (r *reader) modelList(owner, v value, p *ModelParticipant) {
	items := r.items(v)
	switch {
	case len(items) == 0 && (!v.written() || v.kind == listNode):
		r.failKey(owner, "write models: [{kind: ollama, model: llama3.2}]", "%q has no models", owner.name)
	case len(items) > modelspec.MostModels:
		r.fail(v, "", "%s has %d models, and there can be %d", owner.name, len(items), modelspec.MostModels)
		return
	}
	names := map[string]bool{}
	for _, item := range items {
		m, key := r.model(item)
		if name := strings.ToLower(m.Name); name != "" {
			if names[name] {
				r.fail(item, "write another name:", "another model of %q is called %s", owner.name, showKey(m.Name))
			}
			names[name] = true
		}
		p.settings.Models = append(p.settings.Models, m)
		p.keys = append(p.keys, key)
	}
}

func (r *reader) model(v value) (modelspec.Model, Secret) {
	m := r.keys(v, modelKeys)
	if !v.written() || v.kind != mapNode {
		if !v.written() {
			r.fail(v, "", "%s has no value", v.title())
		}
		return modelspec.Model{}, Secret{}
	}
	one := modelspec.Model{Kind: r.modelKind(v, m["kind"]), URL: r.endpoint(m["url"])}
	one.Model, one.Name = r.modelNames(v, m)
	most := 0
	r.count(m["max_tokens"], &most, 1, modelspec.MaxMaxTokens)
	one.MaxTokens = int64(most)
	one.Cost, one.Speed, one.Intelligence = r.fraction(m["cost"]), r.fraction(m["speed"]), r.fraction(m["intelligence"])
	return one, r.modelKey(v, m, one)
}

func (r *reader) modelKind(owner, v value) modelspec.Kind {
	if !v.written() {
		r.fail(owner, "write kind: openai, openai-chat, anthropic or ollama", "a model has no kind")
		return ""
	}
	before, kinds := len(r.problems), modelspec.Kinds()
	kind := choose(r, v, kinds[0], kinds[1:]...)
	if len(r.problems) > before {
		return ""
	}
	return kind
}

// modelNames are how the endpoint calls the model, and how the room does: the
// same, unless something else is said.
func (r *reader) modelNames(owner value, m map[string]value) (model, name string) {
	model, ok := r.plain(m["model"])
	switch {
	case !m["model"].written():
		r.fail(owner, "write model: and what the endpoint calls it", "a model has no model")
		return "", ""
	case ok && !modelspec.ValidModel(model):
		r.fail(m["model"], "write what the endpoint calls it, at most 128 characters on one line", "model cannot be the name of one")
	}
	at := m["model"]
	if name = model; m["name"].written() {
		at = m["name"]
		name, ok = r.text(at)
	}
	if ok && !modelspec.ValidName(name) {
		r.fail(at, modelspec.NameRule, "%q cannot be the name of a model in the room", showKey(name))
	}
	return model, name
}

func (r *reader) endpoint(v value) string {
	text, ok := r.plain(v)
	if !ok {
		return ""
	}
	if err := modelspec.CheckURL(text); err != nil {
		message, hint, _ := strings.Cut(err.Error(), ": ")
		r.fail(v, hint, "%s", message)
	}
	return text
}

// leastKey is how long a key is at least that is one, in bytes: what endpoints on
// one's own machine want may be any word.
const leastKey = 16

// modelKey is the key that a model's endpoint wants.
func (r *reader) modelKey(owner value, m map[string]value, one modelspec.Model) Secret {
	v := m["key"]
	if !v.written() {
		if one.NeedsKey() {
			r.fail(owner, fmt.Sprintf(`write key: "${env:%s}", or "${file:PATH}"`, one.Kind.KeyVariable()), "a model of kind %s has no key", one.Kind)
		}
		return Secret{}
	}
	text, ok := r.secret(v)
	switch {
	case !ok:
		return Secret{}
	case !modelspec.Secret(text).Sendable():
		r.fail(v, "", "key is empty, too long, or has characters that cannot be sent: it is visible ASCII without blanks")
	case len(text) >= leastKey && !strings.Contains(v.text, "${"):
		r.fail(v, "write ${env:NAME} or ${file:PATH}, and have a new key made if others have seen this one", "a key stands in the configuration itself, which gets copied, printed and checked in")
	}
	if modelspec.InTheClear(one.URL) {
		r.warn(m["url"], "write https", "the key goes to another machine over plain HTTP and can be read on the way")
	}
	return NewSecret(text)
}

// budget is what an asker may have.
func (r *reader) budget(m map[string]value) modelspec.Budget {
	return modelspec.Budget{
		RequestsPerMinute: r.bound(m["requests_per_minute"], modelspec.MaxRequestsPerMinute),
		TokensPerHour:     int64(r.bound(m["tokens_per_hour"], modelspec.MaxTokens)),
		TokensPerDay:      int64(r.bound(m["tokens_per_day"], modelspec.MaxTokens)),
	}
}

// bound is a whole number or off; 0 where nothing is written.
func (r *reader) bound(v value, most int) (n int) {
	text, ok := r.text(v)
	switch {
	case !ok:
	case text == "off":
		return modelspec.Off
	default:
		r.count(v, &n, 1, most)
	}
	return n
}

// fraction is a number from 0 to 1; nil where none is written.
func (r *reader) fraction(v value) *float64 {
	text, ok := r.text(v)
	if !ok {
		return nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && !isRange(err) || math.IsNaN(f) || strings.ContainsAny(text, "xXpP_") {
		r.fail(v, "write a number from 0 to 1, as 0.5", "%s is not a number", v.title())
		return nil
	}
	if !modelspec.Fraction(f) {
		r.fail(v, "", "%s is out of bounds: it can be 0 to 1", v.title())
		return nil
	}
	return &f
}

// checkBudgets warns of budgets for somebody who is not in the space.
func (r *reader) checkBudgets(s *Space) {
	known := s.IDs()
	if len(s.Summarized()) > 0 {
		known[Summarizer] = true
	}
	for _, m := range Sorted(s.Models) {
		for id, w := range Sorted(m.places) {
			if known[id] {
				continue
			}
			w.Message = fmt.Sprintf("there is no participant %q", id)
			w.Hint = "name who asks: a participant of this space, or an MCP server"
			if near := nearest.To(id, slices.Sorted(maps.Keys(known))); near != "" {
				w.Hint = fmt.Sprintf("did you mean %q?", near)
			}
			r.warnings = append(r.warnings, w)
		}
	}
}
