package mcpbridge

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/mcp"
)

// sealMark begins every requestState of ours.
const sealMark = "parley1."

// maxSealed bounds what a requestState of ours may hold.
const maxSealed = 512 << 10

// sealer makes the cipher of a bridge's requestStates. Its key comes from the
// bridge's token: whoever joins with the same one, as after a restart, can open
// what was sealed before.
func sealer(token string) cipher.AEAD {
	key, err := hkdf.Key(sha256.New, []byte(token), nil, "parley: an MCP bridge's requestState", 32)
	if err != nil {
		panic(err) // not with this length
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	return aead
}

// bound is what a requestState belongs to: a caller, and a call without what
// differs from round to round.
func bound(f *flight) []byte {
	digest := parley.DigestParams(f.req.Params, "_meta", "inputResponses", "requestState")
	b := mcp.Quote(f.peer)
	b = append(b, mcp.Quote(f.req.Kind.Method)...)
	return append(b, digest[:]...)
}

// seal asks the caller for the rest: the result with its part of the questions
// alone, and a requestState that holds the server's and the answers that are
// there.
func (b *Bridge) seal(f *flight, result, callers, answers jsontext.Value) (jsontext.Value, error) {
	held := append(jsontext.Value(`{"answers":`), answers...)
	if state := parley.Member(result, "requestState"); state != nil {
		held = append(append(held, `,"state":`...), state...)
	}
	held = append(held, '}')
	if len(held) > maxSealed {
		return nil, fmt.Errorf("%w: with what was answered before, its requestState takes more than %d bytes", ErrBadAnswer, maxSealed)
	}
	nonce := make([]byte, b.sealer.NonceSize())
	rand.Read(nonce)
	sealed := b.sealer.Seal(nonce, nonce, held, bound(f))
	if callers != nil {
		result = mcp.SetMember(result, "inputRequests", callers)
	}
	return mcp.SetMember(result, "requestState", mcp.Quote(sealMark+base64.RawURLEncoding.EncodeToString(sealed))), nil
}

// guard passes a result on as it is, unless its requestState looks like one of
// ours, as that of another Parley behind us does.
func (b *Bridge) guard(f *flight, result jsontext.Value) (jsontext.Value, error) {
	state, _ := parley.MemberString(result, "requestState")
	if strings.HasPrefix(state, sealMark) {
		return b.seal(f, result, nil, jsontext.Value(`{}`))
	}
	b.gave.add(gift{f.peer, sha256.Sum256([]byte(state))}, true)
	return result, nil
}

// unseal returns params with the server's own requestState, and with all of the
// answers that it asked for.
func (b *Bridge) unseal(f *flight, params jsontext.Value) (jsontext.Value, error) {
	state, _ := parley.MemberString(params, "requestState")
	text, ours := strings.CutPrefix(state, sealMark)
	if !ours {
		return params, nil
	}
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	if n := b.sealer.NonceSize(); err != nil || len(sealed) < n {
		return nil, errState
	}
	nonce, sealed := sealed[:b.sealer.NonceSize()], sealed[b.sealer.NonceSize():]
	held, err := b.sealer.Open(nil, nonce, sealed, bound(f))
	if err != nil {
		return nil, errState
	}
	answers := parley.Member(held, "answers")
	if !bytes.Equal(answers, []byte(`{}`)) && !b.spent.add(string(nonce), struct{}{}) {
		return nil, errSpent
	}
	responses := parley.Member(params, "inputResponses")
	if responses.Kind() != '{' {
		responses = jsontext.Value(`{}`)
	}
	for name, v := range parley.Members(answers) {
		responses = mcp.SetMember(responses, name, v)
	}
	if !bytes.Equal(responses, []byte(`{}`)) {
		params = mcp.SetMember(params, "inputResponses", responses)
	}
	if original := parley.Member(held, "state"); original != nil {
		return mcp.SetMember(params, "requestState", original), nil
	}
	return mcp.DropMember(params, "requestState"), nil
}
