import { expect, test } from "vitest";
import { ageSeconds, ageValueSeconds, endToEndHeaders, generatedAtMs } from "./entry.ts";

const receivedAtMs = Date.UTC(2026, 10, 21);
const at = (seconds: number) => new Date(receivedAtMs + seconds * 1_000).toUTCString();

test.each([
  [["Age", "7"], 7],
  [["Age", "7, 0"], 7],
  [["Age", "0", "Age", "7"], 0],
  [["Age", "-7"], 0],
  [["Age", "7.5"], 0],
  [["Age", "7;a=b"], 0],
  [["Age", "99999999999"], 2 ** 31],
  [[], 0],
])("%j is an age of %s seconds (RFC 9111, 5.1)", (headers, seconds) => {
  expect(ageValueSeconds(headers)).toBe(seconds);
});

test.each([
  { headers: [], delayMs: 0, age: 0 },
  { headers: ["Date", at(-5)], delayMs: 0, age: 5 },
  { headers: ["Date", at(5)], delayMs: 0, age: 0 },
  { headers: ["Age", "7", "Date", at(0)], delayMs: 0, age: 7 },
  { headers: ["Age", "7", "Date", at(-9)], delayMs: 0, age: 9 },
  { headers: ["Age", "7", "Date", at(-8)], delayMs: 2_000, age: 9 },
])(
  "with $headers and a response delay of $delayMs ms, the age is $age s (RFC 9111, 4.2.3)",
  ({ headers, delayMs, age }) => {
    const head = { generatedAtMs: generatedAtMs(headers, { requestedAtMs: receivedAtMs - delayMs, receivedAtMs }) };
    expect(ageSeconds(head, receivedAtMs)).toBe(age);
    expect(ageSeconds(head, receivedAtMs + 3_999)).toBe(age + 3);
  },
);

test("an age is never negative, even after the clock was set back", () => {
  expect(ageSeconds({ generatedAtMs: receivedAtMs }, receivedAtMs - 5_000)).toBe(0);
});

test("hop-by-hop and unstored fields are not stored (RFC 9111, 3.1)", () => {
  const headers = [
    "Connection",
    "A, close",
    "a",
    "1",
    "B",
    "2",
    "Keep-Alive",
    "x",
    "Transfer-Encoding",
    "chunked",
    "C",
    "3",
  ];
  expect(endToEndHeaders([...headers, "Proxy-Authenticate", "Basic"], ["c"])).toEqual(["B", "2"]);
});

test("repeated fields are stored as often", () => {
  expect(endToEndHeaders(["Link", "<a>", "Link", "<b>"], [])).toEqual(["Link", "<a>", "Link", "<b>"]);
});
