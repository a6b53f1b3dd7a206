package parley

import "github.com/go-json-experiment/json/jsontext"

// Action is what a capability is held against: one envelope that somebody
// wants to send, by its effective kind.
type Action struct {
	Kind        Kind           // the effective kind (section 3)
	To          []string       // addressees; empty is a broadcast
	ContextType string         // the type of the envelope's context, empty without one
	Params      jsontext.Value // payload.params; nil where there is none or the space is lazy
}
