// Editing JSON by hand: what is wrong with it, how it differs, and line by line.
async (load) => {
  const { compact, differences, pathText, place, problem, withMember } = await load("base/json_text.js");
  const { diff, hunks, paired, parts } = await load("approvals/diff.js");
  const { hints } = await load("approvals/schema_hints.js");
  const { escaped } = await load("base/text.js");
  const { indent } = await load("base/raw.js");
  const failures = [];
  const equal = (got, want, what) => {
    if (JSON.stringify(got) !== JSON.stringify(want)) failures.push(`${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
  };

  { // What is JSON, and what is not: as the browser's own parser has it.
    const good = ["1", "-0.5e+10", '"a\\u0041\\n\\/"', "[]", "{}", " [1 , {\"a\" : [ ] } , null]\n", '{"a":{"b":true},"c":false}', '"\\ud83d\\ude00"', '"😀"', '{"__proto__":1}', "12345678901234567890"];
    const bad = ["", " ", "01", "+1", ".5", "1.", "1e", "-", "nul", "nulll", "tru", "1 2", "[1,]", "[,1]", "[1 2]", "[1", "{", "[", '{"a"}', '{"a":}', '{"a":1,}', '{a:1}', "{'a':1}", '{"a":1 "b":2}', '"a', '"a\nb"', '"\\x"', '"\\u12"', '"\t"', "]", "}", "[}", "{]", "[1}", "NaN", "// x\n1", '"\\', '{"a":1]'];
    for (const text of good) equal(problem(text), undefined, `${text} is right`);
    for (const text of bad) {
      if (!problem(text)) failures.push(`${JSON.stringify(text)} passes`);
      try {
        JSON.parse(text);
        failures.push(`the parser takes ${text}`);
      } catch {
        // as it should
      }
    }
    // Any text with one character less or another one is judged as the parser does.
    const seed = '{"a":[1.5,-2e3,"x\\u00e9\\n"],"b":{"c":null,"d":true},"e":""}';
    for (let i = 0; i < seed.length; i++) {
      for (const c of ["", '"', "{", "}", "[", "]", ",", ":", "1", "\\", " ", "u"]) {
        const text = seed.slice(0, i) + c + seed.slice(i + 1);
        let parses = true;
        try {
          JSON.parse(text);
        } catch {
          parses = false;
        }
        const found = problem(text);
        const own = found && /twice|surrogate/.test(found.message); // stricter, as the gateway is
        if (!own && parses !== !found) failures.push(`${text}: parses ${parses}, said ${JSON.stringify(found)}`);
      }
    }
  }
  { // Where, and what the gateway refuses beyond the parser.
    const said = (text, depth) => {
      const found = problem(text, depth);
      const { line, column } = place(text, found.at);
      return `${line}:${column} ${found.message}`;
    };
    equal(said('{\n  "a": 1\n  "b": 2\n}'), "3:3 a comma or } is expected", "a comma");
    equal(said('{\n  "a": 1,\n}'), "3:1 no comma may stand before }", "a comma too many");
    equal(said('{"a":1,"\\u0061":2}'), "1:8 this name stands twice in one object", "twice");
    equal(said('["\\ud800x"]'), "1:8 half of a surrogate pair stands alone here", "half");
    equal(said('["a\nb"]').startsWith("1:4 this string is not closed on its line"), true, "a break in a string");
    equal(said("[[[]]]", 2), "1:3 this is nested more than 2 deep", "deep");
    equal(said('{"a": [1, 2}'), "1:12 a comma or ] is expected", "crossed");
    equal(said("[1] x"), "1:5 nothing may follow here", "behind");
    equal(problem("[".repeat(200_000)).message, "this is nested more than 100 deep", "very deep");
  }
  { // Nothing that was not edited changes.
    const text = '{"n":12345678901234567890.0100,"s":"a\\u0041 : , {","e":{},"l":[ ],"x":1E+2}';
    equal(compact(indent(text)), text.replace("[ ]", "[]"), "there and back");
    equal(withMember('{"name":"w", "arguments" : {"a":1} ,"_meta":{"n":1.0}}', "arguments", '{"a":2}'), '{"name":"w", "arguments" : {"a":2} ,"_meta":{"n":1.0}}', "one member");
    equal(withMember('{"name":"w"}', "arguments", "{}"), '{"name":"w","arguments":{}}', "a member more");
    equal(withMember("{ }", "arguments", "1"), '{ "arguments":1}', "the first member");
    equal(withMember('{"\\u0061":1}', "a", "2"), '{"\\u0061":2}', "an escaped name");
    equal(escaped('"a\u202e\u200b😀👩\u200d💻\u{e0041}"'), '"a\\u202e\\u200b😀👩\u200d💻\\udb40\\udc41"', "hidden characters");
    equal(JSON.parse(escaped('"\u{e0041}"')), "\u{e0041}", "the same value");
  }
  { // Differences as values.
    const differ = (a, b, most) => differences(a, b, most).map(({ path, a, b }) => `${pathText(path)}: ${a} ${b}`);
    equal(differ('{"a":1,"b":[1,2]}', '{ "b" : [1, 2.0], "a": 10e-1 }'), [], "spelled differently");
    equal(differ('"\\u0041/"', '"A\\/"'), [], "strings too");
    equal(differ("12345678901234567890", "12345678901234567891"), [": 12345678901234567890 12345678901234567891"], "big integers");
    equal(differ("1e400", "1e401"), [": 1e400 1e401"], "beyond any float");
    equal(differ("-0", "0"), [], "zero");
    equal(differ("100", "1e2"), [], "powers");
    equal(differ('{"a":{"b c":[1,{"d":2}]},"e":1}', '{"a":{"b c":[1,{"d":3}],"f":1}}'), ['a["b c"][1].d: 2 3', "a.f: undefined 1", "e: 1 undefined"], "where");
    equal(differ("[1,2,3]", "[1]", 1), ["[1]: 2 undefined"], "at most");
    equal(differ("[]", "{}"), [": [] {}"], "of another type");
    equal(differ("null", "false"), [": null false"], "words");
  }
  { // Line by line.
    const told = (a, b) => diff(a.join("\n"), b.join("\n")).map((l) => l.sign + l.text).join("|");
    equal(told(["a", "b", "c"], ["a", "c"]), " a|-b| c", "removed");
    equal(told(["a", "c"], ["a", "b", "c"]), " a|+b| c", "added");
    equal(told(["a", "b", "c"], ["a", "x", "c"]), " a|-b|+x| c", "changed");
    equal(told(["a"], ["b"]), "-a|+b", "all");
    equal(told(["a", "b", "c", "d"], ["b", "c", "x", "d", "e"]), "-a| b| c|+x| d|+e", "several");
    // Whatever it says, the lines of both texts are in it in order; and it is short.
    let state = 7;
    const random = (n) => (state = (state * 1103515245 + 12345) % 2147483648) % n;
    for (let round = 0; round < 300; round++) {
      const a = Array.from({ length: 1 + random(12) }, () => "abc"[random(3)]);
      const b = Array.from({ length: 1 + random(12) }, () => "abc"[random(3)]);
      const lines = diff(a.join("\n"), b.join("\n"));
      const side = (skip, n) => lines.filter((l) => l.sign !== skip).map((l) => [l.text, l[n]]);
      equal(side("+", "a"), a.map((l, i) => [l, i + 1]), "the old text");
      equal(side("-", "b"), b.map((l, i) => [l, i + 1]), "the new text");
      const longest = a.map(() => b.map(() => 0));
      a.forEach((x, i) => b.forEach((y, j) => (longest[i][j] = x === y ? 1 + (longest[i - 1]?.[j - 1] ?? 0) : Math.max(longest[i - 1]?.[j] ?? 0, longest[i]?.[j - 1] ?? 0))));
      equal(lines.filter((l) => l.sign === " ").length, longest.at(-1).at(-1), `the shortest: ${a} ${b}`);
    }
    const many = Array.from({ length: 40_000 }, (_, i) => "line " + i);
    const other = many.map((l, i) => (i % 3 ? l : l + "!"));
    equal(diff(many.join("\n"), other.join("\n")).length > 40_000, true, "very many changes");
    const found = hunks(diff(many.join("\n"), many.map((l, i) => (i === 100 || i === 30_000 ? "new" : l)).join("\n")));
    equal(found.map((h) => [h.skipped, h.lines.length]), [[97, 8], [29_893, 8], [9_996, 0]], "hunks");
    equal(paired(diff("a\nb\nc", "x\ny\nc").slice()).map((l) => l.other), ["x", "y", "a", "b", undefined], "pairs");
    equal(parts('"one two"', '"one 2"'), ['"one ', "two", '"'], "parts");
    equal(parts("aaa", "aa"), ["aa", "a", ""], "no overlap");
    equal(parts("x😀", "x😁"), ["x", "😀", ""], "not within a pair");
    equal(parts('"a\\n"', '"a\\t"'), ['"a', "\\n", '"'], "not within an escape");
  }
  { // Slips against a schema.
    const schema = { type: "object", required: ["path", "mode"], additionalProperties: false, properties: { path: { type: "string" }, mode: { enum: ["a", "b"] }, n: { type: ["integer", "null"] }, list: { type: "array", items: { type: "number" } } } };
    equal(hints(schema, { path: "x", mode: "a", n: 3, list: [1] }), [], "as it should be");
    equal(hints(schema, { path: 1, mode: "c", n: 1.5, list: [1, "x"], z: 0 }), [
      "path should be a string, and is a number", 'mode should be one of "a", "b"', "n should be an integer or null, and is a number", "list[1] should be a number, and is a string", "z is not known to the tool",
    ], "slips");
    equal(hints(schema, []), ["the whole should be an object, and is an array"], "another type");
    equal(hints(schema, {}), ["path is required, and is missing", "mode is required, and is missing"], "missing");
    const circle = { properties: {} };
    circle.properties.a = circle;
    for (const odd of [null, 1, [], { type: {} }, { required: 1, properties: [], enum: {} }, { required: [null], properties: null }, circle]) hints(odd, { a: { a: {} } });
    equal(hints({ required: Array.from({ length: 500 }, (_, i) => "f" + i) }, {}).length, 8, "a few");
  }
  return failures;
}
