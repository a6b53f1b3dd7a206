package console

import (
	"net/http"
	"strings"
)

// contentPolicy is all that the pages need. There is no unsafe-inline, so that
// markup that slips into a page runs nothing and looks like nothing.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// features are those of a browser that the pages never use, switched off.
var features = func() string {
	var off []string
	for _, name := range []string{
		"accelerometer", "autoplay", "camera", "display-capture", "encrypted-media", "fullscreen", "geolocation",
		"gyroscope", "magnetometer", "microphone", "midi", "payment", "publickey-credentials-get", "usb",
	} {
		off = append(off, name+"=()")
	}
	return strings.Join(off, ", ")
}()

// secure tells a browser what a page of ours may do.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("Permissions-Policy", features)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-DNS-Prefetch-Control", "off") // whoever posts a link is not told who looks at it
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}
