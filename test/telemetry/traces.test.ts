import { afterAll, beforeAll, beforeEach, expect, inject, test, vi } from "vitest";
import { createSpanCollector, type RecordedSpan } from "../../kit/src/testing/trace.ts";
import { type Platform, startPlatform } from "../end-to-end/platform.ts";

const collector = createSpanCollector();
let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform(inject("postgresUrl"), collector);
});
beforeEach(() => collector.reset());
afterAll(() => platform.stop());

const feed = `query Feed {
  posts(first: 2) { nodes { title author { name } comments(first: 2) { nodes { body author { name } } } } }
}`;

test("one query is one trace: a span for each stage, each fetch, each service and each statement", async () => {
  const expected = ["x"];
  for (const lane of ["full", "fast"]) {
    collector.reset();
    expect((await platform.ask(feed)).body.errors).toBeUndefined();
    const root = await rootOf("gateway");
    expect(root).toMatchObject({ name: "query Feed", kind: "server", attributes: { "tributary.lane": lane } });
    expect(collector.paths()).toEqual(expected);
  }
});

/** The one span without a parent, once it has ended: in that process. */
async function rootOf(process: string): Promise<RecordedSpan> {
  const roots = () => collector.spans().filter(({ parentId }) => parentId === undefined);
  await vi.waitFor(() => expect(roots()).toHaveLength(1));
  const [root] = roots();
  if (root?.process !== process) throw new Error(`a root of ${root?.process}`);
  return root;
}
