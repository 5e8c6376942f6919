import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";

let library: Library;
let gateway: RunningGateway;

beforeAll(async () => {
  library = await startLibrary();
  gateway = await startGateway({ supergraphSdl: library.supergraphSdl });
});
afterEach(() => {
  for (const subgraph of library.all) subgraph.fault = undefined;
});
afterAll(async () => {
  await gateway.drain();
  await library.close();
});
