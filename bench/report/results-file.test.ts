import { expect, test } from "vitest";
import { replacePart } from "./results-file.ts";

test("the first part makes the file", () => {
  expect(replacePart("", "One", "text")).toBe("# One\n\ntext\n");
});

test("a part is written anew in its place, and the others stay", () => {
  const whole = "# One\n\nold\n\n## Below\n\nold too\n\n# Two\n\nkept\n";
  expect(replacePart(whole, "One", "new")).toBe("# One\n\nnew\n\n# Two\n\nkept\n");
  expect(replacePart(whole, "Three", "more")).toBe(`${whole}\n# Three\n\nmore\n`);
});
