package participant

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parleyhq/parley/internal/modelspec"
)

func TestRequestsPerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedger(&modelspec.Settings{
			Budget:       modelspec.Budget{RequestsPerMinute: 2},
			Participants: map[string]modelspec.Budget{"free": {RequestsPerMinute: modelspec.Off}},
		})
		begin := func(who string) *refusal {
			settle, no := l.begin(who, 0, time.Now())
			if no == nil {
				settle(0)
			}
			return no
		}
		for range 2 {
			if begin("a") != nil {
				t.Fatal("one of the first two is refused")
			}
		}
		no := begin("a")
		if no == nil || no.after != 30*time.Second || no.says != "the budget of 2 requests a minute is used up" {
			t.Fatalf("%+v", no)
		}
		if begin("b") != nil {
			t.Error("another one pays for it")
		}
		for range 1000 {
			if begin("free") != nil {
				t.Fatal("who has no bound is refused")
			}
		}
		time.Sleep(no.after)
		if begin("a") != nil || begin("a") == nil {
			t.Error("one more is allowed after that, and no two")
		}
	})
}

func TestTokensPerHourAndDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedger(&modelspec.Settings{Budget: modelspec.Budget{RequestsPerMinute: modelspec.Off, TokensPerHour: 100, TokensPerDay: 250}})
		use := func(tokens int64) *refusal {
			settle, no := l.begin("a", tokens, time.Now())
			if no == nil {
				settle(tokens)
			}
			return no
		}
		for range 2 {
			if use(60) != nil {
				t.Fatal("refused before the bound")
			}
		}
		no := use(1)
		if no == nil || no.says != "the budget of 100 tokens an hour is used up" || no.after < 59*time.Minute || no.after > 62*time.Minute {
			t.Fatalf("%+v", no)
		}
		time.Sleep(no.after - time.Nanosecond)
		if use(1) == nil {
			t.Error("it was too early")
		}
		time.Sleep(time.Nanosecond)
		if use(130) != nil {
			t.Error("the hour is over")
		}
		time.Sleep(2 * time.Hour)
		no = use(1)
		if no == nil || no.says != "the budget of 250 tokens a day is used up" || no.after < 20*time.Hour || no.after > 23*time.Hour {
			t.Fatalf("%+v", no)
		}
		time.Sleep(no.after)
		if use(1) != nil {
			t.Error("the day is over")
		}
	})
}

// However many are sent at once, what is used passes the bound by one request's
// tokens at most.
func TestParallelRequestsDoNotOvershoot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bound, each = 1000, 300
		l := newLedger(&modelspec.Settings{Concurrency: 100, Budget: modelspec.Budget{RequestsPerMinute: modelspec.Off, TokensPerHour: bound}})
		var total atomic.Int64
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				settle, no := l.begin("a", each, time.Now())
				if no != nil {
					if no.after != busy || !strings.HasPrefix(no.says, "requests under way may use up the budget of 1000 tokens an hour") {
						t.Errorf("%+v", no)
					}
					return
				}
				time.Sleep(time.Second) // until all the others have asked
				total.Add(each)
				settle(each)
			})
		}
		wg.Wait()
		if n := total.Load(); n < bound || n >= bound+each {
			t.Errorf("%d tokens were used", n)
		}
	})
}

// What was reserved and not used is given back, and what an endpoint says of
// its use cannot break the sums.
func TestReservationsAreSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedger(&modelspec.Settings{Budget: modelspec.Budget{RequestsPerMinute: modelspec.Off, TokensPerHour: 100}})
		for _, reserved := range []int64{1 << 62, 500, -1, 0} {
			settle, no := l.begin("a", reserved, time.Now())
			if no != nil {
				t.Fatalf("%d: %+v", reserved, no)
			}
			settle(0)
		}
		a := l.accounts["a"]
		if a.reserved != 0 || a.open != 0 || a.windows[0].sum != 0 {
			t.Errorf("%+v", a)
		}
		settle, _ := l.begin("a", 1, time.Now())
		other, _ := l.begin("a", 1, time.Now())
		settle(math.MaxInt64)
		other(math.MinInt64)
		if _, no := l.begin("a", 1, time.Now()); no == nil || a.windows[0].sum != maxTokens {
			t.Errorf("%+v %+v", no, a)
		}
		time.Sleep(3 * time.Hour)
		if _, no := l.begin("a", 1, time.Now()); no != nil || a.windows[0].sum != 0 {
			t.Errorf("%+v %+v", no, a)
		}
	})
}

// Nobody takes all hands, not even with others' help.
func TestCrowded(t *testing.T) {
	l := newLedger(&modelspec.Settings{Concurrency: 16, Budget: modelspec.Budget{RequestsPerMinute: modelspec.Off}})
	take := func(who string) (n int) {
		for {
			_, no := l.begin(who, 0, time.Now())
			if no != nil {
				if no.after != busy {
					t.Errorf("%+v", no)
				}
				return n
			}
			n++
		}
	}
	for i, want := range []int{12, 3, 1, 0} {
		if n := take(fmt.Sprint(i)); n != want {
			t.Errorf("asker %d takes %d, want %d", i, n, want)
		}
	}
	for slots, want := range map[int]int{1: 1, 2: 2, 4: 3, 0: 12} {
		l = newLedger(&modelspec.Settings{Concurrency: slots, Budget: modelspec.Budget{RequestsPerMinute: modelspec.Off}})
		if n := take("one"); n != want {
			t.Errorf("of %d one takes %d, want %d", slots, n, want)
		}
	}
}

func TestAccountsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedger(&modelspec.Settings{})
		_, _ = l.begin("open", 1, time.Now()) // and never settled
		for i := range manyAccounts {
			settle, _ := l.begin(fmt.Sprint(i), 1, time.Now())
			settle(1)
		}
		if len(l.accounts) != manyAccounts+1 {
			t.Error(len(l.accounts))
		}
		time.Sleep(26 * time.Hour)
		_, _ = l.begin("new", 1, time.Now())
		if len(l.accounts) != 2 || l.accounts["open"] == nil {
			t.Error(len(l.accounts))
		}
	})
}
