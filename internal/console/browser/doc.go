// Package browser holds the tests of the web console in a real browser, a headless
// Chromium: against a gateway with a journal on disk and a real socket, with
// participants that propose and serve beside the page.
//
//	cd internal/console/browser && go test ./...
//
// The browser is PARLEY_CHROMIUM, or the one of scripts/fetch-test-deps, or one that
// is installed; without it the tests are skipped. PARLEY_SCREENSHOTS=FOLDER keeps
// pictures of the pages there.
//
// It is a module of its own, so that nobody who imports Parley inherits what
// drives the browser.
//
// # Concurrency
//
// All tests share one browser; each has a context of its own in it, with cookies of
// its own.
package browser
