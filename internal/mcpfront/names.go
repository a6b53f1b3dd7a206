package mcpfront

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxName is how long a tool's or prompt's name may be in the shared endpoint:
// what every client takes.
const maxName = 64

// sharedName is what a server's tool or prompt is called in the shared endpoint:
// PARTICIPANT__NAME. Where that is too long, or has characters that some client
// refuses, it is cut to size and a hash of both names makes it one of a kind and
// the same in every run.
func sharedName(server, name string) string {
	plain := server + "__" + name
	if len(plain) <= maxName && name != "" && strings.IndexFunc(plain, isOdd) < 0 {
		return plain
	}
	sum := sha256.Sum256([]byte(server + "\x00" + name))
	tail := "_" + hex.EncodeToString(sum[:4])
	var b strings.Builder
	for _, r := range plain {
		if b.Len() == maxName-len(tail) {
			break
		}
		if isOdd(r) {
			r = '_'
		}
		b.WriteRune(r)
	}
	return b.String() + tail
}

func isOdd(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-')
}

// uriPrefix begins the URIs of the shared endpoint: parley://SERVER/URI.
const uriPrefix = "parley://"

func sharedURI(server, uri string) string { return uriPrefix + server + "/" + uri }

// splitURI takes a URI of the shared endpoint apart.
func splitURI(shared string) (server, uri string, ok bool) {
	rest, ok := strings.CutPrefix(shared, uriPrefix)
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, "/")
}
