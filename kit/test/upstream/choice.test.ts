import { expect, test } from "vitest";
import { failuresOf, open, read, stream } from "./calls.ts";
import { silence, start } from "./replica.ts";

test("of two replicas at random the one with less under way is chosen", async () => {
  const replicas = await start(3);
  const arrived = Promise.all(replicas.slice(0, 2).map((replica) => silence(replica)));
  const draws = [0, 0, 0.4, 0, 0, 0.9, 0.4, 0.9];
  const { upstream } = open(
    replicas.map(({ url }) => url),
    { random: () => draws.shift() ?? 0 },
  );
  // Draws 0, 0 look at the first and the second; 0.4, 0 at the second and the third; 0.4, 0.9 at the second and the first.
  const held = [upstream.send(read), upstream.send(read)];
  const answers = await arrived;
  expect(replicas.map(({ calls }) => calls)).toEqual([1, 1, 0]);
  await upstream.send(read);
  expect(replicas.map(({ calls }) => calls)).toEqual([1, 1, 1]);
  for (const answer of answers) answer.end();
  await Promise.all(held);
});

test("load spreads: of a slow and two quick replicas the slow one gets the least", async () => {
  const [slow, ...quick] = await start(3);
  slow.answer = (response) => void setTimeout(() => response.end(), 100);
  const { upstream } = open([slow, ...quick].map(({ url }) => url));
  await stream(600, 16, () => upstream.send(read));
  const [first = 0, second = 0] = quick.map(({ calls }) => calls);
  expect(slow.calls + first + second).toBe(600);
  expect(slow.calls * 3).toBeLessThan(Math.min(first, second));
  expect(Math.max(first, second)).toBeLessThan(Math.min(first, second) * 2);
});

test("no read is lost when a replica is killed under a stream of reads", async () => {
  const [doomed, other] = await start(2);
  const { upstream, seen } = open([doomed.url, other.url]);
  let sent = 0;
  const results = await stream(3_000, 32, () => {
    if (++sent === 1_000) void doomed.kill();
    return upstream.send(read);
  });
  expect(failuresOf(results)).toEqual([]);
  expect(seen.filter(({ kind }) => kind === "replica-ejected")).toHaveLength(1);
  expect(doomed.calls + other.calls).toBeLessThan(3_000 * 1.2);
});
