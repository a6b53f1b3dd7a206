package gateway

import (
	"bufio"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/parleyhq/parley/internal/journal"
)

// streamTime is how long a client may take to receive one buffer of a stream.
const streamTime = 30 * time.Second

// streamJournal sends the chain of records as JSON Lines, for it to be verified
// and kept elsewhere. Whoever may read the space may read what it is made of.
func streamJournal(w http.ResponseWriter, r *http.Request, c caller) error {
	p := readParams(r)
	after := p.position("after")
	if err := p.done(); err != nil {
		return err
	}
	out := streamLines(w)
	_, err := journal.Export(out, c.room.name, c.chain(r.Context(), after))
	if err == nil || journal.IsOvertaken(err) { // which its last line says
		err = out.Flush()
	}
	return err
}

// streamLines begins an answer of JSON Lines, which goes out as it is written.
func streamLines(w http.ResponseWriter) *bufio.Writer {
	w.Header().Set("Content-Type", "application/jsonl")
	return bufio.NewWriterSize(&patient{ResponseWriter: w, ctl: http.NewResponseController(w)}, chunkBytes)
}

// patient writes as long as the client goes on reading.
type patient struct {
	http.ResponseWriter
	ctl *http.ResponseController
}

func (p *patient) Write(b []byte) (int, error) {
	err := p.ctl.SetWriteDeadline(time.Now().Add(streamTime))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return p.ResponseWriter.Write(b)
}

// getHead says where the chain ends now. Kept elsewhere, it proves that nothing
// before it was changed since.
func getHead(w http.ResponseWriter, r *http.Request, c caller) error {
	if err := readParams(r).done(); err != nil {
		return err
	}
	bounds, err := c.room.record.Bounds(r.Context())
	if err != nil {
		return err
	}
	b := appendQuote([]byte(`{"head":`), bounds.Head.String())
	b = strconv.AppendUint(append(b, `,"index":`...), bounds.Head.Index, 10)
	b = strconv.AppendUint(append(b, `,"seq":`...), bounds.Head.Seq, 10)
	b = appendQuote(append(b, `,"hash":`...), bounds.Head.Hash.String())
	b = appendBounds(b, bounds)
	return writeJSON(w, http.StatusOK, append(b, '}', '\n'))
}
