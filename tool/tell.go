package tool

import (
	"context"
	"fmt"
	"log/slog"
	"math"

	"github.com/go-json-experiment/json"
)

// Log tells the caller, and whoever else listens, what goes on; args are names
// and values as those of package slog. Callers choose what they hear, so a
// message may reach nobody, which is no error.
func (c *Call) Log(ctx context.Context, level slog.Level, message string, args ...any) {
	var r slog.Record
	r.Add(args...)
	data := make(map[string]any, 1+r.NumAttrs())
	r.Attrs(func(a slog.Attr) bool {
		data[a.Key] = plain(a.Value)
		return true
	})
	data["message"] = cut(message, maxLog)
	c.notify(ctx, "notifications/message", map[string]any{"level": levelOf(level), "logger": c.tool.Name, "data": data})
}

// maxLog is how long a message may be, in bytes.
const maxLog = 4 << 10

// plain is a value as JSON has it, or in words.
func plain(v slog.Value) any {
	v = v.Resolve()
	if v.Kind() == slog.KindGroup {
		group := make(map[string]any)
		for _, a := range v.Group() {
			group[a.Key] = plain(a.Value)
		}
		return group
	}
	if err, ok := v.Any().(error); ok {
		return cut(err.Error(), maxLog)
	}
	raw, err := marshal(v.Any())
	if err != nil || len(raw) > maxLog {
		return cut(fmt.Sprint(v.Any()), maxLog)
	}
	return raw
}

// Progress tells the caller how far the call is: done of total, or of nobody knows
// how much where total is 0. Values should grow.
func (c *Call) Progress(ctx context.Context, done, total float64, message string) {
	if !(done >= 0) || math.IsInf(done, 0) || math.IsNaN(total) || math.IsInf(total, 0) {
		return // no number of JSON
	}
	params := map[string]any{"progress": done}
	if total > 0 {
		params["total"] = total
	}
	if message != "" {
		params["message"] = cut(message, maxLog)
	}
	c.notify(ctx, "notifications/progress", params)
}

func (c *Call) notify(ctx context.Context, method string, params any) {
	if c.run.peer == nil || ctx.Err() != nil {
		return
	}
	raw, err := json.Marshal(params, json.Deterministic(true))
	if err != nil {
		return // a value that is not JSON; the call matters more than what is said about it
	}
	_ = c.run.peer.Notify(ctx, method, raw)
}

// levelOf is a level in MCP's words.
func levelOf(l slog.Level) string {
	switch {
	case l < slog.LevelInfo:
		return "debug"
	case l < slog.LevelWarn:
		return "info"
	case l < slog.LevelError:
		return "warning"
	}
	return "error"
}
