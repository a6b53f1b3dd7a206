package browser

import (
	"fmt"

	"github.com/chromedp/chromedp"
)

// click clicks an element that can be seen, with the keyboard's focus following as it
// does with a mouse. It looks and clicks at one moment: between the two a real mouse
// finds that the page has moved.
func click(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.Poll[chromedp.Void](fmt.Sprintf(`(() => {
		const e = document.querySelector(%q);
		if (!e || e.matches(":disabled")) return false;
		e.scrollIntoView({ block: "nearest", inline: "nearest" });
		const { left, top, width, height } = e.getBoundingClientRect();
		const hit = document.elementFromPoint(left + width / 2, top + height / 2);
		if (!hit || !(e.contains(hit) || hit.contains(e))) return false;
		(e.closest("a[href], button, input, select, textarea, summary, [tabindex]") ?? document.activeElement).focus({ preventScroll: true });
		e.click();
		return true;
	})()`, selector), pollingInterval, patiently)
}
