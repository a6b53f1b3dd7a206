package browser

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// From "parley up" to a file that was approved and written, and a record that is
// verified: open the link, and two clicks for each.
func TestNewcomer(t *testing.T) {
	needBrowser(t)
	binary, folder := filepath.Join(t.TempDir(), "parley"), t.TempDir()
	if out, err := exec.Command("go", "build", "-C", "../../..", "-o", binary, "./cmd/parley").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	up := exec.CommandContext(t.Context(), binary, "up", "--data", folder, "--listen", "127.0.0.1:0")
	up.WaitDelay = patience
	up.Cancel = func() error { return up.Process.Signal(os.Interrupt) }
	out, err := up.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := up.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = up.Wait() }) // it was interrupted
	link := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if found := regexp.MustCompile(`http://\S+#code=\S+`).FindString(lines.Text()); found != "" {
				link <- found
			}
		}
	}()

	p := newPageAt(t, nil)
	p.do(chromedp.Navigate(receive(t, link)))
	p.live()
	p.do(click("#review"))
	p.until("document.querySelector('#confirm[aria-disabled=false]')")
	p.picture("newcomer")
	p.do(click("#confirm"))
	p.until("document.querySelector('.row.proposal .badge.good')")
	written, err := os.ReadFile(filepath.Join(folder, "files", "hello.txt"))
	if err != nil || !strings.HasPrefix(string(written), "Hello!") {
		t.Errorf("%q, %v", written, err)
	}
	p.picture("newcomer-done")
	p.do(click(".side button.verified"))
	p.verify("#verify", "nothing was edited, cut out or moved")
	p.picture("newcomer-verified")
	p.closeDialog()
	p.until("document.querySelector('.side button.verified.good')?.innerText.includes('verified up to')")
}
