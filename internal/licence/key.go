package licence

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/parleyhq/parley"
)

// minRSA is the shortest RSA key that is accepted, in bits.
const minRSA = 2048

// parseKey reads a public key, as PEM or as a JWK, and says which algorithm
// goes with it. No token chooses its algorithm: a public key that was taken for
// the secret of an HMAC would let everybody sign.
func parseKey(text []byte) (key crypto.PublicKey, alg string, err error) {
	if trimmed := strings.TrimSpace(string(text)); strings.HasPrefix(trimmed, "{") {
		key, err = parseJWK([]byte(trimmed))
	} else {
		key, err = parsePEM(text)
	}
	if err != nil {
		return nil, "", badKey("%v", err)
	}
	switch k := key.(type) {
	case ed25519.PublicKey:
		return k, "EdDSA", nil
	case *rsa.PublicKey:
		if bits := k.N.BitLen(); bits < minRSA {
			return nil, "", badKey("it has %d bits, fewer than %d", bits, minRSA)
		}
		return k, "RS256", nil
	}
	return nil, "", badKey("it is neither RSA nor Ed25519")
}

func badKey(format string, args ...any) error {
	return parley.Errorf(parley.InvalidArgument, "the licence key: "+format, args...).
		WithHint("give a public RSA or Ed25519 key, as PEM (BEGIN PUBLIC KEY) or as a JWK")
}

var errPrivate = errors.New("it is a private key, which belongs to whoever signs licences")

func parsePEM(text []byte) (crypto.PublicKey, error) {
	block, rest := pem.Decode(text)
	switch {
	case block == nil:
		return nil, errors.New("it is neither PEM nor a JWK")
	case strings.HasSuffix(block.Type, "PRIVATE KEY"):
		return nil, errPrivate
	case len(strings.TrimSpace(string(rest))) > 0:
		return nil, errors.New("there is more than one")
	case block.Type == "RSA PUBLIC KEY":
		return x509.ParsePKCS1PublicKey(block.Bytes)
	case block.Type == "PUBLIC KEY":
		return x509.ParsePKIXPublicKey(block.Bytes)
	}
	return nil, fmt.Errorf("it is a %.40q", block.Type)
}

// parseJWK reads a key of RFC 7517, by RFC 7518 (RSA) and RFC 8037 (Ed25519).
func parseJWK(text []byte) (crypto.PublicKey, error) {
	var k struct {
		Kty string `json:"kty"`
		Crv string `json:"crv"`
		N   string `json:"n"`
		E   string `json:"e"`
		X   string `json:"x"`
		D   string `json:"d"`
	}
	if err := json.Unmarshal(text, &k); err != nil {
		return nil, errors.New("it is not a JWK")
	}
	switch {
	case k.D != "":
		return nil, errPrivate
	case k.Kty == "OKP" && k.Crv == "Ed25519":
		x, err := base64.RawURLEncoding.DecodeString(k.X)
		if err != nil || len(x) != ed25519.PublicKeySize {
			return nil, errors.New("its x is not the 32 bytes of an Ed25519 key")
		}
		return ed25519.PublicKey(x), nil
	case k.Kty == "RSA":
		return rsaKey(k.N, k.E)
	}
	return nil, fmt.Errorf("it is of type %.20q %.20q", k.Kty, k.Crv)
}

func rsaKey(n, e string) (*rsa.PublicKey, error) {
	modulus, err := base64.RawURLEncoding.DecodeString(n)
	if err != nil {
		return nil, errors.New("its n is not base64url")
	}
	exponent, err := base64.RawURLEncoding.DecodeString(e)
	if err != nil || len(exponent) == 0 || len(exponent) > 4 {
		return nil, errors.New("its e is not an exponent")
	}
	value := new(big.Int).SetBytes(exponent).Int64()
	if value < 3 || value%2 == 0 {
		return nil, errors.New("its e is not an exponent")
	}
	return &rsa.PublicKey{N: new(big.Int).SetBytes(modulus), E: int(value)}, nil
}
