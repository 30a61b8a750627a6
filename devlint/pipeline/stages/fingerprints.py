"""Stage: the fingerprints of findings.

They come before suppression and selection: like findings of one scope are numbered, and the number of one must not
depend on which others are shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from devlint.finding import Finding


def fingerprinted(findings: Iterable[Finding], identity: str) -> tuple[Finding, ...]:
    """Each finding with its fingerprint, in the order of their places. ``identity`` names their file."""
    seen = Counter[tuple[str, str, str]]()
    numbered: list[Finding] = []
    for finding in sorted(findings, key=lambda finding: finding.sort_key):
        key = (finding.code, finding.scope, finding.snippet)
        numbered.append(replace(finding, fingerprint=fingerprint(finding.code, identity, *key[1:], seen[key])))
        seen[key] += 1
    return tuple(numbered)


def fingerprint(code: str, identity: str, scope: str, snippet: str, ordinal: int) -> str:
    """The identity of a finding: it survives line shifts, reformatting and another selection of rules."""
    import hashlib

    key = "\0".join((code, identity, scope, snippet, str(ordinal)))
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()
