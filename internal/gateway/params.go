package gateway

import (
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/space"
)

// spaceParam is the space that a query names: topic and space mean the same.
func spaceParam(q url.Values) (string, error) {
	topic, name := q.Get("topic"), q.Get("space")
	switch {
	case topic != "" && name != "" && topic != name:
		return "", badParam("space", "topic and space name different spaces")
	case topic != "":
		return topic, nil
	case name != "":
		return name, nil
	}
	return "", badParam("topic", "it is missing").WithHint("add ?topic=NAME, the space to join")
}

// readJoin reads the parameters of section 6; what is not among them is taken
// from the participant's configuration.
func (r *room) readJoin(id string, q url.Values) (join, error) {
	p := r.people[id]
	j := join{settings: p.Settings, history: min(p.History, r.limits.History)}
	if err := checkNames(q); err != nil {
		return j, err
	}
	for _, param := range [...]struct {
		name string
		read func(*join, string) error
	}{
		{"history", r.readHistory},
		{"routing", readRouting},
		{"contexts", readContexts},
		{"presence", readSwitch("presence", func(j *join, on bool) { j.settings.PresenceOff = !on })},
		{"echo", readSwitch("echo", func(j *join, on bool) { j.settings.EchoOff = !on })},
		{"exclusive", readSwitch("exclusive", func(j *join, on bool) { j.exclusive = on })},
		{"kinds", readKinds},
	} {
		if !q.Has(param.name) {
			continue
		}
		if err := param.read(&j, q.Get(param.name)); err != nil {
			return j, err
		}
	}
	return j, readPosition(&j, q)
}

var joinParams = []string{"after", "contexts", "echo", "epoch", "exclusive", "history", "kinds", "presence", "routing", "space", "topic"}

// checkNames refuses a parameter that there is not, or that comes twice: a filter
// that was left aside would filter nothing.
func checkNames(q url.Values) error {
	for _, name := range slices.Sorted(maps.Keys(q)) {
		if !slices.Contains(joinParams, name) {
			return parley.Errorf(parley.InvalidArgument, "there is no query parameter %.80q", name).
				WithHint("there are %s", strings.Join(joinParams, ", "))
		}
		if n := len(q[name]); n > 1 {
			return badParam(name, "it is given %d times", n)
		}
	}
	return nil
}

func (r *room) readHistory(j *join, text string) error {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return badParam("history", "%.40q is not a number of envelopes", text)
	}
	j.history = min(int(n), r.limits.History)
	return nil
}

func readPosition(j *join, q url.Values) error {
	if !q.Has("after") && !q.Has("epoch") {
		return nil
	}
	if !q.Has("after") {
		return badParam("after", "epoch needs it")
	}
	if j.epoch = q.Get("epoch"); j.epoch == "" {
		return badParam("epoch", "after needs it: a position is both")
	}
	var err error
	if j.after, err = strconv.ParseUint(q.Get("after"), 10, 64); err != nil || j.after > math.MaxInt64 {
		return badParam("after", "%.40q is not a seq", q.Get("after"))
	}
	j.resume = true
	return nil
}

func readRouting(j *join, text string) error {
	switch text {
	case "all", "directed":
		j.settings.Directed = text == "directed"
		return nil
	}
	return badParam("routing", "%.40q is neither all nor directed", text)
}

func readContexts(j *join, text string) error {
	if len(text) > filterBytes {
		return badParam("contexts", "%d bytes, the limit is %d", len(text), filterBytes)
	}
	f, err := space.ParseContexts(text)
	if err != nil {
		told := asError(err)
		return badParam("contexts", "%s", told.Message).WithHint("%s", told.Hint)
	}
	j.settings.Contexts = f
	return nil
}

func readSwitch(name string, set func(*join, bool)) func(*join, string) error {
	return func(j *join, text string) error {
		if text != "on" && text != "off" {
			return badParam(name, "%.40q is neither on nor off", text)
		}
		set(j, text == "on")
		return nil
	}
}

func readKinds(j *join, text string) error {
	var kinds parley.Capabilities
	if len(text) > filterBytes {
		return badParam("kinds", "%d bytes, the limit is %d", len(text), filterBytes)
	}
	if n := strings.Count(text, ",") + 1; n > mostRepeated {
		return badParam("kinds", "%d patterns, the limit is %d", n, mostRepeated)
	}
	for part := range strings.SplitSeq(text, ",") {
		if strings.HasPrefix(part, "!") || strings.HasPrefix(part, "{") {
			return badParam("kinds", "it takes no denials and no objects")
		}
		c, err := parley.ParseCapability(part)
		if err != nil {
			return badParam("kinds", "%.80q: %s", part, asError(err).Message)
		}
		kinds = append(kinds, c)
	}
	j.settings.Kinds = kinds
	return nil
}

func badParam(name, format string, args ...any) *parley.Error {
	err := parley.Errorf(parley.InvalidArgument, format, args...)
	err.Message = "the query parameter " + name + ": " + err.Message
	return err
}
