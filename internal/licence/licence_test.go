package licence

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"log/slog"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/response"
)

// noon is when these tests happen.
var noon = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

// keys are made once, since RSA keys take a while.
var keys = sync.OnceValue(func() (k struct {
	rsa, otherRSA, weakRSA *rsa.PrivateKey
	ed, otherEd            ed25519.PrivateKey
	ec                     *ecdsa.PrivateKey
}) {
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	var err error
	k.rsa, err = rsa.GenerateKey(rand.Reader, 2048)
	must(err)
	k.otherRSA, err = rsa.GenerateKey(rand.Reader, 2048)
	must(err)
	k.weakRSA, err = rsa.GenerateKey(rand.Reader, 1024)
	must(err)
	_, k.ed, err = ed25519.GenerateKey(rand.Reader)
	must(err)
	_, k.otherEd, err = ed25519.GenerateKey(rand.Reader)
	must(err)
	k.ec, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	return k
})

func publicPEM(t testing.TB, key crypto.Signer) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func publicJWK(t testing.TB, key crypto.Signer) []byte {
	t.Helper()
	encode := base64.RawURLEncoding.EncodeToString
	var jwk map[string]any
	switch k := key.Public().(type) {
	case *rsa.PublicKey:
		jwk = map[string]any{"kty": "RSA", "n": encode(k.N.Bytes()), "e": encode(big.NewInt(int64(k.E)).Bytes()), "kid": "1", "use": "sig"}
	case ed25519.PublicKey:
		jwk = map[string]any{"kty": "OKP", "crv": "Ed25519", "x": encode(k)}
	}
	text, err := json.Marshal(jwk)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// sign makes a token with the claims of a good licence, but for those in with.
// A nil takes a claim away.
func sign(t testing.TB, method jwt.SigningMethod, key any, with jwt.MapClaims) string {
	t.Helper()
	return signWithHeader(t, method, key, with, nil)
}

func signWithHeader(t testing.TB, method jwt.SigningMethod, key any, with jwt.MapClaims, header map[string]any) string {
	t.Helper()
	c := jwt.MapClaims{"iss": "acme", "aud": []string{"other", "parley-code"}, "exp": noon.Add(time.Hour).Unix(), "tier": "pro"}
	for name, value := range with {
		if c[name] = value; value == nil {
			delete(c, name)
		}
	}
	token := jwt.NewWithClaims(method, c)
	maps.Copy(token.Header, header)
	text, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// a room has a licence file and a clock.
type room struct {
	*File
	t    testing.TB
	path string
	now  time.Time
	log  bytes.Buffer
}

func open(t testing.TB, key []byte) *room {
	t.Helper()
	r := &room{t: t, path: filepath.Join(t.TempDir(), "licence.jwt"), now: noon}
	f, err := Open(Options{
		Path: r.path, Key: key, Issuer: "acme", Audience: "parley-code",
		Now: func() time.Time { return r.now }, Log: slog.New(slog.NewTextHandler(&r.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	r.File = f
	return r
}

func (r *room) put(text string) {
	r.t.Helper()
	if err := os.WriteFile(r.path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// want asks twice, since nothing may depend on how often somebody asks.
func (r *room) want(tier response.Tier) {
	r.t.Helper()
	for range 2 {
		if got := r.Tier(); got != tier {
			r.t.Errorf("got %s, want %s\n%s", got, tier, &r.log)
		}
	}
}

// warnings are the reasons that the log was told since the last time.
func (r *room) warnings() (reasons []string) {
	for line := range strings.Lines(r.log.String()) {
		_, reason, _ := strings.Cut(line, "reason=")
		reason = strings.TrimSpace(reason)
		if text, err := strconv.Unquote(reason); err == nil {
			reason = text
		}
		reasons = append(reasons, reason)
	}
	r.log.Reset()
	return reasons
}

func TestLicences(t *testing.T) {
	k := keys()
	rs, ed := publicPEM(t, k.rsa), publicPEM(t, k.ed)
	good := func(with jwt.MapClaims) string { return sign(t, jwt.SigningMethodEdDSA, k.ed, with) }
	parts := strings.Split(good(nil), ".")
	for _, c := range []struct {
		name  string
		key   []byte
		token string
		tier  response.Tier
		why   string // what the log says; empty: nothing
	}{
		{"RS256", rs, sign(t, jwt.SigningMethodRS256, k.rsa, nil), "pro", ""},
		{"RS256, key as JWK", publicJWK(t, k.rsa), sign(t, jwt.SigningMethodRS256, k.rsa, nil), "pro", ""},
		{"EdDSA", ed, good(nil), "pro", ""},
		{"EdDSA, key as JWK", publicJWK(t, k.ed), good(nil), "pro", ""},
		{"enterprise", ed, good(jwt.MapClaims{"tier": "enterprise"}), "enterprise", ""},
		{"community", ed, good(jwt.MapClaims{"tier": "community"}), "community", ""},
		{"one audience, not a list", ed, good(jwt.MapClaims{"aud": "parley-code"}), "pro", ""},
		{"valid since a moment", ed, good(jwt.MapClaims{"nbf": noon.Unix()}), "pro", ""},
		{"white space around", ed, "\n " + good(nil) + "\r\n", "pro", ""},

		{"expired", ed, good(jwt.MapClaims{"exp": noon.Unix()}), "community", "it expired at 2030-01-01T12:00:00Z"},
		{"not valid yet", ed, good(jwt.MapClaims{"nbf": noon.Add(time.Minute).Unix()}), "community", "it is valid from 2030-01-01T12:01:00Z"},
		{"wrong issuer", ed, good(jwt.MapClaims{"iss": "acme.evil"}), "community", `it was issued by "acme.evil"`},
		{"no issuer", ed, good(jwt.MapClaims{"iss": nil}), "community", `it lacks iss, aud or exp`},
		{"wrong audience", ed, good(jwt.MapClaims{"aud": "parley"}), "community", `it is for ["parley"]`},
		{"no audience", ed, good(jwt.MapClaims{"aud": nil}), "community", "it lacks iss, aud or exp"},
		{"no end", ed, good(jwt.MapClaims{"exp": nil}), "community", "it lacks iss, aud or exp"},
		{"no tier", ed, good(jwt.MapClaims{"tier": nil}), "community", `its tier "" is none`},
		{"unknown tier", ed, good(jwt.MapClaims{"tier": "gold"}), "community", `its tier "gold" is none`},
		{"tier of another type", ed, good(jwt.MapClaims{"tier": 7}), "community", "it is not a signed token"},

		{"another RSA key", rs, sign(t, jwt.SigningMethodRS256, k.otherRSA, nil), "community", "its signature does not count (RS256)"},
		{"another Ed25519 key", ed, sign(t, jwt.SigningMethodEdDSA, k.otherEd, nil), "community", "its signature does not count (EdDSA)"},
		{"EdDSA for an RSA key", rs, good(nil), "community", "its signature does not count (EdDSA)"},
		{"RS256 for an Ed25519 key", ed, sign(t, jwt.SigningMethodRS256, k.rsa, nil), "community", "its signature does not count (RS256)"},
		{"RS512 by the right key", rs, sign(t, jwt.SigningMethodRS512, k.rsa, nil), "community", "its signature does not count (RS512)"},
		{"PS256 by the right key", rs, sign(t, jwt.SigningMethodPS256, k.rsa, nil), "community", "its signature does not count (PS256)"},
		{"ES256", ed, sign(t, jwt.SigningMethodES256, k.ec, nil), "community", "its signature does not count (ES256)"},
		{"none", ed, sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, nil), "community", "its signature does not count (none)"},
		{"HS256 with the public key as secret", rs, sign(t, jwt.SigningMethodHS256, rs, nil), "community", "its signature does not count (HS256)"},
		{"HS256 with the bytes of the key", ed, sign(t, jwt.SigningMethodHS256, []byte(k.ed.Public().(ed25519.PublicKey)), nil), "community", "its signature does not count (HS256)"},
		{"unknown algorithm", ed, changed(parts, 0, `{"alg":"XX","typ":"JWT"}`), "community", "it cannot be verified"},
		{"algorithm taken away", ed, changed(parts, 0, `{"typ":"JWT"}`), "community", "it cannot be verified"},
		{"claims changed", ed, changed(parts, 1, `{"iss":"acme","aud":"parley-code","exp":9999999999,"tier":"enterprise"}`), "community", "its signature does not count (EdDSA)"},
		{"signature cut off", ed, parts[0] + "." + parts[1] + ".", "community", "its signature does not count (EdDSA)"},
		{"critical header", ed, signWithHeader(t, jwt.SigningMethodEdDSA, k.ed, nil, map[string]any{"crit": []string{"exp"}}), "community", "it cannot be verified"},
		{"two parts", ed, parts[0] + "." + parts[1], "community", "it is not a signed token"},
		{"two tokens", ed, good(nil) + "\n" + good(nil), "community", "it is not a signed token"},
		{"JSON", ed, `{"tier":"enterprise"}`, "community", "it is not a signed token"},
		{"nothing", ed, "", "community", "it is not a signed token"},
		{"binary", ed, "\x00\xff.\x00.\x00", "community", "it is not a signed token"},
		{"too long", ed, good(nil) + strings.Repeat(" ", maxFile), "community", "it is longer than 16384 bytes"},
		{"no key", nil, good(nil), "community", "there is no key to verify it with"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := open(t, c.key)
			r.put(c.token)
			r.want(c.tier)
			switch warnings := r.warnings(); {
			case c.why == "" && len(warnings) > 0:
				t.Errorf("warned of %q", warnings)
			case c.why != "" && (len(warnings) != 1 || warnings[0] != c.why):
				t.Errorf("warned of %q, want once %q", warnings, c.why)
			}
		})
	}
}

// changed puts another text into one part of a token.
func changed(parts []string, i int, text string) string {
	parts = append([]string{}, parts...)
	parts[i] = base64.RawURLEncoding.EncodeToString([]byte(text))
	return strings.Join(parts, ".")
}

// What is put there, replaced or removed counts from the next call on.
func TestReplaced(t *testing.T) {
	k := keys()
	r := open(t, publicPEM(t, k.ed))
	pro := sign(t, jwt.SigningMethodEdDSA, k.ed, nil)
	r.want("community")
	r.put(pro)
	r.want("pro")
	r.put(sign(t, jwt.SigningMethodEdDSA, k.ed, jwt.MapClaims{"tier": "enterprise"}))
	r.want("enterprise")
	if err := os.Remove(r.path); err != nil {
		t.Fatal(err)
	}
	r.want("community")
	r.put(pro)
	r.want("pro")
	if got := strings.Join(r.warnings(), "; "); got != "no such file or directory; no such file or directory" {
		t.Errorf("warned of %s", got)
	}

	// In place, of the same length and within one step of the file's clock.
	bad := []byte(pro)
	bad[len(bad)-5] ^= 1
	r.put(string(bad))
	r.want("community")
	r.put(pro)
	r.want("pro")

	// By another file of the same length and age.
	old := time.Now().Add(-time.Hour)
	other := filepath.Join(t.TempDir(), "other")
	for path, text := range map[string]string{r.path: pro, other: string(bad)} {
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, old, old)); err != nil {
			t.Fatal(err)
		}
	}
	r.want("pro")
	if err := os.Rename(other, r.path); err != nil {
		t.Fatal(err)
	}
	r.want("community")
}

// Time alone ends a licence, and begins one.
func TestTimeGoesBy(t *testing.T) {
	k := keys()
	r := open(t, publicPEM(t, k.ed))
	r.put(sign(t, jwt.SigningMethodEdDSA, k.ed, jwt.MapClaims{"nbf": noon.Add(time.Minute).Unix()}))
	r.want("community")
	r.now = noon.Add(time.Minute)
	r.want("pro")
	r.now = noon.Add(time.Hour - time.Nanosecond)
	r.want("pro")
	r.now = noon.Add(time.Hour)
	r.want("community")
	if got := strings.Join(r.warnings(), "; "); got != "it is valid from 2030-01-01T12:01:00Z; it expired at 2030-01-01T13:00:00Z" {
		t.Errorf("warned of %s", got)
	}
}

func TestUnreadable(t *testing.T) {
	k := keys()
	r := open(t, publicPEM(t, k.ed))
	if err := os.Mkdir(r.path, 0o700); err != nil {
		t.Fatal(err)
	}
	r.want("community")
	if err := os.Remove(r.path); err != nil {
		t.Fatal(err)
	}
	r.put(sign(t, jwt.SigningMethodEdDSA, k.ed, nil))
	if err := os.Chmod(r.path, 0); err != nil {
		t.Fatal(err)
	}
	want := "it is not a regular file; permission denied"
	if os.Geteuid() == 0 { // who may read everything
		want = "it is not a regular file"
	}
	r.Tier()
	if got := strings.Join(r.warnings(), "; "); got != want {
		t.Errorf("warned of %s", got)
	}
}

// Without a path there is nothing to warn of.
func TestNoLicence(t *testing.T) {
	var log bytes.Buffer
	f, err := Open(Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Tier(); got != response.Community || log.Len() > 0 {
		t.Errorf("%s, %s", got, &log)
	}
}

func TestKeys(t *testing.T) {
	k := keys()
	private := func(key any) []byte {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	}
	pkcs1 := pem.EncodeToMemory(&pem.Block{Type: "RSA PUBLIC KEY", Bytes: x509.MarshalPKCS1PublicKey(&k.rsa.PublicKey)})
	for _, c := range []struct {
		name string
		key  []byte
		want string // empty: it is accepted
	}{
		{"PKCS #1", pkcs1, ""},
		{"white space around a JWK", append([]byte("\n\t"), publicJWK(t, k.ed)...), ""},
		{"private RSA", private(k.rsa), "it is a private key"},
		{"private Ed25519", private(k.ed), "it is a private key"},
		{"private JWK", []byte(`{"kty":"OKP","crv":"Ed25519","x":"AA","d":"AA"}`), "it is a private key"},
		{"short RSA", publicPEM(t, k.weakRSA), "it has 1024 bits"},
		{"short RSA as JWK", publicJWK(t, k.weakRSA), "it has 1024 bits"},
		{"elliptic curve", publicPEM(t, k.ec), "it is neither RSA nor Ed25519"},
		{"two keys", append(publicPEM(t, k.ed), publicPEM(t, k.otherEd)...), "there is more than one"},
		{"certificate", []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), `it is a "CERTIFICATE"`},
		{"damaged PEM", []byte("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"), "asn1"},
		{"a secret", []byte("hunter2"), "it is neither PEM nor a JWK"},
		{"JWK of a secret", []byte(`{"kty":"oct","k":"aHVudGVyMg"}`), `it is of type "oct" ""`},
		{"JWK, short x", []byte(`{"kty":"OKP","crv":"Ed25519","x":"AAAA"}`), "its x is not the 32 bytes"},
		{"JWK, bad n", []byte(`{"kty":"RSA","n":"=","e":"AQAB"}`), "its n is not base64url"},
		{"JWK, e of one", []byte(`{"kty":"RSA","n":"AQAB","e":"AQ"}`), "its e is not an exponent"},
		{"JWK, no e", []byte(`{"kty":"RSA","n":"AQAB"}`), "its e is not an exponent"},
		{"JWK, cut off", []byte(`{"kty":`), "it is not a JWK"},
	} {
		_, err := Open(Options{Key: c.key, Issuer: "i", Audience: "a"})
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		e, ok := errors.AsType[*parley.Error](err)
		if !ok || e.Code != parley.InvalidArgument || !strings.Contains(e.Message, c.want) || e.Hint == "" {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error tells a secret", c.name)
		}
	}
	for _, o := range []Options{{Key: pkcs1, Issuer: "i"}, {Key: pkcs1, Audience: "a"}} {
		if _, err := Open(o); err == nil {
			t.Errorf("issuer %q and audience %q are enough", o.Issuer, o.Audience)
		}
	}
}

// Whatever lies in the file, nobody gets more than community without the key.
func FuzzToken(f *testing.F) {
	k := keys()
	good := sign(f, jwt.SigningMethodEdDSA, k.otherEd, nil)
	f.Add(good)
	f.Add(sign(f, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, nil))
	f.Add(sign(f, jwt.SigningMethodHS256, publicPEM(f, k.ed), nil))
	f.Add("..")
	f.Add("{}")
	o := &Options{Key: publicPEM(f, k.ed), Issuer: "acme", Audience: "parley-code", Now: func() time.Time { return noon }}
	v, err := newVerifier(o)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, token string) {
		if c, err := v.verify(token); err == nil {
			t.Errorf("%q counts: %+v", token, c)
		}
	})
}

// What a call pays: a file that has not changed for a while.
func BenchmarkTier(b *testing.B) {
	k := keys()
	r := open(b, publicPEM(b, k.ed))
	r.put(sign(b, jwt.SigningMethodEdDSA, k.ed, nil))
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(r.path, old, old); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if r.Tier() != response.Pro {
			b.Fatal(&r.log)
		}
	}
}

// A file that is replaced while many ask is one or the other to each of them.
func TestReplacedWhileAsked(t *testing.T) {
	k := keys()
	r := open(t, publicPEM(t, k.ed))
	tokens := []string{sign(t, jwt.SigningMethodEdDSA, k.ed, nil), sign(t, jwt.SigningMethodEdDSA, k.ed, jwt.MapClaims{"tier": "enterprise"})}
	replace := func(text string) {
		next := r.path + ".next"
		if err := errors.Join(os.WriteFile(next, []byte(text), 0o600), os.Rename(next, r.path)); err != nil {
			t.Error(err)
		}
	}
	replace(tokens[0])
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				if tier := r.Tier(); tier != response.Pro && tier != response.Enterprise {
					t.Errorf("got %s\n", tier)
				}
			}
		})
	}
	for i := range 50 {
		replace(tokens[i%2])
	}
	wg.Wait()
}
