package store

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// A Tool is what somebody offers, as its definition on record says.
type Tool struct {
	Participant string
	Name        string
	Description string
	Schema      jsontext.Value // of its arguments; nil where unknown
}

const (
	mostTools  = 2_000
	mostSchema = 64 << 10
)

type tools struct {
	known map[string]*Tool // by participant and name
}

// Tools are those that came on record, by participant and name.
func (s *Store) Tools() []*Tool {
	list := make([]*Tool, 0, len(s.tools.known))
	for _, t := range s.tools.known {
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b *Tool) int { return strings.Compare(a.key(), b.key()) })
	return list
}

func (t *Tool) key() string { return t.Participant + "\x00" + t.Name }

// Learn takes in tools of a notice that came before we did.
func (s *Store) Learn(notice *parley.Envelope) { s.tools.learn(notice.Payload) }

// learn takes in the definitions of a notice, and returns the names of its tools.
func (k *tools) learn(payload jsontext.Value) []string {
	var names []string
	who := brief(text(payload, "participant"), mostName)
	for v := range parley.Elements(parley.Member(payload, "tools")) {
		t := &Tool{Participant: who, Name: brief(text(v, "name"), mostName)}
		if len(names) < 64 {
			names = append(names, t.Name)
		}
		definition := parley.Member(v, "definition")
		if definition == nil || len(k.known) >= mostTools {
			continue
		}
		t.Description = brief(text(definition, "description"), mostText)
		if schema := parley.Member(definition, "inputSchema"); len(schema) <= mostSchema {
			t.Schema = schema.Clone()
		}
		if k.known == nil {
			k.known = map[string]*Tool{}
		}
		k.known[t.key()] = t
	}
	return names
}

// Previous is the digest that a tool's definition had before a notice of that tool, ""
// where it had none; ok reports whether it is one.
func Previous(notice *parley.Envelope, participant, name string) (digest string, ok bool) {
	if text(notice.Payload, "participant") != participant {
		return "", false
	}
	for v := range parley.Elements(parley.Member(notice.Payload, "tools")) {
		if text(v, "name") == name {
			return text(v, "previous"), true
		}
	}
	return "", false
}
