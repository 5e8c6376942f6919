// `npm run verify -- NAME`: runs one verification of what the tests do not cover: timing, killed processes, long runs and third-party
// programs. Without a name it lists the verifications.
import { runCommand } from "./command-line.ts";
import { runVerification } from "./verify/runner.ts";
import { verifications } from "./verify/verifications.ts";

const print = (line: string) => {
  process.stdout.write(`${line}\n`);
};
const [requestedName, ...args] = process.argv.slice(2);
const verification = verifications.find(({ name }) => name === requestedName);
if (verification) {
  await runCommand(async () => {
    process.exitCode = await runVerification(verification, args, print);
  });
  // After SIGINT or SIGTERM the verification itself still runs, so this ends the process as soon as the output is written.
  process.stdout.write("", () => process.exit());
} else {
  const isHelp = requestedName === undefined || requestedName === "--help";
  if (!isHelp) print(`There is no verification ${requestedName}.`);
  print("Usage: npm run verify -- NAME [options]\n");
  for (const { name, summary } of verifications) print(`  ${name.padEnd(14)}${summary}`);
  print(
    "\nEach has --help, --quick (shorter, where its length can be chosen), and --control, which breaks something on purpose that the claims must show.",
  );
  process.exitCode = isHelp ? 0 : 2;
}
