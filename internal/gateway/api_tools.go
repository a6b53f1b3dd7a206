package gateway

import (
	"encoding/hex"
	"net/http"
	"strconv"

	"github.com/parleyhq/parley/internal/space"
)

// listTools lists what is known of the definitions of tools, by participant and
// name. The definitions themselves stand in the notices.
func listTools(w http.ResponseWriter, r *http.Request, c caller) error {
	p := readParams(r)
	of := p.text("participant")
	if err := p.done(); err != nil {
		return err
	}
	var list []*space.Tool
	if err := c.view(r.Context(), func(s *space.State) { list = s.Tools(of) }); err != nil {
		return err
	}
	space.SortTools(list)
	b := []byte(`{"items":[`)
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendTool(b, list[i])
	}
	return writeJSON(w, http.StatusOK, append(b, "]}\n"...))
}

func appendTool(b []byte, t *space.Tool) []byte {
	b = appendQuote(append(b, `{"participant":`...), t.Participant)
	b = appendQuote(append(b, `,"tool":`...), t.Name)
	b = appendQuote(append(b, `,"digest":`...), hex.EncodeToString(t.Digest[:]))
	b = strconv.AppendBool(append(b, `,"accepted":`...), t.IsAccepted())
	if !t.IsAccepted() {
		b = appendQuote(append(b, `,"changed":`...), t.Change)
	}
	return append(strconv.AppendUint(append(b, `,"notice":`...), t.Notice, 10), '}')
}
