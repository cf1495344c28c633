# SPDX-License-Identifier: BSD-2-Clause
"""Compares a timeline of ours with torch.profiler's (export_chrome_trace) of the same program.

usage: kineto.py OURS THEIRS
A line a finding: 1, 0 or - (says nothing of right or wrong), what, and the text, parted by tabs.
"""
import collections
import json
import os
import re
import sys

# What only a framework knows, or a CUPTI newer than the fields that we read.
NOT_OURS = {"External id", "Ev Idx", "External Id", "channel", "channel_type", "priority"}
GPU = ("kernel", "gpu_memcpy", "gpu_memset")


def spans(trace):
    found = collections.defaultdict(list)
    for event in trace["traceEvents"]:
        if event.get("ph") == "X":
            found[event.get("cat", "")].append(event)
    return found


def keys(events):
    return {key for event in events for key in event.get("args", {})}


def kinds(events):
    """Which JSON type each argument has; whole and broken numbers are one type to JSON."""
    def kind(value):
        return "number" if type(value) in (int, float) else type(value).__name__
    return {key: kind(value) for event in events for key, value in event.get("args", {}).items()}


def labels(trace):
    """The metadata's texts, with all numbers made one."""
    return {
        f"{event['name']}: " + ", ".join(f"{key}={re.sub(r'[0-9]+', 'N', str(value))}"
                                         for key, value in event.get("args", {}).items())
        for event in trace["traceEvents"] if event.get("ph") == "M"
    }


def tell(ok, what, *text):
    text = re.sub(r"\s+", " ", " ".join(str(part) for part in text))
    print(ok if ok == "-" else int(ok), what, text[:1500], sep="\t")


def names(counter):
    return ", ".join(f"{name[:60]} x{count}" for name, count in counter.most_common(6)) or "none"


def first_difference(mine, real):
    """Two names that are nearly the same, where they part, and how long they are."""
    for name in mine:
        other = max(real, key=lambda text: len(os.path.commonprefix([name, text])), default="")
        at = len(os.path.commonprefix([name, other]))
        tell("-", "kernel: names part", f"after {at} characters of {len(name)} ours, {len(other)} theirs:",
             f"ours: {name[max(0, at - 60):at]} >>> {name[at:at + 200]}", f"theirs: >>> {other[at:at + 200]}")


def whole(events, others):
    """Ours with names that cuda-trace has cut (at 4,095 bytes) as they are in the other file."""
    longer = {event["name"] for event in others if len(event["name"]) > 4000}
    for event in events:
        if event["name"].endswith("...") and len(event["name"]) > 4000:
            event["name"] = next((name for name in longer if name.startswith(event["name"][:-3])), event["name"])


def compare_category(category, ours, theirs):
    missing = keys(theirs) - keys(ours) - NOT_OURS
    tell(not missing, f"{category}: args", "missing:", sorted(missing), "only ours:",
         sorted(keys(ours) - keys(theirs)), "not ours to know:", sorted(keys(theirs) & NOT_OURS - keys(ours)))
    mine, real = kinds(ours), kinds(theirs)
    other = {key: (mine[key], real[key]) for key in mine.keys() & real.keys() if mine[key] != real[key]}
    tell(not other, f"{category}: types", other or f"of {len(mine.keys() & real.keys())} args equal")
    mine, real = (collections.Counter(event["name"] for event in events) for events in (ours, theirs))
    if category in GPU:
        tell(mine == real, f"{category}: names and counts", sum(mine.values()), "ours,", sum(real.values()),
             "theirs; only ours:", names(mine - real), "; only theirs:", names(real - mine))
        first_difference(mine - real, real - mine)
    else:
        tell("-", f"{category}: names", "only ours:", names(mine - real), "; only theirs:", names(real - mine))
    tell("-", f"{category}: example", "ours:", json.dumps(ours[len(ours) // 2]), "theirs:", json.dumps(theirs[len(theirs) // 2]))


def compare_shares(ours, theirs):
    """Arguments that follow from the shape of the launch: the same launch, the same value."""
    for key in ("blocks per SM", "warps per SM", "est. achieved occupancy %", "shared memory", "registers per thread"):
        def by_shape(events):
            return {(event["name"], str(event["args"].get("grid")), str(event["args"].get("block")),
                     event["args"].get("shared memory")): event["args"].get(key) for event in events}
        mine, real = by_shape(ours), by_shape(theirs)
        both = mine.keys() & real.keys()
        other = [(shape, mine[shape], real[shape]) for shape in both
                 if abs(float(mine[shape] or 0) - float(real[shape] or 0)) > 0.01 * max(1, abs(float(real[shape] or 0)))]
        # Kineto asks its calculator without the opt-in to more shared memory than 48 KiB a block: 0 blocks fit then.
        opted_in = [one for one in other if "occupancy" in key and (one[0][3] or 0) > 48 * 1024 and one[1] and not one[2]]
        other = [one for one in other if one not in opted_in]
        tell(bool(both) and not other, f"kernel: {key}", f"of {len(both)} shapes {len(other)} differ:",
             [f"{shape}: ours {one}, theirs {two}" for shape, one, two in other[:3]],
             f"; {len(opted_in)} with more than 48 KiB of shared memory are 0 to Kineto" if opted_in else "")


def main():
    ours, theirs = (json.load(open(name, errors="replace")) for name in sys.argv[1:3])
    mine, real = spans(ours), spans(theirs)
    missing = [name for name in real if name not in mine and name not in ("Trace", "cpu_op", "user_annotation", "overhead")]
    tell(not missing, "categories", "missing:", missing, "ours:", {name: len(mine[name]) for name in mine},
         "theirs:", {name: len(real[name]) for name in real})
    cut = {event["name"] for event in mine["kernel"] if event["name"].endswith("...")}
    tell("-", "kernel: names cut", len(cut), "of ours, theirs are of", sorted({len(e["name"]) for e in real["kernel"]})[-3:])
    whole(mine["kernel"], real["kernel"])
    for category in sorted(mine.keys() & real.keys()):
        compare_category(category, mine[category], real[category])
    compare_shares(mine["kernel"], real["kernel"])
    missing = theirs.keys() - ours.keys()
    tell("-", "top level", "missing:", sorted(missing), "only ours:", sorted(ours.keys() - theirs.keys()))
    if ours.get("deviceProperties") and theirs.get("deviceProperties"):
        one, two = ours["deviceProperties"][0], theirs["deviceProperties"][0]
        other = {key: (one[key], two[key]) for key in one.keys() & two.keys() if one[key] != two[key]}
        tell(not other, "device properties", other or f"{len(one.keys() & two.keys())} equal",
             "; missing:", sorted(two.keys() - one.keys()))
    tell("-", "labels", "only ours:", sorted(labels(ours) - labels(theirs))[:12], "only theirs:", sorted(labels(theirs) - labels(ours))[:12])
    flows = [collections.Counter((e["ph"], e.get("cat"), e.get("bp")) for e in trace["traceEvents"] if e.get("ph") in "sf") for trace in (ours, theirs)]
    tell("-", "flows", "ours:", dict(flows[0]), "theirs:", dict(flows[1]))


main()
