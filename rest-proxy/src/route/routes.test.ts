import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadRoutes, readRoutes } from "./routes.ts";

const good = {
  id: "getThing",
  method: "GET",
  path: "/things/:id",
  versions: [1],
  cache: "private",
  service: "things",
  summary: "One.",
};

test("a table is read from its file; missing members have defaults, unknown ones are ignored", () => {
  const file = write(JSON.stringify({ routes: [{ ...good, later: true }] }));
  expect(loadRoutes(file)).toEqual([{ ...good, query: [] }]);
});

test.each([
  ["is missing", undefined, "it cannot be opened"],
  ["is half written", '{"routes": [', "it is not JSON"],
])("a file that %s is named in the error with the reason", (_name, text, reason) => {
  const file = text === undefined ? "/nowhere/routes.json" : write(text);
  expect(() => loadRoutes(file)).toThrow(`ROUTES_FILE=${file} cannot be read: ${reason}`);
});

test("all problems of a table are reported at once, with their positions", () => {
  const file = write(
    JSON.stringify({
      routes: [
        { ...good, method: "PUT", versions: [] },
        { ...good, path: "things/" },
      ],
    }),
  );
  expect(() => loadRoutes(file)).toThrow(
    new RegExp(`${file}: routes\\[0\\]\\.method: [^]*routes\\[0\\]\\.versions: [^]*routes\\[1\\]\\.path: `),
  );
});

test.each([1.5, 0, 86_401])("%s s of heuristic freshness are not valid", (heuristicSecondsMax) => {
  expect(() => readRoutes({ routes: [{ ...good, heuristicSecondsMax }] })).toThrow("routes[0].heuristicSecondsMax");
});

test.each([
  "",
  "/",
  "/things/",
  "/Things",
  "/things//x",
  "/v2/things",
  "/health/live",
  "/things/:",
  "/things/{id}",
  "/../x",
  "/a?b",
  "/%41",
])("%j is not a valid path of a route", (path) => {
  expect(() => readRoutes({ routes: [{ ...good, path }] })).toThrow("routes[0].path");
});

test.each([null, [], {}, { routes: [] }, { routes: {} }, "routes"])("%j is not a valid table", (value) => {
  expect(() => readRoutes(value)).toThrow("The configuration is invalid");
});

function write(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "routes-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "routes.json");
  writeFileSync(file, text);
  return file;
}
