// The process of a subgraph replica that the check `replicas` kills. It writes the id of each mutation to a file before it responds, so that a kill
// loses no id.
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { startSubgraph } from "../../../../gateway/test/helpers/subgraphs.ts";

const { PORT = "0", LEDGER_FILE = "", TYPE_DEFS = "" } = process.env;
/** As long as a database query takes, so that requests are in flight at each kill. */
const responseMs = 100;

interface LedgerEntry {
  readonly id: string;
}

const ledger = await startSubgraph({
  name: "ledger",
  port: Number(PORT),
  typeDefs: TYPE_DEFS,
  resolvers: {
    Query: { entry: (_: unknown, entry: LedgerEntry) => respondLate(entry) },
    Mutation: {
      add(_: unknown, { id }: LedgerEntry) {
        appendFileSync(LEDGER_FILE, `${id}\n`);
        return respondLate({ id });
      },
    },
    Entry: { __resolveReference: respondLate, amount: ({ id }: LedgerEntry) => Number(id) },
  },
});
// replicas.ts waits for this first output: the replica is ready.
process.stdout.write(`${ledger.url}\n`);
// The parent process has ended and cannot stop this replica.
process.once("disconnect", () => process.exit());
// The parent process may have ended before that listener was added.
if (!process.connected) process.exit();
// The recorded requests are not used here; clearing them bounds memory.
setInterval(() => ledger.requests.splice(0), 1_000);

async function respondLate({ id }: LedgerEntry): Promise<LedgerEntry> {
  await sleep(responseMs);
  return { id };
}
