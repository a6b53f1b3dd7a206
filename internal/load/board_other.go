//go:build !unix

package load

import (
	"os"

	"github.com/parleyhq/parley"
)

func mapShared(*os.File, int) ([]byte, func() error, error) {
	return nil, nil, parley.Errorf(parley.Unavailable, "load is made on Unix systems only, where processes share memory").
		WithHint("run it on Linux or macOS; --against reaches a gateway anywhere")
}
