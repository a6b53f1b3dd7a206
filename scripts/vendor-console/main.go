// Vendor-console makes the copy of lit that the web console is served with: one
// ES module from npm's released packages, in the versions and with the
// checksums of package-lock.json. What it writes is committed, so that whoever
// builds Parley needs neither npm nor a network.
//
//	cd scripts/vendor-console && go run .
//
// Another version: change package.json, "npm install --package-lock-only", run
// it, and change the name of the module where the console's files import it.
package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

const target = "../../internal/console/static/vendor"

func main() {
	log.SetFlags(0)
	log.SetPrefix("vendor-console: ")
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	work, err := os.MkdirTemp("", "vendor-console-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := install(work); err != nil {
		return err
	}
	version, err := installedVersion(work)
	if err != nil {
		return err
	}
	module, err := bundle(work)
	if err != nil {
		return err
	}
	name := "lit-" + version + ".js"
	if err := clear(); err != nil {
		return err
	}
	licence, err := os.ReadFile(filepath.Join(work, "node_modules/lit/LICENSE"))
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(target, name), module, 0o644),
		os.WriteFile(filepath.Join(target, "LICENSE-lit"), licence, 0o644),
		os.WriteFile(filepath.Join(target, "README.md"), readme(name, version, module), 0o644),
	)
}

// install has npm fetch the packages and compare them with the lock.
func install(work string) error {
	for _, name := range []string{"package.json", "package-lock.json", ".npmrc", "entry.js"} {
		b, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("run it in scripts/vendor-console: %w", err)
		}
		if err := os.WriteFile(filepath.Join(work, name), b, 0o644); err != nil {
			return err
		}
	}
	npm := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	npm.Dir, npm.Stdout, npm.Stderr = work, os.Stderr, os.Stderr
	return npm.Run()
}

func installedVersion(work string) (string, error) {
	npm := exec.Command("npm", "pkg", "get", "version", "--json")
	npm.Dir = filepath.Join(work, "node_modules/lit")
	out, err := npm.Output()
	version := strings.Trim(strings.TrimSpace(string(out)), `"`)
	if err == nil && (version == "" || strings.ContainsAny(version, "/{ ")) {
		err = fmt.Errorf("npm says lit's version is %q", version)
	}
	return version, err
}

func bundle(work string) ([]byte, error) {
	result := api.Build(api.BuildOptions{
		EntryPoints:       []string{filepath.Join(work, "entry.js")},
		Bundle:            true,
		Format:            api.FormatESModule,
		Target:            api.ES2022,
		Conditions:        []string{"browser", "production"},
		MinifyWhitespace:  true,
		MinifySyntax:      true,
		MinifyIdentifiers: true,
		LegalComments:     api.LegalCommentsInline,
		AbsWorkingDir:     work,
	})
	for _, e := range result.Errors {
		return nil, errors.New(e.Text)
	}
	return result.OutputFiles[0].Contents, nil
}

// clear removes what an earlier version left.
func clear() error {
	old, err := filepath.Glob(filepath.Join(target, "lit-*.js"))
	if err != nil {
		return err
	}
	for _, path := range old {
		err = errors.Join(err, os.Remove(path))
	}
	return errors.Join(err, os.MkdirAll(target, 0o755))
}

func readme(name, version string, module []byte) []byte {
	return fmt.Appendf(nil, `# Vendored

Made by scripts/vendor-console from npm's released packages. Do not edit.

| file | what | licence | sha256 |
| --- | --- | --- | --- |
| %s | lit %s, bundled as one ES module: lit-html and the directives that the console uses | BSD-3-Clause, LICENSE-lit | %x |
`, name, version, sha256.Sum256(module))
}
