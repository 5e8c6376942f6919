// `npm run gateway`, and the command of the package: the gateway, or `compose`, whose modules the process that serves does not load.
const [command, ...args] = process.argv.slice(2);

if (command === "compose") {
  const { runCompose } = await import("../supergraph/compose-command/compose-command.ts");
  process.exitCode = await runCompose({
    args,
    folder: process.cwd(),
    environment: process.env,
    print: (text) => process.stdout.write(text),
    report: (line) => process.stderr.write(`${line}\n`),
  });
} else await import("../gateway/src/main.ts");
