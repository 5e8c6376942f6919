import { expect, test } from "vitest";
import { parseAcceptedChanges } from "./accepted-changes.ts";

const entry = `- change: FIELD_REMOVED User.nickname
  owner: "@tributary/users-team"
  reason: No client has used it since May.
  until: 2026-12-31
`;

test("an entry is parsed with its change, owner, reason, date and line", () => {
  expect(parseAcceptedChanges(`# Why.\n${entry}`)).toEqual({
    ok: true,
    entries: [
      {
        change: "FIELD_REMOVED User.nickname",
        owner: "@tributary/users-team",
        reason: "No client has used it since May.",
        until: "2026-12-31",
        line: 2,
      },
    ],
  });
});

test.each(["", "# Nothing is accepted.\n", "[]\n"])("a file without entries is valid: %j", (text) => {
  expect(parseAcceptedChanges(text)).toEqual({ ok: true, entries: [] });
});

test.each([
  ["an unknown key", `${entry}  ticket: 7\n`, "5: unknown key ticket. The keys are change, owner, reason, until."],
  ["a missing key", entry.replace(/ {2}reason.*\n/, ""), "1: reason is missing."],
  [
    "an empty reason",
    entry.replace(/reason: .*/, "reason:"),
    "3: reason is empty: write why no client depends on it (FIELD_REMOVED User.nickname).",
  ],
  ["a number", entry.replace("FIELD_REMOVED User.nickname", "7"), "1: change must be text."],
  ["a date that does not exist", entry.replace("12-31", "02-30"), "4: until must be a date such as 2026-01-31."],
  ["another form of a date", entry.replace("2026-12-31", "31.12.2026"), "4: until must be a date such as 2026-01-31."],
  [
    "an owner that is not a team",
    entry.replace("@tributary/users-team", "Ada"),
    "2: owner must be a team as in CODEOWNERS, such as @tributary/users-team.",
  ],
  [
    "a change that is not a change id",
    entry.replace("FIELD_REMOVED User.nickname", "remove nickname"),
    "1: change must be as npm run check prints it, such as FIELD_REMOVED User.email.",
  ],
  ["a duplicate change", entry + entry, "5: FIELD_REMOVED User.nickname is already accepted in line 1."],
  ["a duplicate key", entry.replace("  until", "  reason: Again.\n  until"), "4: Map keys must be unique"],
  [
    "a text instead of an entry",
    "- FIELD_REMOVED User.nickname\n",
    "1: an entry must be a map with the keys change, owner, reason, until.",
  ],
  ["a map instead of a list", entry.replace("- change", "  change"), "1: the file must be a list of entries."],
])("%s is rejected with its line", (_, text, message) => {
  const parsed = parseAcceptedChanges(text);
  expect(parsed.ok ? [] : parsed.errors).toEqual([`supergraph/accepted-changes.yaml:${message}`]);
});

test("all problems of a file are reported at once", () => {
  const parsed = parseAcceptedChanges(entry.replace("until", "till").replace("2026-12-31", "soon"));
  expect(parsed.ok ? [] : parsed.errors).toHaveLength(2);
});
