package store

import (
	"slices"
	"strings"
	"time"

	"github.com/parleyhq/parley"
)

// Bounds of what is kept.
const (
	DefaultRows  = 10_000
	mostIDs      = 16 // of one row
	mostNamed    = 8  // addressees of one row
	mostContexts = 2_000
	mostPeople   = 2_000
	mostNames    = 1_000 // kinds and senders that are offered as filters
)

// A Store belongs to one goroutine.
type Store struct {
	Me    string
	Space string

	most    int
	rows    []*Row
	dropped int // rows before rows[0]
	byID    map[string]*Row
	last    uint64

	people   map[string]bool
	looks    map[string][]string // how ids look, and whose they are
	alike    int
	told     uint64 // who came and went up to here is known
	contexts map[string]*Context
	senders  map[string]bool
	kinds    map[string]bool
	tools    tools
	queue    queue
	changed  []*Row // since the last Changed
}

// New makes an empty store for that many rows; 0 is [DefaultRows].
func New(most int) *Store {
	if most <= 0 {
		most = DefaultRows
	}
	s := &Store{most: most}
	s.reset()
	return s
}

func (s *Store) reset() {
	s.dropped += len(s.rows)
	s.rows, s.last, s.changed = nil, 0, nil
	s.byID, s.people, s.contexts = map[string]*Row{}, map[string]bool{}, map[string]*Context{}
	s.senders, s.kinds = map[string]bool{}, map[string]bool{}
	s.tools, s.queue = tools{}, queue{}
}

// Begin takes in who we are and who is here, of each welcome. What it knew already of
// who came and went, up to a position, would turn that back.
func (s *Store) Begin(me, space string, people []string, upTo uint64) {
	s.Me, s.Space, s.told = me, space, upTo
	clear(s.people)
	for _, id := range people {
		s.arrive(id)
	}
}

// Anew forgets everything: the record of the space began anew.
func (s *Store) Anew(word string) {
	s.reset()
	s.Tell(Lost, word)
}

// Rows are what there is to show, oldest first. Row n stands at n - Dropped.
func (s *Store) Rows() []*Row { return s.rows }

// Dropped is how many rows were let go.
func (s *Store) Dropped() int { return s.dropped }

// Row is one by its number, nil where it is no longer kept.
func (s *Store) Row(n int) *Row {
	if n < s.dropped || n-s.dropped >= len(s.rows) {
		return nil
	}
	return s.rows[n-s.dropped]
}

// Find is the row that an envelope is part of, or nil.
func (s *Store) Find(id string) *Row { return s.byID[id] }

// Last is the position of the newest envelope.
func (s *Store) Last() uint64 { return s.last }

// Changed are the rows that were changed or added since it was last asked.
func (s *Store) Changed() []*Row {
	list := s.changed
	s.changed = nil
	return list
}

// Senders are those whose rows came by, sorted.
func (s *Store) Senders() []string { return sorted(s.senders) }

// Kinds are those that came by, as TYPE or TYPE:METHOD, sorted.
func (s *Store) Kinds() []string { return sorted(s.kinds) }

func sorted(set map[string]bool) []string {
	list := make([]string, 0, len(set))
	for name := range set {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// Add takes in an envelope, and reports whether there is anything new. One that was
// taken in before changes nothing.
func (s *Store) Add(e *parley.Envelope) bool {
	if e.Seq > 0 {
		if e.Seq <= s.last {
			return false
		}
		s.last = e.Seq
	}
	k := parley.SplitKind(e.Kind)
	switch k.Type {
	case parley.KindPresence:
		s.presence(e)
		return true
	case parley.KindWelcome, parley.KindAck:
		return false
	}
	s.notes(e, k)
	s.take(e, k, s.about(e))
	s.trim()
	return true
}

func (s *Store) take(e *parley.Envelope, k parley.Kind, about *Row) {
	switch k.Type {
	case parley.KindChat:
		s.chat(e, about)
	case parley.TypeProposal:
		s.proposal(e, k)
	case parley.TypeRequest:
		s.request(e, k, about)
	case parley.TypeResponse:
		s.response(e, about)
	case parley.TypeReject:
		s.ended(e, about, Rejected)
	case parley.TypeWithdraw:
		s.ended(e, about, Withdrawn)
	case parley.KindNotice:
		s.notice(e, about)
	case parley.KindError:
		s.push(e, Refusal, Failed).set(text(e.Payload, "error")+": "+text(e.Payload, "message"), mostShort)
	case parley.KindGrant, parley.KindRevoke, parley.KindKick, parley.KindRedact, parley.KindAcceptTool, parley.KindRestartBridge:
		s.rights(e, k)
	default:
		s.push(e, Other, "").answering(e, about).set(words(e.Payload), mostText)
	}
}

// about is the row of what an envelope answers.
func (s *Store) about(e *parley.Envelope) *Row {
	for _, id := range e.Correlation.IDs {
		if r := s.byID[id]; r != nil {
			return r
		}
	}
	return nil
}

func (s *Store) chat(e *parley.Envelope, about *Row) {
	said, ok := parley.MemberString(e.Payload, "text")
	if !ok {
		said = words(e.Payload)
	}
	r := s.push(e, Chat, "").answering(e, about).set(said, mostText)
	r.Markdown = text(e.Payload, "format") == "markdown"
}

func (s *Store) proposal(e *parley.Envelope, k parley.Kind) {
	r := s.push(e, Proposal, Open)
	r.method = k.Method
	if c, err := parley.ReadCall(k, e.Payload); err == nil {
		k = c.Kind // it may be written in short, and rights go by the whole one
	}
	title, given := call(e)
	r.Title = title
	r.set(given, mostShort)
	r.Reason = brief(text(e.Payload, "reason"), mostShort)
	s.queue.add(&Waiting{ID: r.ID, Seq: r.Seq, Kind: strings.Clone(k.String()), Method: k.Method, From: r.From, To: r.To, Title: title, Sample: r.Text, Opened: r.At})
}

func (s *Store) request(e *parley.Envelope, k parley.Kind, about *Row) {
	if strings.HasPrefix(k.Method, "notifications/") {
		s.notification(e, k)
		return
	}
	s.queue.decided(k.Method, e.Correlation.IDs...)
	if about != nil && about.Waits() && about.From != e.From && about.method == k.Method {
		about.State, about.By, about.Closed, about.Amended = Running, e.From, e.ID, e.Amends
		if len(about.To) == 0 {
			about.To = named(e.To)
		}
		if e.Amends {
			_, given := call(e)
			about.set(given, mostShort)
		}
		s.remember(about, e.ID)
		s.touch(about)
		return
	}
	r := s.push(e, Call, Running).answering(e, about)
	title, given := call(e)
	r.Title = title
	r.method = k.Method
	r.set(given, mostShort)
}

// notification takes reports on calls into their rows. Others are rows of their own.
func (s *Store) notification(e *parley.Envelope, k parley.Kind) {
	params := parley.Member(e.Payload, "params")
	switch k.Method {
	case "notifications/progress":
		if r := s.byID[text(params, "progressToken")]; r != nil && r.State == Running {
			r.Report = brief(report(text(params, "message"), raw(parley.Member(params, "progress"), 32), raw(parley.Member(params, "total"), 32)), mostValue)
			s.touch(r)
			return
		}
	case "notifications/cancelled":
		if r := s.byID[text(params, "requestId")]; r != nil && r.State == Running && s.isCaller(r, e.From) {
			r.State, r.Why = Cancelled, brief(text(params, "reason"), mostValue)
			s.touch(r)
			return
		}
	}
	r := s.push(e, Call, "")
	r.Title = brief(k.Method, mostName)
	r.set(raw(params, mostShort), mostShort)
}

func (s *Store) isCaller(r *Row, id string) bool { return r.From == id || r.By == id }

func report(message, progress, total string) string {
	if total != "" {
		progress += " of " + total
	}
	return strings.TrimSpace(progress + " " + message)
}

func (s *Store) response(e *parley.Envelope, about *Row) {
	said, failed := outcome(e.Payload)
	state := Done
	if failed {
		state = Failed
	}
	if about == nil || about.State != Running && about.State != Cancelled || about.Type != Call && about.Type != Proposal {
		r := s.push(e, Answer, state).answering(e, about)
		r.set(said, mostShort)
		return
	}
	about.State, about.Answer, about.Report = state, said, ""
	if !e.TS.IsZero() && !about.At.IsZero() && e.TS.After(about.At) {
		about.Took = e.TS.Sub(about.At).Round(time.Millisecond)
	}
	s.remember(about, e.ID)
	s.touch(about)
}

// ended takes the end of a proposal that became no call.
func (s *Store) ended(e *parley.Envelope, about *Row, state State) {
	s.queue.decided("", e.Correlation.IDs...)
	why := strings.Trim(text(e.Payload, "reason")+": "+text(e.Payload, "message"), ": ")
	if about == nil || about.Type != Proposal {
		r := s.push(e, Other, state).answering(e, about)
		r.set(why, mostShort)
		return
	}
	if about.State == Open {
		about.State, about.Closed, about.Why = state, e.ID, brief(why, mostShort)
		if e.From != parley.GatewayID {
			about.By = e.From
		}
	}
	s.remember(about, e.ID)
	s.touch(about)
}

func (s *Store) notice(e *parley.Envelope, about *Row) {
	p := e.Payload
	switch event := text(p, "event"); event {
	case "proposal_expired":
		s.ended(e, about, Expired)
		return
	case "result_collected":
		return
	case "tools_seen", "tools_changed":
		names := s.tools.learn(p)
		verb := map[string]string{"tools_seen": "offers ", "tools_changed": "has changed "}[event]
		r := s.push(e, Notice, "")
		if event == "tools_changed" {
			r.State = Failed
		}
		r.set(text(p, "participant")+" "+verb+strings.Join(names, ", "), mostShort)
	case "grant_expired":
		s.push(e, Notice, "").answering(e, about).set("a grant has expired", mostShort)
	case "grant_lapsed":
		s.push(e, Notice, "").answering(e, about).set("a grant has ended: its grantor may no longer give it", mostShort)
	default:
		s.push(e, Notice, "").answering(e, about).set(strings.TrimSpace(event+" "+words(p)), mostShort)
	}
}

func (s *Store) rights(e *parley.Envelope, k parley.Kind) {
	p := e.Payload
	var said string
	switch k.Type {
	case parley.KindGrant:
		said = "grants " + text(p, "recipient") + ": " + raw(parley.Member(p, "capabilities"), mostValue)
		if until := text(p, "expires"); until != "" {
			said += " until " + until
		}
	case parley.KindRevoke:
		said = "revokes from " + text(p, "recipient") + ": " + firstOf(text(p, "grant_id"), raw(parley.Member(p, "capabilities"), mostValue))
	case parley.KindKick:
		said = "removes " + text(p, "participant")
	case parley.KindRedact:
		said = "redacts " + text(p, "id")
	case parley.KindAcceptTool:
		said = "accepts " + text(p, "tool") + " of " + text(p, "participant") + " as it is now"
	case parley.KindRestartBridge:
		said = "restarts " + firstOf(text(p, "participant"), text(p, "bridge"))
	}
	if why := text(p, "reason"); why != "" {
		said += ", because " + why
	}
	s.push(e, Rights, "").set(said, mostShort)
}

// Tell puts a word of the console's own into the stream.
func (s *Store) Tell(state State, word string) {
	s.push(&parley.Envelope{}, Told, state).set(word, mostText)
	s.trim()
}

func (s *Store) push(e *parley.Envelope, t Type, state State) *Row {
	r := &Row{
		N: s.dropped + len(s.rows), Type: t, State: state, Seq: e.Seq, ID: strings.Clone(e.ID), At: e.TS,
		From: strings.Clone(e.From), To: named(e.To), ToMore: max(0, len(e.To)-mostNamed), Kind: brief(e.Kind, mostName),
	}
	if e.Context != nil {
		r.Context = strings.Clone(e.Context.ID)
	}
	s.rows = append(s.rows, r)
	s.remember(r, r.ID)
	s.changed = append(s.changed, r)
	return r
}

func named(ids []string) []string {
	var list []string
	for _, id := range ids[:min(len(ids), mostNamed)] {
		list = append(list, strings.Clone(id))
	}
	return list
}

func (r *Row) set(said string, most int) *Row {
	r.Text, r.Cut = keep(said, most)
	return r
}

// answering notes what a row answers that is a row of its own.
func (r *Row) answering(e *parley.Envelope, about *Row) *Row {
	if about == nil && len(e.Correlation.IDs) > 0 {
		r.On = strings.Clone(e.Correlation.IDs[0])
	} else if about != nil {
		r.On = about.ID
	}
	return r
}

func (s *Store) remember(r *Row, id string) {
	if id == "" || len(r.ids) >= mostIDs {
		return
	}
	id = strings.Clone(id)
	r.ids = append(r.ids, id)
	s.byID[id] = r
}

func (s *Store) touch(r *Row) {
	r.Version++
	s.changed = append(s.changed, r)
}

// trim drops the oldest tenth, so that it is rarely done.
func (s *Store) trim() {
	if len(s.rows) <= s.most {
		return
	}
	n := (s.most + 9) / 10
	for _, r := range s.rows[:n] {
		for _, id := range r.ids {
			if s.byID[id] == r {
				delete(s.byID, id)
			}
		}
	}
	s.rows = slices.Clone(s.rows[n:]) // what is gone must not stay in memory
	s.dropped += n
}

// notes counts the context, and keeps the names that can be filtered for.
func (s *Store) notes(e *parley.Envelope, k parley.Kind) {
	if !s.senders[e.From] && len(s.senders) < mostNames {
		s.senders[strings.Clone(e.From)] = true
		s.look(e.From)
	}
	if len(s.kinds) < mostNames {
		name := k.Type
		if k.Method != "" {
			name += ":" + k.Method
		}
		if !s.kinds[name] {
			s.kinds[brief(name, mostName)] = true
		}
	}
	s.count(e)
}
