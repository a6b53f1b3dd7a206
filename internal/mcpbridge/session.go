package mcpbridge

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/mcp"
)

// session is one connection to the server and what belongs to it: the base one,
// which keeps the server in the room and which callers share, or a caller's own.
type session struct {
	up        *Upstream
	log       *slog.Logger
	owner     string         // whose own it is; "" is the base session
	asks      jsontext.Value // what the owner can be asked for
	declared  jsontext.Value // our capabilities in it: that, and what others serve
	wraps     bool           // its tools answer in the envelope
	catalogue catalogue

	subscriptions subscriptions
	levels        levels
	turns         turns
	rootsNews     atomic.Int64 // changes of the owner's roots that are being told

	// Of a caller's own: guarded by the attendance's mu, but for made and err.
	made  chan struct{} // closed when up or err is set
	err   error
	users int
	since time.Time // without users
}

// offer is what the server offers to a caller of this session. What is declared
// counts with a modern server alone. ctx bounds waiting for it.
func (s *session) offer(ctx context.Context, declared jsontext.Value) (*Offer, error) {
	name := ""
	if s.up.modern.Load() {
		digest := parley.DigestParams(declared)
		name = string(digest[:])
	}
	return s.catalogue.get(ctx, name, s.up.start, func() (*Offer, error) {
		o, err := readOffer(s.up.ctx, s.up.Info(), &lister{warn: s.log.Warn, ask: func(ctx context.Context, method string, params jsontext.Value) (jsontext.Value, error) {
			if s.up.modern.Load() && declared != nil {
				params = mcp.SetMeta(params, mcp.MetaClientCapabilities, declared)
			}
			ctx, cancel := context.WithTimeoutCause(ctx, listTimeout, errTimeout)
			defer cancel()
			return s.up.Call(ctx, method, params, nil)
		}})
		if err == nil && s.up.modern.Load() {
			s.up.learn(o.Tools)
		}
		if err == nil && s.wraps {
			for i, tool := range o.Tools {
				o.Tools[i] = wrapTool(tool)
			}
		}
		return o, err
	})
}

const (
	maxSubscriptions = 4_096 // of one session
	maxOwnSubscribed = 256   // of one participant in it
)

// subscriptions are the resources that participants subscribed to. The server
// hears of the first that wants one and of the last.
type subscriptions struct {
	turn sync.Mutex // held while the server is told

	mu   sync.Mutex
	uris map[string][]string // who subscribed, by the resource
}

// whoWants says whom an update of a resource is for: those who subscribed to
// it or to something above it; else all, since a server may spell it otherwise.
func (l *subscriptions) whoWants(uri string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var some, all []string
	for subscribed, who := range l.uris {
		all = append(all, who...)
		if strings.HasPrefix(uri, subscribed) {
			some = append(some, who...)
		}
	}
	if some == nil {
		some = all
	}
	slices.Sort(some)
	return slices.Compact(some)
}

func (l *subscriptions) has(uri, who string) (subscribed, others bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	subscribed = slices.Contains(l.uris[uri], who)
	return subscribed, len(l.uris[uri]) > 1 || len(l.uris[uri]) == 1 && !subscribed
}

// full says whether somebody may subscribe to nothing more.
func (l *subscriptions) full(who string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := 0
	for _, list := range l.uris {
		if slices.Contains(list, who) {
			own++
		}
	}
	return own >= maxOwnSubscribed || len(l.uris) >= maxSubscriptions
}

func (l *subscriptions) add(uri, who string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.uris == nil {
		l.uris = make(map[string][]string)
	}
	l.uris[uri] = append(l.uris[uri], who)
}

func (l *subscriptions) remove(uri, who string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := slices.DeleteFunc(l.uris[uri], func(id string) bool { return id == who })
	if l.uris[uri] = left; len(left) == 0 {
		delete(l.uris, uri)
	}
}

// of lists what somebody subscribed to; "" is anybody.
func (l *subscriptions) of(who string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []string
	for uri, subscribed := range l.uris {
		if who == "" || slices.Contains(subscribed, who) {
			list = append(list, uri)
		}
	}
	slices.Sort(list)
	return list
}

// subscribe makes one participant a subscriber of a resource.
func (s *session) subscribe(ctx context.Context, who string, params jsontext.Value) (jsontext.Value, error) {
	uri, ok := parley.MemberString(params, "uri")
	if !ok {
		return nil, badURI()
	}
	l := &s.subscriptions
	l.turn.Lock()
	defer l.turn.Unlock()
	subscribed, others := l.has(uri, who)
	switch {
	case subscribed, others && !l.full(who):
	case l.full(who):
		return nil, tooManySubscriptions()
	case s.up.modern.Load():
		if err := s.up.Subscribe(ctx, append(l.of(""), uri)); err != nil {
			_ = s.up.Subscribe(ctx, l.of("")) // it stands as before
			return nil, err
		}
	default:
		result, err := s.up.Call(ctx, "resources/subscribe", params, nil)
		if err != nil {
			return nil, err
		}
		l.add(uri, who)
		return result, nil
	}
	if !subscribed {
		l.add(uri, who)
	}
	return jsontext.Value(`{}`), nil
}

// unsubscribe ends that.
func (s *session) unsubscribe(ctx context.Context, who string, params jsontext.Value) (jsontext.Value, error) {
	uri, ok := parley.MemberString(params, "uri")
	if !ok {
		return nil, badURI()
	}
	l := &s.subscriptions
	l.turn.Lock()
	defer l.turn.Unlock()
	subscribed, others := l.has(uri, who)
	l.remove(uri, who)
	switch {
	case others || s.up.modern.Load() && !subscribed:
	case s.up.modern.Load():
		if err := s.up.Subscribe(ctx, l.of("")); err != nil {
			return nil, err
		}
	default:
		return s.up.Call(ctx, "resources/unsubscribe", params, nil)
	}
	return jsontext.Value(`{}`), nil
}

// levels are the log levels that participants asked for in a session of the
// legacy era, where the server knows one.
type levels struct {
	turn sync.Mutex // held while the server is told

	mu     sync.Mutex
	wanted map[string]string // by participant
	now    string            // what the server was told; "" is nothing yet
}

// severities are the log levels, the most verbose first.
var severities = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// maxLevels bounds the participants whose level is known.
const maxLevels = 1_024

// want notes what one participant asked for, and says whether the server is to
// be told, and what: the most verbose level that anybody asked for.
func (l *levels) want(who, level string) (tell string, other bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wanted == nil {
		l.wanted = make(map[string]string)
	}
	if _, known := l.wanted[who]; known || len(l.wanted) < maxLevels {
		l.wanted[who] = level
	}
	most := len(severities) - 1
	for _, one := range l.wanted {
		most = min(most, slices.Index(severities, one))
	}
	before := l.now
	l.now = severities[most]
	return l.now, l.now != before
}

func (l *levels) forget(who string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.wanted, who)
}

func (l *levels) who() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []string
	for who := range l.wanted {
		list = append(list, who)
	}
	slices.Sort(list)
	return list
}

// levelTimeout bounds telling the server of a level on the way to a call.
const levelTimeout = 5 * time.Second

// setLevel asks a legacy server for a log level, unless it knows that already.
func (s *session) setLevel(ctx context.Context, who, level string) (jsontext.Value, error) {
	l := &s.levels
	l.turn.Lock()
	defer l.turn.Unlock()
	tell, other := l.want(who, level)
	if !other {
		return jsontext.Value(`{}`), nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, levelTimeout, errTimeout)
	defer cancel()
	return s.up.Call(ctx, "logging/setLevel", append(append(jsontext.Value(`{"level":`), mcp.Quote(tell)...), '}'), nil)
}

// heedLevel does that for a call that tells a level.
func (s *session) heedLevel(ctx context.Context, f *flight) {
	level := readLevel(parley.Member(f.meta, mcp.MetaLogLevel))
	if s.up.modern.Load() || level == "" || parley.Member(s.up.Info().Capabilities(), "logging") == nil {
		return
	}
	if _, err := s.setLevel(ctx, f.peer, level); err != nil {
		s.log.Warn("an MCP server did not take a log level", "level", level, "error", err)
	}
}

// readLevel is "" for what is no level.
func readLevel(v jsontext.Value) string {
	s, _ := mcp.Unquote(v)
	if !slices.Contains(severities, s) {
		return ""
	}
	return s
}
