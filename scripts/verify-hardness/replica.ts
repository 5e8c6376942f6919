// A replica in a process of its own, to be killed. Writes down each mutation before it answers, so that no kill makes it forget.
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { startSubgraph } from "../../gateway/test/helpers/subgraphs.ts";
import { ledgerDefs } from "./ledger.ts";

const { PORT = "0", LEDGER_FILE = "" } = process.env;
/** As long as a database takes: so that a kill finds something under way. */
const answerMs = 100;

interface Entry {
  readonly id: string;
}

const ledger = await startSubgraph({
  name: "ledger",
  port: Number(PORT),
  typeDefs: ledgerDefs,
  resolvers: {
    Query: { entry: (_: unknown, entry: Entry) => answerLate(entry) },
    Mutation: {
      add(_: unknown, { id }: Entry) {
        appendFileSync(LEDGER_FILE, `${id}\n`);
        return answerLate({ id });
      },
    },
    Entry: { __resolveReference: answerLate, amount: ({ id }: Entry) => Number(id) },
  },
});
process.stdout.write(`${ledger.url}\n`);
// Whoever started it is gone, and nobody else will end it.
process.once("disconnect", () => process.exit());
if (!process.connected) process.exit();
// Nobody reads them here.
setInterval(() => ledger.requests.splice(0), 1_000);

async function answerLate({ id }: Entry): Promise<Entry> {
  await sleep(answerMs);
  return { id };
}
