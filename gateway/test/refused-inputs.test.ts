import { afterAll, beforeAll, expect, test } from "vitest";
import { readGraphqlResponse, type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";
import { type RequestContent, refusedInputs } from "./helpers/refused-inputs.ts";

let library: Library;
let gateway: RunningGateway;

beforeAll(async () => {
  library = await startLibrary();
  gateway = await startGateway({ supergraphSdl: library.supergraphSdl });
});
afterAll(async () => {
  await gateway.drain();
  await library.close();
});

/** Several times what the most expensive input takes while the suite runs on two cores. */
const waitMsMax = 2_000;

test.each(refusedInputs.map((input) => [input.name, input] as const))(
  "%s: rejected without a fetch, and another client is served meanwhile",
  async (_, { build, status, codes }) => {
    const contents = [build(0), build(1)];
    const startMs = performance.now();
    const rejections = Promise.all(contents.map(sendContent));
    const { body } = await gateway.send("{ __typename }");
    expect(body).toEqual({ data: { __typename: "Query" } });
    expect(performance.now() - startMs).toBeLessThan(waitMsMax);
    for (const rejection of await rejections) {
      expect(rejection.status).toBe(status);
      expect(codes).toContain(rejection.body.errors[0].extensions.code);
    }
    expect(library.all.flatMap(({ requests }) => requests)).toEqual([]);
  },
);

async function sendContent({ headers, body }: RequestContent) {
  const allHeaders = {
    accept: "application/graphql-response+json",
    "content-type": "application/json",
    ...headers,
  };
  const init = { method: "POST", headers: allHeaders, body: new Uint8Array(body) };
  return readGraphqlResponse(await fetch(`${gateway.url}/graphql`, init));
}
