package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// compareHead holds the chain against a head, and waits for what is said of it.
func (p *page) compareHead(head, verdict string) {
	p.t.Helper()
	p.fill("input[name=head]", head)
	p.press(".compare button")
	p.until(fmt.Sprintf("document.querySelector('dialog').innerText.includes(%q)", verdict))
	p.until("!document.querySelector('#verify-stop') && document.querySelector('.compare button:enabled')")
}

// alteredHead is a head with another hash.
func alteredHead(head string) string {
	last := "0"
	if strings.HasSuffix(head, "0") {
		last = "1"
	}
	return head[:len(head)-1] + last
}

// verifying is a page with the dialog of the chain, and the head that it shows.
func verifying(t *testing.T) (p *page, head string) {
	p = busy(t)
	agent := p.join("agent")
	for i := range 5 {
		p.chat(agent, fmt.Sprintf("message %d", i))
	}
	p.signIn("you")
	p.visit("?page=search")
	p.press("button.verified")
	p.verify("#verify", "nothing was edited")
	p.until("document.querySelector('code.head')")
	return p, evaluate[string](p, "document.querySelector('code.head').innerText")
}

// What cannot be a head is told as that, with what is wrong with it.
func TestNoHead(t *testing.T) {
	p, head := verifying(t)
	index, rest, _ := strings.Cut(head, ":")
	seq, hash, _ := strings.Cut(rest, ":")
	for given, wrong := range map[string]string{
		"111":                                    "paste INDEX:SEQ:HASH",
		hash:                                     "paste INDEX:SEQ:HASH",
		head[:len(head)-1]:                       "its HASH has 63 digits, and every hash has 64",
		head + "0":                               "its HASH has 65 digits",
		head[:len(head)-1] + "o":                 "its HASH holds something else than the digits 0 to 9 and a to f",
		"0" + head:                               "without zeros in front",
		index + ":9" + index + ":" + hash:        "it counts more messages (SEQ 9" + index + ") than records (INDEX " + index + ")",
		seq + " " + index + " " + hash:           "paste INDEX:SEQ:HASH",
		`{"head":"` + head[1:len(head)-1] + `"}`: "This is not the head of a chain: ",
	} {
		p.compareHead(given, wrong)
		p.until("document.querySelector('dialog .problem')?.innerText.startsWith('This is not the head of a chain: ')")
	}
	p.until("document.querySelector('dialog .outcome.good')") // of what was verified before
}

// A head that can be one, and is not this chain's, may have been mistyped: it is not
// told as a chain that breaks.
func TestOtherHead(t *testing.T) {
	p, head := verifying(t)
	differs := func(head string, said ...string) {
		t.Helper()
		p.compareHead(head, said[0])
		text := evaluate[string](p, "document.querySelector('dialog .verify [role=status]').innerText")
		for _, part := range said {
			contains(t, text, part)
		}
		if evaluate[bool](p, "!!document.querySelector('button.verified.bad') || document.querySelector('dialog').innerText.includes('The chain breaks')") {
			t.Errorf("%s is told as a broken chain", head)
		}
	}
	index, rest, _ := strings.Cut(head, ":")
	differs(alteredHead(head), "At record "+index+" the chain is not the one of your head.",
		"Either the head was mistyped, or something up to there was edited", alteredHead(head), head)
	p.picture("other-head")
	p.keys(kb.Escape)
	p.until("!document.querySelector('dialog') && document.querySelector('button.verified.warn')?.innerText.includes('differs from a head')")
	p.visit("?page=search")
	p.until("document.querySelector('button.verified.warn')") // which is not forgotten
	p.press("button.verified")
	p.until("document.querySelector('dialog[open] code.head')")
	differs("9999"+head, "and the chain ends at record ", "Either the head was mistyped, or the end of the chain was cut off", "9999"+head)
	seq, hash, _ := strings.Cut(rest, ":")
	differs(index+":1:"+hash, "Your head says 1 messages up to record "+index+", and there are "+seq+".", "SEQ was mistyped")
	p.compareHead(head, "It agrees with the head that was noted.")
	differs(alteredHead(head), "At record "+index)
	p.verify("#verify", "nothing was edited, cut out or moved")
	p.until("document.querySelector('button.verified.good')")
}

// A record whose own head is another is broken: nobody typed that one.
func TestOwnHeadDiffers(t *testing.T) {
	p := busy(t)
	p.chat(p.join("agent"), "hello")
	p.manipulated(func(journal string) string {
		at := strings.LastIndex(journal, `"head":"`) + len(`"head":"`)
		end := at + strings.Index(journal[at:], `"`)
		return journal[:at] + alteredHead(journal[at:end]) + journal[end:]
	})
	p.signIn("you")
	p.visit("?page=search")
	p.press("button.verified")
	p.verify("#verify", "The chain breaks at ")
	p.until("document.querySelector('button.verified.bad')")
}
