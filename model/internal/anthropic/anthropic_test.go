package anthropic

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/parleyhq/parley/model/internal/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The cases of testdata: what is asked, what the endpoint answers, what comes of it.
func TestCases(t *testing.T) {
	providertest.Run(t, "testdata", New, strict(t))
}
