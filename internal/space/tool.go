package space

import (
	"cmp"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// Tools (section 11). The gateway puts every definition of a configured
// server's tools on record, the first one and each that differs from the one
// before. The state keeps their digests: an approval is for the definition that
// was known when the call was proposed, and with strict pins a tool whose
// definition has changed is called by nobody until somebody accepts it. A lazy
// space holds nothing against them.

// Tool is what the state knows of one; its definition is in the journal.
type Tool struct {
	Participant string
	Name        string
	Digest      parley.Digest // of the newest definition
	Accepted    parley.Digest // of the one that was accepted, as the first is
	Notice      uint64        // seq of the notice that holds the newest
	Change      string        // what changed since the accepted one in a few words, oldest first; "" where nothing did
}

// IsAccepted reports whether the newest definition is the accepted one.
func (t *Tool) IsAccepted() bool { return t.Digest == t.Accepted }

// Listed is one tool of a server's list.
type Listed struct {
	Name   string
	Digest parley.Digest
}

// Bounds of what is kept of tools: the state has to fit into a checkpoint.
const (
	maxToolsOf   = 8_192   // of one participant
	maxTools     = 32_768  // of all
	maxToolBytes = 7 << 20 // of all
	maxToolName  = 256     // bytes

	// MaxToolChange is how much is kept of what says how a tool changed, in
	// bytes.
	MaxToolChange = 512
)

// toolBook holds the tools. A Tool in it is never changed but replaced, so that
// a copy of the book may be read elsewhere.
type toolBook struct {
	of    map[string]map[string]*Tool // by participant and name
	count int
	size  int // in bytes
}

func newToolBook() *toolBook { return &toolBook{of: make(map[string]map[string]*Tool)} }

func (b *toolBook) get(participant, name string) *Tool { return b.of[participant][name] }

// size is what a tool takes in a checkpoint, about, in bytes.
func (t *Tool) size() int { return 160 + 2*len(t.Name) + 2*len(t.Change) }

func (b *toolBook) put(t *Tool) {
	of := b.of[t.Participant]
	if of == nil {
		of = make(map[string]*Tool)
		b.of[t.Participant] = of
	}
	if old := of[t.Name]; old != nil {
		b.size -= old.size()
	} else {
		b.count++
	}
	b.size += t.size()
	of[t.Name] = t
}

// see takes in a definition. The first one of a tool is accepted.
func (b *toolBook) see(participant string, l Listed, change string, seq uint64) {
	t := &Tool{Participant: participant, Name: l.Name, Digest: l.Digest, Accepted: l.Digest, Notice: seq}
	old := b.get(participant, l.Name)
	if old == nil {
		if room := b.room(participant); room.take(t) {
			b.put(t)
		}
		return
	}
	if old.Digest == l.Digest {
		return
	}
	t.Accepted, t.Change = old.Accepted, joinChanges(old, change)
	if b.size-old.size()+t.size() > maxToolBytes {
		t.Change = ""
	}
	b.put(t)
}

// joinChanges adds a change to those that nobody has accepted yet: a harmless one does
// not hide the one before it. Each has half of the room at least.
func joinChanges(old *Tool, change string) string {
	const then, half = "; then ", MaxToolChange / 2
	if old.IsAccepted() || old.Change == "" {
		return change
	}
	before := old.Change
	if len(before)+len(then)+len(change) > MaxToolChange {
		change = clip(change, max(half, MaxToolChange-len(before)-len(then)))
		before = clip(before, MaxToolChange-len(then)-len(change))
	}
	return before + then + change
}

// toolRoom is what there is room for.
type toolRoom struct{ of, all, bytes int }

func (b *toolBook) room(participant string) toolRoom {
	return toolRoom{maxToolsOf - len(b.of[participant]), maxTools - b.count, maxToolBytes - b.size}
}

// take uses room for one tool, or reports that there is none, or that nobody
// could call it by its name.
func (r *toolRoom) take(t *Tool) bool {
	if r.of < 1 || r.all < 1 || r.bytes < t.size() || !pinnable(t.Name) {
		return false
	}
	r.of, r.all, r.bytes = r.of-1, r.all-1, r.bytes-t.size()
	return true
}

func pinnable(name string) bool {
	return name != "" && len(name) <= maxToolName && utf8.ValidString(name) && strings.IndexFunc(name, unicode.IsControl) < 0
}

// ToolNews is what a list says that the record does not.
type ToolNews struct {
	New     []int  // places in the list
	Changed []int  // the same
	Before  []Tool // what was known of Changed
	Left    int    // how many new ones there is no room for
}

// ToolNews holds a participant's list against what is known. What is gone from
// it is not forgotten: a tool that comes back as it was is no news.
func (s *State) ToolNews(participant string, list []Listed) (n ToolNews) {
	room := s.tools.room(participant)
	for i, l := range list {
		old := s.tools.get(participant, l.Name)
		switch {
		case old != nil && old.Digest == l.Digest:
		case old != nil:
			n.Changed = append(n.Changed, i)
			n.Before = append(n.Before, *old)
		case room.take(&Tool{Name: l.Name}):
			n.New = append(n.New, i)
		default:
			n.Left++
		}
	}
	return n
}

// Tools are those of a participant, or of everybody, in no order: see
// [SortTools], which needs no State. They are never changed.
func (s *State) Tools(participant string) []*Tool {
	var list []*Tool
	for id, of := range s.tools.of {
		if s.Known(id) && (participant == "" || participant == id) {
			list = slices.AppendSeq(list, maps.Values(of))
		}
	}
	return list
}

// SortTools sorts tools by participant and name.
func SortTools(list []*Tool) {
	slices.SortFunc(list, func(a, b *Tool) int {
		return cmp.Or(cmp.Compare(a.Participant, b.Participant), cmp.Compare(a.Name, b.Name))
	})
}

// Unaccepted are the places in a participant's list of definitions that are not
// the accepted ones: nobody may call these tools where they are pinned.
func (s *State) Unaccepted(participant string, list []Listed) (places []int) {
	for i, l := range list {
		if t := s.tools.get(participant, l.Name); t == nil || !t.IsAccepted() || t.Digest != l.Digest {
			places = append(places, i)
		}
	}
	return places
}

// ToolNotice is the gateway's notice of tools that were seen or have changed.
func (s *State) ToolNotice(payload jsontext.Value, now time.Time) *parley.Envelope {
	return s.system(parley.KindNotice, now, payload)
}

// applyTools takes in what a notice says of tools.
func (s *State) applyTools(e *parley.Envelope) {
	participant, _ := parley.MemberString(e.Payload, "participant")
	if m := s.members[participant]; m != nil {
		participant = m.id // one string for all of them
	}
	for el := range parley.Elements(parley.Member(e.Payload, "tools")) {
		var l Listed
		var digest, change string
		l.Name, _ = parley.MemberString(el, "name")
		digest, _ = parley.MemberString(el, "digest")
		change, _ = parley.MemberString(el, "summary")
		var ok bool
		if l.Digest, ok = parseDigest(digest); ok {
			s.tools.see(participant, l, clip(change, MaxToolChange), e.Seq)
		}
	}
}

func parseDigest(text string) (d parley.Digest, ok bool) {
	if len(text) != hex.EncodedLen(len(d)) {
		return d, false
	}
	_, err := hex.Decode(d[:], []byte(text))
	return d, err == nil
}

// clip is the beginning of a text, in memory of its own.
func clip(text string, most int) string {
	return strings.Clone(strings.ToValidUTF8(text[:min(len(text), most)], ""))
}

// definition is the digest of the definition of the tool that a call to one
// participant means; zero where none is known.
func (s *State) definition(kind parley.Kind, to string) (d parley.Digest) {
	if kind.Method != callTool {
		return d
	}
	if t := s.tools.get(to, kind.Subject); t != nil {
		return t.Digest
	}
	return d
}

const callTool = "tools/call"

// sameDefinition refuses to go on with a call whose tool is not any more what
// it was when somebody was asked to approve it.
func (j *judgement) sameDefinition(p *proposal, target string) error {
	now := j.definition(p.Kind, target)
	if p.tool == (parley.Digest{}) || p.tool == now {
		return nil
	}
	hint := "propose the call again, where it is still wanted"
	if p.State == Open {
		hint = "reject it, and have it proposed again where it is still wanted; an approval is for one definition"
	}
	return mismatch(p, "the definition of %q at %s has changed since%s", p.Kind.Subject, target, j.howChanged(target, p.Kind.Subject)).
		WithHint("%s", hint)
}

// howChanged is the newest change of a tool, as the end of a sentence.
func (s *State) howChanged(participant, name string) string {
	if t := s.tools.get(participant, name); t != nil && t.Change != "" {
		return ": " + t.Change
	}
	return ""
}

// judgePin refuses the call of a tool at a participant with strict pins whose
// definition nobody has accepted.
func (j *judgement) judgePin() error {
	if !j.strict() || j.kind.Method != callTool {
		return nil
	}
	for _, to := range j.e.To {
		if !j.rules.Pins[to] {
			continue
		}
		t := j.tools.get(to, j.kind.Subject)
		if t != nil && t.IsAccepted() {
			continue
		}
		return j.pinError(to, t)
	}
	return nil
}

func (j *judgement) pinError(participant string, t *Tool) error {
	err := parley.Errorf(parley.CapabilityViolation, "%s has not listed a tool called %.200q", participant, j.kind.Subject).
		WithHint("its tools are pinned: only those whose definitions are on record can be called; parley tools list %s shows them", participant)
	if t != nil {
		err = parley.Errorf(parley.CapabilityViolation, "the definition of %q at %s has changed, and nobody has accepted it%s", t.Name, participant, j.howChanged(participant, t.Name)).
			WithHint("somebody with the capability for %s can: parley tools accept %s %s", parley.KindAcceptTool, participant, asArgument(t.Name))
	}
	return err
}

// asArgument is a tool's name as it may stand in a command that somebody copies.
// Servers choose their names, and one could be a command of its own.
func asArgument(name string) string {
	other := func(r rune) bool {
		return r != '_' && r != '-' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	if strings.HasPrefix(name, "-") || strings.IndexFunc(name, other) >= 0 {
		return "TOOL"
	}
	return name
}

// judgeAccept refuses to accept what is not known, or not the newest.
func (j *judgement) judgeAccept() error {
	name, ok := parley.MemberString(j.e.Payload, "tool")
	if !ok {
		return parley.Errorf(parley.KindMismatch, "the payload of %s has no tool that is a string", j.kind.Type)
	}
	t := j.tools.get(j.object, name)
	if t == nil {
		return parley.Errorf(parley.NotFound, "no tool of %s is known by the name %.200q", j.object, name).
			WithHint("parley tools list %s shows those that are", j.object)
	}
	raw := parley.Member(j.e.Payload, "digest")
	if raw == nil {
		return nil
	}
	text, _ := parley.MemberString(j.e.Payload, "digest")
	switch d, ok := parseDigest(text); {
	case !ok:
		return parley.Errorf(parley.KindMismatch, "digest is %.80s, not 64 hexadecimal digits", raw)
	case d != t.Digest:
		return parley.Errorf(parley.NotFound, "that is not the newest definition of %q at %s", name, j.object).
			WithHint("the newest is %x: look at it before you accept it", t.Digest)
	}
	return nil
}

// applyAccept makes the newest definition the accepted one.
func (s *State) applyAccept(e *parley.Envelope) {
	participant, _ := parley.MemberString(e.Payload, "participant")
	name, _ := parley.MemberString(e.Payload, "tool")
	t := s.tools.get(participant, name)
	if t == nil || t.IsAccepted() {
		return
	}
	accepted := *t
	accepted.Accepted = t.Digest
	s.tools.put(&accepted)
}
