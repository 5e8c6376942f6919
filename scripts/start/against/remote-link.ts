import { setTimeout as sleep } from "node:timers/promises";
import type { Environment } from "@tributary/kit/process/env";
import type { RemoteAddresses } from "../options.ts";
import { CommandError } from "../../command-line.ts";
import type { SupervisedPart } from "../supervised-part.ts";
import { probeRemote, type RemoteIssuer, type RemoteProbe } from "./remote-probe.ts";

export interface RemoteLink {
  /** Undefined until the remote has responded, and if ISSUER and JWKS_URL name the issuer. */
  issuer(): RemoteIssuer | undefined;
  /** If the remote was down at the start: warns, probes it until it responds, and restarts these parts with its issuer. A probe's CommandError ends it. */
  watch(parts: readonly Pick<SupervisedPart, "restart">[], print: (line: string) => void): Promise<void>;
}

export interface RemoteLinkOptions {
  readonly environment: Environment;
  readonly signal: AbortSignal;
}

const probeEveryMs = 3_000;

/** @throws CommandError if the URL is not that of a gateway, or its issuer is unknown. */
export async function discoverRemote(
  { graphqlUrl }: RemoteAddresses,
  { environment, signal }: RemoteLinkOptions,
): Promise<RemoteLink> {
  let probe: RemoteProbe = await probeRemote(graphqlUrl, environment);

  /** Also ends at a CommandError, which only the developer can correct. */
  async function probeUntilUp(print: (line: string) => void): Promise<void> {
    while (probe.kind === "down") {
      await sleep(probeEveryMs, undefined, { signal });
      try {
        probe = await probeRemote(graphqlUrl, environment);
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        print(error.message);
        return;
      }
    }
  }

  return {
    issuer: () => (probe.kind === "up" ? probe.issuer : undefined),
    async watch(parts, print) {
      if (probe.kind === "up") return;
      print(`WARNING: the remote ${graphqlUrl} does not respond (${probe.cause}). Its fields are null until it does.`);
      try {
        await probeUntilUp(print);
      } catch (error) {
        if (signal.aborted) return;
        throw error;
      }
      const lastProbe = probe as RemoteProbe;
      if (lastProbe.kind === "down") return;
      print(`the remote ${graphqlUrl} responds now`);
      if (lastProbe.issuer === undefined) return;
      await Promise.all(parts.map((part) => part.restart("the issuer of the remote's tokens is known now")));
    },
  };
}
