// Package console serves the web console: pages that are embedded in the binary,
// and that know no more of a gateway than any other client does.
//
//	pages := console.Embedded()
//	err := pages.Serve(w, r, strings.TrimPrefix(r.URL.Path, "/console"))
//
// The pages are static files: no templates, no secrets, the same bytes for
// everybody. Who may see what is decided by the API that they call.
//
// What they are made of stands in static, a folder for each page and one, base, for
// what all share; below, in vendor_test.go, says which folder may import from which.
//
// # Guarantees
//
// A browser is told what the pages may do (Content-Security-Policy and its kin):
// scripts, styles, fonts and connections of their own origin, nothing inline,
// no frames, nothing from elsewhere. A text that a participant sent may therefore
// be shown wrongly, but not run, should a page ever take it for markup.
//
// A file is kept by a browser only as long as it is the same: by ETag, or for good
// where its address holds its version. Files that are worth it travel compressed.
//
// A path is a file, and "/" is index.html; which view that shows stands in the
// query, which is the pages' business. Everything else is not found: a misspelt
// script is never answered with a page.
//
// # Concurrency
//
// A Console may be used from any goroutine. Each file is hashed and compressed
// once, when it is first asked for.
package console
