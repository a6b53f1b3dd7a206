package webhook

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// secretMark is what a secret begins with.
const secretMark = "whsec_"

// A secret has so many bytes.
const (
	leastSecret = 24
	mostSecret  = 64
)

// MostSecrets is how many a webhook may have at a time.
const MostSecrets = 4

// NewSecret writes random bytes, at least 24 and at most 64, as a secret.
func NewSecret(random []byte) string { return secretMark + base64.StdEncoding.EncodeToString(random) }

// CheckSecret says what is wrong with a secret, and never repeats any of it.
func CheckSecret(secret string) error {
	text, marked := strings.CutPrefix(secret, secretMark)
	if !marked {
		return errors.New("a secret begins with " + secretMark)
	}
	key, err := base64.StdEncoding.Strict().DecodeString(text)
	switch {
	case err != nil || strings.ContainsAny(text, "\r\n"):
		return errors.New("what follows " + secretMark + " is not base64")
	case len(key) < leastSecret || len(key) > mostSecret:
		return fmt.Errorf("a secret has %d to %d bytes, this one has %d", leastSecret, mostSecret, len(key))
	}
	return nil
}

// signer signs with every secret of a webhook, so that one can give way to another.
type signer []*standardwebhooks.Webhook

func newSigner(secrets []string) (s signer, err error) {
	for _, secret := range secrets {
		if err := CheckSecret(secret); err != nil {
			return nil, err
		}
		one, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return nil, err
		}
		s = append(s, one)
	}
	if len(s) == 0 {
		return nil, errors.New("there is no secret")
	}
	return s, nil
}

// sign sets the headers of an attempt at a time.
func (s signer) sign(h http.Header, id string, at time.Time, body []byte) error {
	signatures := make([]string, len(s))
	for i, one := range s {
		var err error
		if signatures[i], err = one.Sign(id, at, body); err != nil {
			return err
		}
	}
	h.Set(standardwebhooks.HeaderWebhookID, id)
	h.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(at.Unix(), 10))
	h.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(signatures, " "))
	return nil
}
