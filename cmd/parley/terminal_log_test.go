package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

func TestLogger(t *testing.T) {
	for _, looking := range []bool{true, false} {
		var out bytes.Buffer
		log := (&terminal{err: &out, errTTY: looking}).logger(slog.LevelWarn)
		log.Info("not this")
		log.Warn("slow", "took", 1500*time.Millisecond, "error", parley.Errorf(parley.NotFound, "it is gone"))
		line := strings.TrimSuffix(out.String(), "\n")
		if jsontext.Value(line).IsValid() == looking || strings.Contains(line, "\n") || !strings.Contains(line, "slow") || !strings.Contains(line, "1.5s") || !strings.Contains(line, `"not_found: it is gone"`) {
			t.Errorf("looking %v: %q", looking, line)
		}
	}
}
