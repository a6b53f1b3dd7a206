package webhook

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/wholefile"
)

// What a webhook keeps over a restart is a file of its own. It holds where events
// stand and what became of them, and of what was said only why a bridge failed.

// Bounds of one webhook.
const (
	mostPending  = 1_000    // events that wait; while so many do nothing is read
	mostDead     = 1_000    // dead letters that are kept
	mostFile     = 16 << 20 // bytes of a file: more than all of these take
	mostData     = 4 << 10  // of an event that is not on record
	stateVersion = 1
)

// state is what is known of a webhook.
type state struct {
	at       place // up to which every event is among those below, or done with
	window   window
	disabled *disabling
	pending  []*item // by their index
	dead     []*item // the oldest first
	lost     int     // events of which nothing is known any more: dead letters beyond mostDead, and what retention dropped
	url      string  // of the receiver, as a hash: another one begins anew
}

// disabling is why nothing is sent.
type disabling struct {
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
}

// item is an event on its way.
type item struct {
	ID         string         `json:"id"`
	Type       EventType      `json:"type"`
	At         time.Time      `json:"at"`                  // when it happened
	Index      uint64         `json:"index,omitzero"`      // of its record
	Proposal   string         `json:"proposal,omitempty"`  // that it is about
	Bridge     string         `json:"bridge,omitempty"`    // that it is about
	Data       jsontext.Value `json:"data,omitzero"`       // of one that is not on record
	Suppressed int            `json:"suppressed,omitzero"` // refusals that were left out before it

	Attempts int       `json:"attempts,omitzero"`
	Next     time.Time `json:"next,omitzero"` // when it is sent again
	Tried    time.Time `json:"tried,omitzero"`
	Status   int       `json:"status,omitzero"` // of the last answer; 0 where there was none
	Error    string    `json:"error,omitempty"`

	flying bool            // an attempt is under way
	links  map[string]link // that were made for it
}

// series is what events are in order of; "" where it does not matter.
func (it *item) series() string {
	if it.Bridge != "" {
		return "bridge " + it.Bridge // no id of an envelope has a blank
	}
	return it.Proposal
}

// kept is the file.
type kept struct {
	Version  int        `json:"version"`
	Space    string     `json:"space"`
	Webhook  string     `json:"webhook"`
	URL      string     `json:"url_sha256"`
	Index    uint64     `json:"index"`
	Hash     string     `json:"hash,omitempty"`
	Window   window     `json:"window,omitzero"`
	Disabled *disabling `json:"disabled,omitempty"`
	Pending  []*item    `json:"pending,omitempty"`
	Dead     []*item    `json:"dead,omitempty"`
	Lost     int        `json:"lost,omitzero"`
}

func urlHash(url string) string {
	sum := sha256.Sum256([]byte(url))
	return hex.EncodeToString(sum[:])
}

func (s *state) encode(h *Hook) ([]byte, error) {
	k := kept{
		Version: stateVersion, Space: h.Space, Webhook: h.Name, URL: s.url, Index: s.at.index,
		Window: s.window, Disabled: s.disabled, Pending: s.pending, Dead: s.dead, Lost: s.lost,
	}
	if s.at.index > 0 {
		k.Hash = s.at.hash.String()
	}
	data, err := json.Marshal(&k, json.Deterministic(true))
	return append(data, '\n'), err
}

// decode reads what encode wrote. Anything else is refused: it says which events are
// done with.
func decode(data []byte, h *Hook) (*state, error) {
	var k kept
	if err := json.Unmarshal(data, &k, json.RejectUnknownMembers(true)); err != nil {
		return nil, err
	}
	s := &state{
		at: place{index: k.Index}, window: k.Window, disabled: k.Disabled,
		pending: k.Pending, dead: k.Dead, lost: k.Lost, url: k.URL,
	}
	var err error
	if k.Index > 0 {
		s.at.hash, err = journal.ParseHash(k.Hash)
	}
	switch {
	case err != nil:
		return nil, err
	case k.Version != stateVersion:
		return nil, fmt.Errorf("the version is %d, and %d is known", k.Version, stateVersion)
	case k.Space != h.Space || k.Webhook != h.Name:
		return nil, fmt.Errorf("it is of another webhook")
	case k.Lost < 0 || k.Window.Told < 0 || k.Window.Suppressed < 0 || len(k.Pending) > 2*mostPending || len(k.Dead) > mostDead:
		return nil, errors.New("a number in it is out of bounds")
	case slices.ContainsFunc(k.Pending, malformed), slices.ContainsFunc(k.Dead, malformed):
		return nil, errors.New("an event in it is incomplete")
	}
	return s, nil
}

func malformed(it *item) bool {
	return it == nil || it.ID == "" || (it.Index == 0) == (it.Data == nil) || it.Attempts < 0 || it.Suppressed < 0 || len(it.Data) > mostData
}

// store keeps the files of all webhooks below one folder.
type store struct{ root *os.Root }

func openStore(dir string) (*store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &store{root}, nil
}

func (s *store) close() error { return s.root.Close() }

func fileOf(h *Hook) string { return path.Join(h.Space, h.Name+".json") }

// read is what a file holds; nil where there is none.
func (s *store) read(h *Hook) (*state, error) {
	f, err := s.root.Open(fileOf(h))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostFile))
	if err != nil {
		return nil, err
	}
	return decode(data, h)
}

// write replaces the file of a webhook.
func (s *store) write(h *Hook, data []byte) error {
	if err := s.root.MkdirAll(h.Space, 0o700); err != nil {
		return err
	}
	return wholefile.Write(s.root, fileOf(h), data)
}

// putAside keeps a file that cannot be read for whoever wants to look.
func (s *store) putAside(h *Hook) error {
	return s.root.Rename(fileOf(h), fileOf(h)+".bad")
}
