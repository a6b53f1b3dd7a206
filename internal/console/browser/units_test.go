package browser

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// What needs no page runs in the browser, and in Node where there is one.
func TestUnits(t *testing.T) {
	files, err := filepath.Glob("testdata/units*.js")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	units := make(map[string]string)
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		units[file] = string(source[bytes.Index(source, []byte("async")):])
	}
	t.Run("browser", func(t *testing.T) {
		p := newPage(t, nil)
		p.visit("")
		p.do(chromedp.WaitVisible("#token"))
		for file, source := range units {
			for _, failure := range evaluate[[]string](p, "("+source+")((name) => import('/console/' + name))") {
				t.Errorf("%s: %s", file, failure)
			}
		}
	})
	if node, err := exec.LookPath("node"); err == nil {
		t.Run("node", func(t *testing.T) {
			static, err := filepath.Abs("../static")
			if err != nil {
				t.Fatal(err)
			}
			// The modules have the ending of scripts: Node is told what they are by a package.json.
			copied := t.TempDir()
			if err := os.CopyFS(copied, os.DirFS(static)); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(copied, "package.json"), []byte(`{"type":"module"}`), 0o600); err != nil {
				t.Fatal(err)
			}
			for file, source := range units {
				program := "const units = " + source + "\nfor (const f of await units((name) => import('file://" + copied + "/' + name))) { console.error(f); process.exitCode = 1; }"
				out, err := exec.CommandContext(t.Context(), node, "--input-type=module", "-e", program).CombinedOutput()
				if err != nil {
					t.Errorf("%s: %v\n%s", file, err, out)
				}
			}
		})
	}
}

// A hundred thousand rows: the list draws only what is seen.
func TestHundredThousandRows(t *testing.T) {
	p := newPage(t, nil)
	p.signIn("you")
	got := evaluate[map[string]float64](p, `(async () => {
		const { Store } = await import("/console/room/store.js");
		const { List } = await import("/console/room/list.js");
		const { roomRow } = await import("/console/base/row.js");
		const store = new Store({ maxRows: 100000 });
		let begun = performance.now();
		for (let seq = 1; seq <= 100000; seq++) store.add(JSON.stringify({ seq, id: "m" + seq, ts: "2026-01-02T09:00:00Z", from: "agent", kind: "chat", payload: { text: "message " + seq } }));
		const read = performance.now() - begun;
		const scroller = document.querySelector(".rows").cloneNode();
		document.querySelector(".stream").append(scroller);
		begun = performance.now();
		const list = new List(scroller, store, { row: roomRow, picked() {}, moved() {} });
		list.show({});
		const first = performance.now() - begun;
		let worst = 0;
		for (let i = 0; i < 50; i++) {
			scroller.scrollTop = (i * 7919 % 100) / 100 * scroller.scrollHeight;
			begun = performance.now();
			list.scrolled();
			scroller.getBoundingClientRect();
			worst = Math.max(worst, performance.now() - begun);
		}
		begun = performance.now();
		list.show({ q: "99999" });
		const filtered = performance.now() - begun;
		return { read, first, worst, filtered, drawn: scroller.querySelectorAll(".row").length, found: list.view.length };
	})()`)
	t.Logf("100,000 rows in milliseconds: %v", got)
	if got["found"] != 1 || got["drawn"] != 1 {
		t.Errorf("a filter found %v and drew %v", got["found"], got["drawn"])
	}
	if got["worst"] > 500 { // 16 on a machine with nothing else to do
		t.Errorf("one scroll took %v ms", got["worst"])
	}
}
