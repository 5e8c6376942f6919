import { expect, test } from "vitest";
import { describeEnvironment, type Environment, readEnvironment } from "../process/env.ts";
import { expectReadmeTable } from "./readme.ts";

const descriptions = describeEnvironment((environment: Environment) =>
  readEnvironment(environment, (env) => ({
    port: env.integer("PORT", { fallback: 4_002, min: 0, max: 65_535, why: "where to listen" }),
    url: env.string("DATABASE_URL", { why: "the data" }),
    hint: env.optional("HINT", { why: "a hint" }),
  })),
);

const head = "# A service\n\n| Variable | Default | Range | Why |\n|---|---|---|---|\n";
const port = "| `PORT` | `4002` | an integer from 0 to 65,535 | where to listen |\n";
const url = "| `DATABASE_URL` | required | | the data |\n";
const hint = "| `HINT` | none | | a hint |\n";

test("a correct table has no differences", () => {
  expect(expectReadmeTable(`${head}${port}${url}${hint}\nText | after it |`, descriptions)).toEqual([]);
});

test("a missing or unknown variable, another range and a missing reason are differences", () => {
  const stale = "| `PORT` | `4001` | an integer from 1 to 65,535 | |\n| `OLD` | none | | gone |\n";
  expect(expectReadmeTable(`${head}${stale}${url}`, descriptions)).toEqual([
    "PORT: the default is 4002, not 4001",
    "PORT: the range is an integer from 0 to 65535, not an integer from 1 to 65535",
    "PORT: there is no reason, such as: where to listen",
    "HINT is missing: | HINT | none |  | a hint |",
    "OLD is in the table, and nothing reads it",
  ]);
});

test("a README without the table lacks every variable", () => {
  expect(expectReadmeTable("# A service", descriptions)).toHaveLength(3);
});
