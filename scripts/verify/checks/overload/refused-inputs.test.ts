import { Agent } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "../../../../gateway/test/helpers/gateway.ts";
import { type Library, startLibrary } from "../../../../gateway/test/helpers/library.ts";
import { sendContent } from "./refused-input-load.ts";
import { refusedInputs } from "./refused-inputs.ts";

let library: Library;
let gateway: RunningGateway;
const agent = new Agent({ keepAlive: true });

beforeAll(async () => {
  library = await startLibrary();
  gateway = await startGateway({ supergraphSdl: library.supergraphSdl });
});
afterAll(async () => {
  agent.destroy();
  await gateway.drain();
  await library.close();
});

test.each(refusedInputs.map((input) => [input.name, input] as const))(
  "%s: rejected without a fetch",
  async (_, input) => {
    const response = await sendContent(gateway.url, agent, input.build(0));
    expect(input.codes.map((code) => `${input.status} ${code}`)).toContain(response);
    expect(library.all.flatMap(({ requests }) => requests)).toEqual([]);
  },
);
