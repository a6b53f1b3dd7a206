package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/runlog"
)

// keeping is a run's record, by which it is gone on with after a restart. A nil
// keeping keeps nothing.
type keeping struct {
	log    *runlog.Log
	called called
	phases map[string]*progress // as they were when the record was opened
}

// called is what a run was called with.
type called struct {
	Tool      string  `json:"tool"`
	Arguments meaning `json:"arguments"`
	User      string  `json:"user,omitzero"`
}

// is says whether a call is this one.
func (c *called) is(tool string, arguments []byte) bool {
	return c.Tool == tool && c.Arguments == meaningOf(arguments)
}

// progress is how far a phase of a run got.
type progress struct {
	started bool
	done    bool
	value   jsontext.Value
	failed  *failure
}

// failure is a phase's error on record.
type failure struct {
	Code    Code           `json:"code"`
	Message string         `json:"message"`
	Details jsontext.Value `json:"details,omitzero"`
	Data    jsontext.Value `json:"data,omitzero"`
	Hints   []Hint         `json:"hints,omitzero"`
}

// failureOf is an error as far as an answer can tell it.
func failureOf(e *Error) *failure {
	return &failure{e.Code, bounded(e.Message), toldOf(e.Details), toldOf(e.Data), e.Hints}
}

// toldOf is what an error tells, as JSON; nil where it is nothing or cannot be sent.
func toldOf(v any) jsontext.Value {
	if v == nil {
		return nil
	}
	text, err := marshal(v)
	if err != nil {
		return nil
	}
	return text
}

// error is the error that it was.
func (f *failure) error() error {
	e := &Error{Code: f.Code, Message: f.Message, Hints: f.Hints}
	if f.Details != nil {
		e.Details = f.Details
	}
	if f.Data != nil {
		e.Data = f.Data
	}
	return e
}

// The kinds of records.
const (
	kindCalled  = "called"
	kindAnswer  = "answer"
	kindStarted = "started"
	kindDone    = "done"
	kindFailed  = "failed"
)

// answerRecord is an answer on record.
type answerRecord struct {
	Question string `json:"question"`
	reply    `json:",inline"`
}

// phaseRecord is a step of a phase on record.
type phaseRecord struct {
	Phase   string         `json:"phase"`
	Value   jsontext.Value `json:"value,omitzero"`
	Failure *failure       `json:"failure,omitzero"`
}

// keep begins the record of a run.
func keep(dir *runlog.Dir, name string, c called) (*keeping, error) {
	data, err := json.Marshal(c, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	log, err := dir.Create(name, runlog.Record{Kind: kindCalled, Data: data})
	if err != nil {
		return nil, err
	}
	return &keeping{log: log, called: c}, nil
}

// reopen goes on with a record; nil where there is none.
func reopen(dir *runlog.Dir, name string) (*keeping, map[string]*reply, error) {
	log, records, err := dir.Load(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	k := &keeping{log: log, phases: make(map[string]*progress)}
	answers := make(map[string]*reply)
	for i, r := range records {
		if err := k.replay(r, answers); err != nil {
			log.Close()
			return nil, nil, fmt.Errorf("record %d of the run: %w", i+1, err)
		}
	}
	if k.called.Tool == "" {
		log.Close()
		return nil, nil, errors.New("the run that is kept does not say what it is a call of")
	}
	return k, answers, nil
}

func (k *keeping) replay(r runlog.Record, answers map[string]*reply) error {
	switch r.Kind {
	case kindCalled:
		return json.Unmarshal(r.Data, &k.called)
	case kindAnswer:
		var a answerRecord
		err := json.Unmarshal(r.Data, &a)
		answers[a.Question] = &a.reply
		return err
	}
	var p phaseRecord
	if err := json.Unmarshal(r.Data, &p); err != nil {
		return err
	}
	at := k.at(p.Phase)
	switch r.Kind {
	case kindStarted:
		at.started = true
	case kindDone:
		at.done, at.value = true, p.Value
	case kindFailed:
		at.failed = p.Failure
	default:
		return fmt.Errorf("it is of the unknown kind %q", r.Kind)
	}
	return nil
}

func (k *keeping) at(phase string) *progress {
	p := k.phases[phase]
	if p == nil {
		p = new(progress)
		k.phases[phase] = p
	}
	return p
}

// got is how far a phase got before the record was opened.
func (k *keeping) got(phase string) progress {
	if k == nil || k.phases[phase] == nil {
		return progress{}
	}
	return *k.phases[phase]
}

// append puts a record down; it is on disk when append returns.
func (k *keeping) append(kind string, v any) error {
	if k == nil {
		return nil
	}
	data, err := json.Marshal(v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return err
	}
	if err := k.log.Append(runlog.Record{Kind: kind, Data: data}); err != nil {
		return &unkeptError{err}
	}
	return nil
}

// unkeptError is the disk's fault, whatever it happened to.
type unkeptError struct{ err error }

func (e *unkeptError) Error() string { return "the run cannot be kept: " + e.err.Error() }
func (e *unkeptError) Unwrap() error { return e.err }

func (k *keeping) answer(question string, a *reply) error {
	return k.append(kindAnswer, answerRecord{question, *a})
}

func (k *keeping) close() {
	if k != nil {
		k.log.Close()
	}
}

// errParked ends runs that are kept, because the server ends or nobody came back
// for long: they are gone on with when somebody does.
var errParked = errors.New("the run is put away until its caller comes back")

// parked says whether a run ends now to be gone on with later.
func parked(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errParked) }
