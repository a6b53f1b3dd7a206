// Markdown, as the text and the links that come of it. Templates are read as lit has
// them: strings and values.
async (load) => {
  const { markdown } = await load("base/markdown.js");
  const failures = [];
  const source = (t) => {
    if (Array.isArray(t)) return t.map(source).join("");
    if (t?.strings) return t.strings.reduce((all, s, i) => all + source(t.values[i - 1]) + s);
    return typeof t === "symbol" || t === undefined ? "" : String(t).replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  };
  const shown = (text) => source(markdown(text)).replace(/^<div class="markdown">|<\/div>$/g, "");
  const equal = (got, want, what) => {
    if (got !== want) failures.push(`${what}:\n got ${got}\nwant ${want}`);
  };
  const link = (href, words, target = "") => `<a href=${href} target="_blank" rel="noopener noreferrer">${words}</a>${target && ` <bdi class="target">${target}</bdi>`}`;
  for (const [text, want] of [
    ["a\nb\n\nc", "<p>a<br>b</p><p>c</p>"],
    ["# A *b* #\n## C", '<p class="h h1">A <em>b</em></p><p class="h h2">C</p>'],
    ["#hash and 3 * 4 * 5 and snake_case_name", "<p>#hash and 3 * 4 * 5 and snake_case_name</p>"],
    ["**bold _both_** ~~gone~~ \\*not\\*", "<p><strong>bold <em>both</em></strong> <s>gone</s> *not*</p>"],
    ["`a*b*` ``c`d`` `open", "<p><code>a*b*</code> <code>c`d</code> `open</p>"],
    ["- a\n- b\n  - c\n\n  d\n1. e", "<ul><li><p>a</p></li><li><p>b</p><ul><li><p>c</p></li></ul><p>d</p></li></ul><ol start=1><li><p>e</p></li></ol>"],
    ["7) a\n8) b", "<ol start=7><li><p>a</p></li><li><p>b</p></li></ol>"],
    ["> a\n> > b\nc", "<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote><p>c</p>"],
    ["```js\n<b>\n* x\n```\ny", '<pre class="block"><code>&lt;b>\n* x</code></pre><p>y</p>'],
    ["~~~\nopen", '<pre class="block"><code>open</code></pre>'],
    ["| a | b |\n|---|---|", '<pre class="block"><code>| a | b |\n|---|---|</code></pre>'],
    ["---", "<hr>"],
    // Links say where they lead, and lead nowhere else.
    ["see https://example.com/a?b=1.", `<p>see ${link("https://example.com/a?b=1", "https://example.com/a?b=1")}.</p>`],
    ["[docs](https://example.com/)", `<p>${link("https://example.com/", "docs", "https://example.com/")}</p>`],
    ["[https://bank.example](https://evil.example/)", `<p>${link("https://evil.example/", "https://bank.example", "https://evil.example/")}</p>`],
    ["[*bank*.example](https://bank.example@evil.example)", `<p>${link("https://bank.example@evil.example/", "<em>bank</em>.example", "https://bank.example@evil.example/")}</p>`],
    ["https://bücher.example", `<p>${link("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/")}</p>`],
    ["<mailto:ann@example.com>", `<p>${link("mailto:ann@example.com", "mailto:ann@example.com")}</p>`],
    ["[x](javascript:alert(1))", '<p>x <span class="quiet">(javascript:alert(1))</span></p>'],
    ["[x](data:text/html,<b>)", "<p>[x](data:text/html,&lt;b>)</p>"],
    ["[x]( JaVaScRiPt:alert(1) )", '<p>x <span class="quiet">(JaVaScRiPt:alert(1))</span></p>'],
    ["[x](//evil.example)", '<p>x <span class="quiet">(//evil.example)</span></p>'],
    ["![pixel](https://evil.example/p.png)", `<p>!${link("https://evil.example/p.png", "pixel", "https://evil.example/p.png")}</p>`.replace("<p>!", "<p>")],
    ["<img src=x onerror=alert(1)> <a href='x'>y</a>", "<p>&lt;img src=x onerror=alert(1)> &lt;a href='x'>y&lt;/a></p>"],
    ["[a [b](https://b.example)](https://c.example)", `<p>${link("https://b.example/", "a [b", "https://b.example/")}](${link("https://c.example/", "https://c.example/")})</p>`],
    ["a\u202eb\u200b", "<p>a⟨U+202E⟩b⟨U+200B⟩</p>"],
  ]) {
    equal(shown(text), want, JSON.stringify(text));
  }
  // What is there to be slow or deep ends, and nothing of it is lost without a word.
  for (const part of ["*a ", "**a", "_a", "`", "[", "[](", "![", "](", "<", "https://", "> ", "- ", "  - a\n", "1. ", "\\", "~~", "# ", "a\n\n", "|\n", "* * ", "[a](b", "***", "_ _", "``` ", "\n>\n", "("]) {
    const text = part.repeat(Math.ceil(20_000 / part.length));
    if (typeof shown(text) !== "string") failures.push(`${part} is not shown`);
  }
  const deep = shown("> ".repeat(500) + "end");
  if (!deep.includes("end") || deep.split("<blockquote>").length !== 7) failures.push("deep quotes: " + deep.slice(0, 300));
  return failures;
}
