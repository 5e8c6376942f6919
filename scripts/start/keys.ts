// Single keys in the terminal of `npm start`.
import { execFileSync } from "node:child_process";
import type { ReadStream } from "node:tty";

/** Undefined without a terminal, in the background, or without the program `ps`. */
export interface Keys {
  /**
   * Calls `onHelp` for each `h` and `?`. Raw mode disables the terminal's own signals, so Ctrl-C, Ctrl-Z and Ctrl-\\ are sent here. Node restores the
   * terminal's mode when this process exits.
   */
  listen(onHelp: () => void): void;
}

/** Raw mode disables the terminal's signals, so these keys send them: to the process group, as the terminal does. */
const signals: Readonly<Record<string, NodeJS.Signals>> = { "\x03": "SIGINT", "\x1a": "SIGTSTP", "\x1c": "SIGQUIT" };

/** A process in the background must not read the terminal or change its mode: the system would stop it (SIGTTIN, SIGTTOU). */
export function findKeys(input: ReadStream): Keys | undefined {
  if (!input.isTTY || !isInForeground()) return undefined;

  function enable(): void {
    if (!isInForeground()) return; // After Ctrl-Z and `bg`.
    input.setRawMode(true);
    input.resume();
  }

  function sendSignal(signal: NodeJS.Signals): void {
    if (signal !== "SIGINT") {
      // This process stops or ends at once; SIGCONT enables the keys again.
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
          const signal = signals[key];
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
    const state = execFileSync("ps", ["-o", "stat=", "-p", String(process.pid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return state.includes("+");
  } catch {
    return false;
  }
}
