// The text format of Prometheus, also as nobody should write it, and what is computed.
async (load) => {
  const { buckets, by, ceiling, increase, parse, quantile, select, sum } = await load("health/metrics.js");
  const failures = [];
  const equal = (got, want, what) => {
    if (JSON.stringify(got) !== JSON.stringify(want)) failures.push(`${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
  };
  const near = (got, want, what) => {
    if (!(Math.abs(got - want) < 1e-9)) failures.push(`${what}: got ${got}, want ${want}`);
  };

  const figures = parse(String.raw`# HELP a_total Counts {things="x"} 7.
# TYPE a_total counter
a_total{space="demo",code="x"} 3
a_total{space="demo",code="y"} 4 1395066363000
a_total{space="other",code="x"} 100
b 1.5e3
c{le="+Inf"} +Inf
c NaN
d{t="a \"quoted\" } 9, \\ back\nslash"} 2
d{__proto__="x",constructor="y"} 1
d{t="no end} 5
d{t=unquoted} 5
d{t="x" 5
d 
d x
d 0x
{t="nameless"} 5
e{} 6
e{ t = "blanks" , } 7
1bad 5

f{t="</script><img src=x>"} 1`);
  equal([...figures.keys()], ["a_total", "b", "c", "d", "e", "f"], "names");
  equal(sum(figures, "a_total", { space: "demo" }), 7, "a sum");
  equal(sum(figures, "a_total"), 107, "all");
  equal(sum(figures, "none"), undefined, "of nothing");
  equal([...by(figures, "a_total", "code", { space: "demo" })], [["x", 3], ["y", 4]], "by label");
  equal(sum(figures, "b"), 1500, "an exponent");
  equal(figures.get("c").map((s) => String(s.value)), ["Infinity", "NaN"], "no numbers");
  equal(select(figures, "d").map((s) => s.value), [2, 1], "what is broken is left out");
  equal(figures.get("d")[0].labels.get("t"), 'a "quoted" } 9, \\ back\nslash', "escapes");
  equal([...figures.get("d")[1].labels], [["__proto__", "x"], ["constructor", "y"]], "names that objects have");
  equal(figures.get("e").map((s) => s.value), [6, 7], "braces with nothing, and with blanks");
  equal(figures.get("f")[0].labels.get("t"), "</script><img src=x>", "text");
  equal([...parse("a 1\nb 2", (name) => name === "b").keys()], ["b"], "only what is wanted");
  equal(parse("a 1\n".repeat(30_000)).get("a").length, 20_000, "bounded");
  equal(parse('a{t="' + "\\\\".repeat(200_000) + '"} 1').get("a").length, 1, "a long label");
  equal([...parse("")], [], "nothing");

  equal(increase(5, 9), 4, "grown");
  equal(increase(9, 5), 5, "began anew");
  equal(increase(undefined, 5), 5, "first");
  equal(increase(5, undefined), undefined, "gone");

  const histogram = (...counts) => parse(["0.001", "0.01", "0.1", "+Inf"].map((le, i) => `h_bucket{le="${le}",space="demo"} ${counts[i]}`).join("\n"));
  const read = (...counts) => buckets(histogram(...counts), "h", { space: "demo" });
  near(quantile(0.5, [], read(10, 20, 20, 20)), 0.001, "at a bound");
  near(quantile(0.75, [], read(10, 20, 20, 20)), 0.0055, "within a bucket");
  near(quantile(0.5, read(100, 100, 100, 100), read(100, 110, 110, 110)), 0.0055, "of what came since");
  near(quantile(0.5, read(100, 100, 100, 100), read(2, 2, 2, 2)), 0.0005, "began anew");
  near(quantile(0.99, [], read(0, 0, 0, 5)), 0.1, "beyond the last bound");
  equal(quantile(0.5, read(1, 2, 3, 4), read(1, 2, 3, 4)), undefined, "nothing came");
  equal(quantile(0.5, [], []), undefined, "no histogram");
  const unordered = buckets(parse('h_bucket{le="+Inf"} 4\nh_bucket{le="1"} 2\nh_bucket{le="x"} 9'), "h");
  equal(unordered.map((b) => [String(b.le), b.count]), [["1", 2], ["Infinity", 4]], "in order");

  equal([0, 0.0007, 0.9, 1, 1.1, 3, 41, 99, 100, 101, 12345, NaN, Infinity].map(ceiling), [1, 0.001, 1, 1, 2, 4, 50, 100, 100, 200, 20000, 1, 1], "ends of axes");
  return failures;
}
