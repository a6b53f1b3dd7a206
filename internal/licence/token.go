package licence

import (
	"crypto"
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/parleyhq/parley/internal/response"
)

// claims are what a licence says.
type claims struct {
	jwt.RegisteredClaims
	Tier response.Tier `json:"tier"`
}

// verifier holds licences against a key and what they have to say.
type verifier struct {
	key       crypto.PublicKey
	signature *jwt.Parser
	validity  *jwt.Validator
}

func newVerifier(o *Options) (*verifier, error) {
	key, alg, err := parseKey(o.Key)
	if err != nil {
		return nil, err
	}
	return &verifier{
		key: key,
		// The claims are judged on every call, since time goes by.
		signature: jwt.NewParser(jwt.WithValidMethods([]string{alg}), jwt.WithStrictDecoding(), jwt.WithoutClaimsValidation()),
		validity: jwt.NewValidator(jwt.WithIssuer(o.Issuer), jwt.WithAudience(o.Audience),
			jwt.WithExpirationRequired(), jwt.WithTimeFunc(o.Now)),
	}, nil
}

// verify reads a token that is signed with the key.
func (v *verifier) verify(token string) (*claims, error) {
	c := new(claims)
	t, err := v.signature.ParseWithClaims(token, c, func(t *jwt.Token) (any, error) {
		// RFC 7515: what is marked as critical must be understood.
		if _, ok := t.Header["crit"]; ok {
			return nil, errors.New("it has a critical header")
		}
		return v.key, nil
	})
	switch {
	case errors.Is(err, jwt.ErrTokenMalformed):
		return nil, errors.New("it is not a signed token")
	case errors.Is(err, jwt.ErrTokenSignatureInvalid):
		return nil, fmt.Errorf("its signature does not count (%s)", algorithm(t))
	case err != nil:
		return nil, errors.New("it cannot be verified")
	}
	if _, err := response.ParseTier(string(c.Tier)); err != nil {
		return nil, fmt.Errorf("its tier %.40q is none", c.Tier)
	}
	return c, nil
}

// algorithm is what a token says it is signed with.
func algorithm(t *jwt.Token) string {
	if t == nil || t.Method == nil {
		return "no algorithm"
	}
	return t.Method.Alg()
}

// judge says whether the claims hold now.
func (v *verifier) judge(c *claims) error {
	err := v.validity.Validate(c)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jwt.ErrTokenInvalidIssuer):
		return fmt.Errorf("it was issued by %.100q", c.Issuer)
	case errors.Is(err, jwt.ErrTokenInvalidAudience):
		return fmt.Errorf("it is for %.200q", []string(c.Audience))
	case errors.Is(err, jwt.ErrTokenExpired):
		return fmt.Errorf("it expired at %s", c.ExpiresAt.UTC().Format(time.RFC3339))
	case errors.Is(err, jwt.ErrTokenNotValidYet):
		return fmt.Errorf("it is valid from %s", c.NotBefore.UTC().Format(time.RFC3339))
	}
	return errors.New("it lacks iss, aud or exp")
}
