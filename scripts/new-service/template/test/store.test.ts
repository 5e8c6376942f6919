import type { Database } from "@tributary/kit/postgres/postgres";
import { explain } from "@tributary/kit/testing/explain";
import type { TestService } from "@tributary/kit/testing/service";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createStore } from "../src/store.ts";
import { startService } from "./fixtures.ts";

let service: TestService;
let recorded: { readonly text: string; readonly values: readonly unknown[] }[] = [];
beforeAll(async () => {
  service = await startService();
  const { database } = service.database;
  // BEGIN parent
  const many = `insert into spare_gadgets (parent_thing_id, author_id, title)
    select 1 + n % 400, 10 + n, 'Title ' || n from generate_series(1, 6000) as n`;
  // END parent
  // ALONE const many = "insert into spare_gadgets (author_id, title) select 1 + n % 150, 'Title ' || n from generate_series(1, 6000) as n";
  await database.rows("many", many);
  await database.rows("analyze", "vacuum analyze spare_gadgets");
});
afterAll(() => service.stop());

const position = { direction: "next", id: "3000" } as const;
const store = createStore({
  rows: (name: string, text: string, values: readonly unknown[] = []) => {
    recorded.push({ text, values });
    return service.database.database.rows(name, text, values);
  },
} as Database);

const cases: Readonly<Record<string, readonly [index: string, run: () => Promise<unknown>]>> = {
  all: ["spare_gadgets_pkey", () => store.list({}, { limit: 20 })],
  "all, further on": ["spare_gadgets_pkey", () => store.list({}, { limit: 20, position })],
  "all, oldest first": ["spare_gadgets_pkey", () => store.list({ sort: "oldest" }, { limit: 20, position })],
  versions: ["spare_gadgets_pkey", () => store.listVersions({}, { limit: 20, position })],
  some: ["spare_gadgets_pkey", () => store.findByIds(["7"])],
  states: ["spare_gadgets_pkey", () => store.findStates(["7"])],
  // BEGIN parent
  "those of one parent thing": [
    "spare_gadgets_by_parent_thing",
    () => store.list({ parentThingId: "7" }, { limit: 20, position }),
  ],
  "those of many parent things": [
    "spare_gadgets_by_parent_thing",
    () => store.listPagesOfParents(["1", "2"].map((parentThingId) => ({ parentThingId, limit: 10, afterId: null }))),
  ],
  // END parent
};

test.each(Object.entries(cases))(
  "%s are read from an index, with a custom and a generic plan",
  async (_, [index, run]) => {
    recorded = [];
    await run();
    const [statement] = recorded;
    if (!statement) throw new Error("no statement was sent");
    for (const mode of ["force_custom_plan", "force_generic_plan"]) {
      const nodes = await explain(service.database.database, statement, mode);
      expect([mode, ...nodes.flatMap((node) => node["Index Name"] ?? [])]).toEqual([mode, index]);
    }
  },
);
