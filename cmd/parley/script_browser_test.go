package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// browsersKey finds a script's browsers among its values.
type browsersKey struct{}

type browsers map[string]*http.Client

// browse NAME STATUS METHOD PATH [BODY] asks the gateway at PARLEY_URL as a page of
// the console does, with the cookies that this browser has by now, and wants that
// status. What comes back lies in NAME.page.
func browse(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 || len(args) > 5 {
		ts.Fatalf("usage: browse NAME STATUS METHOD PATH [BODY]")
	}
	body := io.Reader(http.NoBody)
	if len(args) == 5 {
		body = strings.NewReader(args[4])
	}
	url := ts.Getenv("PARLEY_URL")
	req, err := http.NewRequest(args[2], url+args[3], body)
	ts.Check(err)
	req.Header.Set("Origin", url)
	all := ts.Value(browsersKey{}).(browsers)
	if all[args[0]] == nil {
		jar, err := cookiejar.New(nil)
		ts.Check(err)
		all[args[0]] = &http.Client{Jar: jar, Timeout: patience}
	}
	resp, err := all[args[0]].Do(req)
	ts.Check(err)
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".page"), page, 0o666))
	if want := args[1]; strconv.Itoa(resp.StatusCode) != want {
		ts.Fatalf("%s, want %s: %s", resp.Status, want, page)
	}
}
