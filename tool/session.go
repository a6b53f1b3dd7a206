package tool

//lint:file-ignore SA1019 what MCP retires is what clients of today have

import (
	"context"
	"encoding/json" // the SDK's

	codec "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	wire "github.com/parleyhq/parley/internal/mcp"
)

// session is the peer of a legacy client's call: it is asked in its session, by
// requests of the server's own, while the call goes on.
type session struct {
	server *Server
	req    *mcp.CallToolRequest
}

// Can looks at what the client declared.
func (p *session) Can(a Ability) bool { return abilitiesOf(p.req.ClientCapabilities()).has(a) }

// Ask sends a request to the client.
func (p *session) Ask(ctx context.Context, q Question) (jsontext.Value, error) {
	params, err := q.marked()
	if err != nil {
		return nil, err
	}
	return p.server.askSession(ctx, p.req.Session, q.Method, params)
}

// Notify tells the client.
func (p *session) Notify(ctx context.Context, method string, params jsontext.Value) error {
	return notify(ctx, p.req, method, params)
}

// notify sends a notification about a call by the SDK, which knows what the client
// wants to hear.
func notify(ctx context.Context, req *mcp.CallToolRequest, method string, params jsontext.Value) error {
	if req.Session == nil {
		return nil
	}
	if method == "notifications/message" {
		var p mcp.LoggingMessageParams
		if err := json.Unmarshal(params, &p); err != nil {
			return err
		}
		return req.Session.Log(ctx, &p)
	}
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	var p mcp.ProgressNotificationParams
	if err := json.Unmarshal(params, &p); err != nil {
		return err
	}
	p.ProgressToken = token
	return req.Session.NotifyProgress(ctx, &p)
}

// contextKey is the member of params' _meta that holds a question's context.
const contextKey = "parley/context"

// marked are the question's params with its context in their _meta, as an
// envelope has it.
func (q Question) marked() (jsontext.Value, error) {
	c := q.Context
	if c == nil {
		return q.Params, nil
	}
	mark, err := codec.Marshal(struct {
		ID       string         `json:"id"`
		Type     string         `json:"type,omitzero"`
		Parent   string         `json:"parent,omitzero"`
		Metadata jsontext.Value `json:"metadata,omitzero"`
	}{c.ID, c.Type, c.Parent, c.Metadata})
	if err != nil {
		return nil, err
	}
	return wire.SetMeta(q.Params, contextKey, mark), nil
}
