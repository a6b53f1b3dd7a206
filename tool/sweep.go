package tool

import (
	"strings"
	"time"

	"github.com/parleyhq/parley/internal/runlog"
)

// sweep clears the folder of runs, once an hour, of those whose client did not
// come back.
func (s *Server) sweep() {
	now := s.now()
	s.mu.Lock()
	due := now.Sub(s.swept) >= time.Hour
	if due {
		s.swept = now
	}
	s.mu.Unlock()
	if !due {
		return
	}
	for run, err := range s.kept.Names() {
		if err != nil {
			s.log.Warn("a run that is kept cannot be read", "err", err)
		} else if now.Sub(run.Modified) > keptFor {
			s.clear(run)
		}
	}
}

// clear removes an old run, unless it is under way. Those of Do are their
// caller's to forget: in a room humans may take longer.
func (s *Server) clear(run runlog.Info) {
	s.reviving.Lock()
	defer s.reviving.Unlock()
	handle, ok := strings.CutPrefix(run.Name, runName(""))
	if !ok || s.runs.get(handle) != nil {
		return
	}
	if err := s.kept.Remove(run.Name); err != nil {
		s.log.Warn("an old run cannot be removed", "err", err)
	}
}
