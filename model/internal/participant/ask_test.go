package participant

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parleyhq/parley/internal/modelspec"
	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

func asks(t *testing.T, retries int, list ...*fake) *asking {
	a := &asking{retries: retries, log: logTo(t), heard: new(progress)}
	for i, f := range list {
		a.models = append(a.models, Model{Spec: modelspec.Model{Name: string(rune('a' + i))}, Provider: f})
		a.order = append(a.order, i)
	}
	return a
}

var question = &sampling.Request{Messages: []sampling.Message{sampling.UserText("how are you?")}, MaxTokens: 50}

func TestRetries(t *testing.T) {
	temporary := &provider.Error{Kind: provider.Overloaded, Status: 529}
	for _, c := range []struct {
		name        string
		err         error
		times       int
		asked       int
		least, most time.Duration
		ok          bool
	}{
		{"at once", nil, 0, 1, 0, 0, true},
		{"the second time", temporary, 1, 2, 250 * time.Millisecond, 500 * time.Millisecond, true},
		{"the last time", temporary, 3, 4, 1750 * time.Millisecond, 3500 * time.Millisecond, true},
		{"never", temporary, -1, 4, 1750 * time.Millisecond, 3500 * time.Millisecond, false},
		{"when it is told to", &provider.Error{Kind: provider.Rate, RetryAfter: 20 * time.Second}, 1, 2, 20 * time.Second, 20 * time.Second, true},
		{"not after so long a pause", &provider.Error{Kind: provider.Rate, RetryAfter: patience + 1}, 1, 1, 0, 0, false},
		{"not with a bad key", &provider.Error{Kind: provider.Denied}, 1, 1, 0, 0, false},
		{"not with a bad request", &provider.Error{Kind: provider.Invalid}, 1, 1, 0, 0, false},
		{"not after what nobody expected", errors.New("a fault"), 1, 1, 0, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fails(c.err, c.times)
				began := time.Now()
				got, err := asks(t, 3, f).ask(t.Context(), question)
				took := time.Since(began)
				if (err == nil) != c.ok || c.ok && got == nil || !c.ok && !errors.Is(err, c.err) {
					t.Errorf("%v %v", got, err)
				}
				if f.times() != c.asked || took < c.least || took > c.most {
					t.Errorf("asked %d times, which took %v", f.times(), took)
				}
			})
		})
	}
}

// A pause that would not end before the request's time is not begun.
func TestRetriesWithinTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		f := fails(&provider.Error{Kind: provider.Rate, RetryAfter: 15 * time.Second}, 1)
		began := time.Now()
		if _, err := asks(t, 3, f).ask(ctx, question); err == nil || f.times() != 1 || time.Since(began) > 0 {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

func TestCancelledInAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		f := fails(&provider.Error{Kind: provider.Rate, RetryAfter: 30 * time.Second}, -1)
		began := time.Now()
		if _, err := asks(t, 3, f, says("no")).ask(ctx, question); err == nil || f.times() != 1 || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

func TestAnotherModel(t *testing.T) {
	for kind, want := range map[provider.ErrorKind]bool{
		provider.Rate: true, provider.Overloaded: true, provider.Unreachable: true, provider.Broken: true,
		provider.Denied: true, provider.Gone: true, provider.Garbled: true, provider.Invalid: false,
	} {
		synctest.Test(t, func(t *testing.T) {
			first, second := fails(&provider.Error{Kind: kind}, -1), says("hello")
			a := asks(t, 0, first, second)
			got, err := a.ask(t.Context(), question)
			if first.times() != 1 || (second.times() == 1) != want || (err == nil) != want {
				t.Errorf("%s: %v %v, asked %d and %d", kind, got, err, first.times(), second.times())
			}
			if want && a.lastAsked != "b" {
				t.Errorf("%s was asked last", a.lastAsked)
			}
		})
	}
}

// Broken replies cost something too, and a reply counts as its endpoint says.
func TestWhatWasSpent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cut := new(fake)
		cut.ask = func(_ context.Context, _ *sampling.Request, progress func(provider.Progress)) (*sampling.Result, error) {
			if cut.times() > 1 {
				return reply("whole"), nil
			}
			progress(provider.Progress{Pieces: 2, Bytes: 40})
			return nil, &provider.Error{Kind: provider.Unreachable}
		}
		a := asks(t, 3, cut)
		if _, err := a.ask(t.Context(), question); err != nil {
			t.Fatal(err)
		}
		if want := weigh(question) + 40/bytesPerToken + 15; a.spent != want {
			t.Errorf("%d tokens, want %d", a.spent, want)
		}
		if told := a.heard.report(); told.Progress != 2 || told.Message != "0 bytes of a's reply" {
			t.Errorf("%+v", told)
		}
		a = asks(t, 3, fails(&provider.Error{Kind: provider.Overloaded}, -1))
		if _, err := a.ask(t.Context(), question); err == nil || a.spent != 0 {
			t.Errorf("%v, %d tokens", err, a.spent)
		}
	})
}

// An endpoint has read what was sent, whenever the asker cancels.
func TestGivingUpCosts(t *testing.T) {
	ctx, giveUp := context.WithCancel(t.Context())
	silent := &fake{ask: func(ctx context.Context, _ *sampling.Request, _ func(provider.Progress)) (*sampling.Result, error) {
		giveUp()
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}}
	a := asks(t, 3, silent)
	if _, err := a.ask(ctx, question); err == nil || a.spent != weigh(question) {
		t.Errorf("%v, %d tokens, want %d", err, a.spent, weigh(question))
	}
}

func TestWeigh(t *testing.T) {
	q := &sampling.Request{
		SystemPrompt: "12345678",
		Tools:        []sampling.Tool{{Name: "abcd", Description: "efgh", InputSchema: []byte(`{  }`)}},
		Messages: []sampling.Message{
			{Role: sampling.User, Content: []sampling.Block{sampling.Text{Text: "12345"}, sampling.Image{Data: make([]byte, 9999)}, sampling.Audio{}}},
			{Role: sampling.Assistant, Content: []sampling.Block{sampling.ToolUse{Name: "abcd", Input: []byte(`{"a":1}`)}}},
			sampling.Results(sampling.ToolResult{Content: []sampling.Block{sampling.Resource{Contents: sampling.Contents{Text: "1234"}}}, StructuredContent: []byte(`{"a":1}`)}),
		},
	}
	if got, want := weigh(q), int64(2+(1+1+1)+(2+2*mediaTokens)+(1+2)+(1+2)); got != want {
		t.Errorf("%d, want %d", got, want)
	}
	untold := reply("12345678")
	for meta, want := range map[string]int64{
		``: 7 + 2, `{}`: 7 + 2, `{"parley/usage":{"input_tokens":"many"}}`: 7 + 2,
		`{"parley/usage":{"input_tokens":3,"output_tokens":4}}`:                    7,
		`{"parley/usage":{"input_tokens":-3,"output_tokens":9223372036854775807}}`: maxTokens,
	} {
		untold.Meta = []byte(meta)
		if got := used(7, untold); got != want {
			t.Errorf("%s: %d, want %d", meta, got, want)
		}
	}
}
