package syntax

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func parse(t testing.TB, l Language, src string) *File {
	t.Helper()
	f, err := Parse(t.Context(), l, "", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// outline is what the model has, a line for each thing.
func outline(f *File) string {
	var b strings.Builder
	for _, i := range f.Imports {
		fmt.Fprintf(&b, "%s %s %v as %q: %v\n", i.Kind, i.Path, i.Names, i.Alias, i.Locals)
	}
	for _, v := range f.Variables {
		fmt.Fprintf(&b, "variable %s %d-%d\n", v.Name, v.Whole.Line, v.Whole.EndLine)
	}
	for _, c := range f.Classes {
		fmt.Fprintf(&b, "%s %s %v %d-%d of %d-%d%s\n", c.Kind, c.Qualified, c.Bases, c.Span.Line, c.Span.EndLine, c.Whole.Line, c.Whole.EndLine, mark(c.Documented, " documented"))
	}
	for _, fn := range f.Functions {
		fmt.Fprintf(&b, "%s %q of %q %d-%d of %d-%d (%s) %d/%d%s%s\n", fn.Kind, fn.Qualified, fn.Receiver, fn.Span.Line, fn.Span.EndLine, fn.Whole.Line, fn.Whole.EndLine,
			strings.Join(fn.Parameters, ", "), fn.Cyclomatic, fn.Cognitive, mark(fn.Documented, " documented"), mark(fn.Async, " async"))
	}
	for _, e := range f.Errors {
		fmt.Fprintf(&b, "error %d:%d %s\n", e.Line, e.Column, e.Message)
	}
	fmt.Fprintf(&b, "lines %d = %d code + %d comment + %d blank\n", f.Lines.Total, f.Lines.Code, f.Lines.Comment, f.Lines.Blank)
	return b.String()
}

func mark(b bool, text string) string {
	if b {
		return text
	}
	return ""
}

func check(t *testing.T, l Language, src, want string) {
	t.Helper()
	if got := outline(parse(t, l, strings.TrimPrefix(src, "\n"))); got != strings.TrimPrefix(want, "\n") {
		t.Errorf("%s: got\n%s\nwant\n%s", l, got, want)
	}
}

func TestPython(t *testing.T) {
	check(t, Python, `
"""What the module is."""
from __future__ import annotations
import os.path, sys as system
from . import near
from ..far import (a as b, c)
from everything import *

# The answer.
ANSWER = 42
x, (y, z) = 1, (2, 3)
os.environ = {}

# Stands alone.

# Reads things.
@decorate
class Reader(Base, metaclass=Meta):
    """Reads."""

    @property
    def size(self): return 1

    async def read(self, n: int = 1, *rest, key=None, **more) -> bytes:
        '''Reads n.

        And more.'''
        async with self.lock:
            for i in range(n):
                if i and not n or i > 3:   # event
                    continue
                elif i:
                    pass
                else:
                    pass
        return b"".join(c for c in rest if c if not n)

def outer():
    def inner(x):
        return x if x else inner
    try:
        match inner:
            case 1 | 2 if ANSWER: pass
            case [_, *_]: pass
            case _: pass
    except (A, B) as e:
        while True: break
        else: pass
    else:
        pass
    cut = lambda v: v and (v and v)
    return cut
`, `
from __future__ [{annotations }] as "": [annotations]
import os.path [] as "": [os]
import sys [] as "system": [system]
from . [{near }] as "": [near]
from ..far [{a b} {c }] as "": [b c]
from everything [{* }] as "": []
variable ANSWER 8-9
variable x 10-10
variable y 10-10
variable z 10-10
class Reader [Base metaclass=Meta] 17-35 of 15-35 documented
getter "Reader.size" of "Reader" 21-21 of 20-21 (self) 1/0
method "Reader.read" of "Reader" 23-35 of 23-35 (self, n: int = 1, *rest, key=None, **more) 9/7 documented async
function "outer" of "" 37-51 of 37-51 () 6/8
function "outer.inner" of "" 38-39 of 38-39 (x) 2/1
lambda "outer.cut" of "" 50-50 of 50-50 (v) 3/1
lines 51 = 37 code + 7 comment + 7 blank
`)
}

func TestGo(t *testing.T) {
	check(t, Go, `
// Package p is one.
package p

import (
	"net/http"
	yaml "gopkg.in/yaml.v3"
	_ "embed"
	"example.org/go-thing/v2"
)

// Most is the most.
const Most, Least = 3, 1

var (
	// One is first.
	One = 1
	two = func() int { return 2 }
)

// T is a thing.
type T[K any] struct {
	*http.Client
	n int
}

type (
	I interface{ http.Handler; M() }
	N int
	A = N
)

/* M does it. */
func (t *T[K]) M(a, b int, rest ...string) (err error) {
outer:
	for i := range a {
		switch {
		case a > 1 && b > 1 && i > 1 || a == 0:
			continue outer
		case b > 1:
		default:
			if err != nil {
				return
			} else if b == 1 {
				b++
			} else {
				b--
			}
		}
	}
	f := func() { if a > 0 { b = 1 } }
	f()
	select {
	case <-c:
	default:
	}
	return nil
}

func bodyless()
`, `
import net/http [] as "": [http]
import gopkg.in/yaml.v3 [] as "yaml": [yaml]
import embed [] as "_": []
import example.org/go-thing/v2 [] as "": [thing]
variable Most 11-12
variable Least 11-12
variable One 15-16
variable two 17-17
struct T [*http.Client] 21-24 of 20-24 documented
interface I [http.Handler] 27-27 of 27-27
type N [] 28-28 of 28-28
alias A [] 29-29 of 29-29
lambda "two" of "" 17-17 of 17-17 () 1/0
method "T.M" of "*T" 33-57 of 32-57 (a int, b int, rest ...string) 10/14 documented
lambda "T.M.f" of "" 50-50 of 50-50 () 2/1
lines 59 = 47 code + 5 comment + 7 blank
`)
}

func TestJavaScript(t *testing.T) {
	check(t, JavaScript, `
#!/usr/bin/env node
import fs, { readFile as read, stat } from 'fs';
import * as path from "path";
import './side.js';
export * from './all.js';
export { one, two as deux } from './some.js';
const express = require('express'), { a, b: c } = require("x");
const lazy = () => import('./late.js');

/**
 * Says it.
 */
export default async function say(what, { loud } = {}, ...rest) {
  if (loud) return;
  else if (what) what();
  else for (const x of rest) x ? 1 : 2;
  try { await a; } catch { a ||= b; } finally { }
}

// Grows.
class Plant extends Living {
  static count = 0;
  #grow = () => { while (1) do { break } while (0) };
  constructor() { super(); }
  get size() { return this.a ?? this.b }
  set size(v) {}
  static async *leaves() { label: for (;;) { continue label; } }
}

Plant.prototype.bloom = function () { switch (this.x) { case 1: case 2: break; default: } };
exports.wilt = exports.die = function wilt() {};
const api = { get() {}, 'post': (x) => x && (x && x) || x, put: function put() {} };
[].map(function () { return () => 1 });
const Rose = class extends Plant {};
`, `
import fs [{default fs} {readFile read} {stat }] as "": [fs read stat]
import path [{* path}] as "path": [path]
import ./side.js [] as "": []
reexport ./all.js [{* }] as "": []
reexport ./some.js [{one } {two deux}] as "": []
require express [] as "express": [express]
require x [{a } {b c}] as "": [a c]
dynamic ./late.js [] as "": []
variable express 7-7
variable a 7-7
variable c 7-7
variable lazy 8-8
variable api 32-32
variable Rose 34-34
class Plant [Living] 21-28 of 20-28
class Rose [Plant] 34-34 of 34-34
arrow "lazy" of "" 8-8 of 8-8 () 1/0
function "say" of "" 13-18 of 10-18 (what, { loud } = {}, ...rest) 7/10 documented async
arrow "Plant.#grow" of "Plant" 23-23 of 23-23 () 3/3
constructor "Plant.constructor" of "Plant" 24-24 of 24-24 () 1/0
getter "Plant.size" of "Plant" 25-25 of 25-25 () 2/1
setter "Plant.size" of "Plant" 26-26 of 26-26 (v) 1/0
method "Plant.leaves" of "Plant" 27-27 of 27-27 () 2/2 async
method "Plant.bloom" of "Plant" 30-30 of 30-30 () 3/1
function "exports.die" of "exports" 31-31 of 31-31 () 1/0
method "api.get" of "api" 32-32 of 32-32 () 1/0
arrow "api.post" of "api" 32-32 of 32-32 (x) 4/2
function "api.put" of "api" 32-32 of 32-32 () 1/0
function "" of "" 33-33 of 33-33 () 1/0
arrow "" of "" 33-33 of 33-33 () 1/0
lines 34 = 27 code + 4 comment + 3 blank
`)
}

func TestTypeScript(t *testing.T) {
	check(t, TypeScript, `
import type { Thing } from "./thing";
import old = require("old");

/** Is done. */
export interface Doing<T> extends Base, Other<T> { run(): void }
export enum Colour { Red }
type Pair = [number, number];
declare function outside(x: number): string;
export abstract class Worker<T> extends Human implements Doing<T> {
  private handler = async (e: Event): Promise<void> => { if (e) {} };
  constructor(private readonly x: number, y?: string) { super() }
  abstract later(): void;
  run(): void;
  run(n?: number): void { for (const k in this) n! > 1 && k; }
}
export const f = <T,>(x: T) => x as unknown as number;
`, `
import ./thing [{Thing }] as "": [Thing]
require old [] as "old": [old]
variable f 16-16
interface Doing [Base Other<T>] 5-5 of 4-5 documented
enum Colour [] 6-6 of 6-6
alias Pair [] 7-7 of 7-7
class Worker [Human Doing<T>] 9-15 of 9-15
arrow "Worker.handler" of "Worker" 10-10 of 10-10 (e: Event) 2/1 async
constructor "Worker.constructor" of "Worker" 11-11 of 11-11 (private readonly x: number, y?: string) 1/0
method "Worker.run" of "Worker" 14-14 of 14-14 (n?: number) 3/2
arrow "f" of "" 16-16 of 16-16 (x: T) 1/0
lines 16 = 14 code + 1 comment + 1 blank
`)
	check(t, TSX, "export const App = ({ who }: Props) => <b title={who && 'x'}>{who ? <i/> : null}</b>;\n", `
variable App 1-1
arrow "App" of "" 1-1 of 1-1 ({ who }: Props) 3/2
lines 1 = 1 code + 0 comment + 0 blank
`)
}

func TestDecorators(t *testing.T) {
	for _, l := range []Language{JavaScript, TypeScript} {
		check(t, l, `
/** Is decorated. */
@Dec({a: 1})
export class A {
  @Input() x = 1;
  // Is told.
  @On('x')
  @B
  async m() {}
  n() {}
}
@C class D {}
`, `
class A [] 3-10 of 1-10 documented
class D [] 11-11 of 11-11
method "A.m" of "A" 8-8 of 5-8 () 1/0 async
method "A.n" of "A" 9-9 of 9-9 () 1/0
lines 11 = 9 code + 2 comment + 0 blank
`)
		if got := parse(t, l, "class A {\n @B\n m(x) {}\n}").Functions[0].Signature; got != "m(x)" {
			t.Errorf("%s: the signature is %q", l, got)
		}
	}
}

// An error in the middle costs no more than what it is in.
func TestSyntaxErrorsInTheMiddle(t *testing.T) {
	for l, src := range map[Language]string{
		Python:     "def a():\n    return 1\n\ndef b():\n    secret = = 2\n\ndef c():\n    if x: pass\n",
		Go:         "package p\n\nfunc a() {}\n\nfunc b() {\n\tsecret = = 2\n}\n\nfunc c() { if x {} }\n",
		JavaScript: "function a() {}\n\nfunction b() {\n secret = = 2\n}\n\nfunction c() { if (x) {} }\n",
		TypeScript: "function a(): void {}\n\nfunction b() {\n secret = = 2\n}\n\nfunction c() { if (x) {} }\n",
	} {
		f := parse(t, l, src)
		if len(f.Errors) == 0 {
			t.Errorf("%s: no errors", l)
		}
		for _, e := range f.Errors {
			if e.Line < 4 || e.Line > 6 || strings.Contains(e.Message, "secret") || strings.Contains(e.Message, "=") {
				t.Errorf("%s: %+v", l, e)
			}
		}
		for name, cyclomatic := range map[string]int{"a": 1, "c": 2} {
			i := slices.IndexFunc(f.Functions, func(fn Function) bool { return fn.Name == name })
			if i < 0 || f.Functions[i].Cyclomatic != cyclomatic {
				t.Errorf("%s: %s is missing or not of complexity %d:\n%s", l, name, cyclomatic, outline(f))
			}
		}
	}
}
