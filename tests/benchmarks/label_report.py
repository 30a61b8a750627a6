"""Precision from labels, as tables: by severity, by draw, by rule; what is new and what is gone."""

from __future__ import annotations

from collections import Counter

from labels import Label, Matched, Tally, match, weighted
from linting import Finding


def percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


HEAD = (
    f"{'':22} {'true':>5} {'false':>5} {'unclear':>7} {'precision':>9} {'at least':>8} {'unclear = false':>15}  "
    f"labelled of findings"
)


def line(name: str, tally: Tally, findings: int) -> str:
    return (
        f"{name:22} {tally.true:5} {tally.false:5} {tally.unclear:7} {percent(tally.precision):>9} "
        f"{percent(tally.lower_bound()):>8} {percent(tally.least):>15}  {tally.all} of {findings}"
    )


def print_precision(findings: list[Finding], labels: list[Label], everything: bool) -> list[Finding]:
    """Prints the tables and returns the findings without a label.

    Errors are all read, so one without a label is new and is listed; ``everything`` lists the others too.
    """
    if not labels:
        print("\nno labels for these releases: no precision")
        return findings
    matched = match(findings, labels)
    severities = Counter(finding["severity"] for finding in findings)
    tallies = {severity: Tally.of(label for finding, label in matched.judged if finding["severity"] == severity)
               for severity in severities}  # fmt: skip
    print(f"\nprecision of what is reported now, from labels ('at least': lower end of its 95 % interval)\n{HEAD}")
    for severity, count in sorted(severities.items()):
        print(line(f"{severity} tier", tallies[severity], count))
    print(line("all default findings", Tally.of(label for _, label in matched.judged), len(findings)))
    share = percent(weighted(tallies, dict(severities)))
    print(f"{'':22} every severity weighted by how often it occurs: {share}")
    for code, count in sorted(Counter(finding["code"] for finding in findings).items()):
        tally = Tally.of(label for finding, label in matched.judged if finding["code"] == code)
        print(line(f"  {code}", tally, count))
    print_draws(matched, labels)
    print_new_and_gone(matched, everything)
    return matched.unlabelled


def print_draws(matched: Matched, labels: list[Label]) -> None:
    """A label that led to a repair is gone: only the draw as it was read, before any repair, is a fair sample."""
    present = {label.key for _, label in matched.judged}
    print(f"\nby draw, as it was read and as it is now\n{HEAD}")
    for draw in sorted({label.draw for label in labels}):
        own = [label for label in labels if label.draw == draw]
        now = Tally.of(label for label in own if label.key in present)
        print(line(f"{draw}, as read", Tally.of(own), len(own)))
        print(line(f"{draw}, now", now, now.all))


def print_new_and_gone(matched: Matched, everything: bool) -> None:
    codes = Counter(finding["code"] for finding in matched.unlabelled)
    by_rule = " ".join(f"{code}:{count}" for code, count in sorted(codes.items()))
    print(f"\nunlabelled: {len(matched.unlabelled)} findings {by_rule}")
    for finding in matched.unlabelled:
        if everything or finding["severity"] == "error":
            place = f"{finding['package']} {finding['path']}:{finding['line']}"
            print(f"  {place} {finding['code']} {finding['severity']}: {finding['message']}")
    gone = Counter(label.label for label in matched.gone)
    print(f"gone: {len(matched.gone)} labelled findings: {gone['true']} true (lost), {gone['false']} false (repaired), "
          f"{gone['unclear']} unclear")  # fmt: skip
    for label in sorted(matched.gone, key=lambda label: (label.label != "true", label.key)):
        print(f"  {label.label}: {label.package} {label.path}:{label.line} {label.rule} ({label.why})")
