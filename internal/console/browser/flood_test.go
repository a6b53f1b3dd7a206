package browser

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/parleytest"
)

const floodRate = 2000 // envelopes a second

// newFlooded is a page in a room that takes whatever is sent.
func newFlooded(t testing.TB) *page {
	t.Helper()
	p := newPage(t, &parleytest.Options{
		Participants: map[string][]string{
			"you": {"*"}, "agent": {"*"}, "files": {"*"},
			"a0": {"chat"}, "a1": {"chat"}, "a2": {"chat"}, "a3": {"chat"},
		},
		Limits: parleytest.Limits{Rate: 1e6, Burst: 1e6},
	})
	p.signIn("you")
	return p
}

// flood has four participants talk until they are told to stop, and returns how
// much they said, and for how long.
func (p *page) flood(stop <-chan struct{}) (said int, took time.Duration) {
	const senders, each = 4, 10
	begun := time.Now()
	var mu sync.Mutex
	var all sync.WaitGroup
	for s := range senders {
		room := p.join(fmt.Sprintf("a%d", s))
		all.Go(func() {
			tick := time.NewTicker(time.Second * senders * each / floodRate)
			defer tick.Stop()
			n := 0
			for {
				var batch sync.WaitGroup
				for j := range each {
					batch.Go(func() { p.say(room, fmt.Sprintf("message %d of a%d", n+j, s)) })
				}
				batch.Wait()
				n += each
				select {
				case <-tick.C:
				case <-stop:
					mu.Lock()
					said += n
					mu.Unlock()
					return
				}
			}
		})
	}
	all.Wait()
	return said, time.Since(begun)
}

func (p *page) say(room *client.Room, text string) {
	if _, err := room.Chat(p.t.Context(), text); err != nil {
		p.t.Error(err)
	}
}

// In the midst of a flood a proposal is found and approved, and nothing of the flood is lost.
func TestFlood(t *testing.T) {
	p := newFlooded(t)
	asked := p.serve()
	agent := p.join("agent")
	stop, said := make(chan struct{}), make(chan int)
	go func() {
		n, _ := p.flood(stop)
		said <- n
	}()
	p.until("document.querySelector('.row')?.ariaSetSize > 1000")
	p.propose(agent, "calm.txt")
	p.do(click("#review"))
	p.until("document.querySelector('#confirm[aria-disabled=false]')")
	p.do(click("#confirm"))
	contains(t, receive(t, asked), "calm.txt")
	close(stop)
	p.until(fmt.Sprintf("document.querySelector('.row')?.ariaSetSize === '%d'", <-said+1))
}

// BenchmarkFlood is 2,000 envelopes a second for 30 s, or for PARLEY_FLOOD_SECONDS: how long the page
// takes to answer meanwhile, 100 times a second.
func BenchmarkFlood(b *testing.B) {
	seconds, err := strconv.Atoi(os.Getenv("PARLEY_FLOOD_SECONDS"))
	if err != nil {
		seconds = 30
	}
	for b.Loop() {
		b.StopTimer()
		p := newFlooded(b)
		b.StartTimer()
		evaluate[int](p, `(globalThis.gaps = [], globalThis.last = performance.now(),
			setInterval(() => { const now = performance.now(); gaps.push(now - last); last = now; }, 10))`)
		stop := make(chan struct{})
		time.AfterFunc(time.Duration(seconds)*time.Second, func() { close(stop) })
		said, took := p.flood(stop)
		gaps := evaluate[[]float64](p, `(gaps.sort((a, b) => a - b),
			[gaps[gaps.length >> 1], gaps[Math.floor(gaps.length * 0.99)], gaps[Math.floor(gaps.length * 0.999)], gaps.at(-1)].map((g) => Math.max(0, g - 10)))`)
		p.until(fmt.Sprintf("document.querySelector('.row')?.ariaSetSize === '%d'", said))
		b.ReportMetric(float64(said)/took.Seconds(), "envelopes/s")
		for i, name := range []string{"p50", "p99", "p999", "worst"} {
			b.ReportMetric(gaps[i], name+"-answer-ms")
		}
	}
}

// BenchmarkFirstPaint is an empty browser that opens the room: until something is
// painted, until the room is live, and what was transferred.
func BenchmarkFirstPaint(b *testing.B) {
	var painted, live, bytes float64
	for b.Loop() {
		b.StopTimer()
		first := newPage(b, nil)
		first.chat(first.join("boss"), "hello")
		link := first.gateway.URL + "/console/#code=" + first.signInCode("you")
		b.StartTimer()
		p := newPageAt(b, first.gateway)
		p.do(chromedp.Navigate(link))
		p.shows("hello")
		live += evaluate[float64](p, "performance.now()")
		painted += evaluate[float64](p, "performance.getEntriesByType('paint').find((e) => e.name === 'first-contentful-paint').startTime")
		bytes += evaluate[float64](p, "performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation')).reduce((n, e) => n + e.transferSize, 0)")
	}
	b.ReportMetric(painted/float64(b.N), "first-paint-ms")
	b.ReportMetric(live/float64(b.N), "live-ms")
	b.ReportMetric(bytes/float64(b.N), "transferred-B")
}
