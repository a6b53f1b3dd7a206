package mcpfront

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/mcp"
)

// method is how a request is answered. The result is JSON; an error is told as
// rpcError says.
type method func(x *exchange, ctx context.Context) (jsontext.Value, error)

// methods are those of both eras.
var methods = map[string]method{
	"tools/list":               (*exchange).listTools,
	"tools/call":               (*exchange).callTool,
	"resources/list":           (*exchange).listResources,
	"resources/templates/list": (*exchange).listTemplates,
	"resources/read":           (*exchange).readResource,
	"prompts/list":             (*exchange).listPrompts,
	"prompts/get":              (*exchange).getPrompt,
	"completion/complete":      (*exchange).complete,
}

// legacyMethods are those that only a session has.
var legacyMethods = map[string]method{
	"ping":                  (*exchange).ping,
	"logging/setLevel":      (*exchange).setLevel,
	"resources/subscribe":   (*exchange).subscribe,
	"resources/unsubscribe": (*exchange).unsubscribe,
}

// modernMethods are those of the stateless era.
var modernMethods = map[string]method{
	"server/discover":      (*exchange).discover,
	"subscriptions/listen": (*exchange).serveSubscriptions,
}

func (x *exchange) lookUp() method {
	if m := methods[x.msg.Method]; m != nil {
		return m
	}
	if x.modern() {
		return modernMethods[x.msg.Method]
	}
	return legacyMethods[x.msg.Method]
}

// run answers the request, and counts it.
func (x *exchange) run(ctx context.Context) (jsontext.Value, error) {
	began := time.Now()
	result, err := x.answer(ctx)
	x.seat.count.answered(began, cmp.Or(err, x.refusal))
	return result, err
}

func (x *exchange) answer(ctx context.Context) (jsontext.Value, error) {
	if x.seat.gone() { // as after a kick: the next request joins again, if it may
		return nil, x.seat.why()
	}
	answer := x.lookUp()
	switch {
	case answer != nil:
		return answer(x, ctx)
	case x.target != "" && !x.modern() && !isNotification(x.msg.Method):
		// A server may speak of more than we know, as of tasks.
		return x.ask(ctx, x.target, x.msg.Method, x.msg.Params)
	}
	return nil, methodNotFound(x.msg.Method)
}

func (x *exchange) ping(context.Context) (jsontext.Value, error) { return jsontext.Value(`{}`), nil }

func isNotification(method string) bool { return strings.HasPrefix(method, "notifications/") }

// text is a string among the params; an error where it is none.
func (x *exchange) text(name string) (string, error) {
	v := member(x.msg.Params, name)
	s, ok := mcp.Unquote(v)
	if !ok {
		return "", invalidParams("params." + name + " is not a string")
	}
	return s, nil
}
