"""Times parley-code and what people run instead; code/bench/compare calls it.

Every contender of a group runs once in each round, in an order that moves on
by one, so that a machine that becomes slower is slower for all. Printed are
the medians over the rounds, the mean of CPU time, and the median of the ratios to parley-code within
a round: above 1, the other one takes longer.
"""

import glob
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import sysconfig
import time

WORK, ROUNDS = sys.argv[1], int(sys.argv[2])
GOROOT = os.environ["GOROOT"]
PARLEY = [os.path.join(WORK, "parley-code"), "--tier", "enterprise"]
NET, HTTP = (os.path.join(GOROOT, "src", *p) for p in (["net"], ["net", "http"]))
MANY = 5_000  # of whatever has a limit: more than there is here


class Server:
    """A server over stdio: MCP by lines, LSP by Content-Length."""

    def __init__(self, command, cwd, lsp=False):
        self.lsp, self.id = lsp, 0
        self.process = subprocess.Popen(command, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        params = (
            {"processId": None, "rootUri": "file://" + cwd, "capabilities": {"textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": True}}}}
            if lsp
            else {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        )
        self.ask("initialize", params)
        self.tell({"method": "initialized" if lsp else "notifications/initialized", "params": {}})

    def tell(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body) if self.lsp else body + b"\n")
        self.process.stdin.flush()

    def receive(self):
        if not self.lsp:
            return self.process.stdout.readline()
        length = 0
        while (line := self.process.stdout.readline().strip()):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return self.process.stdout.read(length)

    def ask(self, method, params):
        """The answer's bytes: reading them as JSON is not the server's time."""
        self.id += 1
        self.tell({"id": self.id, "method": method, "params": params})
        mine = re.compile(rb'"id":\s*%d\b' % self.id)
        while True:
            got = self.receive()
            if not got:
                raise SystemExit(f"{self.process.args[0]} ended before it answered {method}")
            if b'"method"' in got[:200]:
                theirs = json.loads(got)
                if "id" in theirs:  # a question of the server's; null is an answer to those that come
                    self.tell({"id": theirs["id"], "result": [{}] if theirs["method"] == "workspace/configuration" else None})
                continue
            if mine.search(got[:60]) or mine.search(got[-60:]):
                return got

    def call(self, tool, arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        _, _, used = os.wait4(self.process.pid, 0)
        self.process.returncode = 0
        return used


def checked(answer):
    """What an MCP tool answered, which must not be an error."""
    result = json.loads(answer)["result"]
    if result.get("isError"):
        raise SystemExit(f"a call failed: {str(result)[:300]}")
    return result["structuredContent"]["data"]


def cold(tool, arguments, folder):
    """One process of parley-code for one call, or for none."""

    def run():
        start = time.perf_counter()
        server = Server([*PARLEY, folder], folder)
        answer = tool and server.call(tool, arguments)
        used = server.end()
        wall = time.perf_counter() - start
        if tool:
            checked(answer)
        return wall, used.ru_utime + used.ru_stime, used.ru_maxrss

    return run


def command(*args, cwd=NET):
    """One process of something else. What it prints is counted once, and thrown away then."""
    told = subprocess.run(args, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True).stdout.count(b"\n")
    print(f"{' '.join(os.path.basename(a) for a in args)[:60]}: {told} lines")

    def run():
        start = time.perf_counter()
        process = subprocess.Popen(args, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{' '.join(args)[:200]} ended with {process.returncode}")
        return time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss

    return run


def warm(calls, process, ask):
    """The same call again and again in a process that is there already."""

    def run():
        busy, start = cpu_of(process.pid), time.perf_counter()
        for _ in range(calls):
            ask()
        return (time.perf_counter() - start) / calls, (cpu_of(process.pid) - busy) / calls, resident(process.pid)

    return run


def group(title, contenders):
    """Measures contenders, (name, run) each, parley-code first, and prints them."""
    contenders = [c for c in contenders if c]
    walls = {name: [] for name, _ in contenders}
    cpus = {name: [] for name, _ in contenders}
    memory = dict.fromkeys(walls, 0)
    for n in range(ROUNDS + 1):  # the first fills caches of files
        at = n % len(contenders)
        for name, run in contenders[at:] + contenders[:at]:
            wall, busy, kib = run()
            if n == 0:
                continue
            walls[name].append(wall)
            cpus[name].append(busy)
            memory[name] = max(memory[name], kib)
    first, busy = walls[contenders[0][0]], statistics.mean(cpus[contenders[0][0]])
    print(f"\n{title}\n\n| | median, fastest | ratio | CPU | ratio | memory |\n| --- | --- | --- | --- | --- | --- |")
    for name, _ in contenders:
        ratio = statistics.median(w / f for w, f in zip(walls[name], first))
        mean = statistics.mean(cpus[name])
        cpu = f"{1e3 * mean:.2f} ms | {mean / busy:.2g}"
        # Below what this process itself has, a child's peak is not its own.
        mib = f"{memory[name] / 1024:.0f} MiB" if memory[name] > resident("self") * 1.2 else ""
        print(f"| {name} | {1e3 * statistics.median(walls[name]):.2f}, {1e3 * min(walls[name]):.2f} ms | {ratio:.2g} | {cpu} | {mib} |", flush=True)


def cpu_of(pid):
    """The CPU seconds of a process, in ticks: so many rounds are needed."""
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid):
    """Resident memory in KiB."""
    with open(f"/proc/{pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1])


def found(name, path=None):
    """The path of a program, or None with a note."""
    if path := shutil.which(path or name):
        return path
    print(f"{name} is not installed: left out")
    return None


def largest(files):
    return max(files, key=os.path.getsize)


def main():
    ctags, go = found("ctags"), found("go")
    gopls = found("gopls", os.environ.get("GOPLS"))
    for args in ([PARLEY[0], "--version"], [go, "version"], gopls and [gopls, "version"], ctags and [ctags, "--version"], [sys.executable, "--version"]):
        if args:
            print(subprocess.run(args, capture_output=True, text=True).stdout.splitlines()[0])

    go_file = largest(glob.glob(HTTP + "/*.go"))
    # pydoc's topics are larger, but one table of texts.
    python_folder = sysconfig.get_path("stdlib")
    python_file = largest(glob.glob(python_folder + "/*.py"))
    for path in (go_file, python_file):
        with open(path, "rb") as f:
            print(f"{os.path.basename(path)}: {sum(1 for _ in f)} lines, {os.path.getsize(path)} bytes")
    with open(HTTP + "/server.go") as f:
        where = next((n, l) for n, l in enumerate(f, 1) if l.startswith("func (s *Server) ListenAndServe("))
    place = f"server.go:{where[0]}:{where[1].index('ListenAndServe') + 1}"

    analyze_go = {"path": os.path.basename(go_file), "max_symbols": MANY}
    analyze_python = {"path": os.path.basename(python_file), "max_symbols": MANY}
    definition = {"symbol": "Server.ListenAndServe", "max_files": MANY, "max_references": MANY}
    extract = {"path": "server.go", "symbol": "Server.ListenAndServe"}
    project = {"max_files": MANY, "max_modules": MANY}
    walk = "import ast,sys; [print(n.name, n.lineno, n.end_lineno) for n in ast.walk(ast.parse(open(sys.argv[1]).read())) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))]"

    group(
        "Symbols of a Go file, a process each",
        [
            ("parley-code: analyze_code", cold("analyze_code", analyze_go, HTTP)),
            ("parley-code: nothing, the start alone", cold(None, None, HTTP)),
            gopls and ("gopls symbols", command(gopls, "symbols", go_file, cwd=HTTP)),
            ctags and ("ctags", command(ctags, "--fields=+neS", "-f", "-", go_file)),
        ],
    )
    group(
        "Symbols of a Python file, a process each",
        [
            ("parley-code: analyze_code", cold("analyze_code", analyze_python, python_folder)),
            ("python3 -m ast", command(sys.executable, "-m", "ast", python_file)),
            ("python3, ast.walk", command(sys.executable, "-c", walk, python_file)),
            ctags and ("ctags", command(ctags, "--fields=+neS", "-f", "-", python_file)),
        ],
    )
    group(
        "A definition in net/http, a process each",
        [
            ("parley-code: get_symbol_references", cold("get_symbol_references", definition, HTTP)),
            ("parley-code: extract_code, the file being known", cold("extract_code", extract, HTTP)),
            gopls and ("gopls workspace_symbol", command(gopls, "workspace_symbol", "-matcher", "casesensitive", "Server.ListenAndServe", cwd=HTTP)),
            gopls and ("gopls references, the place being known", command(gopls, "references", "-d", place, cwd=HTTP)),
            ctags and ("ctags -R and grep", command("sh", "-c", f"{ctags} -R --languages=Go -f - . | grep '^ListenAndServe'", cwd=HTTP)),
        ],
    )
    group(
        "A map of net, a process each",
        [
            ("parley-code: get_project_map", cold("get_project_map", project, NET)),
            ("go list -json ./...", command(go, "list", "-json", "./...")),
            ctags and ("ctags -R", command(ctags, "-R", "--languages=Go", "-f", "-", ".")),
        ],
    )

    net, http, python = Server([*PARLEY, NET], NET), Server([*PARLEY, HTTP], HTTP), Server([*PARLEY, python_folder], python_folder)
    lsp = gopls and Server([gopls], HTTP, lsp=True)
    with open(go_file) as f:
        go_text = f.read()
    with open(python_file) as f:
        python_text = f.read()
    document = {"textDocument": {"uri": "file://" + go_file}}
    spot = {"textDocument": {"uri": f"file://{HTTP}/server.go"}, "position": {"line": where[0] - 1, "character": where[1].index("ListenAndServe")}, "context": {"includeDeclaration": True}}
    if lsp:
        lsp.tell({"method": "textDocument/didOpen", "params": {"textDocument": {**document["textDocument"], "languageId": "go", "version": 1, "text": go_text}}})
        for method, params in (("textDocument/documentSymbol", document), ("workspace/symbol", {"query": "Server.ListenAndServe"}), ("textDocument/references", spot)):
            print(f"gopls, {method}: {len(json.loads(lsp.ask(method, params))['result'])} results")

    def again(server, tool, arguments):
        data = checked(server.call(tool, arguments))
        counts = {k: len(v) for k, v in data.items() if isinstance(v, list)}
        print(f"{tool}: {counts}")
        return lambda: server.call(tool, arguments)

    def inline(server, language, text):
        arguments = {"code": text, "language": language, "max_symbols": MANY}
        return lambda: server.call("analyze_code", arguments)

    loop = "import ast,sys; text=open(sys.argv[1]).read()\nfor _ in sys.stdin: print(len([(n.name, n.lineno, n.end_lineno) for n in ast.walk(ast.parse(text)) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))]), flush=True)"
    walker = subprocess.Popen([sys.executable, "-c", loop, python_file], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def walked():
        walker.stdin.write(b"\n")
        walker.stdin.flush()
        return walker.stdout.readline()

    print(f"ast.walk: {int(walked())} functions and classes")

    print()
    group(
        "Symbols of a Go file, in a process that is there",
        [
            ("parley-code: analyze_code", warm(20, http.process, again(http, "analyze_code", analyze_go))),
            ("parley-code: analyze_code, parsed every time", warm(5, http.process, inline(http, "go", go_text))),
            lsp and ("gopls: documentSymbol", warm(20, lsp.process, lambda: lsp.ask("textDocument/documentSymbol", document))),
        ],
    )
    print()
    group(
        "Symbols of a Python file, in a process that is there",
        [
            ("parley-code: analyze_code", warm(20, python.process, again(python, "analyze_code", analyze_python))),
            ("parley-code: analyze_code, parsed every time", warm(5, python.process, inline(python, "python", python_text))),
            ("python3, ast.walk", warm(5, walker, walked)),
        ],
    )
    print()
    group(
        "A definition in net/http, in a process that is there",
        [
            ("parley-code: get_symbol_references", warm(2, http.process, again(http, "get_symbol_references", definition))),
            ("parley-code: extract_code, the file being known", warm(50, http.process, again(http, "extract_code", extract))),
            lsp and ("gopls: workspace/symbol", warm(5, lsp.process, lambda: lsp.ask("workspace/symbol", {"query": "Server.ListenAndServe"}))),
            lsp and ("gopls: references, the place being known", warm(5, lsp.process, lambda: lsp.ask("textDocument/references", spot))),
        ],
    )
    print()
    group("A map of net, in a process that is there", [("parley-code: get_project_map", warm(2, net.process, again(net, "get_project_map", project)))])

    # Whole functions of real code, a little less than 10,000 lines of them.
    more = (f"{python_folder}/{name}.py" for name in ("typing", "turtle"))
    long_go = "".join(go_text.splitlines(keepends=True)[:10_000]).rpartition("\n}\n")[0] + "\n}\n"
    long_python = python_text + "".join(open(path).read() for path in more)
    long_python = "".join(long_python.splitlines(keepends=True)[:10_000]).rpartition("\n\n\n")[0] + "\n"
    for text, language in ((long_go, "go"), (long_python, "python")):
        data = checked(http.call("analyze_code", {"code": text, "language": language, "max_symbols": MANY}))
        print(f"10,000 lines of {language}: {text.count(chr(10))} lines, {len(text)} bytes, {len(data.get('errors', []))} errors, {len(data['functions'])} functions")
    group(
        "10,000 lines, parsed every time, in a process that is there",
        [
            ("parley-code: analyze_code, Go", warm(5, http.process, inline(http, "go", long_go))),
            ("parley-code: analyze_code, Python", warm(5, http.process, inline(http, "python", long_python))),
        ],
    )

    print("\nMemory of one process over 10,000 calls, every fifth of which parses 2,000 lines of Python\n")
    short = "\n".join(python_text.splitlines()[:2000])
    for n in range(10_001):
        if n % 1000 == 0:
            print(f"{n}: {resident(http.process.pid) / 1024:.0f} MiB", flush=True)
        match n % 5:
            case 0:
                http.call("analyze_code", {"code": short, "language": "python"})
            case 1:
                http.call("analyze_code", {"path": "server.go"})
            case 2:
                http.call("extract_code", {"path": f"no-{n}.go", "symbol": "f"})
            case _:
                http.call("extract_code", extract)
    walker.kill()
    for server in (net, http, python, lsp):
        if server:
            print(f"{os.path.basename(server.process.args[0])} at the end: {resident(server.process.pid) / 1024:.0f} MiB")
            server.process.kill()


main()
