package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// The headers are those of the document, computed here once more by its words.
func TestSign(t *testing.T) {
	s, err := newSigner([]string{secret, keyOf(32)})
	if err != nil {
		t.Fatal(err)
	}
	h, at, body := http.Header{}, time.Unix(1674087231, 999e6), []byte(`{"type":"contact.created"}`)
	if err := s.sign(h, "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W", at, body); err != nil {
		t.Fatal(err)
	}
	sign := func(key []byte) string {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(`msg_2KWPBgLlAfxdpx2AI54pPJ85f4W.1674087231.{"type":"contact.created"}`))
		return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	want := http.Header{
		"Webhook-Id":        {"msg_2KWPBgLlAfxdpx2AI54pPJ85f4W"},
		"Webhook-Timestamp": {"1674087231"},
		"Webhook-Signature": {sign(rawSecret()) + " " + sign([]byte(strings.Repeat("k", 32)))},
	}
	for name := range want {
		if h.Get(name) != want.Get(name) {
			t.Errorf("%s: %q, want %q", name, h.Get(name), want.Get(name))
		}
	}
	for _, one := range []string{secret, keyOf(32)} { // either is enough
		v, err := standardwebhooks.NewWebhook(one)
		if err != nil {
			t.Fatal(err)
		}
		if err := v.VerifyIgnoringTimestamp(body, h); err != nil {
			t.Error(err)
		}
		if v.VerifyIgnoringTimestamp(append(body, ' '), h) == nil {
			t.Error("another body verifies")
		}
	}
}

func TestSecrets(t *testing.T) {
	for text, want := range map[string]string{
		secret:                "",
		keyOf(24):             "",
		keyOf(64):             "",
		keyOf(23):             "24 to 64 bytes",
		keyOf(65):             "24 to 64 bytes",
		"":                    "begins with whsec_",
		"MfKQ9r8GKYqrTwjUPD8": "begins with whsec_",
		"whsec_???":           "not base64",
		secret + "\n":         "not base64",
		"whsec_":              "24 to 64 bytes",
	} {
		err := CheckSecret(text)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if err != nil && len(text) > 10 && strings.Contains(err.Error(), strings.TrimPrefix(text, secretMark)) {
			t.Errorf("%q is repeated: %v", text, err)
		}
		if _, err := newSigner([]string{secret, text}); (err == nil) != (want == "") {
			t.Errorf("a signer of %q: %v", text, err)
		}
	}
	if _, err := newSigner(nil); err == nil {
		t.Error("a signer without a secret")
	}
}

func TestURLs(t *testing.T) {
	for text, want := range map[string]string{
		"https://example.org/hooks?x=1":              "",
		"https://10.0.0.1:8443/":                     "",
		"HTTPS://example.org":                        "",
		"http://127.0.0.1:1/x":                       "",
		"http://localhost/x":                         "",
		"http://[::1]:1/x":                           "",
		"http://127.0.0.1.example.org":               "plain http",
		"http://localhost.example.org":               "plain http",
		"http://10.0.0.1/":                           "plain http",
		"https://user:sesame@example.org":            "a name or a password",
		"https://user@example.org":                   "a name or a password",
		"https://example.org/#x":                     "fragment",
		"https://example.org/#":                      "fragment",
		"ftp://example.org":                          "neither",
		"file:///etc/passwd":                         "not the URL",
		"https:example.org":                          "not the URL",
		"https:///x":                                 "not the URL",
		"//example.org":                              "neither",
		"https://exa mple.org":                       "not the URL",
		"":                                           "not the URL",
		"https://e.org/" + strings.Repeat("x", 2048): "not the URL",
	} {
		err := CheckURL(text, false)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "sesame") {
			t.Errorf("a password shows: %v", err)
		}
	}
	if err := CheckURL("http://10.0.0.1/", true); err != nil {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"https://hooks.example.org/T0/B0/secret": "https://hooks.example.org/…",
		"https://example.org/?key=secret":        "https://example.org/…",
		"https://example.org:8443":               "https://example.org:8443",
		"https://example.org/":                   "https://example.org",
	} {
		if got := Shown(text); got != want {
			t.Errorf("%s is shown as %s, want %s", text, got, want)
		}
	}
}

// Where a name leads is looked at when it has been resolved.
func TestMayReach(t *testing.T) {
	for _, c := range []struct {
		address    string
		all, stays bool
	}{
		{"127.0.0.1:80", true, true},
		{"[::1]:80", true, true},
		{"[::ffff:127.0.0.1]:80", true, true},
		{"10.1.2.3:443", true, false},
		{"93.184.215.14:443", true, false},
		{"169.254.169.254:80", false, false},
		{"[::ffff:169.254.169.254]:80", false, false},
		{"[fe80::1%eth0]:443", false, false},
		{"0.0.0.0:80", false, false},
		{"[::]:80", false, false},
		{"224.0.0.1:80", false, false},
		{"nonsense", false, false},
	} {
		if all, stays := mayReach(c.address, false), mayReach(c.address, true); all != c.all || stays != c.stays {
			t.Errorf("%s: %t, and %t where it stays here", c.address, all, stays)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"":                              0,
		"7":                             7 * time.Second,
		" 7 ":                           7 * time.Second,
		"0":                             0,
		"-7":                            0,
		"7.5":                           0,
		"86401":                         24 * time.Hour,
		"18446744073709551615":          24 * time.Hour,
		"99999999999999999999999":       0,
		"soon":                          0,
		"Fri, 02 Jan 2026 03:05:05 GMT": 59*time.Second + 322*time.Millisecond,
		"Fri, 02 Jan 2026 03:04:00 GMT": 0,
		"Sat, 02 Jan 2027 03:04:00 GMT": 24 * time.Hour,
	} {
		if got := retryAfter(http.Header{"Retry-After": {text}}, began); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	f.Add("120")
	f.Add("Fri, 02 Jan 2026 03:05:05 GMT")
	f.Fuzz(func(t *testing.T, text string) {
		if d := retryAfter(http.Header{"Retry-After": {text}}, began); d < 0 || d > mostAsked {
			t.Errorf("%q: %v", text, d)
		}
	})
}

func TestPauses(t *testing.T) {
	total := time.Duration(0)
	for n := 1; n <= MostRetries+3; n++ {
		least, most := pause(n, 0), pause(n, 0.999999)
		if least != delays[min(n, MostRetries)-1] || most < least || most > least+least/5 {
			t.Errorf("after %d attempts: %v to %v", n, least, most)
		}
		if n <= MostRetries {
			total += least
		}
	}
	if want := 75*time.Hour + 35*time.Minute + 5*time.Second; total != want {
		t.Errorf("all in all %v, and the document says %v", total, want)
	}
}
