package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/parleyhq/parley"
)

// failing serves a tool that ends in an error.
func failing(t *testing.T, o Options, err func(context.Context) error) *room {
	return newRoom(t, o, func(s *Server) {
		Add(s, Tool{Name: "fail"}, func(ctx context.Context, _ *Call, _ struct{}) (int, error) { return 0, err(ctx) })
	})
}

// Codes come from types, whatever the texts say.
func TestCodesComeFromTypes(t *testing.T) {
	_, missing := os.Open("/no/such/file")
	for _, c := range []struct {
		name string
		err  error
		want string // code and message
	}{
		{"its own", Errorf(Forbidden, "not yours"), "forbidden: not yours"},
		{"wrapped", fmt.Errorf("reading: %w", Errorf(NotFound, "no such file")), "not_found: no such file"},
		{"joined", errors.Join(errors.New("timeout"), Errorf(TooLarge, "too large")), "too_large: too large"},
		{"of a cause that says otherwise", Errorf(DependencyUnavailable, "no database: %w", context.DeadlineExceeded), "dependency_unavailable: no database: context deadline exceeded"},
		{"deadline", fmt.Errorf("fetching: %w", context.DeadlineExceeded), "timeout: fail did not finish in time"},
		{"deadline of a connection", os.ErrDeadlineExceeded, "timeout: fail did not finish in time"},
		{"cancelled, but not by the caller", context.Canceled, "internal_error: internal error"},
		{"the text of a code", errors.New("not_found: file not found"), "internal_error: internal error"},
		{"missing file", missing, "internal_error: internal error"},
		{"permission", fs.ErrPermission, "internal_error: internal error"},
		{"of another package", parley.Errorf(parley.NotFound, "no such space"), "internal_error: internal error"},
		{"unknown code", Errorf("out_of_cheese", "+++"), "internal_error: internal error"},
		{"a fault", Errorf(InternalError, "the index is broken"), "internal_error: internal error"},
		{"no error at all", (*Error)(nil), "internal_error: internal error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := failing(t, Options{Tier: Pro}, func(context.Context) error { return c.err })
			code, message, _ := strings.Cut(c.want, ": ")
			got, isError := r.call("fail", nil)
			if want := fmt.Sprintf(`{"error":{"error":%q,"error_code":%q}}`, message, code); got != want || !isError {
				t.Errorf("isError %v\n got %s\nwant %s", isError, got, want)
			}
			if logged := strings.Contains(r.log.String(), "a tool failed"); logged != (code == "internal_error") {
				t.Errorf("logged: %v\n%s", logged, r.log)
			}
		})
	}
}

// A panic ends one call, and its stack is for the log.
func TestPanic(t *testing.T) {
	r := failing(t, Options{}, func(context.Context) error { panic("secret 42") })
	for range 2 {
		r.want("fail", nil, `{"error":{"error":"internal error","error_code":"internal_error"}}`)
	}
	if log := r.log.String(); !strings.Contains(log, "secret 42") || !strings.Contains(log, "error_test.go") {
		t.Errorf("the log lacks the value or the stack:\n%s", log)
	}
	r = failing(t, Options{ResponseConfig: configuration(t, `{"global":{"profile":"debug"}}`)}, func(context.Context) error { panic("secret 42") })
	if got, _ := r.call("fail", nil); !strings.Contains(got, "panic: secret 42") || strings.Contains(got, "error_test.go") {
		t.Errorf("debug is told %s", got)
	}
}

// nilError panics where it is nil, as most errors of a pointer type do.
type nilError struct{ text string }

func (e *nilError) Error() string { return e.text }

// A nil pointer that was returned as an error is a fault of one call.
func TestNilPointerAsError(t *testing.T) {
	for _, err := range []error{(*nilError)(nil), fmt.Errorf("wrapped: %w", errors.Join((*nilError)(nil)))} {
		r := failing(t, Options{ResponseConfig: configuration(t, `{"global":{"profile":"debug"}}`)}, func(context.Context) error { return err })
		for range 2 {
			if got, _ := r.call("fail", nil); !strings.Contains(got, `"error_code":"internal_error"`) || !strings.Contains(got, "nil") {
				t.Error(got)
			}
		}
	}
}

// What a fault has in details and data would tell the cause.
func TestFaultTellsNothing(t *testing.T) {
	fault := func(context.Context) error {
		return Errorf(InternalError, "SECRET").WithDetails(args{"dsn": "SECRET"}).WithData(args{"dump": "SECRET"})
	}
	for profile, told := range map[string]bool{"minimal": false, "standard": false, "verbose": false, "debug": true} {
		r := failing(t, Options{ResponseConfig: configuration(t, `{"global":{"profile":"`+profile+`"}}`)}, fault)
		if got, _ := r.call("fail", nil); strings.Contains(got, "SECRET") != told {
			t.Errorf("%s: %s", profile, got)
		}
		if !strings.Contains(r.log.String(), "SECRET") {
			t.Errorf("%s: the log has no cause", profile)
		}
	}
}

func TestErrorsAreBounded(t *testing.T) {
	code := strings.Repeat("func é() {}\n", 10_000)
	r := failing(t, Options{}, func(context.Context) error {
		return Errorf(InvalidArgument, "cannot parse %s\xff", code).WithDetails(args{"source": code})
	})
	got, _ := r.call("fail", nil)
	if len(got) > MaxMessage+200 || !utf8.ValidString(got) || strings.Contains(got, "error_details") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
	if !strings.Contains(r.log.String(), "too long") {
		t.Errorf("the log does not say so: %s", r.log)
	}
	for most := range 30 {
		if s := cut("ééé€€€", max(most, 3)); len(s) > max(most, 3) || !utf8.ValidString(s) {
			t.Errorf("%d: %q", most, s)
		}
	}
}

func TestDetailsThatAreNotJSON(t *testing.T) {
	r := failing(t, Options{}, func(context.Context) error {
		return Errorf(NotFound, "gone").WithDetails(func() {}).WithData(make(chan int))
	})
	r.want("fail", nil, `{"error":{"error":"gone","error_code":"not_found"}}`)
	if !strings.Contains(r.log.String(), "cannot be sent") {
		t.Errorf("the log does not say so: %s", r.log)
	}
}

// One error may serve many calls at once.
func TestSharedError(t *testing.T) {
	shared := Errorf(NotFound, "no such file")
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			e := shared.WithDetails(i).WithData(args{"i": i}).WithHint("f", Pro, fmt.Sprint(i))
			e = e.WithHint("g", Pro, fmt.Sprint(i))
			if e.Details != i || len(e.Hints) != 2 || e.Hints[1].Reason != fmt.Sprint(i) || !errors.Is(e, shared) {
				t.Errorf("%d: %+v", i, e)
			}
		})
	}
	wg.Wait()
	if shared.Details != nil || shared.Data != nil || shared.Hints != nil {
		t.Errorf("%+v", shared)
	}
}

func TestErrorValues(t *testing.T) {
	err := Errorf(NotFound, "reading %q: %w", "a", fs.ErrNotExist)
	wrapped := fmt.Errorf("step 2: %w", err)
	if !errors.Is(wrapped, fs.ErrNotExist) || !errors.Is(wrapped, &Error{Code: NotFound}) || errors.Is(wrapped, &Error{Code: Timeout}) {
		t.Error("causes and codes are not found")
	}
	if got := err.Error(); got != `not_found: reading "a": file does not exist` {
		t.Error(got)
	}
	if both := Errorf(TooLarge, "%w and %w", fs.ErrExist, fs.ErrClosed); !errors.Is(both, fs.ErrExist) || !errors.Is(both, fs.ErrClosed) {
		t.Error("of two causes one is lost")
	}
	if none := Errorf(TooLarge, "no cause"); errors.Unwrap(none) != nil {
		t.Error(errors.Unwrap(none))
	}
	if e, ok := errors.AsType[*Error](wrapped); !ok || e.WithHint("f", Pro, "r").Hints[0] != (Hint{Feature: "f", Tier: Pro, Reason: "r"}) {
		t.Error("a hint is lost")
	}
}
