import { execFileSync } from "node:child_process";
import type { ReadStream } from "node:tty";

export interface Keys {
  /** Raw mode, until this process exits. */
  listen(onHelp: () => void): void;
}

/**
 * Ctrl-C, Ctrl-Z and Ctrl-\. Raw mode disables the terminal's signals, so this process sends them to its process group, as the terminal does: to npm,
 * bootstrap.mjs and itself. The parts have process groups of their own (part-process.ts).
 */
const signalByKey: Readonly<Record<string, NodeJS.Signals>> = {
  "\x03": "SIGINT",
  "\x1a": "SIGTSTP",
  "\x1c": "SIGQUIT",
};

/**
 * Undefined without a terminal, in the background, or without the program `ps`. A process in the background must not read the terminal or
 * change its mode: the system would stop it (SIGTTIN, SIGTTOU).
 */
export function findKeys(input: ReadStream): Keys | undefined {
  if (!input.isTTY || !isInForeground()) return undefined;

  function enable(): void {
    if (!isInForeground()) return; // After Ctrl-Z and `bg`, this process continues in the background.
    input.setRawMode(true);
    input.resume();
  }

  function sendSignal(signal: NodeJS.Signals): void {
    // After SIGINT this process still has to stop the parts. After the other two it stops or ends at once; SIGCONT enables the keys again.
    if (signal !== "SIGINT") {
      input.pause();
      input.setRawMode(false);
    }
    process.kill(0, signal);
  }

  return {
    listen(onHelp) {
      process.on("SIGCONT", enable);
      input.on("error", () => {}); // The terminal may be closed.
      input.pause(); // Reading begins in `enable`, not with the listener.
      input.setEncoding("utf8").on("data", (keys: string) => {
        for (const key of keys) {
          const signal = signalByKey[key];
          if (signal !== undefined) sendSignal(signal);
          else if (key === "h" || key === "?") onHelp();
        }
      });
      enable();
    },
  };
}

function isInForeground(): boolean {
  try {
    const processState = execFileSync("ps", ["-o", "stat=", "-p", String(process.pid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return processState.includes("+"); // `ps` marks processes of the foreground group with a plus sign.
  } catch {
    return false;
  }
}
