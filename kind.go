package parley

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxKind is the longest kind that the codec lets through, in bytes
// (section 2 of the contract).
const MaxKind = 2 << 10

// Kinds and types of kinds that the gateway knows.
const (
	TypeRequest  = "mcp/request"
	TypeResponse = "mcp/response"
	TypeProposal = "mcp/proposal"
	TypeReject   = "mcp/reject"
	TypeWithdraw = "mcp/withdraw"

	KindChat   = "chat"
	KindGrant  = "capability/grant"
	KindRevoke = "capability/revoke"

	KindKick          = "space/kick"
	KindRedact        = "space/redact"
	KindAcceptTool    = "space/accept-tool"
	KindRestartBridge = "space/restart-bridge"

	KindWelcome  = "system/welcome"
	KindPresence = "system/presence"
	KindError    = "system/error"
	KindAck      = "system/ack"
	KindNotice   = "system/notice"
)

// GatewayID is who sends every system/* envelope.
const GatewayID = "system:gateway"

// Kind says what an envelope is: TYPE[:METHOD[:SUBJECT]], split at the first
// two colons (section 3 of the contract). SUBJECT is the rest, verbatim, and
// may hold colons and slashes of its own.
type Kind struct {
	Type    string
	Method  string
	Subject string
}

// SplitKind takes a kind apart without judging it. The parts alias s.
func SplitKind(s string) Kind {
	typ, rest, ok := strings.Cut(s, ":")
	if !ok {
		return Kind{Type: typ}
	}
	method, subject, _ := strings.Cut(rest, ":")
	return Kind{Type: typ, Method: method, Subject: subject}
}

// ParseKind takes a kind apart and refuses, with invalid_kind, what section 3
// refuses: empty parts, blanks, control characters, characters outside visible
// ASCII before SUBJECT, and unlisted types below the reserved prefixes.
func ParseKind(s string) (Kind, error) {
	k := SplitKind(s)
	if err := checkKindText(s, k); err != nil {
		return Kind{}, err
	}
	if err := checkKindType(k); err != nil {
		return Kind{}, err
	}
	return k, nil
}

// String puts the kind together again.
func (k Kind) String() string {
	switch {
	case k.Subject != "":
		return k.Type + ":" + k.Method + ":" + k.Subject
	case k.Method != "":
		return k.Type + ":" + k.Method
	default:
		return k.Type
	}
}

// As is the kind with another type: the request that a proposal stands for,
// the response to a request.
func (k Kind) As(typ string) Kind {
	k.Type = typ
	return k
}

// Redactable reports whether what an envelope of this effective kind said may be
// taken off the record (section 9 of the contract). What rights are made of
// stays, and so does what the gateway said: without it nobody could tell who was
// allowed what.
func (k Kind) Redactable() bool {
	for _, group := range [...]string{"capability/", "space/", "system/"} {
		if strings.HasPrefix(k.Type, group) {
			return false
		}
	}
	return true
}

// HasSubject reports whether METHOD names something, and so whether a SUBJECT
// means anything on it (tools/call does, tools/list does not).
func HasSubject(method string) bool {
	switch method {
	case "tools/call", "prompts/get", "resources/read", "resources/subscribe",
		"resources/unsubscribe", "completion/complete":
		return true
	}
	return false
}

func checkKindText(s string, k Kind) error {
	if s == "" {
		return Errorf(InvalidKind, "the kind is empty")
	}
	if !utf8.ValidString(s) {
		return Errorf(InvalidKind, "the kind is not valid UTF-8")
	}
	// A colon promises a part behind it.
	for i, part := range [...]string{k.Type, k.Method, k.Subject} {
		if part == "" && strings.Count(s, ":") >= i {
			return Errorf(InvalidKind, "%s is empty in kind %q", partNames[i], s)
		}
	}
	for _, part := range [...]string{k.Type, k.Method} {
		if strings.IndexFunc(part, notVisibleASCII) >= 0 {
			return Errorf(InvalidKind, "kind %q has a character that is not visible ASCII", s)
		}
	}
	if strings.IndexFunc(k.Subject, unicode.IsControl) >= 0 {
		return Errorf(InvalidKind, "kind %q has a control character", s)
	}
	return nil
}

var partNames = [...]string{"TYPE", "METHOD", "SUBJECT"}

func notVisibleASCII(r rune) bool { return r <= ' ' || r > '~' }

func checkKindType(k Kind) error {
	group, _, grouped := strings.Cut(k.Type, "/")
	if !grouped {
		return nil
	}
	switch group {
	case "mcp":
		switch k.Type {
		case TypeRequest, TypeResponse, TypeProposal, TypeReject, TypeWithdraw:
			if k.Method == "" {
				return Errorf(InvalidKind, "kind %q lacks a METHOD", k.String()).
					WithHint("write %s:METHOD, for example %s:tools/call", k.Type, k.Type)
			}
			return nil
		}
	case "capability":
		switch k.Type {
		case KindGrant, KindRevoke:
			return checkBare(k)
		}
	case "space":
		switch k.Type {
		case KindKick, KindRedact, KindAcceptTool, KindRestartBridge:
			return checkBare(k)
		}
	case "system":
		switch k.Type {
		case KindWelcome, KindPresence, KindError, KindAck, KindNotice:
			return checkBare(k)
		}
	default:
		return nil
	}
	return Errorf(InvalidKind, "%s/ has no kind %q", group, k.Type)
}

// checkBare refuses a METHOD where the contract gives none: a capability for
// "space/kick:x" would otherwise look narrower than what the envelope does.
func checkBare(k Kind) error {
	if k.Method != "" {
		return Errorf(InvalidKind, "%s takes no METHOD", k.Type)
	}
	return nil
}
