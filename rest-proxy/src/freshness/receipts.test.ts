import { createReceipts } from "@tributary/kit/consistency/receipts";
import { expect, test } from "vitest";
import { createReceiptRules } from "./receipts.ts";

const receipts = createReceipts(["a key for tests only"]);
const write = { service: "things", epoch: "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b", xid: 1 };
const request = { method: "GET", headers: { "consistency-token": receipts.write([], [write]) } };
const lookup = { origin: "things", key: "/v1/things/7", varyValueOf: () => undefined, request };

test("a read waits once, and then the origin has to respond", async () => {
  const { waits, respond } = setUp({});
  expect(await respond()).toMatchObject({ sentAfter: 1, forbidsStale: true });
  expect(waits).toEqual([timeoutMs]);
});

test("a read waits only if there is a fresh response and the write is unknown", async () => {
  const withoutResponse = setUp({ hasFresh: false });
  expect(await withoutResponse.respond()).toMatchObject({ sentAfter: 1 });
  const withKnownWrite = setUp({ knows: true });
  expect(await withKnownWrite.respond()).toMatchObject({ sentAfter: undefined, forbidsStale: true });
  expect([withoutResponse.waits, withKnownWrite.waits]).toEqual([[], []]);
});

test("each write is marked when its first receipt arrives", async () => {
  const { respond } = setUp({ hasFresh: false });
  const other = receipts.write([], [{ ...write, xid: 2 }]);
  const marks = [await respond(), await respond(), await respond(other), await respond()];
  expect(marks.map(({ sentAfter }) => sentAfter)).toEqual([1, 1, 2, 1]);
  expect((await respond(`${other}, ${request.headers["consistency-token"]}`)).sentAfter).toBe(2);
});

const timeoutMs = 10_000;

function setUp({ hasFresh = true, knows = false }) {
  const waits: number[] = [];
  let mark = 0;
  const rules = createReceiptRules({
    receipts,
    timeoutMs,
    cache: { hasFresh: () => hasFresh, mark: () => ++mark },
    feeds: {
      knows: () => knows,
      waitFor(_, ms) {
        waits.push(ms);
        return Promise.resolve(false);
      },
    },
  });
  const respond = (text = request.headers["consistency-token"]) => {
    const read = rules.read({ headers: { "consistency-token": text } }, "things");
    return rules.awaitChanges(rules.limit(lookup, read), read);
  };
  return { waits, respond };
}
