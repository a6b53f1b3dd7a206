package modelspec

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// Document is everything that a model participant is started with.
type Document struct {
	URL       string    `json:"url"`                 // of the gateway
	Space     string    `json:"space,omitzero"`      // "": the gateway's choice
	Token     Secret    `json:"token,omitzero"`      //
	TokenFrom Reference `json:"token_from,omitzero"` // where it is, in place of Token

	// Supervised: the program says on its standard output when it has joined, as
	// a [Joined] on a line, and leaves when its standard input ends.
	Supervised bool `json:"supervised,omitzero"`

	Settings
}

// Settings are which models there are, and how they are asked.
type Settings struct {
	Models []Model `json:"models"` // at least one, the preferred one first

	Budget                         // of each asker
	Participants map[string]Budget `json:"participants,omitzero"` // of single ones

	Retries     *int `json:"retries,omitzero"`     // of an error that passes; nil: 3
	Fallback    bool `json:"fallback,omitzero"`    // then the next model
	Concurrency int  `json:"concurrency,omitzero"` // requests at a time; 0: 16
}

// Budget bounds what an asker may have. In the field of a single participant 0
// is what the others may have; else it is the default.
type Budget struct {
	RequestsPerMinute int   `json:"requests_per_minute,omitzero"` // default 60
	TokensPerHour     int64 `json:"tokens_per_hour,omitzero"`     // of input and output; default Off
	TokensPerDay      int64 `json:"tokens_per_day,omitzero"`      // the same
}

// Off is no bound, in a field of a [Budget].
const Off = -1

// Defaults, and bounds.
const (
	DefaultRequestsPerMinute = 60
	DefaultRetries           = 3
	DefaultConcurrency       = 16

	MaxRequestsPerMinute = 1_000_000
	MaxTokens            = 1_000_000_000_000
	MaxRetries           = 10
	MaxConcurrency       = 1024
)

// Joined is what a supervised program writes when it is in the room, on a line
// of its standard output.
type Joined struct {
	Event       string `json:"event"` // JoinedEvent
	Participant string `json:"participant"`
}

// JoinedEvent is the event of a [Joined].
const JoinedEvent = "joined"

// Unanswered is what whoever supervises the program may write then, on a line
// of its standard input: ids of requests that an earlier run was asked.
type Unanswered struct {
	IDs []string `json:"unanswered"`
}

// For is the budget of a participant, with no field zero.
func (s *Settings) For(participant string) Budget {
	own := s.Participants[participant]
	return Budget{
		RequestsPerMinute: first(own.RequestsPerMinute, s.RequestsPerMinute, DefaultRequestsPerMinute),
		TokensPerHour:     first(own.TokensPerHour, s.TokensPerHour, Off),
		TokensPerDay:      first(own.TokensPerDay, s.TokensPerDay, Off),
	}
}

func first[N int | int64](list ...N) N {
	for _, n := range list {
		if n != 0 {
			return n
		}
	}
	return 0
}

// MaxDocument is how long a document may be, in bytes.
const MaxDocument = 4 << 20

// Read reads a document. It is not checked beyond its form; see
// [Document.Check]. Errors do not quote it.
func Read(data []byte) (*Document, error) {
	d := new(Document)
	err := json.Unmarshal(data, d, json.RejectUnknownMembers(true))
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		return nil, fmt.Errorf("at %q of the document: %s", string(semantic.JSONPointer), mistake(semantic))
	}
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return nil, fmt.Errorf("the document is not JSON, at byte %d", syntax.ByteOffset)
	}
	return d, err
}

// ReadFile reads the document in a file. One that holds secrets must be nobody
// else's to read.
func ReadFile(path string) (*Document, error) {
	text, mode, err := readRegular(path, MaxDocument)
	if err != nil {
		return nil, err
	}
	d, err := Read([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(d.Secrets()) > 0 {
		err = private(path, mode)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// mistake is what is wrong with a member, without its value.
func mistake(e *json.SemanticError) string {
	if errors.Is(e.Err, json.ErrUnknownName) {
		return "there is no such member"
	}
	return fmt.Sprintf("a value of type %v cannot be a JSON %v", e.GoType, e.JSONKind)
}

// Write is the document as JSON, on one line and with its secrets.
func (d *Document) Write() ([]byte, error) {
	b, err := json.Marshal(d, json.Deterministic(true))
	return append(b, '\n'), err
}

// Resolve reads the secrets that the document only names. All that fail are
// told.
func (d *Document) Resolve() error {
	var all []error
	resolve := func(what string, from Reference, into *Secret) {
		if from == "" || *into != "" {
			return
		}
		secret, err := from.Resolve()
		if err != nil {
			all = append(all, fmt.Errorf("%s: %w", what, err))
		}
		*into = secret
	}
	resolve("token", d.TokenFrom, &d.Token)
	for i := range d.Models {
		resolve("the key of "+d.Models[i].Name, d.Models[i].KeyFrom, &d.Models[i].Key)
	}
	return errors.Join(all...)
}

// Check tells all that is wrong with a document.
func (d *Document) Check() error {
	var all []error
	problem := func(format string, args ...any) { all = append(all, fmt.Errorf(format, args...)) }
	if CheckURL(d.URL) != nil {
		problem("url: it is not the address of a gateway, as http://127.0.0.1:7717")
	}
	switch {
	case d.Token != "" && d.TokenFrom != "":
		problem("token, token_from: one of them")
	case d.Token == "" && d.TokenFrom == "":
		problem("token: there is none to show to the gateway")
	case d.Token != "" && !d.Token.Sendable():
		problem("token: it is 1 to 4,096 visible ASCII characters without blanks")
	case d.TokenFrom != "" && d.TokenFrom.Check() != nil:
		problem("token_from: %v", d.TokenFrom.Check())
	}
	d.Settings.problems(problem)
	return errors.Join(all...)
}

func (s *Settings) problems(problem func(format string, args ...any)) {
	if n := len(s.Models); n == 0 || n > MostModels {
		problem("models: there are %d, and there can be 1 to %d", n, MostModels)
	}
	names := map[string]bool{}
	for i, m := range s.Models {
		m.problems(func(what string) { problem("models[%d]: %s", i, what) })
		if names[strings.ToLower(m.Name)] {
			problem("models[%d]: name: another model has it", i)
		}
		names[strings.ToLower(m.Name)] = true
	}
	s.Budget.problems("", problem)
	for _, id := range slices.Sorted(maps.Keys(s.Participants)) {
		if !parley.ValidParticipantID(id) {
			problem("participants: %.80q cannot be a participant's id", id)
		}
		s.Participants[id].problems(fmt.Sprintf("participants.%.80s.", id), problem)
	}
	if s.Retries != nil && (*s.Retries < 0 || *s.Retries > MaxRetries) {
		problem("retries: it can be 0 to %d", MaxRetries)
	}
	if s.Concurrency < 0 || s.Concurrency > MaxConcurrency {
		problem("concurrency: it can be 1 to %d", MaxConcurrency)
	}
}

func (b Budget) problems(where string, problem func(format string, args ...any)) {
	bound := func(name string, n, most int64) {
		if n < Off || n > most {
			problem("%s%s: it can be 1 to %d, or %d for no bound", where, name, most, Off)
		}
	}
	bound("requests_per_minute", int64(b.RequestsPerMinute), MaxRequestsPerMinute)
	bound("tokens_per_hour", b.TokensPerHour, MaxTokens)
	bound("tokens_per_day", b.TokensPerDay, MaxTokens)
}

// Secrets are all secrets of a document that are known.
func (d *Document) Secrets() []string {
	var list []string
	for _, m := range d.Models {
		if m.Key != "" {
			list = append(list, m.Key.Reveal())
		}
	}
	if d.Token != "" {
		list = append(list, d.Token.Reveal())
	}
	return list
}
