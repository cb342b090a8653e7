"""Known vulnerabilities of the installed packages, by pip-audit: ``python audit.py PIP_AUDIT SITE_PACKAGES``.

pip-audit says "no known vulnerabilities" even if its advisory source answered for no package at all. Here that is an
error of its own: exit code 0 means that every package was checked and none is vulnerable, 1 that one is, and 2 that
some or all could not be checked.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

OWN = "personare"


def outcome(report: dict[str, Any]) -> tuple[int, list[str]]:
    """Read pip-audit's report: the exit code, and the lines to print."""
    packages = [one for one in report.get("dependencies", []) if one["name"] != OWN]
    skipped = [one["name"] for one in packages if "skip_reason" in one]
    checked = len(packages) - len(skipped)
    lines = [
        f"{one['name']} {one['version']}: {found['id']}, fixed in {', '.join(found['fix_versions']) or 'no version'}"
        for one in packages
        for found in one.get("vulns", [])
    ]
    if not checked:
        return 2, ["audit: no advisory source can be reached from here, nothing was checked; run it where one can"]
    vulnerable = len({line.partition(":")[0] for line in lines})
    lines.append(f"audit: {checked} packages checked, {vulnerable} with known vulnerabilities")
    if skipped:
        lines.append(f"audit: {len(skipped)} packages could not be checked: {', '.join(sorted(skipped))}")
    return 1 if vulnerable else 2 if skipped else 0, lines


def main() -> int:
    """Run pip-audit and print what it found."""
    tool, packages = sys.argv[1:]
    words = [tool, "--path", packages, "--format", "json", "--progress-spinner", "off", "--timeout", "15"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603 - our words
    try:
        report = json.loads(done.stdout)
    except ValueError:  # it could not even begin: no network, no name server
        report = {}
    code, lines = outcome(report)
    print("\n".join(lines))  # noqa: T201 - for whoever typed make audit
    return code


if __name__ == "__main__":
    sys.exit(main())
