package tool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/response"
)

// maxDetails is how long an error's details may be, in bytes of JSON.
const maxDetails = 4 << 10

// fail puts an error into an answer. What callers are not told goes to the log;
// debugging says that this one is told all.
func (d *declared) fail(ctx context.Context, a *response.Answer, err error, debugging bool) {
	e := typed(d.tool.Name, err)
	a.Error = &response.Error{Code: e.Code, Message: bounded(e.Message)}
	a.Hints = withHints(a.Hints, e.Hints...)
	a.Data = nil
	if cause := lost(err); cause != nil {
		d.server.log.WarnContext(ctx, "a tool's question did not get through", "tool", d.tool.Name, "request_id", a.RequestID, "err", cause)
	}
	if e.Code == InternalError {
		d.report(ctx, a.RequestID, err)
		if !debugging {
			return // details and data may tell the cause, too
		}
	}
	a.Error.Details = d.marshalled(ctx, "error_details", e.Details)
	if len(a.Error.Details) > maxDetails {
		d.server.log.WarnContext(ctx, "an error's details are too long and were left out", "tool", d.tool.Name, "bytes", len(a.Error.Details))
		a.Error.Details = nil
	}
	a.Data = d.marshalled(ctx, "data", e.Data)
}

// typed finds the [*Error] in an error, or makes one of what the error is.
// Nothing is guessed from a text, and an error of the operating system is a
// fault like any other: that a file is missing which the tool did not expect
// to miss is not what the caller asked.
func typed(tool string, err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok && e != nil && e.Code.Known() {
		return e
	}
	if e := told(err); e != nil {
		return e
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return Errorf(Timeout, "%s did not finish in time", tool)
	}
	// Sprint survives a nil pointer that was returned as an error.
	return &Error{Code: InternalError, Message: fmt.Sprint(err)}
}

// report logs a fault of the tool.
func (d *declared) report(ctx context.Context, id string, err error) {
	attrs := []slog.Attr{slog.String("tool", d.tool.Name), slog.String("request_id", id), slog.Any("err", err)}
	if p, ok := errors.AsType[*panicked](err); ok {
		attrs = append(attrs, slog.String("stack", string(p.stack)))
	}
	d.server.log.LogAttrs(ctx, slog.LevelError, "a tool failed", attrs...)
}

// marshalled is v as JSON, or nothing where it is nothing or cannot be sent.
func (d *declared) marshalled(ctx context.Context, what string, v any) jsontext.Value {
	if v == nil {
		return nil
	}
	text, err := marshal(v)
	if err != nil {
		d.server.log.WarnContext(ctx, "what a tool tells of its error cannot be sent", "tool", d.tool.Name, "member", what, "err", err)
		return nil
	}
	return text
}

// panicked is the error of a function that panicked.
type panicked struct {
	value any
	stack []byte
}

func newPanic(value any) *panicked { return &panicked{value, debug.Stack()} }

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }
