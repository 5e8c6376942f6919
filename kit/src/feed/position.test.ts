import { expect, test } from "vitest";
import {
  includesWrite,
  readFeedPosition,
  readWritePosition,
  writeFeedPosition,
  type WritePosition,
  writeWritePosition,
} from "./position.ts";
import { parseSnapshot } from "./snapshot.ts";

const epoch = "0d9f1f0e-8c4c-4b8e-9d58-0f6c8a1f7b11";
const otherEpoch = "5a1d4c0e-0000-4b8e-9d58-0f6c8a1f7b11";

test("a snapshot includes the transactions that had ended, whatever their order", () => {
  const snapshot = parseSnapshot("10:15:10,12");
  expect([9, 10, 11, 12, 13, 14, 15, 16].filter((xid) => snapshot.includes(xid))).toEqual([9, 11, 13, 14]);
  expect(parseSnapshot("10:10:").includes(9)).toBe(true);
});

test("a text that PostgreSQL rejects is not a snapshot: a client's position must not fail the statement of all", () => {
  const rejected = ["", "1:2", "0:5:", "6:5:", "3:5:2", "3:5:5", "3:9:7,5", "3:5:4,", "3:5:x", "3:1234567890123456:"];
  for (const text of rejected) expect(() => parseSnapshot(text), text).toThrow(JSON.stringify(text));
});

test("a position includes a write only of its own epoch", () => {
  const position = { epoch, snapshot: parseSnapshot("10:15:10,12") };
  expect(includesWrite(position, { epoch, xid: 11 })).toBe(true);
  expect(includesWrite(position, { epoch, xid: 12 })).toBe(false);
  expect(includesWrite(position, { epoch: otherEpoch, xid: 11 })).toBe(false);
  expect(includesWrite(position, { epoch: undefined, xid: 11 })).toBe(false);
  expect(includesWrite(undefined, { epoch, xid: 11 })).toBe(false);
});

test("positions are read as they were written, and no other text is a position", () => {
  const text = `${epoch}/10:15:10,12`;
  expect(writeFeedPosition(readFeedPosition(text) ?? fail(text))).toBe(text);
  for (const other of ["", epoch, `${epoch}/`, `/10:15:`, `${text}/`, `x${text}`, `${epoch}/15:10:`]) {
    expect(readFeedPosition(other), other).toBeUndefined();
  }
  const writes: readonly WritePosition[] = [
    { epoch, xid: 12 },
    { epoch: undefined, xid: 123_456_789_012_345 },
  ];
  for (const write of writes) expect(readWritePosition(writeWritePosition(write))).toEqual(write);
  for (const other of ["", "12", `${epoch}/`, `${epoch}/12/`, `${epoch}/1234567890123456`, `x/12`, `${epoch}/-1`]) {
    expect(readWritePosition(other), other).toBeUndefined();
  }
});

function fail(text: string): never {
  throw new Error(`Not a position: ${text}`);
}
