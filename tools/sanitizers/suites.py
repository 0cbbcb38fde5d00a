#!/usr/bin/env python3
"""Prints ctest's JUnit report as a table: which suites passed, when, and how long they took."""

import sys
import xml.etree.ElementTree as xml

suite = xml.parse(sys.argv[1]).getroot()
print(f"{suite.get('timestamp', '')}: {suite.get('tests')} suites, {suite.get('failures')} failed")
print()
print("| suite | result | seconds |")
print("|---|---|---|")
for case in sorted(suite.iter("testcase"), key=lambda c: c.get("name")):
    result = {"run": "passed", "fail": "FAILED"}.get(case.get("status"), case.get("status"))
    print(f"| {case.get('name')} | {result} | {float(case.get('time')):.0f} |")
