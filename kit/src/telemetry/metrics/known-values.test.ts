import { expect, test } from "vitest";
import { createKnownValues, createLearnedValues } from "./known-values.ts";

test("a label has the known values, one for all others, and one for none", () => {
  const clientOf = createKnownValues(["web", "ios"]);
  expect(["web", "ios", "Web", "eyJhbGciOi", "__proto__", "", undefined].map(clientOf)).toEqual([
    "web",
    "ios",
    "other",
    "other",
    "other",
    "unnamed",
    "unnamed",
  ]);
});

const learn = (known: readonly string[] = [], valuesMax = 3) =>
  createLearnedValues({ known, valuesMax, occurrencesMin: 100 });

function countTimes(values: ReturnType<typeof learn>, name: string, times: number): readonly string[] {
  return Array.from({ length: times }, () => values.count(name));
}

test("a value has its own label from its 101st occurrence on", () => {
  const labels = countTimes(learn(), "Feed", 102);
  expect(labels).toEqual([...Array.from({ length: 100 }, () => "other"), "Feed", "Feed"]);
});

test("a value that is only looked up is not learned", () => {
  const values = learn();
  for (let i = 0; i < 200; i++) expect(values.find("Feed")).toBe("other");
  expect(values.count("Feed")).toBe("other");
});

test("configured values have their labels from the start, and take places of the learned ones", () => {
  const values = learn(["Feed", "Cart"]);
  expect([values.count("Feed"), values.find("Cart"), values.count(undefined)]).toEqual(["Feed", "Cart", "unnamed"]);
  expect(["Home", "Late"].map((name) => countTimes(values, name, 101).at(-1))).toEqual(["Home", "other"]);
  expect(["Feed", "Cart", "Home", "Late"].map((name) => values.find(name))).toEqual(["Feed", "Cart", "Home", "other"]);
});

test("a value that occurs often is learned while a client sends ever new ones", () => {
  const values = learn();
  let last = "";
  for (let i = 0; i < 101; i++) {
    last = values.count("Feed");
    for (let n = 0; n < 500; n++) values.count(`Flood${i}_${n}`);
  }
  expect(last).toBe("Feed");
});

test("a value of more than 100 characters is never a label", () => {
  expect(countTimes(learn(), "n".repeat(101), 101).at(-1)).toBe("other");
});
