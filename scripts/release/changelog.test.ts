import { expect, test } from "vitest";
import { addRelease, parseChangeset } from "./changelog.ts";

const gateway = parseChangeset('---\n"@tributary/gateway": minor\n---\n\nFront page.\n\nAt `/`.\n', "one.md");
const both = parseChangeset('---\n"@tributary/kit": patch\n"@tributary/users": major\n---\nUsers $& go.\n', "two.md");
const release = { version: "0.2.0", day: "2030-01-31", changesets: [gateway, both] };

const section = `## 0.2.0, 2030-01-31

### Incompatible changes

- **kit, users**: Users $& go.

### Compatible changes

- **gateway**: Front page.

  At \`/\`.
`;

test("a changeset counts with the largest change of its packages", () => {
  expect(both).toEqual({ bump: "major", packages: ["kit", "users"], text: "Users $& go." });
});

test.each([
  ["no front matter", "Text."],
  ["no package", "---\n---\n\nText."],
  ["an unknown size of a change", '---\n"@tributary/kit": huge\n---\n\nText.'],
  ["no text", '---\n"@tributary/kit": minor\n---\n\n'],
])("a file with %s is rejected with its path", (_, source) => {
  expect(() => parseChangeset(source, ".changeset/x.md")).toThrow(".changeset/x.md is not a changeset.");
});

test("a release is added above the previous one", () => {
  const changelog = "# Changelog\n\nIntroduction.\n\n## 0.1.0, 2029-01-01\n\n- Old.\n";
  expect(addRelease(changelog, release)).toBe(
    `# Changelog\n\nIntroduction.\n\n${section}\n## 0.1.0, 2029-01-01\n\n- Old.\n`,
  );
  expect(addRelease("# Changelog\n", release)).toBe(`# Changelog\n\n${section}`);
});

test("entries that were written by hand under Unreleased become part of the release", () => {
  const changelog = "# Changelog\n\n## Unreleased\n\n### Added\n\n- By hand.\n";
  expect(addRelease(changelog, release)).toBe(`# Changelog\n\n${section}\n### Added\n\n- By hand.\n`);
});

test("a version is released once", () => {
  expect(() => addRelease(addRelease("# Changelog\n", release), release)).toThrow("0.2.0 already");
});
