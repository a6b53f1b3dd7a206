package tool

import (
	"context"
	"encoding/json" // the SDK's
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parleyhq/parley/internal/response"
	"github.com/parleyhq/parley/tool/sampling"
)

// Add declares a tool and has the server serve it by run. The JSON Schemas of
// arguments and answer are made from In, a struct, and Out.
//
// Fields of In are required unless they have omitempty or omitzero. The tag
// jsonschema describes one; enum:"a,b", minimum:"1" and maximum:"9" narrow it.
//
// Tools are added before the server is served. Add panics where the declaration
// makes no sense: a name that MCP clients do not take or that is taken, a type
// that is not JSON, a limit that shrinks with the tier.
func Add[In, Out any](s *Server, t Tool, run Func[In, Out]) { add(s, t, false, run) }

func add[In, Out any](s *Server, t Tool, handoff bool, run Func[In, Out]) {
	d, err := declare[In, Out](s, t)
	if err != nil {
		panic(fmt.Sprintf("tool %q: %v", t.Name, err))
	}
	d.handoff = handoff
	d.body = bodyOf(d, run)
	s.mcp.AddTool(d.listed, d.serve)
}

// bodyOf is a function from JSON to JSON.
func bodyOf[In, Out any](d *declared, run Func[In, Out]) func(context.Context, *Call, []byte) (jsontext.Value, error) {
	return func(ctx context.Context, c *Call, raw []byte) (jsontext.Value, error) {
		var in In
		if err := d.form.decode(raw, &in); err != nil {
			return nil, err
		}
		out, err := run(ctx, c, in)
		if err != nil {
			return nil, err
		}
		return marshal(out)
	}
}

// declared is a tool as the server keeps it. It does not change.
type declared struct {
	server       *Server
	tool         Tool
	listed       *mcp.Tool
	form         *form
	capabilities []string
	handoff      bool // whose runs can be kept
	body         func(ctx context.Context, c *Call, raw []byte) (jsontext.Value, error)
}

func declare[In, Out any](s *Server, t Tool) (*declared, error) {
	if t.Version == "" {
		t.Version = s.opts.Version
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	input, f, err := inputOf[In]()
	if err != nil {
		return nil, fmt.Errorf("the input: %w", err)
	}
	output, err := outputSchema[Out]()
	if err != nil {
		return nil, fmt.Errorf("the output: %w", err)
	}
	d := &declared{
		server:       s,
		tool:         t,
		form:         f,
		capabilities: append([]string{response.EnvelopeV1}, t.Capabilities...),
		listed: &mcp.Tool{
			Name: t.Name, Title: t.Title, Description: t.Description, Annotations: t.Annotations.hints(t.Title),
			InputSchema: input, OutputSchema: json.RawMessage(output),
		},
	}
	return d, s.claim(d)
}

// inputOf is what arguments have to look like, for clients and for this package.
func inputOf[In any]() (*jsonschema.Schema, *form, error) {
	schema, err := schemaOf[In](reading)
	if err != nil {
		return nil, nil, err
	}
	if schema.Type != "object" {
		return nil, nil, errors.New("it is not a struct")
	}
	f, err := newForm(schema)
	return schema, f, err
}

// claim takes a tool's name.
func (s *Server) claim(d *declared) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tools[d.tool.Name] != nil {
		return errors.New("there is a tool of that name")
	}
	s.tools[d.tool.Name] = d
	return nil
}

func (t *Tool) check() error {
	if t.Timeout < 0 {
		return fmt.Errorf("the timeout is %v", t.Timeout)
	}
	return errors.Join(checkName(t.Name), checkFeatures(t.Features), checkLimits(t.Limits), t.checkAsking())
}

// checkAsking looks at what the tool says of its questions.
func (t *Tool) checkAsking() error {
	if t.Depth < 0 || t.Tokens < 0 {
		return fmt.Errorf("the depth is %d, the tokens are %d", t.Depth, t.Tokens)
	}
	for _, a := range t.Needs {
		if a != Sampling && a != SamplingTools && a != Elicitation {
			return fmt.Errorf("it needs %q, which is none of %s, %s and %s", a, Sampling, SamplingTools, Elicitation)
		}
	}
	for _, key := range t.Elicits {
		if err := (sampling.Elicitation[struct{}]{Key: key}).Check(); err != nil {
			return err
		}
	}
	return nil
}

const nameChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

func checkName(name string) error {
	if name == "" || len(name) > 64 {
		return fmt.Errorf("the name has %d bytes; it must have 1 to 64", len(name))
	}
	if strings.Trim(name, nameChars) != "" {
		return errors.New(`the name may have letters, digits, "_" and "-" only`)
	}
	return nil
}

func checkFeatures(features []Feature) error {
	for i, f := range features {
		if _, err := response.ParseTier(string(f.Tier)); err != nil {
			return fmt.Errorf("the feature %q: %w", f.Name, err)
		}
		if f.Name == "" || slices.ContainsFunc(features[:i], func(g Feature) bool { return g.Name == f.Name }) {
			return fmt.Errorf("the feature %q: the name is empty or taken", f.Name)
		}
	}
	return nil
}

func checkLimits(limits []Limit) error {
	for i, l := range limits {
		if l.Name == "" || slices.ContainsFunc(limits[:i], func(m Limit) bool { return m.Name == l.Name }) {
			return fmt.Errorf("the limit %q: the name is empty or taken", l.Name)
		}
		if min(l.Community, l.Pro, l.Enterprise) < 0 || exceeds(l.Community, l.Pro) || exceeds(l.Pro, l.Enterprise) {
			return fmt.Errorf("the limit %q is negative or shrinks with the tier: %d, %d, %d", l.Name, l.Community, l.Pro, l.Enterprise)
		}
	}
	return nil
}

// hints are the annotations in MCP's words.
func (a Annotations) hints(title string) *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{
		Title:           title,
		ReadOnlyHint:    a.ReadOnly,
		DestructiveHint: new(!a.ReadOnly && !a.Additive),
		IdempotentHint:  a.Idempotent,
		OpenWorldHint:   new(!a.ClosedWorld),
	}
}
