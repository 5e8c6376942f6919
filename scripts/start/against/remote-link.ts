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

const probeEveryMs = 3_000;

/** @throws CommandError if the URL is not that of a gateway, or its issuer is unknown. */
export async function discoverRemote(
  { graphqlUrl }: RemoteAddresses,
  { environment, signal }: { readonly environment: Environment; readonly signal: AbortSignal },
): Promise<RemoteLink> {
  let probe: RemoteProbe = await probeRemote(graphqlUrl, environment);

  return {
    issuer: () => (probe.kind === "up" ? probe.issuer : undefined),
    async watch(parts, print) {
      if (probe.kind === "up") return;
      print(`WARNING: the remote ${graphqlUrl} does not respond (${probe.cause}). Its fields are null until it does.`);
      try {
        while (probe.kind === "down") {
          await sleep(probeEveryMs, undefined, { signal });
          probe = await probeRemote(graphqlUrl, environment);
        }
      } catch (error) {
        if (signal.aborted) return;
        // Only the developer can correct a CommandError.
        if (!(error instanceof CommandError)) throw error;
        return print(error.message);
      }
      print(`the remote ${graphqlUrl} responds now`);
      if (probe.issuer === undefined) return;
      await Promise.all(parts.map((part) => part.restart("the issuer of the remote's tokens is known now")));
    },
  };
}
