package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"parley":        main,
		"fake-endpoint": fakeEndpoint,
		"receive-hooks": receiveHooks,
	})
}

// The scripts of testdata/script run the whole program.
func TestScript(t *testing.T) {
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Values[processesKey{}] = processes{}
			env.Values[browsersKey{}] = browsers{}
			env.Setenv("REPO", repo)
			env.Setenv("NO_COLOR", "1")
			env.Setenv("TZ", "UTC")
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else each program takes a second to end under -race
			for _, name := range []string{"PARLEY_URL", "PARLEY_TOKEN", "PARLEY_SPACE"} {
				env.Setenv(name, "")
			}
			return nil
		},
		Cmds:                scriptCommands(),
		Condition:           func(condition string) (bool, error) { return holds(repo, condition) },
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
	})
}

// holds knows the conditions of our own: [npm] is Node with the servers that
// scripts/fetch-test-deps fetches, [model] the parley-model that it builds, [root]
// is whoever may read every file.
func holds(repo, condition string) (bool, error) {
	switch condition {
	case "npm":
		_, noNode := exec.LookPath("node")
		_, noServers := os.Stat(filepath.Join(repo, ".cache/npm/node_modules/@modelcontextprotocol"))
		return noNode == nil && noServers == nil, nil
	case "model":
		_, notBuilt := os.Stat(filepath.Join(repo, ".cache/bin/parley-model"))
		return notBuilt == nil, nil
	case "root":
		return os.Geteuid() == 0, nil
	}
	return false, fmt.Errorf("unknown condition %q", condition)
}
