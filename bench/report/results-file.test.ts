import { expect, test } from "vitest";
import { replaceSection } from "./results-file.ts";

test("the first section is the whole file", () => {
  expect(replaceSection("", "One", "text")).toBe("# One\n\ntext\n");
});

test("a section is replaced in its position, and the others remain", () => {
  const whole = "# One\n\nold\n\n## Below\n\nold too\n\n# Two\n\nremains\n";
  expect(replaceSection(whole, "One", "new")).toBe("# One\n\nnew\n\n# Two\n\nremains\n");
  expect(replaceSection(whole, "Three", "more")).toBe(`${whole}\n# Three\n\nmore\n`);
});
