import { expect, test } from "vitest";
import { failuresOf, open, read, stream } from "./requests.ts";
import { holdResponse, start } from "./replica.ts";

test("of two random replicas the one with fewer requests in flight is chosen", async () => {
  const replicas = await start(3);
  const arrived = Promise.all(replicas.slice(0, 2).map((replica) => holdResponse(replica)));
  const draws = [0, 0, 0.4, 0, 0, 0.9, 0.4, 0.9];
  const { upstream } = open(
    replicas.map(({ url }) => url),
    { random: () => draws.shift() ?? 0 },
  );
  // Draws 0, 0 compare the first and the second; 0.4, 0 the second and the third; 0.4, 0.9 the second and the first.
  const held = [upstream.send(read), upstream.send(read)];
  const responses = await arrived;
  expect(replicas.map(({ requests }) => requests)).toEqual([1, 1, 0]);
  await upstream.send(read);
  expect(replicas.map(({ requests }) => requests)).toEqual([1, 1, 1]);
  for (const response of responses) response.end();
  await Promise.all(held);
});

test("of a slow and two fast replicas the slow one gets the fewest requests", async () => {
  const [slow, ...fast] = await start(3);
  slow.respond = (response) => void setTimeout(() => response.end(), 100);
  const { upstream } = open([slow, ...fast].map(({ url }) => url));
  await stream(600, 16, () => upstream.send(read));
  const [first = 0, second = 0] = fast.map(({ requests }) => requests);
  expect(slow.requests + first + second).toBe(600);
  expect(slow.requests * 3).toBeLessThan(Math.min(first, second));
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
  const ejected = seen.filter((observed) => observed.kind === "replica-ejected");
  expect(ejected.filter(({ replica }) => replica === `${doomed.url}/`)).toHaveLength(1);
  expect(doomed.requests + other.requests).toBeLessThan(3_000 * 1.2);
});
