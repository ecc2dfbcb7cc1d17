"""A coding agent without a language model. It knows the skill and the tools of the server, and nothing about kernels: it
applies the rewrite rules that `suggest` offers, keeps what `compare` calls faster, and prefers the technique that the
speed-of-light analysis of the best kernel names.

usage: agent.py KERNEL GOAL COMMAND...
"""

import json
import math
import re
import subprocess
import sys


class Server:
    """The server's process, and the protocol on its standard streams."""

    def __init__(self, command):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        self.requests = 0
        hello = {"name": "rules", "version": "1"}
        self.request(
            "initialize",
            {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": hello},
        )
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def request(self, method, parameters):
        self.requests += 1
        self.send({"id": self.requests, "method": method, "params": parameters})
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.requests:
                return answer["result"]

    def call(self, tool, **arguments):
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        return result["structuredContent"]

    def document(self, tool, **arguments):
        """The whole document of a call, after the end of its run."""
        result = self.call(tool, **arguments)
        while result["state"] == "running":
            result = self.call("wait", run=result["run"])
        if result["state"] != "finished":
            return None
        if "pages" not in result:
            return result["document"]
        parts = [result["untrusted_part"]]
        for page in range(2, result["pages"] + 1):
            if result.get("run"):
                following = self.call("wait", run=result["run"], page=page)
            else:
                following = self.call(tool, page=page, **arguments)
            parts.append(following["untrusted_part"])
        return json.loads("".join(parts))

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


def expected_gain(rule):
    """The upper end of the expected gain; waste that counters show comes first."""
    numbers = re.findall(r"[0-9.]+", rule["untrusted_gain"])
    return float(numbers[-1]) if numbers else math.inf


def rewritten(source, place):
    """The text after the edits of a rule, whose positions count bytes."""
    text = source.encode("utf-8")
    for edit in sorted(place["edits"], key=lambda edit: edit["start"], reverse=True):
        replacement = edit["untrusted_replacement"].encode("utf-8")
        text = text[: edit["start"]] + replacement + text[edit["end"] :]
    return text.decode("utf-8")


def speedups(comparison):
    """How many times as fast the second kernel is on each workload."""
    ratios = {}
    for each in comparison["workloads"]:
        ratio = each.get("modelled_ratio") or each.get("comparison", {}).get("ratio")
        if ratio:
            ratios[each["workload"]] = 1 / ratio
    return ratios


def mean(ratios):
    return math.prod(ratios.values()) ** (1 / len(ratios)) if ratios else 0


def shown(ratios):
    return ", ".join(f"{name} {ratio:.1f}" for name, ratio in ratios.items())


def tried(server, base, rule, place):
    """The candidate of a rewrite with its speedups over the base, if it is correct."""
    text = server.call("project", kernel=base)["document"]["untrusted_source"]
    proposed = server.document("propose", source=rewritten(text, place))
    if proposed is None:
        return print(f"  {rule}: refused")
    kernel = proposed["kernel"]
    checked = server.document("check", kernel=kernel)
    if checked is None or not checked["kernels"]:
        return print(f"  {rule}: {kernel} does not compile")
    verified = server.document("verify", kernel=kernel)
    if verified is None or verified["status"] != "passed":
        faults = server.document("faults", kernel=kernel)
        return print(f"  {rule}: {kernel} fails: {faults and faults['word']}")
    ratios = speedups(server.document("compare", a=base, b=kernel))
    print(f"  {rule}: {kernel} is correct, times as fast: {shown(ratios)}")
    return kernel, ratios


def improved(server, start, goal):
    """The best kernel and how many times as fast as the start it is, in geometric mean."""
    best, gained = start, 1.0
    while gained < goal:
        server.document("time", kernel=best)
        for timing in server.document("speed_of_light", kernel=best)["timings"]:
            if timing["mode"] == "cold":
                words = timing["limiter"]["untrusted_words"] if timing["limiter"] else "unknown"
                fraction = timing["standing"]["fraction"]
                print(f"{best} on {timing['workload']}: {fraction:.1%} of the bound, limited by {words}")
        rules = [rule for rule in server.document("suggest", kernel=best)["rules"] if rule["applies"]]
        for rule in sorted(rules, key=expected_gain, reverse=True):
            found = tried(server, best, rule["rule"], rule["places"][0])
            if found and mean(found[1]) > 1.1:
                best, gained = found[0], gained * mean(found[1])
                break
        else:
            break
    return best, gained


def main():
    start, goal, command = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
    server = Server(command)
    best, _ = improved(server, start, goal)
    # The product of several steps is no comparison: the result is compared with the start.
    ratios = speedups(server.document("compare", a=start, b=best)) if best != start else {}
    print(f"{best} against {start}, times as fast: {shown(ratios)}")
    if best != start:
        accepted = server.call("accept", candidate=best, name="from-rules")
        print(f"accept: {accepted['next']}")
    server.close()
    return 0 if mean(ratios) >= goal else 1


if __name__ == "__main__":
    sys.exit(main())
