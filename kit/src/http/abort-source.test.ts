import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { AbortSource, createDisconnectSignal } from "./abort-source.ts";

test("all listeners are called once, in order, and can read the reason", () => {
  const source = new AbortSource();
  const calls: unknown[] = [];
  for (const name of ["a", "b"]) {
    source.addEventListener("abort", () => void calls.push([name, source.aborted, source.reason]));
  }
  source.abort("late");
  source.abort("disconnected");
  expect(calls).toEqual([
    ["a", true, "late"],
    ["b", true, "late"],
  ]);
  expect(source.reason).toBe("late");
});

test("a removed listener is not called, and removing it twice removes no other", () => {
  const source = new AbortSource();
  const calls: string[] = [];
  const removed = () => void calls.push("removed");
  source.addEventListener("abort", removed);
  source.addEventListener("abort", () => void calls.push("remaining"));
  source.removeEventListener("abort", removed);
  source.removeEventListener("abort", removed);
  source.abort("disconnected");
  expect(calls).toEqual(["remaining"]);
});

test("a listener may remove itself while it is called, and the next listener is still called", () => {
  const source = new AbortSource();
  const calls: string[] = [];
  const first = () => {
    calls.push("first");
    source.removeEventListener("abort", first);
  };
  source.addEventListener("abort", first);
  source.addEventListener("abort", () => void calls.push("second"));
  source.abort("disconnected");
  expect(calls).toEqual(["first", "second"]);
});

test("a client that disconnects before the end of its response aborts the signal", () => {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  const signal = createDisconnectSignal(response);
  expect(signal.aborted).toBe(false);
  response.emit("close");
  expect(signal.aborted).toBe(true);
  response.destroy();
  expect(createDisconnectSignal(response).aborted).toBe(true);
});
