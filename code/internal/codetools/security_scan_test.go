package codetools

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/parleyhq/parley/code/internal/syntax"
	"github.com/parleyhq/parley/code/internal/taint"
	"github.com/parleyhq/parley/tool"
)

const shopPython = `import sqlite3, hashlib
from flask import request

API_KEY = "a81c7f0e5d2b49c6b1f0"

def user(conn):
    name = request.args["name"]
    query = "SELECT * FROM users WHERE name = '" + name + "'"
    return conn.execute(query)

def digest(text):
    return hashlib.md5(text)

def run(conn, query):
    return conn.execute(query)
`

func (p *Project) scanned(t testing.TB, tier tool.Tier, in ScanIn) (ScanOut, error) {
	t.Helper()
	return p.SecurityScan(t.Context(), tool.NewCall(securityScan, tier, ""), in)
}

func TestSecurityScan(t *testing.T) {
	p, _ := folderWith(t, map[string]string{"shop.py": shopPython})
	out, err := p.scanned(t, tool.Community, ScanIn{Path: "shop.py"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"path":"shop.py","language":"python","risk_level":"high","vulnerabilities":[` +
		`{"type":"hardcoded_secret","cwe":"CWE-798","severity":"high","confidence":"high","line":4,"column":11,"sink":"API_KEY"},` +
		`{"type":"sql_injection","cwe":"CWE-89","severity":"high","confidence":"high","line":9,"column":25,"function":"user","sink":"conn.execute",` +
		`"source":{"kind":"request","name":"flask.request.args","line":7},"steps":[7,8,9]},` +
		`{"type":"weak_crypto","cwe":"CWE-328","severity":"medium","confidence":"high","line":12,"column":12,"function":"digest","sink":"hashlib.md5"}],` +
		`"unsure":1}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSecurityScanFilters(t *testing.T) {
	p, _ := folderWith(t, map[string]string{"shop.py": shopPython})
	tests := []struct {
		name  string
		in    ScanIn
		lines []int
	}{
		{"severity", ScanIn{MinSeverity: "high"}, []int{4, 9}},
		{"types", ScanIn{Types: []taint.Type{taint.WeakCrypto}}, []int{12}},
		{"low confidence", ScanIn{MinConfidence: "low", Types: []taint.Type{taint.SQLInjection}}, []int{9, 15}},
		{"limit", ScanIn{MaxFindings: 1}, []int{4}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.in.Path = "shop.py"
			out, err := p.scanned(t, tool.Community, test.in)
			if err != nil {
				t.Fatal(err)
			}
			if len(out.Vulnerabilities) != len(test.lines) {
				t.Fatalf("got %d findings, want those of the lines %v", len(out.Vulnerabilities), test.lines)
			}
			for i, v := range out.Vulnerabilities {
				if v.Line != test.lines[i] {
					t.Errorf("finding %d is on line %d, want %d", i, v.Line, test.lines[i])
				}
			}
			if out.Truncated != (test.name == "limit") {
				t.Errorf("truncated is %v", out.Truncated)
			}
		})
	}
}

func TestSecurityScanClampsByTier(t *testing.T) {
	p, _ := folderWith(t, nil)
	code := "import hashlib\n" + strings.Repeat("hashlib.md5(x)\n", 60)
	for tier, want := range map[tool.Tier]int{tool.Community: 50, tool.Pro: 60} {
		call := tool.NewCall(securityScan, tier, "")
		out, err := p.SecurityScan(t.Context(), call, ScanIn{Code: code, Language: syntax.Python, MaxFindings: 60})
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Vulnerabilities) != want || out.Truncated != (want < 60) {
			t.Errorf("%s: got %d findings, truncated %v", tier, len(out.Vulnerabilities), out.Truncated)
		}
	}
}

func TestSecurityScanRefuses(t *testing.T) {
	p, _ := folderWith(t, map[string]string{"a.txt": "x", "b.py": "x = 1"})
	deep := strings.Repeat("[", 1_000_000)
	tests := []struct {
		name string
		in   ScanIn
		code tool.Code
	}{
		{"neither", ScanIn{}, tool.InvalidArgument},
		{"both", ScanIn{Path: "b.py", Code: "x"}, tool.InvalidArgument},
		{"no language", ScanIn{Code: "x"}, tool.InvalidArgument},
		{"other language", ScanIn{Code: "x", Language: "cobol"}, tool.InvalidArgument},
		{"unknown type", ScanIn{Path: "b.py", Types: []taint.Type{"magic"}}, tool.InvalidArgument},
		{"unknown severity", ScanIn{Path: "b.py", MinSeverity: "awful"}, tool.InvalidArgument},
		{"unknown confidence", ScanIn{Path: "b.py", MinConfidence: "critical"}, tool.InvalidArgument},
		{"no such file", ScanIn{Path: "missing.py"}, tool.NotFound},
		{"outside", ScanIn{Path: "../b.py"}, tool.InvalidPath},
		{"binary", ScanIn{Code: "a\x00b", Language: syntax.Python}, tool.InvalidArgument},
		{"deep", ScanIn{Code: deep, Language: syntax.JavaScript}, tool.TooLarge},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := p.scanned(t, tool.Community, test.in)
			refusedWith(t, err, test.code)
		})
	}
}

// What a file holds must not come out by way of a finding: identifiers and
// lines may.
func TestSecurityScanTellsNoLiterals(t *testing.T) {
	p, _ := folderWith(t, nil)
	const secret = "s3cr3t-Pa55w0rd"
	code := "import os, sys\nPASSWORD = '" + secret + "'\nd = {'" + secret + "': sys.argv[1]}\n" +
		"os.system(d['" + secret + "'] + '" + secret + "')\nx['password'] = '" + secret + "'\nf(password='" + secret + "')\n" +
		"x['the " + secret + " password'] = 'hT7-zz81q'\n"
	out, err := p.scanned(t, tool.Community, ScanIn{Code: code, Language: syntax.Python, MinConfidence: "low"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Vulnerabilities) != 4 || strings.Contains(string(text), secret) {
		t.Errorf("got %s", text)
	}
}
