import { expect, test } from "vitest";
import { readOptions } from "./options.ts";
import { partNames } from "./parts.ts";

test("without options every part starts, with the existing data", () => {
  expect(readOptions([])).toEqual({ help: false, fresh: false, scale: undefined, only: partNames });
});

test("every option is read, parts in the order of the list", () => {
  const options = readOptions(["--fresh", "--scale", "100", "--only", "gateway, users"]);
  expect(options).toEqual({ help: false, fresh: true, scale: 100, only: ["users", "gateway"] });
  expect(readOptions(["--scale=1"]).scale).toBe(1);
  expect(readOptions(["-h"]).help).toBe(true);
});

test.each([
  [["--scale", "0"], `--scale takes a whole number from 1 to 100, not "0"`],
  [["--scale", "101"], `not "101"`],
  [["--scale", "1.5"], `not "1.5"`],
  [["--scale"], "--scale"],
  [["--only", "users,user"], `--only does not know "user". The parts are issuer, users,`],
  [["--only", ""], `--only does not know ""`],
  [["--frehs"], "--frehs"],
  [["users"], "users"],
])("%j is rejected with the reason and the usage", (args, reason) => {
  const read = () => readOptions(args);
  expect(read).toThrow(reason);
  expect(read).toThrow("Usage: npm start");
  expect(read).toThrow(expect.objectContaining({ exitCode: 2 }));
});
