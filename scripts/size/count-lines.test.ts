import { expect, test } from "vitest";
import { countLines, formatSizes, groupOf } from "./count-lines.ts";

test("blank lines are not counted, and comments apart from code", () => {
  const text = `// One.
/** Two.
 * three
 */
const a = 1; // code

/* four */
const b = "/* no comment";
const c = 2;
`;
  expect(countLines(text)).toEqual({ code: 3, commentLines: 5 });
});

test.each([
  ["gateway/src/engine/run/run.ts", "gateway"],
  ["services/users/src/main.ts", "services"],
  ["gateway/src/engine/run/run.test.ts", "tests"],
  ["gateway/test/helpers/library.ts", "tests"],
  ["kit/src/testing/service.ts", "tests"],
  ["test/architecture/rules.ts", "tests"],
  ["scripts/start.ts", "scripts"],
  ["services/users/src/graphql/schema-types.ts", undefined],
  ["gateway/README.md", undefined],
  ["vitest.config.ts", undefined],
])("%s belongs to %s", (path, group) => {
  expect(groupOf(path)).toBe(group);
});

test("the product is the sum of its packages, with its change", () => {
  const now = new Map([
    ["gateway", { code: 1_200, commentLines: 300 }],
    ["kit", { code: 300, commentLines: 0 }],
  ]);
  const before = new Map([["gateway", { code: 1_600, commentLines: 0 }]]);
  const lines = formatSizes(now, { sizes: before, name: "main" }).split("\n");
  expect(lines.find((line) => line.startsWith("product"))?.split(/ {2,}/)).toEqual([
    "product",
    "1,500",
    "16.7 %",
    "-100",
  ]);
  expect(formatSizes(now)).not.toContain("-100");
});
