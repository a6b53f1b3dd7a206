package gateway

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/parleyhq/parley/internal/wholefile"
)

// Sessions are kept in a file, so that nobody has to sign in again because the
// gateway was restarted. It holds hashes alone: a cookie cannot be made of it. Who
// can write it can sign in as anybody whose token's hash they know, which is why
// only its owner may.

// keptSessions is the file. Unknown members are refused, as is everything that is
// not as it was written: signing in again costs less than guessing.
type keptSessions struct {
	Sessions []keptSession `json:"sessions"` // least recently used first
}

type keptSession struct {
	ID    hash      `json:"id"`
	Token hash      `json:"token"`
	Began time.Time `json:"began"`
	Used  time.Time `json:"used"`
}

// hash is a SHA-256, in hex where it is written.
type hash [32]byte

func (h hash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

func (h *hash) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(h)) {
		return fmt.Errorf("a hash has %d digits", hex.EncodedLen(len(h)))
	}
	_, err := hex.Decode(h[:], text)
	return err
}

// mostKept is more than the file of mostSessions sessions has, in bytes.
const mostKept = 4 << 20

// keepSessions writes the file whenever something has changed, until the gateway
// ends, and once more then: it knows then when each was last used.
func (g *Gateway) keepSessions() {
	for {
		select {
		case <-g.api.sessions.changed:
			g.saveSessions()
		case <-g.ctx.Done():
			g.saveSessions()
			return
		}
	}
}

// saveSessions writes the file, if there is to be one. Who signs out waits for it,
// so that nothing brings the session back.
func (g *Gateway) saveSessions() {
	if g.opts.Sessions == "" {
		return
	}
	g.api.saving.Lock()
	defer g.api.saving.Unlock()
	var kept keptSessions
	for _, one := range g.api.sessions.all() {
		kept.Sessions = append(kept.Sessions, keptSession{hash(one.id), hash(one.token), one.began.UTC(), one.used.UTC()})
	}
	data, err := json.Marshal(kept)
	if err == nil {
		err = replaceFile(g.opts.Sessions, append(data, '\n'))
	}
	if err != nil {
		g.log.Error("the browsers' sessions are not kept: whoever signed in or out since may have to do it again after a restart", "error", err)
	}
}

// replaceFile writes a file that only its owner can read, whole or not at all.
func replaceFile(path string, data []byte) error {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(wholefile.Write(root, filepath.Base(path), data), root.Close())
}

// restoreSessions takes up the sessions that were kept, but for those whose token
// is no longer known or whose time is over. A file that cannot be read costs
// nobody more than signing in again.
func (g *Gateway) restoreSessions() {
	kept, err := readSessions(g.opts.Sessions)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		g.log.Warn("the browsers' sessions are lost: everybody has to sign in again", "error", err)
		return
	}
	now := g.now()
	for _, k := range kept.Sessions {
		one := session{id: sessionID(k.ID), token: TokenHash(k.Token), began: k.Began, used: k.Used}
		if g.tokens[one.token] == nil || !now.Before(one.expires()) || one.began.After(now) || one.used.After(now) {
			continue
		}
		g.api.sessions.add(one)
	}
	g.saveSessions() // those that were left out must not come back with their token
}

func readSessions(path string) (kept keptSessions, err error) {
	f, err := os.Open(path)
	if err != nil {
		return kept, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostKept))
	if err == nil {
		err = json.Unmarshal(data, &kept, json.RejectUnknownMembers(true))
	}
	return kept, err
}
