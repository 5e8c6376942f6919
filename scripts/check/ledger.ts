// `npm run ledger -- --prometheus URL`: who still uses what is deprecated (supergraph/usage).
import { fileURLToPath } from "node:url";
import { runLedger } from "../../supergraph/usage/ledger-command.ts";
import { createUsageError, parseCommandLine, runCommand } from "../command-line.ts";

const usage = `Usage: npm run ledger -- --prometheus URL [--days N] [--json FILE]

Lists the deprecated elements of both APIs, their owners, who has used them in the last N days (30), and for how long no client has.

  --json FILE   writes the evidence for npm run check -- --usage FILE`;

await runCommand(async () => {
  const options = {
    prometheus: { type: "string" },
    days: { type: "string", default: "30" },
    json: { type: "string" },
    help: { type: "boolean" },
  } as const;
  const { prometheus, days, json } = parseCommandLine({ options }, usage).values;
  if (prometheus === undefined || !URL.canParse(prometheus))
    throw createUsageError("--prometheus needs the URL of Prometheus.", usage);
  if (!/^[1-9]\d{0,2}$/.test(days)) throw createUsageError("--days is a number from 1 to 999.", usage);
  await runLedger({
    root: fileURLToPath(new URL("../..", import.meta.url)),
    prometheusUrl: prometheus,
    days: Number(days),
    jsonFile: json,
    nowMs: Date.now(),
    print: (text) => process.stdout.write(text),
  });
});
