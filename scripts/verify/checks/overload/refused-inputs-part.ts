// The part `refused-inputs` of overload: clients send requests that the gateway rejects, each as expensive as the limits allow.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startLibrary } from "../../../../gateway/test/helpers/library.ts";
import { pinOwnProcess } from "../../platform/cores.ts";
import { createGraphqlClient } from "../resilience/graphql-client.ts";
import { startDiscardingRequests, sendRegular } from "../resilience/library.ts";
import { startTestedGateway, type TestedGateway } from "../resilience/tested-gateway.ts";
import type { OverloadPart, PartRun } from "./part.ts";
import { checkRefusedInputs } from "./refused-input-load.ts";
import { refusedInputs } from "./refused-inputs.ts";

const warmUpRequests = 500;
/** How many inputs the control sends: enough that at least one of them makes Apollo Gateway delay the other client, which sends no refused input. */
const controlInputs = 10;

export const refusedInputsPart: OverloadPart = {
  name: "refused-inputs",
  purpose: "four clients that send refused inputs in a closed loop delay another client by at most 100 ms",
  control: "Apollo Gateway gets the first ten inputs",
  async run(run) {
    const { gatewayPrefix } = pinOwnProcess();
    const folder = mkdtempSync(join(tmpdir(), "tributary-refused-"));
    run.onCleanup(() => rmSync(folder, { recursive: true, force: true }));
    const library = await startLibrary();
    run.onCleanup(() => library.close());
    // The test subgraphs record the requests that they get, which would use more and more memory.
    startDiscardingRequests(library, run);
    const gateway = await startTestedGateway({
      kind: run.isControl ? "apollo" : "tributary",
      supergraphSdl: library.supergraphSdl,
      supergraphFile: join(folder, "supergraph.graphql"),
      environment: {},
      commandPrefix: gatewayPrefix,
    });
    run.onCleanup(() => gateway.stop());
    await sendInputs(gateway, run);
  },
};

async function sendInputs(gateway: TestedGateway, run: PartRun): Promise<void> {
  const client = createGraphqlClient(gateway.url);
  run.onCleanup(() => client.close());
  // Without this warm-up, the first input would be measured while the gateway plans and compiles its first operations.
  for (let sent = 0; sent < warmUpRequests; sent++) await sendRegular(client);
  await checkRefusedInputs(
    {
      gatewayUrl: gateway.url,
      inputs: run.isControl ? refusedInputs.slice(0, controlInputs) : refusedInputs,
      seconds: run.options.inputSeconds,
      send: () => sendRegular(client),
      measureTurn: async () => (await gateway.measureLoop()).cpuMaxMs,
    },
    run,
  );
}
