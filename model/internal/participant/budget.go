package participant

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/parleyhq/parley/internal/modelspec"
)

// ledger keeps what each asker has used of its budget, and who is being worked
// for.
type ledger struct {
	settings *modelspec.Settings
	slots    int // how many requests are worked on at a time

	mu       sync.Mutex
	accounts map[string]*account
	open     int // requests that are under way
}

// account is what one asker has used.
type account struct {
	requests *rate.Limiter // nil: no bound
	windows  []*window     // those that bound tokens
	reserved int64         // tokens of requests that are under way
	open     int           // how many these are
	lastUsed time.Time
}

// maxTokens is more than one request can use: what an endpoint says beyond it
// is nonsense, and must not make a sum overflow.
const maxTokens = 1 << 40

// refusal says which bound an asker has reached, and when to come again.
type refusal struct {
	says  string
	after time.Duration
}

func newLedger(s *modelspec.Settings) *ledger {
	return &ledger{settings: s, slots: cmp.Or(s.Concurrency, modelspec.DefaultConcurrency), accounts: map[string]*account{}}
}

func newAccount(b modelspec.Budget) *account {
	a := new(account)
	if n := b.RequestsPerMinute; n > 0 {
		a.requests = rate.NewLimiter(rate.Limit(n)/60, n)
	}
	if b.TokensPerHour > 0 {
		a.windows = append(a.windows, &window{span: time.Hour, most: b.TokensPerHour})
	}
	if b.TokensPerDay > 0 {
		a.windows = append(a.windows, &window{span: 24 * time.Hour, most: b.TokensPerDay})
	}
	return a
}

// begin reserves tokens for a request, as long as anything is left of the
// asker's budget. What it returns is to be told once how many they were.
func (l *ledger) begin(who string, tokens int64, now time.Time) (settle func(used int64), no *refusal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.account(who, now)
	if no := l.crowded(a); no != nil {
		return nil, no
	}
	if no := a.refuse(now); no != nil {
		return nil, no
	}
	tokens = min(max(tokens, 0), maxTokens)
	a.reserved += tokens
	a.open++
	l.open++
	return func(used int64) { l.settle(a, tokens, used) }, nil
}

// settle puts what was used in the place of what was reserved.
func (l *ledger) settle(a *account, reserved, used int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	a.reserved -= reserved
	a.open--
	l.open--
	a.lastUsed = now
	for _, w := range a.windows {
		w.add(now, min(max(used, 0), maxTokens))
	}
}

// busy is when to come again where requests that are under way are in the way:
// nobody knows how long they take.
const busy = time.Second

// share is how many times as many slots an asker may have as stay free. So
// nobody takes all of them, however many there are who try.
const share = 3

// crowded refuses a request that nobody has time for.
func (l *ledger) crowded(a *account) *refusal {
	switch free := l.slots - l.open; {
	case free <= 0:
		return &refusal{fmt.Sprintf("%d requests are being worked on, the most there can be", l.open), busy}
	case a.open >= share*free:
		return &refusal{fmt.Sprintf("%d requests of yours are being worked on, and what is left is for others", a.open), busy}
	}
	return nil
}

// refuse looks at each bound; requests come last, since looking takes one.
func (a *account) refuse(now time.Time) *refusal {
	for _, w := range a.windows {
		what := fmt.Sprintf("%d tokens an hour", w.most)
		if w.span > time.Hour {
			what = fmt.Sprintf("%d tokens a day", w.most)
		}
		if after := w.wait(now); after > 0 {
			return &refusal{"the budget of " + what + " is used up", after}
		}
		if w.sum+a.reserved >= w.most {
			return &refusal{"requests under way may use up the budget of " + what, busy}
		}
	}
	if a.requests == nil {
		return nil
	}
	turn := a.requests.ReserveN(now, 1)
	if after := turn.DelayFrom(now); after > 0 {
		turn.CancelAt(now)
		return &refusal{fmt.Sprintf("the budget of %d requests a minute is used up", a.requests.Burst()), after}
	}
	return nil
}

// manyAccounts is how many askers are remembered before those are forgotten who
// have not asked for a day.
const manyAccounts = 1024

func (l *ledger) account(who string, now time.Time) *account {
	a := l.accounts[who]
	if a == nil {
		l.forget(now)
		a = newAccount(l.settings.For(who))
		l.accounts[who] = a
	}
	a.lastUsed = now
	return a
}

// forget drops accounts that a new one would not differ from.
func (l *ledger) forget(now time.Time) {
	if len(l.accounts) < manyAccounts {
		return
	}
	for who, a := range l.accounts {
		if a.open == 0 && now.Sub(a.lastUsed) > 25*time.Hour {
			delete(l.accounts, who)
		}
	}
}
