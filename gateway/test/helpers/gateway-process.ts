// The program of a gateway process for process.test.ts: as src/main.ts, but the CPU time for loading a supergraph is an argument.
import { createTestPlannerPool, startGateway } from "./gateway.ts";

const [file = "", loadTimeoutMs = ""] = process.argv.slice(2);
const plannerPool = createTestPlannerPool({ loadTimeoutMs: Number(loadTimeoutMs), observe: () => {} });
const { url } = await startGateway({ environment: { SUPERGRAPH_FILE: file }, plannerPool });
process.stdout.write(`${JSON.stringify({ msg: "listening", url })}\n`);
